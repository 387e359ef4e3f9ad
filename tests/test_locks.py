"""What is locked is what the project asks for, with hashes, from wherever pip is set to look."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
LOCKS = sorted(path.name for path in (ROOT / "locks").glob("*.txt"))
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
BASE: list[str] = PROJECT["project"]["dependencies"]
EXTRAS: dict[str, list[str]] = PROJECT["project"]["optional-dependencies"]
GROUPS: dict[str, list[str]] = PROJECT["dependency-groups"]
ASKED = {
    "base.txt": BASE,
    "serve.txt": [*BASE, *EXTRAS["serve"], *EXTRAS["postgres"]],
    "dev.txt": [*BASE, *(one for extra in EXTRAS.values() for one in extra), *GROUPS["dev"]],
    "docs.txt": GROUPS["docs"],
    "build.txt": GROUPS["build"],
    "supply.txt": [*GROUPS["build"], *GROUPS["supply"]],
}


def entries(file: str) -> list[tuple[Requirement, list[str]]]:
    """Each locked package, and its hashes."""
    found: list[tuple[Requirement, list[str]]] = []
    for line in (ROOT / "locks" / file).read_text("utf-8").splitlines():
        words = line.removesuffix("\\").strip()
        if words.startswith("--hash="):
            found[-1][1].append(words)
        elif not words.startswith("#"):
            found.append((Requirement(words), []))  # an address, a path or an option is none
    return found


def test_every_lock_is_known() -> None:
    assert sorted(ASKED) == LOCKS


@pytest.mark.parametrize("file", LOCKS)
def test_everything_has_one_version_and_hashes_and_no_address(file: str) -> None:
    for requirement, hashes in entries(file):
        assert [one.operator for one in requirement.specifier] == ["=="]
        assert requirement.url is None
        assert hashes
        assert all(one.startswith("--hash=sha256:") and len(one) == len("--hash=sha256:") + 64 for one in hashes)


@pytest.mark.parametrize("file", LOCKS)
def test_what_the_project_asks_for_is_locked_in_a_version_that_it_allows(file: str) -> None:
    locked: dict[str, list[Requirement]] = {}
    for requirement, _ in entries(file):
        locked.setdefault(canonicalize_name(requirement.name), []).append(requirement)
    for asked in map(Requirement, ASKED[file]):
        for found in locked[canonicalize_name(asked.name)]:
            (version,) = found.specifier
            assert version.version in asked.specifier, f"run `make lock`: {asked} is locked as {found}"


def test_what_two_locks_have_is_the_same() -> None:
    whole = {f"{found.name}{found.specifier}": hashes for found, hashes in entries("dev.txt")}
    for file in ("base.txt", "serve.txt"):
        for found, hashes in entries(file):
            assert whole[f"{found.name}{found.specifier}"] == hashes


def test_what_docs_and_dev_both_have_is_the_same() -> None:
    versions = {found.name: str(found.specifier) for found, _ in entries("dev.txt")}
    both = [found for found, _ in entries("docs.txt") if found.name in versions]
    assert len(both) > 10
    assert not [found for found in both if versions[found.name] != str(found.specifier)]
