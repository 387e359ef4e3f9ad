"""Write docs/reference from the code: ``make docs``. A test fails when a page lags behind."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import discreet
from discreet.cli.main import app
from discreet.mechanisms.measurement import Measurement
from tools.rest_page import rest_page
from tools.settings_page import settings_page
from tools.sql_page import sql_page

REFERENCE = Path(__file__).parents[1] / "docs" / "reference"
PACKAGES = {
    "attacks": "Attacks, defences, and one scoreboard for all of them.",
    "audit": "Does the code keep its promise: exact checks, and confident lower bounds.",
    "interpretation": "What ε means, with your own numbers filled in.",
    "service": "The curator as a server: operations that routes and pages call.",
    "client": "A curator far away.",
    "curator": "Protect, explain, ask, and the ledger behind it.",
    "query": "From SQL to a measurement.",
    "engines": "Where rows stay.",
    "anonymize": "Publishing tables: check, enforce, measure, report. None of it is differential privacy.",
    "survey": "Surveys whose answers are randomized in the browser.",
    "local": "Privacy before collection: randomizers, estimators, surveys.",
    "catalog": "What is public about the tables.",
    "mechanisms": "The mechanisms, each with its proof sheet beside the code in `src/discreet/mechanisms`.",
    "privacy": "Losses, sensitivities, and what they mean.",
    "accounting": "Adding up losses.",
    "noise": "The random source and the laws.",
    "exact": "Rationals, balls and grids.",
    "reports": "Standalone pages and their charts.",
    "http": "What every server of Discreet answers alike.",
    "storage": "Small databases that must not lose what was written.",
}


def first_line(thing: object) -> str:
    return (inspect.getdoc(thing) or "").split("\n\n")[0].replace("\n", " ")


def signature(name: str, thing: Callable[..., Any]) -> str:
    try:
        text = re.sub(r"<function .*? at 0x[0-9a-f]+>", "…", str(inspect.signature(thing)))
    except (TypeError, ValueError):
        return name
    text = re.sub(r"<discreet\.noise\.source\.SystemSource object at 0x[0-9a-f]+>", "SYSTEM", text)
    text = re.sub(r"<[\w.]+\.(\w+) object at 0x[0-9a-f]+>", r"\1()", text)
    text = re.sub(r"frozenset\(\{(.*?)\}\)", lambda found: f"{{{', '.join(sorted(found[1].split(', ')))}}}", text)
    text = re.sub(r"'([^']*)'", r"\1", text)
    return name + text.replace("self, ", "").replace("(self)", "()")


def described_class(name: str, cls: type) -> list[str]:
    lines = [f"### `{signature(name, cls)}`", "", first_line(cls), ""]
    for member, value in inspect.getmembers(cls):
        if member.startswith("_") or not inspect.getdoc(value) or is_of_a_library(cls, member):
            continue
        bound = inspect.getattr_static(cls, member)
        if isinstance(bound, property) or bound.__class__.__name__ == "cached_property":
            lines.append(f"- `{member}`: {first_line(value)}")
        elif callable(value):
            lines.append(f"- `{signature(member, value)}`: {first_line(value)}")
    return [*lines, ""]


def is_of_a_library(cls: type, member: str) -> bool:
    """Whether a class only inherits a member from a library that documents it elsewhere."""
    owner = next(base for base in cls.__mro__ if member in vars(base)) if hasattr(cls, member) else cls
    return owner.__module__.partition(".")[0] in ("pydantic", "pydantic_settings")


def package_page(name: str, about: str) -> str:
    package = importlib.import_module(f"discreet.{name}")
    lines = [f"# discreet.{name}", "", about, "", "*Generated from the code by `make docs`.*", ""]
    for info in sorted(pkgutil.walk_packages(package.__path__, f"discreet.{name}."), key=lambda i: i.name):
        module = importlib.import_module(info.name)
        names = [n for n in getattr(module, "__all__", []) if callable(getattr(module, n))]
        if not names:
            continue
        lines += [f"## {info.name.removeprefix('discreet.')}", "", first_line(module), ""]
        for public in names:
            lines += described(public, getattr(module, public))
    return "\n".join(lines).rstrip() + "\n"


def described(name: str, thing: Any) -> list[str]:
    if inspect.isclass(thing):
        return described_class(name, thing)
    if inspect.isfunction(thing):
        return [f"### `{signature(name, thing)}`", "", first_line(thing), ""]
    return []


def names_page() -> str:
    lines = ["# Names", "", "What `import discreet as dp` offers.", "", "*Generated from the code by `make docs`.*", ""]
    lines += ["| name | what it is | kind |", "| --- | --- | --- |"]
    for name in sorted(n for n in discreet.__all__ if n != "__version__"):
        thing = getattr(discreet, name)
        is_mechanism = inspect.isclass(thing) and issubclass(thing, Measurement)
        kind = "mechanism" if is_mechanism else "package" if inspect.ismodule(thing) else thing.__module__.split(".")[1]
        lines.append(f"| `dp.{name}` | {first_line(thing).replace('|', '∣')} | {kind} |")
    return "\n".join(lines) + "\n"


def errors_page() -> str:
    module = importlib.import_module("discreet.errors")
    text = inspect.getdoc(module) or ""
    tree = inspect.cleandoc(text.split("::\n", 1)[1].split(">>>")[0])
    lines = [
        "# Errors",
        "",
        text.split("\n")[0],
        "",
        "*Generated from the code by `make docs`.*",
        "",
        "```",
        tree,
        "```",
        "",
    ]
    for name in module.__all__:
        lines += [f"- `{name}`: {first_line(getattr(module, name))}"]
    return "\n".join(lines) + "\n"


def commands_page() -> str:
    lines = ["# Commands", "", "*Generated from the code by `make docs`.*", ""]
    for name, callback in commands("discreet", app):
        text = re.sub(r"\[/?\w*\]", "", inspect.getdoc(callback) or "")
        lines += [f"## {name}", "", text, ""]
    return "\n".join(lines).rstrip() + "\n"


def commands(path: str, group: Any) -> list[tuple[str, Callable[..., Any]]]:
    found = [(f"{path} {one.name or one.callback.__name__}", one.callback) for one in group.registered_commands]
    inner = [commands(f"{path} {one.name}", one.typer_instance) for one in group.registered_groups]
    return found + [command for part in inner for command in part]


def pages() -> dict[str, str]:
    """File name → content of every generated page."""
    made = {f"{name}.md": package_page(name, about) for name, about in PACKAGES.items()}
    made |= {"names.md": names_page(), "errors.md": errors_page(), "commands.md": commands_page()}
    return made | {"sql.md": sql_page(), "settings.md": settings_page(), "rest.md": rest_page()}


def main() -> None:
    REFERENCE.mkdir(parents=True, exist_ok=True)
    for name, text in pages().items():
        (REFERENCE / name).write_text(text)


if __name__ == "__main__":
    main()
