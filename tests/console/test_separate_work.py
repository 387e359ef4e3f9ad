"""Work in a process of its own: results, refusals, faults without words, and stopping."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

import pytest

from discreet.console.separate_work import SeparateWork, Stopped, WorkFailed
from discreet.errors import InvalidValue

Said = Callable[[float, str], None]


def sums(said: Said) -> int:
    said(0.5, "half")
    return sum(range(10))


def refuses(said: Said) -> int:
    raise InvalidValue("it must be small", 7, "3 would do")


def fails(said: Said) -> int:
    raise KeyError("Alice has the flu")


def never_ends(said: Said) -> int:
    while True:
        said(0.25, "still at it")
        time.sleep(0.02)


def test_a_result_comes_back_with_how_far_it_was() -> None:
    work = SeparateWork(sums)
    assert asyncio.run(work.result()) == 45
    assert (work.share, work.words) == (0.5, "half")


def test_a_refusal_keeps_its_words_and_a_fault_says_its_kind_alone() -> None:
    with pytest.raises(InvalidValue, match="it must be small, got 7; 3 would do"):
        asyncio.run(SeparateWork(refuses).result())
    with pytest.raises(WorkFailed, match=r"\AKeyError\Z"):
        asyncio.run(SeparateWork(fails).result())


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

    asyncio.run(stopped())
