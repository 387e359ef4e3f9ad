"""Hadamard response keeps the promise on its proof sheet."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from discreet.local.hadamard import HadamardResponse, walsh_hadamard
from discreet.noise.source import ReplayableSource
from tests.local.contract import OracleContract


class TestFiveCategories(OracleContract):
    def randomizer(self) -> HadamardResponse:
        return HadamardResponse(1, ["a", "b", "c", "d", "e"])

    def other_randomizers(self) -> list[Any]:
        return [HadamardResponse(1, list("abcd")), HadamardResponse("1.5", list("abcde"))]

    def bad_values(self) -> list[Any]:
        return ["f", 0, None, math.nan, ["a", "z"]]

    def impossible(self) -> list[Any]:
        return [16, 255]


class TestThreeCategories(TestFiveCategories):
    """As many as a matrix of four rows can hold."""

    def randomizer(self) -> HadamardResponse:
        return HadamardResponse(2, ["a", "b", "c"])

    def impossible(self) -> list[Any]:
        return [8]


@pytest.mark.parametrize(("categories", "rows"), [(2, 4), (3, 4), (4, 8), (100, 128), (127, 128), (128, 256)])
def test_there_are_more_rows_than_categories(categories: int, rows: int) -> None:
    assert HadamardResponse(1, range(categories)).rows == rows


def test_the_fast_transform_is_the_product_with_the_matrix() -> None:
    matrix = np.array([[(-1) ** (i & j).bit_count() for i in range(16)] for j in range(16)])
    values = np.arange(16) ** 2 - 40
    assert walsh_hadamard(values).tolist() == (matrix @ values).tolist()


@pytest.mark.parametrize("epsilon", [0.5, 1, 2])
def test_variances_are_those_of_the_texts(epsilon: float) -> None:
    e = math.exp(epsilon)
    assert HadamardResponse(epsilon, range(9)).estimator.variance(1) == pytest.approx(((e + 1) / (e - 1)) ** 2)


@pytest.mark.parametrize("k", [100, 200, 70_000])
def test_large_batches_are_unbiased(k: int) -> None:
    """Reports of one, two and four bytes; 10 counts off by more than 6 deviations: probability below 2e-8."""
    oracle, n = HadamardResponse(1, range(k)), 50_000
    values = k - 1 - np.arange(n) % 10
    estimates = oracle.estimate(oracle.privatize(values, source=ReplayableSource(k)))
    assert (np.abs(estimates.shares[-10:] - 0.1) < 6 * oracle.estimator.standard_deviation(n, "0.1")).all()
