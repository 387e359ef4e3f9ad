"""Categorical response keeps the promise on its proof sheet."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

from discreet.errors import InvalidInput, InvalidValue
from discreet.mechanisms.k_randomized_response import CategoricalResponse
from discreet.mechanisms.randomized_response import RandomizedResponse
from discreet.noise.source import ReplayableSource
from tests.mechanisms.contract import MechanismContract

COLOURS = ("red", "green", "blue", "none")


class TestFourColours(MechanismContract):
    def mechanism(self) -> CategoricalResponse:
        return CategoricalResponse(1, COLOURS)

    def worst_neighbours(self) -> list[tuple[Any, Any]]:
        return list(itertools.permutations(COLOURS, 2))

    def outcomes(self) -> list[Any]:
        return list(COLOURS)

    def bad_inputs(self) -> list[Any]:
        return ["pink", None, math.nan, 3, {}, ["red", "pink"], [["red"]], np.asarray([["red"]])]


class TestTwoRespondents(TestFourColours):
    def worst_neighbours(self) -> list[tuple[Any, Any]]:
        return [(["red", "blue"], ["red", "green"])]

    def outcomes(self) -> list[Any]:
        return list(itertools.product(COLOURS, repeat=2))

    def hashable(self, answer: Any) -> Any:
        return tuple(answer)


class TestHonestFourTimesInFive(TestFourColours):
    def mechanism(self) -> CategoricalResponse:
        return CategoricalResponse.truth("4/5", COLOURS)


def test_two_categories_are_randomized_response() -> None:
    pair, bit = CategoricalResponse("0.3", (0, 1)), RandomizedResponse("0.3")
    assert pair.loss == bit.loss
    assert pair.distribution(1).pmf(0) == bit.distribution(1).pmf(0)
    assert pair.standard_deviation(50) * 50 == pytest.approx(bit.standard_deviation(50), rel=1e-12)


def test_probabilities_are_those_of_the_texts() -> None:
    law = CategoricalResponse(1, COLOURS).distribution("red")
    assert law.pmf("red") == pytest.approx(math.e / (math.e + 3), rel=1e-14)
    assert law.pmf("blue") == pytest.approx(1 / (math.e + 3), rel=1e-14)


def test_losses_from_a_probability_are_rounded_up() -> None:
    assert float(CategoricalResponse.truth("4/5", COLOURS).loss.epsilon) == pytest.approx(math.log(12), rel=1e-15)


def test_lists_give_lists_and_arrays_give_arrays() -> None:
    response = CategoricalResponse(1, COLOURS)
    assert isinstance(response.release(["red", "blue"]), list)
    reports = response.release(np.asarray(["red", "red"]), source=ReplayableSource(2))
    assert reports.dtype.kind == "U"
    assert set(reports.tolist()) <= set(COLOURS)
    assert response.release([]) == []
    mixed = CategoricalResponse(1, (1, "a", ("b", 2))).release(np.asarray([1, 1, 1]))
    assert set(mixed.tolist()) <= {1, "a", ("b", 2)}


def test_estimates_are_unbiased_with_the_stated_variance() -> None:
    response = CategoricalResponse("1.2", ("a", "b", "c"))
    truth = ["a", "a", "b", "a", "c"]
    law = response.distribution(truth)
    mean, square = 0.0, 0.0
    for reports in itertools.product("abc", repeat=5):
        frequency = response.estimate_frequencies(reports)
        assert sum(frequency.values()) == pytest.approx(1)
        mean += law.pmf(reports) * frequency["a"]
        square += law.pmf(reports) * (frequency["a"] - 0.6) ** 2
    assert mean == pytest.approx(0.6, rel=1e-12)
    assert square == pytest.approx(response.variance(5, "0.6"), rel=1e-12)
    p, q = law.parts[0].pmf("a"), law.parts[0].pmf("b")  # type: ignore[attr-defined]
    formula = q * (1 - q) / (5 * (p - q) ** 2) + 0.6 * (1 - p - q) / (5 * (p - q))
    assert response.variance(5, "0.6") == pytest.approx(formula, rel=1e-12)


@pytest.mark.parametrize(("epsilon", "k", "scaled"), [(1, 10, 3.63), (1, 100, 34.1), (2, 10, 0.377), (4, 100, 0.053)])
def test_variance_agrees_with_the_published_table(epsilon: int, k: int, scaled: float) -> None:
    assert 1000 * CategoricalResponse(epsilon, range(k)).variance(1000) == pytest.approx(scaled, rel=0.01)


def test_intervals_cover_every_truth_as_often_as_stated() -> None:
    response, n = CategoricalResponse(1, COLOURS), 12
    p, q = math.e / (math.e + 3), 1 / (math.e + 3)
    spans = [response.intervals(["red"] * s + ["blue"] * (n - s), "0.9")["red"] for s in range(n + 1)]
    for holders in range(n + 1):
        law = np.convolve(
            binom.pmf(np.arange(holders + 1), holders, p), binom.pmf(np.arange(n - holders + 1), n - holders, q)
        )
        covers = np.asarray([low <= holders / n <= high for low, high in spans])
        assert law[covers].sum() >= 0.9 - 1e-12


def test_intervals_that_hold_together_are_longer() -> None:
    response, reports = CategoricalResponse(1, COLOURS), ["red"] * 200 + ["blue"] * 300
    one, all_of_them = response.intervals(reports), response.intervals(reports, together=True)
    assert all_of_them["red"][0] < one["red"][0] < one["red"][1] < all_of_them["red"][1]


def test_error_covers_every_count() -> None:
    response, n = CategoricalResponse(1, COLOURS), 40
    p, q = math.e / (math.e + 3), 1 / (math.e + 3)
    for holders in (0, 20, 40):
        law = np.convolve(
            binom.pmf(np.arange(holders + 1), holders, p), binom.pmf(np.arange(n - holders + 1), n - holders, q)
        )
        errors = np.asarray([abs((c - n * q) / (p - q) - holders) for c in range(n + 1)])
        assert law[errors >= response.error("0.9", reports=n)].sum() <= 0.1


def test_loss_distribution_has_three_points() -> None:
    stated = CategoricalResponse(1, COLOURS).loss_distribution()
    assert stated.masses.tolist() == pytest.approx([math.e / (math.e + 3), 2 / (math.e + 3), 1 / (math.e + 3)])


def test_no_reports_have_no_shares() -> None:
    response = CategoricalResponse(1, COLOURS)
    assert set(response.estimate_counts([]).values()) == {0.0}
    with pytest.raises(InvalidValue, match="at least one"):
        response.estimate_frequencies([])


@pytest.mark.parametrize("categories", [[], ["one"], ["a", "a"], [1, True], [math.nan, 1]])
def test_refuses_categories_that_offer_no_choice(categories: list[Any]) -> None:
    with pytest.raises(InvalidInput):
        CategoricalResponse(1, categories)


@pytest.mark.parametrize("epsilon", [0, -1, math.nan, math.inf, "1e400", True])
def test_refuses_prices_that_mean_nothing(epsilon: Any) -> None:
    with pytest.raises(InvalidInput):
        CategoricalResponse(epsilon, COLOURS)


@pytest.mark.parametrize("p", ["1/4", "0.2", 1, 0, math.nan])
def test_refuses_truths_that_hide_or_say_nothing(p: Any) -> None:
    with pytest.raises(InvalidInput):
        CategoricalResponse.truth(p, COLOURS)
