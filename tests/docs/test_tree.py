"""The tree shows the architecture: folders are small, class names are unique, and words are the field's."""

from __future__ import annotations

import ast
import re
from collections import Counter, defaultdict
from functools import cache
from pathlib import Path

SOURCES = Path(__file__).parents[2] / "src" / "discreet"
MODULES = sorted(SOURCES.rglob("*.py"))
MOST_MODULES = 22
METAPHORS = {
    *(
        "house",
        "household",
        "desk",
        "door",
        "pen",
        "wish",
        "visitor",
        "book",
        "books",
        "room",
        "rooms",
        "twin",
        "twins",
    ),
    *("told", "hear", "heard", "crowd"),
}
"""Words that a newcomer would have to learn from us; the field has others for the same."""


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def named(tree: ast.Module) -> list[str]:
    kinds = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    return [node.name for node in ast.walk(tree) if isinstance(node, kinds)]


def words(name: str) -> set[str]:
    return {word.lower() for word in re.findall(r"[A-Z]?[a-z]+", name)}


def test_a_folder_holds_few_modules() -> None:
    sizes = Counter(path.parent for path in MODULES if path.name != "__init__.py")
    crowded = {str(folder.relative_to(SOURCES)): size for folder, size in sizes.items() if size > MOST_MODULES}
    assert not crowded


def test_every_class_has_a_name_of_its_own() -> None:
    homes = defaultdict(list)
    for path in MODULES:
        for node in tree_of(path).body:
            if isinstance(node, ast.ClassDef):
                homes[node.name].append(str(path.relative_to(SOURCES)))
    assert not {name: found for name, found in homes.items() if len(found) > 1}


def test_names_are_words_of_the_field() -> None:
    found = defaultdict(set)
    for path in MODULES:
        for name in [path.stem, *named(tree_of(path))]:
            if words(name) & METAPHORS:
                found[str(path.relative_to(SOURCES))].add(name)
    assert not found


def test_time_limits_that_nobody_sets_stand_on_one_page() -> None:
    limit = re.compile(r"^\w*(?:SECONDS|TIMEOUT|PATIENCE)\w* = [\d.]", re.MULTILINE)
    texts = {path: path.read_text(encoding="utf-8") for path in MODULES if path.name != "time_limits.py"}
    assert not {str(path.relative_to(SOURCES)): found for path, text in texts.items() if (found := limit.findall(text))}


def test_files_that_are_named_in_guides_are_there() -> None:
    root = SOURCES.parents[1]
    kept = [
        f"/{path.relative_to(root)}" for folder in ("src", "tests", "tools") for path in (root / folder).rglob("*.*")
    ]
    pages = [
        root / "docs" / "explanation" / "architecture.md",
        root / "CONTRIBUTING.md",
        SOURCES / "query" / "passes.py",
    ]
    named = {file for page in pages for file in re.findall(r"`([\w/]+\.(?:py|sql|js))`", page.read_text("utf-8"))}
    assert not {file for file in named if "yours" not in file and not any(path.endswith(f"/{file}") for path in kept)}
    assert len(named) > 50
