"""The site has every page once; a thorough run builds it strictly and sees that it loads nothing from elsewhere."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml
from tools.site_navigation import written_out

import discreet
from tests.docs.installed import ROOT

LOADED = re.compile(r"<(?:script|img|iframe|source)[^>]*\bsrc=\"?(https?:)?//|<link[^>]*\bhref=\"?(https?:)?//")


class Settings(yaml.SafeLoader):
    """Reads mkdocs.yml without calling what it names."""


Settings.add_multi_constructor("tag:yaml.org,2002:python/", lambda *_: None)


def navigation() -> list[str]:
    settings = yaml.load((ROOT / "mkdocs.yml").read_text("utf-8"), Settings)
    return list(leaves(written_out(settings["nav"])))


def leaves(entry: Any) -> list[str]:
    if isinstance(entry, str):
        return [entry]
    parts = entry.values() if isinstance(entry, dict) else entry
    return [leaf for part in parts for leaf in leaves(part)]


def written() -> list[str]:
    """Every page that somebody wrote, where the site has it."""
    root = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md")]
    below = [*(ROOT / "docs").rglob("*.md"), *(ROOT / "src").rglob("*.md"), *(ROOT / "docs").rglob("*.ipynb")]
    return sorted(path.relative_to(ROOT).with_suffix(".md").as_posix() for path in [*root, *below])


def test_the_navigation_names_every_page_once_and_nothing_else() -> None:
    named = Counter(navigation())
    assert not [page for page, times in named.items() if times > 1]
    pages = {page for page in named if not is_made(page)}
    assert not set(written()) - pages, "add them to nav in mkdocs.yml"
    assert not pages - set(written()), "take them out of nav in mkdocs.yml"


def is_made(page: str) -> bool:
    return page.startswith("api/") or bool(re.fullmatch(r"src/discreet/.*/README\.md", page))


@pytest.mark.thorough
def test_the_site_builds_without_a_warning_and_loads_nothing_from_elsewhere() -> None:
    pytest.importorskip("mkdocs", reason="make docs installs what builds the site")
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    for command in (["tools.site"], ["mkdocs", "build", "--strict"]):
        subprocess.run([sys.executable, "-m", *command], cwd=ROOT, env=environment, check=True, timeout=300)
    pages = [path for path in (ROOT / "site").rglob("*.html") if path.name != "404.html"]
    assert len(pages) >= len(navigation())
    for page in pages:
        assert not LOADED.search(page.read_text("utf-8")), page
    assert (ROOT / "site" / "search" / "search_index.js").stat().st_size > 100_000
    assert not missing_names()


def missing_names() -> list[str]:
    """Public names without a heading of their own on the site."""
    text = "".join(path.read_text("utf-8") for path in Path(ROOT / "site" / "api").glob("*.html"))
    packages = {"dp": discreet} | {
        f"dp.{name}": getattr(discreet, name) for name in ("anonymize", "attacks", "audit", "local")
    }
    names = [f"{short}.{name}" for short, package in packages.items() for name in package.__all__]
    shown = set(re.findall(r"<h2[^>]*class=\"doc doc-heading\"[^>]*>.*?</h2>", text, re.DOTALL))
    plain = {re.sub(r"<[^>]+>|¶|&para;", "", heading).split()[0] for heading in shown}
    skipped = {"dp.__version__", *packages}
    return [name for name in names if name not in plain and name not in skipped]
