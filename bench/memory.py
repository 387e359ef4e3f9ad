"""The most memory of this process and of all that it started, while something runs; shared pages are counted once."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path

from bench.sides.asking import descendants

__all__ = ["most_memory"]

_PAUSE = 0.05


def most_memory(work: Callable[[], object]) -> int:
    """The bytes that were seen at most, some twenty looks a second."""
    over, seen = threading.Event(), [_now()]

    def watch() -> None:
        while not over.wait(_PAUSE):
            seen.append(_now())

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        work()
    finally:
        over.set()
        watcher.join()
    return max(seen)


def _now() -> int:
    return sum(map(_memory, [os.getpid(), *descendants()]))


def _memory(process: int) -> int:
    try:
        lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0  # it ended meanwhile
    return sum(int(line.split()[1]) for line in lines if line.startswith("Pss:")) * 1024
