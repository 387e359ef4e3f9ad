"""Permanent randomized response: one report, many reports, and what they cost together."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

from discreet.errors import InvalidInput
from discreet.local.longitudinal import PermanentResponse
from discreet.noise.source import ReplayableSource
from tests.local.contract import OracleContract
from tests.noise.goodness import misfit

COLOURS = ("red", "green", "blue")


class TestTwoLies(OracleContract):
    def randomizer(self) -> PermanentResponse:
        return PermanentResponse(2, 1, COLOURS)

    def other_randomizers(self) -> list[Any]:
        return [
            PermanentResponse(3, 1, COLOURS),
            PermanentResponse(2, 2, COLOURS),
            PermanentResponse(2, None, COLOURS),
            PermanentResponse(2, 1, COLOURS[:2]),
        ]

    def bad_values(self) -> list[Any]:
        return ["pink", None, math.nan, 3, {}, b"red"]

    def impossible(self) -> list[Any]:
        return [3, 255]


class TestOneLie(TestTwoLies):
    def randomizer(self) -> PermanentResponse:
        return PermanentResponse(1, None, COLOURS)


def sequence_law(response: PermanentResponse, place: int, rounds: int) -> dict[tuple[int, ...], float]:
    """The law of all reports about one memory, from its definition: a settled answer, then a lie about it each time."""
    first = response._first.honesty.rates()
    second = response._second.honesty.rates()
    own, other = float(first[0]), float(first[1])
    told, lied = float(second[0]), float(second[1])
    size = len(response.categories)
    found = {}
    for reports in itertools.product(range(size), repeat=rounds):
        found[reports] = sum(
            (own if settled == place else other) * math.prod(told if report == settled else lied for report in reports)
            for settled in range(size)
        )
    return found


@pytest.mark.parametrize("categories", ["ab", "abc", "abcd"])
@pytest.mark.parametrize(("permanent", "fresh"), [(2, 1), (1, 3), ("0.3", "0.2")])
def test_many_reports_cost_what_is_stated_and_no_more(categories: str, permanent: Any, fresh: Any) -> None:
    response = PermanentResponse(permanent, fresh, list(categories))
    for rounds in (1, 2, 4):
        here, there = (sequence_law(response, place, rounds) for place in (0, 1))
        worst = max(math.log(here[reports] / there[reports]) for reports in here)
        assert worst == pytest.approx(float(response.loss_after(rounds).epsilon), rel=1e-9)
    assert response.loss == response.loss_after(1)


def test_the_total_is_reached_and_never_passed() -> None:
    response = PermanentResponse(2, 1, COLOURS)
    losses = [response.loss_after(rounds) for rounds in (1, 2, 5, 20, 100, 10**9)]
    assert losses == sorted(losses, key=lambda loss: loss.epsilon)
    assert losses[-1] == response.total
    assert all(loss <= response.total for loss in losses)
    assert PermanentResponse(2, None, COLOURS).loss_after(1) == response.total


def test_reports_of_one_memory_follow_the_law_of_the_sequence() -> None:
    """Three rounds of 20,000 people; false alarm 1e-7 by the bound in tests/noise/goodness.py."""
    response = PermanentResponse(2, 1, COLOURS)
    source = ReplayableSource("rounds")
    memory = response.remember(["green"] * 20_000, source=source)
    rounds = [memory.report(source=source).columns["position"].astype(int) for _ in range(3)]
    law = sequence_law(response, 1, 3)
    found = np.bincount(rounds[0] * 9 + rounds[1] * 3 + rounds[2], minlength=27)
    assert misfit(found, np.array(list(law.values()))) > 1e-7


def test_without_a_second_lie_every_round_says_the_same() -> None:
    memory = PermanentResponse(1, None, COLOURS).remember(["red", "blue"] * 50)
    assert memory.report().columns["position"].tolist() == memory.report().columns["position"].tolist()


def test_a_memory_can_be_kept_and_recalled() -> None:
    response = PermanentResponse(1, None, COLOURS)
    memory = response.remember(["red", "blue"] * 50)
    again = response.recall(memory.settled.tolist())
    assert again.report().columns["position"].tolist() == memory.report().columns["position"].tolist()
    for bad in ([3], [-1], ["red"], [None]):
        with pytest.raises(InvalidInput):
            response.recall(bad)


def test_fresh_memories_would_cost_more_each_time() -> None:
    """Two memories of one answer are independent, so their losses add up: the law of the pair says so."""
    response = PermanentResponse(1, None, COLOURS)
    own, other = (float(rate) for rate in response.rates()[:2])
    assert 2 * math.log(own / other) == pytest.approx(2 * float(response.total.epsilon))


def test_bad_input_is_refused() -> None:
    for permanent, fresh in ((0, 1), (1, 0), (-1, 1), (1, "x")):
        with pytest.raises(InvalidInput):
            PermanentResponse(permanent, fresh, COLOURS)
    for rounds in (0, -1, 1.5):
        with pytest.raises(InvalidInput):
            PermanentResponse(1, 1, COLOURS).loss_after(rounds)
    with pytest.raises(InvalidInput):
        PermanentResponse(1, 1, COLOURS).remember(["pink"])
