"""Many threads that call the same thing, and what happened."""

from __future__ import annotations

import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Result = TypeVar("Result")


def at_once(call: Callable[[], Result], times: int, threads: int = 8) -> list[Result]:
    """The results of ``times`` calls by several threads that are interrupted as often as Python allows."""
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(threads) as pool:
            return list(pool.map(lambda _: call(), range(times)))
    finally:
        sys.setswitchinterval(usual)
