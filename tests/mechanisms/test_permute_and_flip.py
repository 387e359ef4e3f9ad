"""Permute-and-flip keeps the promise on its proof sheet, and never chooses worse than the exponential mechanism."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import permutations, product
from typing import Any

import pytest

from discreet.errors import InvalidInput
from discreet.exact.ball import Ball, lower, upper, working_precision
from discreet.mechanisms.exponential import Exponential
from discreet.mechanisms.permute_and_flip import PermuteAndFlip
from discreet.mechanisms.selection import Selection
from tests.mechanisms.contract import MechanismContract
from tests.mechanisms.neighbouring_scores import moved_anyhow, moved_together
from tests.mechanisms.test_exponential import BAD_SCORES


class TestThreeNames(MechanismContract):
    """Tight, where the exponential mechanism is not: a candidate that is never ahead pays the whole of e^ε."""

    def mechanism(self) -> PermuteAndFlip:
        return PermuteAndFlip(1, ["a", "b", "c"])

    def worst_neighbours(self) -> list[tuple[Any, Any]]:
        return [([1, 1, 1], [0, 2, 2]), *moved_anyhow([0, 3, 1]), *moved_anyhow([0, 0, 0])]

    def outcomes(self) -> list[str]:
        return ["a", "b", "c"]

    def bad_inputs(self) -> list[Any]:
        return BAD_SCORES


class TestMonotone(TestThreeNames):
    def mechanism(self) -> PermuteAndFlip:
        return PermuteAndFlip("1/2", ["a", "b", "c"], sensitivity=2, monotone=True)

    def worst_neighbours(self) -> list[tuple[Any, Any]]:
        return [([1, 1, 1], [1, 3, 3]), *moved_together([0, 3, 1], by=2)]


def expected_score(mechanism: Selection, scores: list[int]) -> Ball:
    law = mechanism.distribution(scores)
    with working_precision(320):
        return sum((mass * scores[k] for k, mass in enumerate(law.masses)), Ball(0))


@pytest.mark.parametrize("epsilon", ["1/10", 1, 5])
@pytest.mark.parametrize("monotone", [False, True])
@pytest.mark.some(3)
def test_never_worse_than_the_exponential_mechanism(epsilon: Any, monotone: bool) -> None:
    for scores in product(range(0, 9, 2), repeat=4):
        here, there = (
            expected_score(kind(epsilon, monotone=monotone), list(scores)) for kind in (PermuteAndFlip, Exponential)
        )
        with working_precision(320):
            assert upper(here) >= lower(there)
            assert lower(here) > upper(there) or len(set(scores)) == 1


def test_its_score_is_stochastically_larger() -> None:
    for scores in product(range(4), repeat=4):
        laws = [kind(1).distribution(list(scores)).masses for kind in (PermuteAndFlip, Exponential)]
        for level in range(4):
            with working_precision(320):
                ours, theirs = (
                    sum((m for s, m in zip(scores, law, strict=True) if s >= level), Ball(0)) for law in laws
                )
                assert upper(ours) >= lower(theirs)


def test_the_law_is_that_of_permuting_and_flipping() -> None:
    """Every order is equally likely; the first candidate whose coin shows heads wins."""
    scores = [0, 2, 1, 2]
    heads = [math.exp((s - max(scores)) / 2) for s in scores]
    found = [0.0] * 4
    for order in permutations(range(4)):
        still = 1 / 24
        for k in order:
            found[k] += still * heads[k]
            still *= 1 - heads[k]
    law = PermuteAndFlip(1).distribution(scores)
    assert [law.pmf(k) for k in range(4)] == pytest.approx(found, rel=1e-12)


@pytest.mark.parametrize("count", [2, 5, 40])
@pytest.mark.parametrize("confidence", [0.6, 0.95, 0.999])
def test_error_is_exact_at_the_worst_scores_and_below_the_other_one(count: int, confidence: float) -> None:
    mechanism = PermuteAndFlip("1/2")
    error = mechanism.error(confidence, count)
    law = mechanism.distribution([0, *[-Fraction(error)] * (count - 1)])
    assert math.isclose(law.pmf(0), confidence, rel_tol=1e-9)
    assert error <= Exponential("1/2").error(confidence, count)


def test_error_bounds_what_any_scores_do() -> None:
    mechanism = PermuteAndFlip(1)
    for scores in ([0, 0, 0], [0, -1, -2], [0, -9, -9], [0, -5, -100], [7, 7, 0]):
        for confidence in (0.5, 0.9, 0.99):
            assert mechanism.exact_shortfall(scores, confidence) <= mechanism.error(confidence, 3)


def test_one_candidate_is_always_chosen() -> None:
    assert PermuteAndFlip(1, ["this"]).release([-5]) == "this"
    assert PermuteAndFlip(1, ["this"]).error(0.999) == 0


def test_extreme_scores_do_not_overflow() -> None:
    assert PermuteAndFlip(1).release([-(2**62), 2**62]) == 1


@pytest.mark.parametrize("epsilon", [0, -1, math.nan, math.inf, "1e400", 5e-324, True, None, "one"])
def test_refuses_prices_that_mean_nothing(epsilon: Any) -> None:
    with pytest.raises(InvalidInput):
        PermuteAndFlip(epsilon)


@pytest.mark.parametrize("wrong", [{"candidates": []}, {"sensitivity": 0}, {"monotone": "yes"}])
def test_refuses_settings_without_meaning(wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        PermuteAndFlip(1, **wrong)
