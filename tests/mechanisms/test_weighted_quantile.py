"""Quantiles of weighted values keep the promise on their proof sheet."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from discreet.errors import InvalidInput, InvalidValue
from discreet.exact.ball import working_precision
from discreet.mechanisms.exponential import Exponential
from discreet.mechanisms.quantile import Median
from discreet.mechanisms.weighted_quantile import WeightedQuantile
from discreet.privacy.hypothesis_tests import Pair
from discreet.privacy.loss import Pure, ZeroConcentrated
from tests.mechanisms.contract import MechanismContract, privacy_violation
from tests.thoroughness import many

Histogram = tuple[list[int], list[int]]

BAD_HISTOGRAMS: list[Any] = [
    None,
    5,
    [1, 2],
    [[1], [2]],
    ([1], [1, 2]),
    ([1.5], [1]),
    ([1], [0.5]),
    ([1], [-1]),
    (["1"], [1]),
    ([True], [1]),
    ([[1, 2]], [[1, 2]]),
    ([None], [1]),
    ([1], [2**70]),
]
"""A weight that has no 64 bits is refused before anything is drawn; an engine gives none."""


class TestWeightedMedian(MechanismContract):
    tight = False  # e^ε is the limit of wide gaps; see the test of one below
    draws = many(2000, 4000)  # finds a law of 10 outcomes that is 20 % off on average with probability 0.99

    def mechanism(self) -> WeightedQuantile:
        return WeightedQuantile(1, "1/2", (0, 9), weight=6)

    def worst_neighbours(self) -> list[tuple[Any, Any]]:
        return [
            (([2, 3, 7], [8, 4, 5]), ([2, 3, 7], [8, 4, 11])),
            (([], []), ([5], [6])),
            (([0, 9], [20, 20]), ([0, 9, 4], [20, 20, 6])),
            (([4], [60]), ([4], [54])),
            (([2, 3], [9, 9]), ([2, 3, 70, -5], [9, 9, 3, 3])),
        ]

    def outcomes(self) -> range:
        return range(10)

    def bad_inputs(self) -> list[Any]:
        return BAD_HISTOGRAMS


class TestUnitsThatAreReplaced(TestWeightedMedian):
    """Three of weight go, and three come elsewhere: six are moved."""

    def worst_neighbours(self) -> list[tuple[Any, Any]]:
        return [(([2, 7], [3, 30]), ([7, 9], [30, 3])), (([0, 9], [3, 0]), ([0, 9], [0, 3]))]


class TestUpperTail(TestWeightedMedian):
    def mechanism(self) -> WeightedQuantile:
        return WeightedQuantile(2, "9/10", (0, 9), weight=6, inward=7)


class TestLowerTail(TestWeightedMedian):
    def mechanism(self) -> WeightedQuantile:
        return WeightedQuantile(2, "1/3", (0, 9), weight=6, inward=3)


class TestMinimum(TestWeightedMedian):
    def mechanism(self) -> WeightedQuantile:
        return WeightedQuantile(3, 0, (0, 9), weight=6, inward=4)


class TestMaximum(TestWeightedMedian):
    def mechanism(self) -> WeightedQuantile:
        return WeightedQuantile(3, 1, (0, 9), weight=6, inward=5)


def reached(mechanism: WeightedQuantile, first: Histogram, second: Histogram) -> float:
    """The pure loss between two histograms."""
    with working_precision(256):
        laws = [mechanism.distribution(value) for value in (first, second)]
        pair = Pair(*([law.mass(y) for y in range(mechanism.ends[0], mechanism.ends[1] + 1)] for law in laws))
        return max(float(pair.max_divergence()), float(pair.reversed().max_divergence()))


def test_the_price_is_reached_where_nearly_all_points_lie_in_one_gap() -> None:
    median = WeightedQuantile(1, "1/2", (0, 9999), weight=2)
    assert 0.99 < reached(median, ([1], [4]), ([1, 9999], [4, 2])) <= 1


def test_neighbours_that_move_less_weight_lose_less() -> None:
    for q, inward in [("1/2", 0), ("1/3", 2), ("9/10", 5), (0, 3), (1, 3)]:
        mechanism = WeightedQuantile(2, q, (0, 5), weight=10, inward=inward)
        for moved in range(1, 11):
            for where in range(6):
                first, second = ([1, 4], [7, 6]), ([1, 4, where], [7, 6, moved])
                assert reached(mechanism, first, second) <= 2 * moved / 10 + 1e-12


class PricedByTheSmallerShare(WeightedQuantile):
    """The planted bug: what a rank moves is taken to be weight times the smaller of q and 1 - q."""

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self.factor = self.epsilon / (2 * self.weight * min(self.quantile, 1 - self.quantile))


class WithoutItsEnds(WeightedQuantile):
    """The planted bug: a point outside the ends lengthens what can be chosen."""

    def score(self, points: Any, weights: Any) -> Any:
        wide = WeightedQuantile(
            self.epsilon, self.quantile, (min(0, *points), max(9, *points)), weight=self.weight, inward=self.inward
        )
        return wide.score(points, weights)

    def distribution(self, value: Any) -> Any:
        wide = WeightedQuantile(self.epsilon, self.quantile, (0, max(9, *value[0])), weight=self.weight)
        return wide.distribution(value)


def test_the_check_catches_planted_bugs() -> None:
    quarter = ([200], [4]), ([0, 200], [1, 4])
    assert privacy_violation(WeightedQuantile(1, "1/4", (0, 201)), *quarter, range(202)) is None
    assert privacy_violation(PricedByTheSmallerShare(1, "1/4", (0, 201)), *quarter, range(202)) is not None
    outside = ([3], [5]), ([3, 12], [5, 1])
    for first, second in (outside, outside[::-1]):
        assert privacy_violation(WeightedQuantile(1, "1/2", (0, 9)), first, second, range(13)) is None
    assert privacy_violation(WithoutItsEnds(1, "1/2", (0, 9)), *outside[::-1], range(13)) is not None


def test_whole_weights_of_one_give_the_law_of_plain_quantiles() -> None:
    values = [2, 3, 3, 7]
    plain, weighted = Median(1, 0, 9).distribution(values), WeightedQuantile(1, "1/2", (0, 9), weight=1)
    law = weighted.distribution(([2, 3, 7], [1, 2, 1]))
    assert [law.pmf(k) for k in range(10)] == pytest.approx([plain.pmf(k) for k in range(10)], abs=1e-15)


def test_the_law_is_that_of_an_exponential_mechanism_on_its_distances() -> None:
    mechanism = WeightedQuantile(1, "1/3", (0, 6), weight=2)
    points, weights = np.array([1, 1, 5]), np.array([3, 1, 4])
    distances = mechanism.measure_distances(points, weights)
    scores = [Fraction(-distances[k], 3) for k in range(7)]
    other = Exponential(1, sensitivity=2 * Fraction(2, 3)).distribution(scores)
    law = mechanism.distribution((points, weights))
    assert [law.pmf(k) for k in range(7)] == pytest.approx([other.pmf(k) for k in range(7)], abs=1e-15)


def test_losses_and_errors_are_those_of_the_exponential_mechanism() -> None:
    mechanism = WeightedQuantile(2, "1/2", (0, 999), weight=50)
    assert mechanism.loss == Pure(2)
    assert mechanism.concentrated_loss() == ZeroConcentrated("1/2")
    assert mechanism.error(0.95) == pytest.approx(25 / 2 * np.log(999 * 19) * 2)
    assert WeightedQuantile(1, 0, (0, 0)).error() == 0


def test_an_extreme_aims_into_the_data_so_that_one_in_twenty_lies_outside() -> None:
    for q, outside in ((0, range(40)), (1, range(61, 101))):
        mechanism = WeightedQuantile(1, q, (0, 100))
        law = mechanism.distribution(([40, 60], [mechanism.inward, mechanism.inward]))
        assert sum(law.pmf(k) for k in outside) <= 0.05
    assert WeightedQuantile(1, "1/2", (0, 100)).inward == 0


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ((0, "1/2", (0, 9)), {}),
        ((1, 2, (0, 9)), {}),
        ((1, "1/2", (9, 0)), {}),
        ((1, "1/2", (0, 2**70)), {}),
        ((1, "1/2", (-(2**61), 2**61)), {}),
        ((1, "1/2", (0, 0.5)), {}),
        ((1, "1/2", (0, 9)), {"weight": 0}),
        ((1, "1/2", (0, 9)), {"inward": -1}),
        (("1e-30", "1/2", (0, 9)), {"weight": 2**99}),
    ],
)
def test_what_makes_no_sense_is_refused(given: Any, named: Any) -> None:
    with pytest.raises(InvalidInput):
        WeightedQuantile(*given, **named)


def test_long_laws_are_not_listed() -> None:
    with pytest.raises(InvalidValue, match="65536 points"):
        WeightedQuantile(1, "1/2", (0, 2**20)).distribution(([1], [1]))
