"""Symmetric and optimal unary encoding keep the promise on their proof sheet."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np
import pytest

from discreet.errors import InvalidValue
from discreet.local.unary import OptimalUnary, SymmetricUnary
from discreet.noise.source import ReplayableSource
from tests.local.contract import OracleContract

ANSWERS = ("tea", "coffee", "water")


class TestOptimal(OracleContract):
    encoding: ClassVar[type[Any]] = OptimalUnary
    other: ClassVar[type[Any]] = SymmetricUnary

    def randomizer(self) -> Any:
        return self.encoding(1, ANSWERS)

    def other_randomizers(self) -> list[Any]:
        return [self.encoding(2, ANSWERS), self.encoding(1, ANSWERS[::-1]), self.other(1, ANSWERS)]

    def bad_values(self) -> list[Any]:
        return ["milk", None, 3, math.nan]

    def impossible(self) -> list[Any]:
        return [8, 255]


class TestSymmetric(TestOptimal):
    encoding = SymmetricUnary
    other = OptimalUnary


class TestNineCategoriesInTwoBytes(TestOptimal):
    crowd = 1
    simulated = 50
    trials = 100

    def randomizer(self) -> Any:
        return self.encoding("1/2", range(9))

    def other_randomizers(self) -> list[Any]:
        return [self.encoding("1/2", range(10)), self.encoding("1/2", list("abcdefghi"))]

    def bad_values(self) -> list[Any]:
        return [9, -1, "0", None]

    def impossible(self) -> list[Any]:
        return [b"\x00\x02", b"\xff\xff"]


@pytest.mark.parametrize("epsilon", [0.5, 1, 2, 4])
def test_variances_are_those_of_the_texts(epsilon: float) -> None:
    e, half = math.exp(epsilon), math.exp(epsilon / 2)
    assert OptimalUnary(epsilon, ANSWERS).estimator.variance(1) == pytest.approx(4 * e / (e - 1) ** 2)
    assert SymmetricUnary(epsilon, ANSWERS).estimator.variance(1) == pytest.approx(half / (half - 1) ** 2)


@pytest.mark.parametrize("encoding", [OptimalUnary, SymmetricUnary])
def test_large_batches_follow_the_law_of_each_bit(encoding: type[Any]) -> None:
    """Bits come from bytes there. Each of 100 counts is off by more than 6 deviations with probability 2e-9."""
    n, k = 40_000, 100
    oracle = encoding(1, range(k))
    values = np.arange(n) % 10
    found = oracle.supports(oracle.privatize(values, source=ReplayableSource(encoding.kind)).columns)
    p, q = oracle.debias.yes, oracle.debias.no
    held = np.bincount(values, minlength=k)
    mean, spread = held * p + (n - held) * q, held * p * (1 - p) + (n - held) * q * (1 - q)
    assert (np.abs(found - mean) < 6 * np.sqrt(spread)).all()


def test_the_law_of_many_categories_is_not_listed() -> None:
    with pytest.raises(InvalidValue, match="at most 12"):
        OptimalUnary(1, range(13)).law(0)


def test_a_price_beyond_all_floats_tells_the_truth() -> None:
    oracle = SymmetricUnary(10**6, ANSWERS)
    assert oracle.outcomes(oracle.privatize(["tea", "water"])) == [1, 4]
