"""Report noisy max keeps the promise on its proof sheet."""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import numpy as np
import pytest

from discreet.errors import InvalidInput, InvalidType
from discreet.exact.ball import Ball, ball, lower, upper, working_precision
from discreet.mechanisms.noisy_max import NoisyMax
from discreet.noise.laplace import DiscreteLaplace
from discreet.noise.source import ScriptedSource
from discreet.privacy.hypothesis_tests import Pair
from tests.mechanisms.contract import MechanismContract, privacy_violation
from tests.mechanisms.neighbouring_scores import moved_anyhow, moved_together
from tests.mechanisms.test_exponential import BAD_LISTS, BAD_SCORES

NOT_WHOLE: list[Any] = [[1.0, 2.0, 3.0], np.asarray([1.0, 2.0, 3.0]), ["1", "2", "3"], [1, 2, 3.0], {"a": 1.5}]


class TestThreeScores(MechanismContract):
    tight = False  # other noisy scores can fall below any level, so e^ε is reached only as candidates are added

    def mechanism(self) -> NoisyMax:
        return NoisyMax(2)

    def worst_neighbours(self) -> list[tuple[Any, Any]]:
        return [([0, 2, 2], [-1, 3, 3]), *moved_anyhow([0, 0, 0])[::4], ([9, 0, 4], [8, 1, 5])]

    def outcomes(self) -> range:
        return range(3)

    def bad_inputs(self) -> list[Any]:
        return BAD_LISTS + NOT_WHOLE


class TestMonotone(TestThreeScores):
    def mechanism(self) -> NoisyMax:
        return NoisyMax(2, monotone=True)

    def worst_neighbours(self) -> list[tuple[Any, Any]]:
        return [([0, 2, 2], [0, 3, 3]), *moved_together([0, 0, 0]), *moved_together([3, 0, 1])]


class TestNamesAndALargeSensitivity(TestThreeScores):
    def mechanism(self) -> NoisyMax:
        return NoisyMax(3, 2, candidates=["a", "b", "c"])

    def worst_neighbours(self) -> list[tuple[Any, Any]]:
        return [([0, 5, 3], [-2, 7, 5]), ({"c": 3, "a": 0, "b": 5}, [-2, 7, 5])]

    def outcomes(self) -> list[str]:  # type: ignore[override]
        return ["a", "b", "c"]

    def bad_inputs(self) -> list[Any]:
        return BAD_SCORES + NOT_WHOLE


def largest_ratio(mechanism: NoisyMax, first: list[int], second: list[int]) -> float:
    pair = Pair(mechanism.distribution(first).masses, mechanism.distribution(second).masses)
    return max(float(pair.max_divergence()), float(pair.reversed().max_divergence()))


@pytest.mark.parametrize("monotone", [False, True])
def test_the_price_is_reached_as_candidates_are_added(monotone: bool) -> None:
    mechanism = NoisyMax(4, monotone=monotone)
    down = 0 if monotone else -1
    reached = [largest_ratio(mechanism, [0] * n, [down] + [1] * (n - 1)) for n in (2, 4, 12)]
    assert reached == sorted(reached)
    assert 3.99 < reached[-1] <= 4


def test_one_more_step_keeps_a_fixed_share_of_every_tail() -> None:
    """The lemma of the proof: P(Y ≥ k+1) ≥ r P(Y ≥ k), with equality from k = 0 on."""
    for scale in ("1/3", 1, 7):
        law = DiscreteLaplace(scale)
        with working_precision(320):
            r = (-1 / ball(law.scale)).exp()
            for k in range(-30, 30):
                kept, wanted = law.above(k + 1), r * law.above(k)
                assert upper(kept) >= lower(wanted)
                assert kept.overlaps(wanted) == (k >= 0)


def test_the_law_counts_ties_for_the_lowest_position() -> None:
    """Against brute force over all noise within reach of a small scale."""
    mechanism = NoisyMax(8, monotone=True)
    scores = [1, 0, 1]
    found = [0.0] * 3
    for noise in product(range(-6, 7), repeat=3):
        noisy = [s + y for s, y in zip(scores, noise, strict=True)]
        found[noisy.index(max(noisy))] += math.prod(float(mechanism.law.pmf(y)) for y in noise)
    law = mechanism.distribution(scores)
    assert [law.pmf(k) for k in range(3)] == pytest.approx(found, rel=1e-12)
    assert law.pmf(0) > law.pmf(2)


def test_the_law_is_enclosed_to_many_digits() -> None:
    law = NoisyMax(1).distribution([0, 40, 3])
    with working_precision(320):
        total = sum(law.masses, Ball(0))
        assert total.contains(Ball(1))
        assert all(m.rel_accuracy_bits() > 100 for m in law.masses)


@pytest.mark.parametrize("count", [2, 3, 6])
def test_error_holds_at_the_worst_scores(count: int) -> None:
    mechanism = NoisyMax(1, monotone=True)
    error = mechanism.error(0.9, count)
    law = mechanism.distribution([-(error + 1)] * (count - 1) + [0])
    assert law.pmf(count - 1) >= 0.9
    closer = mechanism.distribution([-(error - 2)] * (count - 1) + [0])
    assert closer.pmf(count - 1) < 0.9  # and is not far from necessary


def test_scale_follows_sensitivity_and_monotony() -> None:
    assert NoisyMax(1).law.scale == 2
    assert NoisyMax(1, monotone=True).law.scale == 1
    assert NoisyMax("1/2", 3).law.scale == 12


def test_counting_many_candidates() -> None:
    scores = np.zeros(100_000, np.int64)
    scores[777] = 1000
    assert NoisyMax(1).release(scores) == 777


def test_promise_holds_over_all_small_histograms() -> None:
    mechanism = NoisyMax(1, monotone=True)
    for scores in product(range(3), repeat=2):
        for pair in moved_together(scores):
            assert privacy_violation(mechanism, *pair, range(2)) is None
            assert privacy_violation(mechanism, *pair[::-1], range(2)) is None


def test_floats_are_refused_with_a_way_out() -> None:
    with pytest.raises(InvalidType, match="Exponential"):
        NoisyMax(1).release([0.5, 1.5], source=ScriptedSource([]))


def test_extreme_scores_do_not_overflow() -> None:
    assert NoisyMax(1).release([-(2**62), 2**62]) == 1


def test_law_over_too_wide_a_range_is_refused() -> None:
    with pytest.raises(InvalidInput, match="release has no such limit"):
        NoisyMax(1).distribution([0, 2**40])


@pytest.mark.parametrize("epsilon", [0, -1, math.nan, math.inf, "1e400", 5e-324, True, None, "one"])
def test_refuses_prices_that_mean_nothing(epsilon: Any) -> None:
    with pytest.raises(InvalidInput):
        NoisyMax(epsilon)


@pytest.mark.parametrize("wrong", [{"sensitivity": 0}, {"sensitivity": 1.5}, {"monotone": 1}, {"candidates": []}])
def test_refuses_settings_without_meaning(wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        NoisyMax(1, **wrong)


def test_the_order_in_which_names_were_counted_does_not_break_ties() -> None:
    rivals = [f"rival {k}" for k in range(12)]
    counted_first = {"a": 0} | dict.fromkeys(rivals, 0)
    counted_last = dict.fromkeys(rivals, 1) | {"a": -1}
    assert privacy_violation(NoisyMax(1), counted_first, counted_last, ["a", *rivals]) is None
