"""Every statement of the corpus on Spark, of which the tests of every day ask a few of each kind."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from tests.engines.test_spark import WHOLE

_TESTS = "tests/engines/test_spark.py::TestSameOnSpark"
_ROOT = Path(__file__).parents[2]


def ask_all_of_spark(tick: Callable[[], None]) -> str:
    """In a process of its own, for Spark stays in one to its end."""
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", _TESTS]
    done = subprocess.run(words, cwd=_ROOT, env={**os.environ, WHOLE: "1"}, capture_output=True, text=True, check=False)
    tick()
    assert done.returncode == 0, done.stdout[-4000:]
    return next(line for line in reversed(done.stdout.splitlines()) if "passed" in line)
