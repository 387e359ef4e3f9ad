"""Every test with all of its cases, of which ``make test`` and ``make test-all`` take some."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

_ROOT = Path(__file__).parents[2]


def run_all_tests(tick: Callable[[], None], chosen: str = "tests") -> str:
    """In processes of their own, for Spark stays in one to its end."""
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-n", "auto", "--dist", "loadgroup"]
    thorough = {**os.environ, "THOROUGH": "soak"}
    done = subprocess.run([*words, chosen], cwd=_ROOT, env=thorough, capture_output=True, text=True, check=False)
    tick()
    assert done.returncode == 0, done.stdout[-4000:]
    return next(line for line in reversed(done.stdout.splitlines()) if "passed" in line)
