"""The k best keep the promise on their proof sheet."""

from __future__ import annotations

import math
from collections.abc import Hashable
from itertools import permutations
from typing import Any

import pytest

from discreet.errors import InvalidInput, InvalidValue
from discreet.exact.ball import upper, working_precision
from discreet.mechanisms.exponential import Exponential
from discreet.mechanisms.top_k import TopK
from discreet.noise.source import ScriptedSource
from discreet.privacy.hypothesis_tests import Pair
from discreet.privacy.loss import ZeroConcentrated
from tests.mechanisms.contract import MechanismContract
from tests.mechanisms.neighbouring_scores import moved_anyhow, moved_together
from tests.mechanisms.test_exponential import BAD_LISTS, BAD_SCORES


class TestTwoOfThree(MechanismContract):
    tight = False  # e^ε is the limit as both winners fall behind, as for one exponential mechanism

    def mechanism(self) -> TopK:
        return TopK(1, 2, ["a", "b", "c"])

    def worst_neighbours(self) -> list[tuple[Any, Any]]:
        return [([0, 3, 1], [-1, 2, 2]), *moved_anyhow([0, 3, 1])[::2]]

    def outcomes(self) -> list[Hashable]:
        return list(permutations("abc", 2))

    def bad_inputs(self) -> list[Any]:
        return BAD_SCORES


class TestFarBehind(MechanismContract):
    """Both winners sixty times further behind than one pick can make up for: e^ε to nine digits."""

    draws = 1000

    def mechanism(self) -> TopK:
        return TopK(2, 2)

    def worst_neighbours(self) -> list[tuple[Any, Any]]:
        return [([-60, -120, 0], [-61, -121, 1])]

    def outcomes(self) -> list[Hashable]:
        return list(permutations(range(3), 2))

    def bad_inputs(self) -> list[Any]:
        return [*BAD_LISTS, [1]]


class TestMonotone(TestTwoOfThree):
    def mechanism(self) -> TopK:
        return TopK(2, 2, ["a", "b", "c"], monotone=True)

    def worst_neighbours(self) -> list[tuple[Any, Any]]:
        return [([0, 3, 1], [0, 3, 2]), *moved_together([0, 3, 1])]


def test_one_race_is_peeling() -> None:
    """P(first, then second) = P(first) · P(second without the first), each an exponential mechanism of ε/k."""
    scores = [2, 5, 3, 0]
    law = TopK(1, 2).distribution(scores)
    one = Exponential("1/2")
    for i, j in permutations(range(4), 2):
        rest = [k for k in range(4) if k != i]
        second = one.distribution([scores[k] for k in rest]).pmf(rest.index(j))
        assert math.isclose(law.pmf((i, j)), one.distribution(scores).pmf(i) * second, rel_tol=1e-12)


def test_the_whole_list_is_a_random_order() -> None:
    everything = TopK(3, 4)
    assert sorted(everything.release([4, 3, 2, 1])) == [0, 1, 2, 3]
    assert sum(everything.distribution([4, 3, 2, 1]).pmf(p) for p in permutations(range(4))) == pytest.approx(1)


def test_one_winner_is_the_exponential_mechanism() -> None:
    scores = [2, 5, 3]
    assert [TopK(1, 1).distribution(scores).pmf((k,)) for k in range(3)] == [
        Exponential(1).distribution(scores).pmf(k) for k in range(3)
    ]


def test_concentrated_loss_bounds_every_renyi_divergence() -> None:
    mechanism = TopK(4, 2)
    assert mechanism.concentrated_loss() == ZeroConcentrated(1)
    for first, second in moved_anyhow([0, 2, 1])[::3]:
        pair = Pair(mechanism.distribution(first).masses, mechanism.distribution(second).masses)
        for order in ("1.01", 2, 10):
            with working_precision():
                assert upper(pair.renyi(order)) <= float(order) * 1 + 1e-12


def test_error_holds_for_every_place() -> None:
    mechanism = TopK(4, 2)
    error = mechanism.error(0.9, 4)
    behind = math.ceil(error)
    law = mechanism.distribution([0, 0, -behind, -behind])
    assert law.pmf((0, 1)) + law.pmf((1, 0)) >= 0.9


def test_far_places_are_told_apart_exactly() -> None:
    """Keys that agree in every digit of a float still get an order, and in both directions."""
    seen = {TopK(1, 2).release([0, -(10**17), -(10**17)]) for _ in range(60)}
    assert seen == {(0, 1), (0, 2)}  # false alarm: 2^-59


def test_refuses_more_winners_than_candidates() -> None:
    with pytest.raises(InvalidValue, match="at most the number of candidates, 2"):
        TopK(1, 3, ["a", "b"])
    with pytest.raises(InvalidValue, match="at most the number of candidates, 2"):
        TopK(1, 3).release([1, 2], source=ScriptedSource([]))
    with pytest.raises(InvalidInput):
        TopK(1, 3).error(candidates_count=2)


def test_long_laws_are_refused() -> None:
    with pytest.raises(InvalidValue, match="release has no such limit"):
        TopK(1, 10).distribution(list(range(20)))
    assert len(set(TopK(1, 10).release(list(range(20))))) == 10


@pytest.mark.parametrize("k", [0, -1, 1.5, True, None, "2"])
def test_refuses_counts_of_winners_without_meaning(k: Any) -> None:
    with pytest.raises(InvalidInput):
        TopK(1, k)


@pytest.mark.parametrize("epsilon", [0, -1, math.nan, math.inf, "1e400", 5e-324, True, None, "one"])
def test_refuses_prices_that_mean_nothing(epsilon: Any) -> None:
    with pytest.raises(InvalidInput):
        TopK(epsilon, 1)
