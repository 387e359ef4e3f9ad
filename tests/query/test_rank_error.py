"""A quantile is off by no more ranks than was said, at least as often as was said, at any rows."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import InvalidValue
from discreet.mechanisms.weighted_quantile import WeightedQuantile
from discreet.query.answer.rank_error import rank_error
from tests.thoroughness import many

FACTORS = st.sampled_from([Fraction(1, 50), Fraction(1, 7), Fraction(1), Fraction(5)])
CONFIDENCES = st.sampled_from([Fraction(1, 10), Fraction(1, 2), Fraction(19, 20), Fraction(999, 1000)])
SLACK = 1e-9  # sums of a few floating-point numbers below one


def _misses(distances: list[float], factor: Fraction, reach: float) -> float:
    """The probability that the chosen point is ``reach`` or more behind the best one, added up point by point."""
    behind = [distance - min(distances) for distance in distances]
    weights = [math.exp(-float(factor) * each) for each in behind]
    far = [weight for weight, each in zip(weights, behind, strict=True) if each >= reach and each > 0]
    return math.fsum(far) / math.fsum(weights)


@settings(max_examples=many(75, 300), deadline=None)
@given(distances=st.lists(st.integers(0, 400), min_size=1, max_size=12), factor=FACTORS, confidence=CONFIDENCES)
def test_no_distances_miss_more_often_than_was_said(
    distances: list[float], factor: Fraction, confidence: Fraction
) -> None:
    reach = rank_error(len(distances), factor, confidence)
    assert _misses(distances, factor, reach) <= 1 - confidence + SLACK


@pytest.mark.parametrize("points", [2, 3, 10, 1000])
@pytest.mark.parametrize("confidence", [Fraction(1, 2), Fraction(19, 20)])
def test_the_worst_distances_miss_as_often_as_was_said(points: int, confidence: Fraction) -> None:
    reach = rank_error(points, Fraction(1, 3), confidence)
    worst = [0.0] + [reach] * (points - 1)
    assert _misses(worst, Fraction(1, 3), reach) == pytest.approx(1 - confidence if reach > 0 else 0, abs=SLACK)


@pytest.mark.parametrize("points", [3, 10, 1000])
def test_forgetting_how_many_points_there_are_is_caught(points: int) -> None:
    without = math.log(1 / 0.05) * 3
    assert _misses([0.0] + [without] * (points - 1), Fraction(1, 3), without) > 0.05 + SLACK


@given(points=st.integers(1, 10**9), factor=FACTORS, confidence=CONFIDENCES)
def test_it_is_never_more_than_the_better_known_bound(points: int, factor: Fraction, confidence: Fraction) -> None:
    known = math.log(points / (1 - confidence)) / factor
    assert rank_error(points, factor, confidence) <= known * (1 + SLACK)


@settings(max_examples=many(50, 200), deadline=None)
@given(
    weights=st.lists(st.integers(0, 2**40), min_size=9, max_size=9),
    quantile=st.sampled_from([Fraction(0), Fraction(1, 3), Fraction(1, 2), Fraction(19, 20), Fraction(1)]),
    inward=st.integers(0, 2**41),
)
def test_some_grid_point_always_covers_the_target(weights: list[int], quantile: Fraction, inward: int) -> None:
    choice = WeightedQuantile(1, quantile, (0, 8), inward=inward)
    assert min(choice.measure_distances(np.arange(9), np.asarray(weights, np.int64)).values()) == 0


def test_one_point_is_never_off() -> None:
    assert rank_error(1, 1) == 0


@pytest.mark.parametrize(("points", "factor", "confidence"), [(0, 1, 0.9), (5, 0, 0.9), (5, -1, 0.9), (5, 1, 1)])
def test_what_makes_no_sense_is_refused(points: int, factor: int, confidence: float) -> None:
    with pytest.raises(InvalidValue):
        rank_error(points, factor, confidence)
