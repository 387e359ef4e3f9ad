"""Threads that do the same thing, or each its own, and what happened."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

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


def in_threads(*works: Callable[[], object]) -> list[BaseException]:
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


def in_a_loop(work: Coroutine[Any, Any, Result]) -> Result:
    """The result of a coroutine, in a thread of its own: a browser of other tests has a loop in this one."""
    with ThreadPoolExecutor(1) as aside:
        return aside.submit(asyncio.run, work).result()
