"""Local hashing keeps the promise on its proof sheet."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from discreet.errors import InvalidInput
from discreet.local.local_hashing import LocalHashing
from discreet.noise.source import ReplayableSource
from tests.local.contract import OracleContract


class TestSmallPrime(OracleContract):
    crowd = 1
    trials = 100

    def randomizer(self) -> LocalHashing:
        return LocalHashing(1, ["a", "b", "c", "d"], buckets=3, prime=5)

    def other_randomizers(self) -> list[Any]:
        return [
            LocalHashing(1, list("abcd"), buckets=4, prime=5),
            LocalHashing(1, list("abcd"), buckets=3, prime=7),
            LocalHashing(1, list("abcd")),
        ]

    def bad_values(self) -> list[Any]:
        return ["e", 0, None, math.nan]

    def impossible(self) -> list[Any]:
        return [(0, 0, 0), (5, 0, 0), (1, 5, 0), (1, 0, 3)]


class TestTwoBuckets(TestSmallPrime):
    """Binary local hashing."""

    crowd = 2

    def randomizer(self) -> LocalHashing:
        return LocalHashing("1/2", ["a", "b", "c"], buckets=2, prime=3)

    def impossible(self) -> list[Any]:
        return [(3, 0, 0), (1, 0, 2)]


@pytest.mark.parametrize(("prime", "buckets"), [(5, 2), (7, 3), (11, 11), (13, 5)])
def test_the_chance_of_a_collision_is_that_of_all_functions(prime: int, buckets: int) -> None:
    oracle = LocalHashing(1, range(3), buckets=buckets, prime=prime)
    functions = list(itertools.product(range(1, prime), range(prime)))
    together = sum(
        (a * 1 + b) % prime * buckets // prime == (a * 2 + b) % prime * buckets // prime for a, b in functions
    )
    assert oracle.collision == Fraction(together, len(functions))


def test_counting_agrees_with_hashing_one_by_one() -> None:
    """The progression along the categories against the definition, with the real prime."""
    oracle = LocalHashing(2, range(50))
    columns = oracle.privatize(np.arange(300) % 50, source=ReplayableSource(3)).columns
    expected = np.zeros(50, int)
    for a, b, y in zip(*(columns[name].tolist() for name in ("factor", "shift", "bucket")), strict=True):
        expected += [(a * x + b) % oracle.prime * oracle.buckets // oracle.prime == y for x in range(50)]
    assert oracle.supports(columns).tolist() == expected.tolist()


@pytest.mark.parametrize("epsilon", [0.5, 1, 2, 3])
def test_variances_are_those_of_the_texts(epsilon: float) -> None:
    oracle = LocalHashing(epsilon, range(9))
    e, g = math.exp(epsilon), oracle.buckets
    assert g == round(e) + 1
    assert oracle.estimator.variance(1) == pytest.approx((e - 1 + g) ** 2 / ((e - 1) ** 2 * (g - 1)), rel=1e-6)
    assert oracle.estimator.variance(1) == pytest.approx(4 * e / (e - 1) ** 2, rel=0.02)


def test_large_batches_are_unbiased() -> None:
    """10 counts off by more than 6 deviations: probability below 2e-8."""
    oracle, n = LocalHashing(1, range(1000)), 50_000
    estimates = oracle.estimate(oracle.privatize(990 + np.arange(n) % 10, source=ReplayableSource(4)))
    assert (np.abs(estimates.shares[-10:] - 0.1) < 6 * oracle.estimator.standard_deviation(n, "0.1")).all()


@pytest.mark.parametrize("bad", [{"prime": 4}, {"prime": 2}, {"buckets": 1}, {"buckets": 2**17}, {"prime": 2**61 - 1}])
def test_refuses_functions_that_do_not_exist(bad: dict[str, int]) -> None:
    with pytest.raises(InvalidInput):
        LocalHashing(1, range(3), **bad)


def test_a_great_price_has_as_many_buckets_as_are_allowed() -> None:
    assert LocalHashing(12, range(3)).buckets == 2**16
