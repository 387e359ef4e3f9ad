"""Runs pages where only that can be imported which a reader has: the base install, and the extras that a page names.

``python -m tests.docs.installed`` reads the path of a page from each line and answers with a line of JSON: null, or
how the page failed. What everybody has is loaded once; every page then runs in a fork, so none sees what another
loaded. A distribution that is installed here but not for the reader is refused like one that is not there at all.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import re
import sys
import tomllib
import traceback
from collections.abc import Iterable, Sequence
from importlib import metadata
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from multiprocessing.connection import Connection
from pathlib import Path
from types import ModuleType

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
_LOCKED = re.compile(r"^([A-Za-z0-9._-]+)==", re.MULTILINE)
_NAMED = re.compile(r"pip install '(?:discreet|\.)\[([a-z,]+)\]'")


def extras_of(page: str) -> set[str]:
    """The extras that a page tells its reader to install."""
    return {extra for names in _NAMED.findall(page) for extra in names.split(",")}


def installed(extras: Iterable[str] = ()) -> set[str]:
    """The distributions of the base lock, and of the extras with all that they need."""
    found = {canonicalize_name(name) for name in _LOCKED.findall((ROOT / "locks" / "base.txt").read_text("utf-8"))}
    offered = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    waiting = [Requirement(text) for extra in extras for text in offered[extra]]
    seen: set[str] = set()
    while waiting:
        wanted = waiting.pop()
        if str(wanted) not in seen:
            seen.add(str(wanted))
            found.add(canonicalize_name(wanted.name))
            waiting += _needs(wanted)
    return {"discreet", *found}


def _needs(wanted: Requirement) -> list[Requirement]:
    try:
        texts = metadata.requires(wanted.name) or []
    except metadata.PackageNotFoundError:
        return []
    needs = [Requirement(text) for text in texts]
    chosen = ("", *wanted.extras)
    return [one for one in needs if one.marker is None or any(one.marker.evaluate({"extra": each}) for each in chosen)]


class NotInstalled(MetaPathFinder):
    """Refuses the modules of every distribution that the reader does not have."""

    def __init__(self) -> None:
        self._owners = metadata.packages_distributions()
        self.allowed = installed()

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        owners = {canonicalize_name(owner) for owner in self._owners.get(name.partition(".")[0], ())}
        if owners and not owners & self.allowed:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return None


def _run(page: Path) -> None:
    """Every Python block in order, as a reader would type it."""
    text, names = page.read_text("utf-8"), dict[str, object](__name__="page")
    for match in BLOCK.finditer(text):
        line = text[: match.start()].count("\n") + 2
        exec(compile("\n" * (line - 1) + match.group(1), str(page), "exec"), names)


def _answer(page: Path, refused: NotInstalled, told: Connection) -> None:
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what a page prints is for its reader
    refused.allowed = installed(extras_of(page.read_text("utf-8")))
    try:
        _run(page)
    except BaseException:
        told.send(traceback.format_exc())
    else:
        told.send(None)


def main() -> None:
    """Answer until nobody asks any more."""
    refused = NotInstalled()
    sys.meta_path.insert(0, refused)
    import discreet.anonymize
    import discreet.curator.curator  # noqa: F401

    fork = multiprocessing.get_context("fork")
    for line in sys.stdin:
        ours, theirs = fork.Pipe()
        child = fork.Process(target=_answer, args=(Path(line.rstrip("\n")), refused, theirs))
        child.start()
        theirs.close()
        try:
            told = ours.recv()
        except EOFError:
            told = "the page ended the process"
        child.join()
        print(json.dumps(told), flush=True)


if __name__ == "__main__":
    main()
