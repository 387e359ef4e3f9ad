"""Writers who come while the write lock is taken, so that all of them are written in one transaction."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from discreet.storage.database import Database, GroupCommitDatabase


def in_one_batch(storage: GroupCommitDatabase, *writes: Callable[[], object]) -> list[BaseException | None]:
    """What each raised, when all waited, in this order, until somebody else had laid down the write lock."""
    begun, free = threading.Event(), threading.Event()
    faults: list[BaseException | None] = [None] * len(writes)

    def hold(_: Database) -> None:
        begun.set()
        free.wait(30)

    def caught(number: int) -> None:
        try:
            writes[number]()
        except BaseException as fault:
            faults[number] = fault

    threads = [threading.Thread(target=storage.write, args=(hold,))]
    threads[0].start()
    assert begun.wait(30)
    for number in range(len(writes)):
        threads.append(threading.Thread(target=caught, args=(number,)))
        threads[-1].start()
        _wait_for(lambda number=number: len(storage._queue) == number + 1)
    free.set()
    for thread in threads:
        thread.join()
    return faults


def _wait_for(happened: Callable[[], bool]) -> None:
    end = time.monotonic() + 120
    while not happened():
        assert time.monotonic() < end
        time.sleep(0.001)
