"""The fuzzer finds every bug that is planted, and finds nothing of its kind where it is not."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import cache

import pytest

from tests.fuzz.places import DuckDBPlaces, Pair
from tests.fuzz.planted import PLANTED, Planted, is_found
from tests.fuzz.worlds import make_world

TakenIn = Callable[[int, bool], Pair]


@pytest.fixture(scope="module")
def taken_in() -> Iterator[TakenIn]:
    """A world by its number, taken in once by what has no bug."""
    with ExitStack() as opened:
        yield cache(lambda seed, plain: opened.enter_context(DuckDBPlaces().taken_in(make_world(seed, plain=plain))))


@pytest.mark.parametrize("planted", PLANTED, ids=lambda planted: planted.name)
@pytest.mark.some(6)
def test_a_planted_bug_is_found(planted: Planted, taken_in: TakenIn) -> None:
    assert is_found(planted, DuckDBPlaces(), taken_in(planted.seed, planted.is_plain))
