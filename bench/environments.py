"""Where each side runs: Discreet in this environment, every peer in one of its own, because their pins conflict."""

from __future__ import annotations

import json
import subprocess
import sys
import venv
from pathlib import Path
from typing import Any

__all__ = ["ENVIRONMENTS", "interpreter", "run_side"]

SIDES = Path(__file__).parent / "sides"
ENVIRONMENTS = Path(__file__).parents[1] / ".bench"


def interpreter(packages: list[str] | None) -> str:
    """The Python that can import the packages, installing them on first use."""
    if packages is None:
        return sys.executable
    home = ENVIRONMENTS / packages[0]
    python = home / "bin" / "python"
    if not (home / ".ready").exists():
        venv.create(home, with_pip=True)
        install = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "numpy", *packages]
        subprocess.run(install, check=True)
        (home / ".ready").touch()
    return str(python)


def run_side(packages: list[str] | None, script: str, *arguments: str) -> dict[str, Any]:
    """What a side prints as JSON, run in a process of its own."""
    command = [interpreter(packages), str(SIDES / script), *arguments]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    if found.returncode:
        raise SystemExit(f"{script} failed:\n{found.stderr}")
    return json.loads(found.stdout)
