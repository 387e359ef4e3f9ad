"""Several things at once, each in a thread of its own."""

from __future__ import annotations

import threading
from collections.abc import Callable

__all__ = ["at_once"]


def at_once(*works: Callable[[], object]) -> list[BaseException]:
    """What was raised when all of this was done at the same time."""
    faults: list[BaseException] = []

    def caught(work: Callable[[], object]) -> None:
        try:
            work()
        except BaseException as fault:
            faults.append(fault)

    threads = [threading.Thread(target=caught, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return faults
