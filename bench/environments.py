"""Where each side runs: Discreet in this environment, every peer in one of its own, because their pins conflict."""

from __future__ import annotations

import json
import subprocess
import sys
import venv
from functools import cache
from pathlib import Path
from typing import Any

__all__ = ["ENVIRONMENTS", "PeerFailed", "interpreter", "run_if_it_can", "run_side"]

SIDES = Path(__file__).parent / "sides"
ENVIRONMENTS = Path(__file__).parents[1] / ".bench"
_LONGEST = 160


class PeerFailed(Exception):
    """A peer that does not install or does not run, with what it said last."""


def interpreter(packages: list[str] | None) -> str:
    """The Python that can import the packages, installing them on first use."""
    return sys.executable if packages is None else _installed(tuple(packages))


def run_side(packages: list[str] | None, script: str, *arguments: str) -> dict[str, Any]:
    """What a side prints as JSON, run in a process of its own; only a peer may fail."""
    command = [interpreter(packages), str(SIDES / script), *arguments]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    if found.returncode and packages is None:
        raise SystemExit(f"{script} failed:\n{found.stderr}")
    if found.returncode:
        raise PeerFailed(f"does not run: {_last_words(found)}")
    said: dict[str, Any] = json.loads(found.stdout)
    return said


def run_if_it_can(packages: list[str], script: str, *arguments: str) -> dict[str, Any]:
    """What a peer prints; nothing where it cannot, which is told at once."""
    try:
        return run_side(packages, script, *arguments)
    except PeerFailed as problem:
        print(f"{packages[0]} {problem}", file=sys.stderr)
        return {}


def _installed(packages: tuple[str, ...]) -> str:
    home = ENVIRONMENTS / packages[0]
    python = home / "bin" / "python"
    if not (home / ".ready").exists():
        said = _install(home, packages)
        if said:
            raise PeerFailed(f"does not install: {said}")
        (home / ".ready").touch()
    return str(python)


@cache  # what did not install is not tried again in the same run
def _install(home: Path, packages: tuple[str, ...]) -> str:
    """What went wrong, empty when nothing did."""
    venv.create(home, with_pip=True)
    pip = [str(home / "bin" / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    found = subprocess.run([*pip, "numpy", *packages], capture_output=True, text=True, check=False)
    return _last_words(found) if found.returncode else ""


def _last_words(found: subprocess.CompletedProcess[str]) -> str:
    """The last line that it said, which in Python is the error, on one line of a table."""
    lines = [line.strip() for line in found.stderr.splitlines() if line.strip()]
    said = lines[-1] if lines else f"it ended with {found.returncode} and said nothing"
    return said.replace("|", "/")[:_LONGEST]
