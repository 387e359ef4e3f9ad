"""Subset selection keeps the promise on its proof sheet."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from discreet.local.randomized_response import GeneralizedResponse
from discreet.local.subset_selection import SubsetSelection
from discreet.noise.source import ReplayableSource
from tests.local.contract import OracleContract


class TestTwoOfFive(OracleContract):
    trials = 120

    def randomizer(self) -> SubsetSelection:
        return SubsetSelection("1/2", ["a", "b", "c", "d", "e"])

    def other_randomizers(self) -> list[Any]:
        return [SubsetSelection("1/2", list("abcde"), chosen=3), SubsetSelection(1, list("abcde"))]

    def bad_values(self) -> list[Any]:
        return ["f", 0, None, math.nan]

    def impossible(self) -> list[Any]:
        return [0, 1, 0b111, 0b100001]

    def test_the_best_size_is_two(self) -> None:
        assert self.randomizer().chosen == 2


class TestThreeOfFour(TestTwoOfFive):
    """More than half of them, where the steps of the selection collide often."""

    def randomizer(self) -> SubsetSelection:
        return SubsetSelection(1, ["a", "b", "c", "d"], chosen=3)

    def impossible(self) -> list[Any]:
        return [0, 0b11, 0b1111, 0b10011]

    def test_the_best_size_is_two(self) -> None:
        assert SubsetSelection("1/10", ["a", "b", "c", "d"]).chosen == 2


class TestFourOfNineInTwoBytes(TestTwoOfFive):
    crowd = 1
    simulated = 50
    trials = 60

    def randomizer(self) -> SubsetSelection:
        return SubsetSelection("1/5", range(9))

    def bad_values(self) -> list[Any]:
        return [9, -1, None]

    def impossible(self) -> list[Any]:
        return [b"\x0f\x01", b"\x07\x02", b"\x00\x00"]

    def test_the_best_size_is_two(self) -> None:
        assert self.randomizer().chosen == 4


def test_one_of_two_is_randomized_response() -> None:
    one, other = SubsetSelection(3, range(4)), GeneralizedResponse(3, range(4))
    assert one.chosen == 1
    assert one.estimator.variance(10, "0.3") == pytest.approx(other.estimator.variance(10, "0.3"), rel=1e-12)


@pytest.mark.parametrize(("epsilon", "k", "expected"), [(1, 10, 2.84), (1, 100, 3.59), (0.5, 10, 12.6)])
def test_variances_are_those_of_the_texts(epsilon: float, k: int, expected: float) -> None:
    """The texts round k/(e^ε+1); the better neighbour is sometimes the other one."""
    rounded = SubsetSelection(epsilon, range(k), chosen=round(k / (math.exp(epsilon) + 1)))
    assert rounded.estimator.variance(1) == pytest.approx(expected, rel=5e-3)
    assert SubsetSelection(epsilon, range(k)).estimator.variance(1) <= rounded.estimator.variance(1)


def test_large_batches_are_unbiased() -> None:
    """100 counts off by more than 6 deviations: probability below 2e-7."""
    oracle, n = SubsetSelection(1, range(100)), 30_000
    values = np.arange(n) % 10
    reports = oracle.privatize(values, source=ReplayableSource(6))
    truth = np.bincount(values, minlength=100) / n
    deviations = np.array([oracle.estimator.standard_deviation(n, float(share)) for share in truth])
    assert (np.abs(oracle.estimate(reports).shares - truth) < 6 * deviations).all()
