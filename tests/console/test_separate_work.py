"""Work in a process of its own: results, refusals, faults without words, and stopping."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import pytest

from discreet.console.worker import ProgressRelay, SeparateWork, Stopped, WorkFailed
from discreet.errors import InvalidValue

T = TypeVar("T")


def alone(work: Coroutine[Any, Any, T]) -> T:
    """Run it in a thread of its own: a browser that another test opened has a loop of events in this one."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, work).result()


def sums(said: ProgressRelay) -> int:
    said(0.5, "half")
    return sum(range(10))


def shows(said: ProgressRelay) -> str:
    for part in range(1000):
        said.show(part)
    return "done"


def refuses(said: ProgressRelay) -> int:
    raise InvalidValue("it must be small", 7, "3 would do")


def fails(said: ProgressRelay) -> int:
    raise KeyError("Alice has the flu")


def never_ends(said: ProgressRelay) -> int:
    while True:
        said(0.25, "still at it")
        time.sleep(0.02)


def test_a_result_comes_back_with_how_far_it_was() -> None:
    work = SeparateWork(sums)
    assert alone(work.result()) == 45
    assert (work.share, work.words) == (0.5, "half")


def test_every_part_that_is_shown_arrives_before_the_result() -> None:
    work = SeparateWork(shows)
    assert alone(work.result()) == "done"
    assert work.shown == list(range(1000))


def test_a_refusal_keeps_its_words_and_a_fault_says_its_kind_alone() -> None:
    with pytest.raises(InvalidValue, match="it must be small, got 7; 3 would do"):
        alone(SeparateWork(refuses).result())
    with pytest.raises(WorkFailed, match=r"\AKeyError\Z"):
        alone(SeparateWork(fails).result())


def test_work_can_be_stopped_while_the_page_goes_on() -> None:
    async def stopped() -> None:
        work = SeparateWork(never_ends)
        waiting = asyncio.create_task(work.result())
        while not work.words:
            await asyncio.sleep(0.01)
        work.stop()
        with pytest.raises(Stopped):
            await waiting
        assert work._process is not None
        assert not work._process.is_alive()

    alone(stopped())
