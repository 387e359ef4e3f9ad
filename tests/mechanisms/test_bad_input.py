"""Every mechanism refuses every bad parameter and every odd dataset in our own words, before anything is drawn."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import discreet as dp
from discreet.audit.builtin import builtin_mechanisms
from discreet.errors import InvalidInput
from discreet.mechanisms.measurement import Measurement
from discreet.noise.source import ScriptedSource

NAMES = ["a", "b", "c"]
NEITHER_POSITIVE_NOR_A_NUMBER = [0, -1, "nan", float("nan"), float("inf"), "1e400", 5e-324, "", None, True, "abc", 1j]
NO_PROBABILITY = [0, 1, 1.5, -1, "nan", float("nan"), float("inf"), "1e400", "", True, "abc", 1j]
NO_COUNT = [0, -1, 0.5, 1.0, "1", None, True, float("nan"), np.timedelta64(1, "s")]

PRICED: dict[str, Callable[[Any], Measurement]] = {
    "Laplace": dp.Laplace,
    "Laplace sensitivity": lambda e: dp.Laplace(1, e),
    "Laplace grid": lambda e: dp.Laplace(1, grid=e),
    "Gaussian": lambda e: dp.Gaussian(e, 1e-6),
    "Gaussian rho": lambda e: dp.Gaussian(rho=e),
    "Gaussian sigma": lambda e: dp.Gaussian(sigma=e),
    "Gaussian sensitivity": lambda e: dp.Gaussian(1, 1e-6, e),
    "RandomizedResponse": dp.RandomizedResponse,
    "RandomizedResponse truth": dp.RandomizedResponse.truth,
    "CategoricalResponse": lambda e: dp.CategoricalResponse(e, NAMES),
    "CategoricalResponse truth": lambda e: dp.CategoricalResponse.truth(e, NAMES),
    "Exponential": lambda e: dp.Exponential(e, NAMES),
    "Exponential sensitivity": lambda e: dp.Exponential(1, NAMES, sensitivity=e),
    "PermuteAndFlip": lambda e: dp.PermuteAndFlip(e, NAMES),
    "NoisyMax": dp.NoisyMax,
    "NoisyMax sensitivity": lambda e: dp.NoisyMax(1, e),
    "TopK": lambda e: dp.TopK(e, 2, NAMES),
    "AboveThreshold": lambda e: dp.AboveThreshold(e, 10),
    "AboveThreshold sensitivity": lambda e: dp.AboveThreshold(1, 10, sensitivity=e),
    "Quantile": lambda e: dp.Quantile(e, "1/4", 0, 10),
    "Median": lambda e: dp.Median(e, 0, 10),
    "Minimum": lambda e: dp.Minimum(e, 0, 10),
    "Maximum": lambda e: dp.Maximum(e, 0, 10),
    "Quantile grid": lambda e: dp.Median(1, 0, 10, grid=e),
    "LaplaceThreshold": lambda e: dp.LaplaceThreshold(e, 1e-6),
    "GaussianThreshold": lambda e: dp.GaussianThreshold(e, 1e-6),
    "OptimalKeySelection": lambda e: dp.OptimalKeySelection(e, 1e-6),
    "SampledSensitivity": lambda e: _sampled().laplace(e),
    "SampledSensitivity gaussian": lambda e: _sampled().gaussian(rho=e),
}
WITH_DELTA: dict[str, Callable[[Any], Any]] = {
    "Gaussian": lambda d: dp.Gaussian(1, d),
    "LaplaceThreshold": lambda d: dp.LaplaceThreshold(1, d),
    "GaussianThreshold": lambda d: dp.GaussianThreshold(1, d),
    "GaussianThreshold share": lambda d: dp.GaussianThreshold(1, 1e-6, noise_share=d),
    "OptimalKeySelection": lambda d: dp.OptimalKeySelection(1, d),
    "SensitivitySampler": lambda d: dp.SensitivitySampler(sum, lambda n: [0] * n, 3, gamma=d, samples=50),
    "RandomizedResponse": dp.RandomizedResponse.truth,
    "confidence": lambda c: dp.Laplace(1).error(c),
}
COUNTED: dict[str, Callable[[Any], Any]] = {
    "TopK": lambda k: dp.TopK(1, k, NAMES),
    "AboveThreshold": lambda c: dp.AboveThreshold(1, 0, cutoff=c),
    "LaplaceThreshold": lambda k: dp.LaplaceThreshold(1, 1e-6, keys_per_unit=k),
    "GaussianThreshold": lambda k: dp.GaussianThreshold(1, 1e-6, keys_per_unit=k),
    "OptimalKeySelection": lambda k: dp.OptimalKeySelection(1, 1e-6, keys_per_unit=k),
    "SensitivitySampler": lambda m: dp.SensitivitySampler(sum, lambda n: [0] * n, 3, samples=m or 0),
    "error": lambda k: dp.Laplace(1).error(answers=k),
    "reports": lambda k: dp.RandomizedResponse(1).error(reports=k),
    "questions": lambda k: dp.AboveThreshold(1, 0).error(questions=k),
}
CHOSEN_FROM: dict[str, Callable[[Any], Any]] = {
    "CategoricalResponse": lambda names: dp.CategoricalResponse(1, names),
    "CategoricalResponse truth": lambda names: dp.CategoricalResponse.truth("3/4", names),
    "Exponential": lambda names: dp.Exponential(1, names),
    "PermuteAndFlip": lambda names: dp.PermuteAndFlip(1, names),
    "NoisyMax": lambda names: dp.NoisyMax(1, candidates=names),
    "TopK": lambda names: dp.TopK(1, 1, names),
}
RANGES: dict[str, Callable[[Any, Any], Any]] = {
    "Median": lambda low, high: dp.Median(1, low, high),
    "Sensitivity.sum": lambda low, high: dp.Sensitivity.sum(low, high, "replace-one"),
    "Sensitivity.mean": lambda low, high: dp.Sensitivity.mean(low, high, 10, "replace-one"),
    "Sensitivity.median": lambda low, high: dp.Sensitivity.median(low, high, "replace-one"),
}

BUILT_IN = {type(case.mechanism).__name__: case.mechanism for case in builtin_mechanisms()}
"""One of every kind, as the registry of audits has them."""
ODD_DATA: dict[str, Any] = {
    "nothing": None,
    "text": "5",
    "bytes": b"5",
    "a complex number": 1j,
    "complex numbers": np.array([1j, 2j]),
    "NaN": float("nan"),
    "a list with NaN": [1.0, float("nan")],
    "a list with None": [1, None],
    "an infinity among integers": [1, float("inf")],
    "texts": np.array(["x", "y"]),
    "dates": np.array(["2020-01-01", "2020-01-02"], "M8[D]"),
    "time spans": np.array([1, 2], "m8[s]"),
    "records": np.zeros(2, [("a", int)]),
    "wide infinities": np.array([1, np.inf], np.longdouble),
    "masked": np.ma.array([0, 1], mask=[True, False]),
    "rows of different lengths": [[1, 0], [1]],
    "a generator": (x for x in (1, 0)),
    "a set": {0, 1},
    "a function": len,
    "a matrix of halves": [[0.5, 0.5], [0.5, 0.5]],
}


def test_numbers_too_large_for_a_float_are_refused_where_the_answer_is_one() -> None:
    for refuse in (
        lambda: dp.RandomizedResponse(1).error(reports=10**5000),
        lambda: dp.RandomizedResponse(1).standard_deviation(10**5000),
        lambda: dp.CategoricalResponse(1, NAMES).error(reports=10**5000),
        lambda: dp.CategoricalResponse(1, NAMES).variance(10**5000),
    ):
        with pytest.raises(InvalidInput):
            refuse()


def _sampled() -> Any:
    rows = iter(range(10**6))
    return dp.SensitivitySampler(sum, lambda n: [next(rows) for _ in range(n)], 3, samples=9, method="exact").sample()


def _each(makers: dict[str, Any]) -> Any:
    return pytest.mark.parametrize("make", makers.values(), ids=makers.keys())


def _accepted(make: Callable[..., Any], values: list[Any]) -> list[Any]:
    """Which of them are not refused, or in other words than ours."""
    found = []
    for value in values:
        try:
            make(value)
        except InvalidInput:
            continue
        except Exception as error:
            found.append((value, error))
        else:
            found.append(value)
    return found


@_each(PRICED)
def test_prices_scales_and_grids(make: Callable[[Any], Any]) -> None:
    assert _accepted(make, NEITHER_POSITIVE_NOR_A_NUMBER) == []


@_each(WITH_DELTA)
def test_probabilities(make: Callable[[Any], Any]) -> None:
    assert _accepted(make, NO_PROBABILITY) == []


@_each(COUNTED)
def test_counts(make: Callable[[Any], Any]) -> None:
    assert _accepted(make, NO_COUNT) == []


@_each(CHOSEN_FROM)
def test_lists_of_candidates(make: Callable[[Any], Any]) -> None:
    assert _accepted(make, [5, "abc", [], ["a", "a"], [["a"], ["b"]], len]) == []


NO_RANGES = [(1, 0), (10**5000, 0), (0, 10**5000), ("x", 1), (float("nan"), 1), (0, float("inf")), (None, 1)]


@_each(RANGES)
def test_ranges(make: Callable[[Any, Any], Any]) -> None:
    assert len(_accepted(lambda ends: make(*ends), NO_RANGES)) == 0  # shown, some would be too long


@pytest.mark.parametrize("mechanism", BUILT_IN.values(), ids=BUILT_IN.keys())
def test_odd_data(mechanism: Measurement) -> None:
    for name, data in ODD_DATA.items():
        # An empty script fails on any draw.
        assert len(_accepted(lambda odd: mechanism.release(odd, source=ScriptedSource([])), [data])) == 0, name
        assert len(_accepted(mechanism.distribution, [data])) == 0, name


@pytest.mark.parametrize("noise", [dp.Laplace(1), dp.Gaussian(rho=1)], ids=["Laplace", "Gaussian"])
def test_numbers_that_are_no_floats_must_be_turned_into_ones_by_the_caller(noise: Measurement) -> None:
    for number in (Fraction(1, 2), Decimal("0.5"), np.longdouble(0.5), True):
        with pytest.raises(InvalidInput):
            noise.release(number, source=ScriptedSource([]))
