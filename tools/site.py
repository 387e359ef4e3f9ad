"""Lay out the pages of the site in build/pages, for ``make docs``.

README, docs/ and the proof sheets lie there as they do in the tree, so one link works on the site and on a code host.
What a code host shows by itself and a site does not is made: pages of notebooks, and a page for a folder of sheets.
Pages of the interface hold the public names; mkdocstrings fills them in from the code.
"""

from __future__ import annotations

import importlib
import re
import shutil
from pathlib import Path
from types import ModuleType

import nbformat
from jinja2 import DictLoader
from nbconvert import MarkdownExporter
from traitlets.config import Config

import discreet
from discreet.curator.answers.answer import Answer
from discreet.curator.explanation import Explanation

ROOT = Path(__file__).parents[1]
PAGES = ROOT / "build" / "pages"
ASSETS = ROOT / "tools" / "site_assets"
AT_THE_ROOT = ("README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md", "LICENSE")
LINK = re.compile(r"\]\((?!https?://|#|mailto:)([^)#]+)")
FENCE = re.compile(r"(^ *```.*?^ *```[^\n]*$)", re.MULTILINE | re.DOTALL)
BEFORE_A_LIST = re.compile(r"^(?![-*] |\d+\. |[ \t])(.+)\n(?=(?:[-*]|1\.) )", re.MULTILINE)
NOTEBOOK = """{% extends 'markdown/index.md.j2' %}{% block output %}
<div class="notebook-output" markdown="1">
{{ super() }}
</div>
{% endblock %}"""
"""What a cell shows stands apart from its code."""
TITLES = {
    "mechanisms": "Mechanisms",
    "privacy": "Losses and what they mean",
    "accounting": "Adding up losses",
    "curator": "Curator",
    "errors": "Errors",
    "local": "discreet.local",
    "anonymize": "discreet.anonymize",
    "attacks": "discreet.attacks",
    "audit": "discreet.audit",
}
"""Pages of the interface. What ``import discreet`` offers of other packages is on the page of the curator."""


def sources() -> list[Path]:
    """Every file that the site shows or links to, relative to the root."""
    named = [ROOT / name for name in AT_THE_ROOT]
    below = [path for path in (ROOT / "docs").rglob("*") if path.is_file() and ".ipynb_checkpoints" not in path.parts]
    return [path.relative_to(ROOT) for path in [*named, *sorted(below), *sorted((ROOT / "src").rglob("*.md"))]]


def lay_out(path: Path) -> None:
    target = PAGES / path
    target.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".ipynb":
        lay_out_notebook(path)
    elif path.suffix == ".md":
        target.write_text(readable((ROOT / path).read_text("utf-8"), path), "utf-8")
    else:
        shutil.copyfile(ROOT / path, target)


def lay_out_notebook(path: Path) -> None:
    pictures = {"ExtractOutputPreprocessor": {"enabled": False}}  # they stay in the page
    exporter = MarkdownExporter(
        config=Config(pictures), extra_loaders=[DictLoader({"notebook": NOTEBOOK})], template_file="notebook"
    )
    text, _ = exporter.from_notebook_node(nbformat.read(ROOT / path, as_version=4))
    (PAGES / path.with_suffix(".md")).write_text(readable(text, path), "utf-8")


def readable(text: str, path: Path) -> str:
    """The page as Python's Markdown reads it: unlike a code host, it asks for an empty line before a list."""
    parts = FENCE.split(text)
    parts[::2] = [BEFORE_A_LIST.sub(r"\1\n\n", part) for part in parts[::2]]
    return rank(text) + LINK.sub(lambda found: f"]({target_of(found[1], path)}", "".join(parts))


def rank(text: str) -> str:
    """Pages of whole packages come last in a search: they name everything."""
    return "---\nsearch:\n  boost: 0.2\n---\n" if text.startswith("# discreet.") else ""


def target_of(link: str, path: Path) -> str:
    """A folder's page instead of the folder, and a notebook's page instead of the notebook."""
    if (ROOT / path.parent / link).is_dir():
        return f"{link.rstrip('/')}/README.md"
    return link.removesuffix(".ipynb") + ".md" if link.endswith(".ipynb") else link


def lay_out_folders() -> None:
    """A page for every folder of proof sheets."""
    for folder in sorted({path.parent for path in PAGES.glob("src/**/*.md")}):
        sheets = [f"- [{title_of(path)}]({path.name})" for path in sorted(folder.glob("*.md"))]
        (folder / "README.md").write_text("\n".join([f"# Proof sheets: {folder.name}", "", *sheets, ""]), "utf-8")


def title_of(path: Path) -> str:
    return path.read_text("utf-8").split("\n", 1)[0].removeprefix("# ")


def interface() -> dict[str, list[tuple[str, str]]]:
    """Page → the public names on it, as they are imported and where they are defined."""
    found: dict[str, list[tuple[str, str]]] = {page: [] for page in TITLES}
    for name in discreet.__all__:
        thing = getattr(discreet, name)
        if isinstance(thing, ModuleType):
            package = importlib.import_module(f"discreet.{name}")
            found[name] = [(f"dp.{name}.{one}", home_of(package, one)) for one in package.__all__]
        elif name != "__version__":
            page = thing.__module__.split(".")[1]
            found[page if page in TITLES else "curator"].append((f"dp.{name}", home_of(discreet, name)))
    found["curator"] += [(one.__name__, f"{one.__module__}.{one.__name__}") for one in (Answer, Explanation)]
    return found


def home_of(package: ModuleType, name: str) -> str:
    return f"{getattr(getattr(package, name), '__module__', package.__name__)}.{name}"


def lay_out_interface() -> None:
    (PAGES / "api").mkdir(parents=True, exist_ok=True)
    index = ["# Python interface", "", "What `import discreet as dp` offers, with parameters, types and defaults.", ""]
    for page, names in interface().items():
        lines = [f"# {TITLES[page]}", ""]
        for name, home in names:
            lines += [f"::: {home}", "    options:", f"      heading: {name}", f"      toc_label: {name}", ""]
        (PAGES / "api" / f"{page}.md").write_text("\n".join(lines), "utf-8")
        links = ", ".join(f"[`{name}`]({page}.md#{home})" for name, home in names)
        index += [f"**[{TITLES[page]}]({page}.md)**: {links}", ""]
    (PAGES / "api" / "README.md").write_text("\n".join(index), "utf-8")


def main() -> None:
    shutil.rmtree(PAGES, ignore_errors=True)
    for path in sources():
        lay_out(path)
    lay_out_folders()
    lay_out_interface()
    shutil.copytree(ASSETS, PAGES, dirs_exist_ok=True)


if __name__ == "__main__":
    main()
