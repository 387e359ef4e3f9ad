"""Noisy thresholds show no key that gives one unit away."""

from __future__ import annotations

import itertools
import math
from collections.abc import Hashable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from discreet.errors import InvalidInput
from discreet.exact.ball import lower, upper, working_precision
from discreet.mechanisms.gaussian import Gaussian
from discreet.mechanisms.laplace import Laplace
from discreet.mechanisms.noisy_threshold import GaussianThreshold, KeyThreshold, LaplaceThreshold
from discreet.mechanisms.selection import canonical
from discreet.noise.source import ReplayableSource
from discreet.privacy.hypothesis_tests import Pair
from discreet.privacy.loss import Approximate
from tests.mechanisms.contract import MechanismContract

BAD_COUNTS: list[Any] = [
    3.5,
    None,
    "a",
    [("a", 1)],
    {"a": 1.5},
    {"a": math.nan},
    {"a": None},
    {"a": True},
    {"a": "5"},
    {"a": [1]},
    (["a"], [1, 2]),
    (["a", "a"], [1, 1]),
    ([[1]], [1]),
    {math.nan: 3},
    ("ab", [1, 2]),
]


class TestLaplaceThreshold(MechanismContract):
    def mechanism(self) -> Any:
        return LaplaceThreshold(epsilon=1, delta="0.01")

    def worst_neighbours(self) -> list[tuple[Any, Any]]:
        alone = [({"a": 1}, {}), ({"a": 1}, {"a": 0}), ({"a": 1}, {"a": -3})]
        return alone + [({"a": n + 1}, {"a": n}) for n in range(1, 12)]

    def outcomes(self) -> list[Any]:
        start = self.mechanism().threshold
        return [{}, *({"a": y} for y in range(start, start + 90))]

    def hashable(self, answer: Any) -> Hashable:
        return tuple(answer.items())

    def bad_inputs(self) -> list[Any]:
        return BAD_COUNTS


class TestGaussianThreshold(TestLaplaceThreshold):
    def mechanism(self) -> Any:
        return GaussianThreshold(epsilon=1, delta="0.01")


class TestTwoKeysPerUnit(TestLaplaceThreshold):
    draws = 5_000

    def mechanism(self) -> Any:
        return LaplaceThreshold(epsilon=4, delta="0.01", keys_per_unit=2)

    def worst_neighbours(self) -> list[tuple[Any, Any]]:
        return [
            ({"a": 3, "b": 5}, {"a": 2, "b": 4}),
            ({"a": 1, "b": 1}, {}),
            ({"a": 1, "b": 4}, {"b": 3}),
        ]

    def outcomes(self) -> list[Any]:
        start = self.mechanism().threshold
        said = [None, *range(start, start + 28)]
        pairs = itertools.product(said, repeat=2)
        return [{k: y for k, y in (("a", a), ("b", b)) if y is not None} for a, b in pairs]


class TestTwoKeysPerUnitWithGaussianNoise(TestTwoKeysPerUnit):
    def mechanism(self) -> Any:
        return GaussianThreshold(epsilon=3, delta="0.02", keys_per_unit=2)


class TestThresholdForChosenNoise(TestLaplaceThreshold):
    """What a plan makes for a price of ε."""

    def mechanism(self) -> Any:
        return KeyThreshold(Laplace(1), "0.01")


class TestThresholdForTwoKeysAndChosenNoise(TestTwoKeysPerUnit):
    def mechanism(self) -> Any:
        return KeyThreshold(Laplace(4, 2), "0.01", keys_per_unit=2)


class TestThresholdForNoiseOfRho(TestTwoKeysPerUnit):
    """What a plan makes for a price of ρ."""

    def mechanism(self) -> Any:
        return KeyThreshold(Gaussian(rho=1, squared_sensitivity=2, integers=True), "0.01", keys_per_unit=2)


class TestThresholdUnderReplaceOne(TestTwoKeysPerUnit):
    """A unit with one key leaves, and another joins with another key."""

    def mechanism(self) -> Any:
        return KeyThreshold(Laplace(4, 2), "0.01")

    def worst_neighbours(self) -> list[tuple[Any, Any]]:
        return [({"a": 3, "b": 4}, {"a": 2, "b": 5}), ({"a": 1}, {"b": 1}), ({"a": 1, "b": 3}, {"b": 4})]


def test_chosen_noise_must_hide_as_many_keys_as_a_unit_holds() -> None:
    few = [
        Laplace(1, 2),
        Gaussian(rho=1, squared_sensitivity=2, integers=True),
        Gaussian(1, "1e-6"),
        Laplace(1, grid=8),
    ]
    for noise in few:
        with pytest.raises(InvalidInput):
            KeyThreshold(noise, "1e-6", keys_per_unit=3)
    same = LaplaceThreshold(1, "1e-6", keys_per_unit=2)
    assert KeyThreshold(Laplace(1, 2), "1e-6", keys_per_unit=2).threshold == same.threshold


def test_noisy_numbers_of_units_are_shown_from_the_threshold_on_and_where_somebody_is() -> None:
    rule = KeyThreshold(Laplace(1), "0.3")
    counts = np.array([0, 1, 5, 40] * 500)
    noisy, passed = rule.show(counts, ReplayableSource(1).open())
    assert np.array_equal(passed, (noisy >= rule.threshold) & (counts > 0))
    assert passed[counts == 40].all()
    assert (noisy[counts == 0] >= rule.threshold).any()


RULES = [
    LaplaceThreshold(1, "1e-6"),
    LaplaceThreshold("0.3", "1e-9", keys_per_unit=4),
    LaplaceThreshold(2, "0.4"),
]


@pytest.mark.parametrize("rule", RULES)
def test_the_threshold_is_the_least_that_hides_lone_keys(rule: LaplaceThreshold) -> None:
    with working_precision(256):
        at = 1 - (1 - rule.law.above(rule.threshold - 1)) ** rule.keys_per_unit
        lower_by_one = 1 - (1 - rule.law.above(rule.threshold - 2)) ** rule.keys_per_unit
    assert upper(at) <= rule.delta
    assert lower(lower_by_one) > rule.delta or rule.threshold == 1


def test_one_key_has_the_law_that_its_count_says() -> None:
    rule = LaplaceThreshold(1, "0.01")
    law = rule.distribution(7)
    assert law.pmf(None) == pytest.approx(1 - rule.probability_of_release(7))
    assert law.pmf(rule.threshold - 1) == 0
    assert law.pmf(9) == pytest.approx(float(rule.law.pmf(2)))
    assert rule.distribution(0).pmf(None) == 1


def test_keys_that_nobody_holds_never_appear() -> None:
    rule = LaplaceThreshold("0.01", "0.9")
    counts = {f"key {k}": 0 for k in range(500)} | {"negative": -5}
    assert rule.release(counts) == {}
    assert rule.probability_of_release(0) == rule.probability_of_release(-1) == 0
    assert rule.expected_keys(counts) == 0


def test_nothing_in_nothing_out() -> None:
    assert LaplaceThreshold(1, "0.1").release({}) == {}
    assert GaussianThreshold(1, "0.1").release(([], [])) == {}


def test_order_says_nothing_about_the_data() -> None:
    rule = LaplaceThreshold(1, "0.01")
    for keys in (["b", "a", "c"], [10, 9, -1], [("x", 2), ("x", 1)], ["a", 3, (1, 2), None]):
        forth = rule.release(dict.fromkeys(keys, 10**6), source=ReplayableSource(1))
        back = rule.release(dict.fromkeys(reversed(keys), 10**6), source=ReplayableSource(1))
        assert list(forth) == list(back) == canonical(keys)


def test_arrays_and_huge_counts_are_taken() -> None:
    rule = LaplaceThreshold(1, "0.01")
    found = rule.release((np.asarray([3, 1, 2]), np.asarray([500, 0, 700], np.uint16)))
    assert list(found) == [2, 3]
    assert abs(rule.release({"huge": 10**30})["huge"] - 2**62) < 1000
    assert list(rule.release({"huge": 2**63, "small": 1000})) == ["huge", "small"]


def test_visible_from_is_an_exact_quantile() -> None:
    rule = LaplaceThreshold(1, "1e-6")
    n = rule.visible_from("0.95")
    assert rule.error("0.95") == n
    assert rule.probability_of_release(n) >= 0.95 > rule.probability_of_release(n - 1)


def test_expected_keys_add_up() -> None:
    rule = GaussianThreshold(1, "0.001")
    counts = {"a": 3, "b": 12, "c": 12}
    expected = rule.probability_of_release(3) + 2 * rule.probability_of_release(12)
    assert rule.expected_keys(counts) == pytest.approx(expected)


def test_replacing_a_unit_costs_a_group_of_two() -> None:
    assert LaplaceThreshold(1, "1e-6").replace_one_loss == Approximate(1, "1e-6").group(2).under("replace-one")


def test_gaussian_shares_delta_between_noise_and_threshold() -> None:
    rule = GaussianThreshold(1, "0.01", noise_share="0.9")
    with working_precision():
        assert upper(rule.law.above(rule.threshold - 1)) <= Fraction(1, 1000)
    with pytest.raises(InvalidInput):
        GaussianThreshold(1, "0.01", noise_share=1)


def test_one_key_per_unit_pays_delta_once_and_no_larger_noise_or_threshold_than_that() -> None:
    """A count that others hold costs exactly what the noise alone does; a lone key is shown with at most δ."""
    rule = GaussianThreshold(1, "0.001")
    assert rule.law.squared == Gaussian(1, "0.001").law.squared
    assert rule.threshold < GaussianThreshold(1, "0.001", noise_share="1/2").threshold
    start = rule.threshold
    outcomes = [None, *range(start, start + 200)]
    with working_precision(256):
        for here, there in ((1, 0), (0, 1), (2, 1), (1, 2), (start + 1, start), (start, start + 1), (90, 91)):
            laws = [rule.distribution(count) for count in (here, there)]
            p, q = ([law.mass(y) for y in outcomes] for law in laws)
            assert upper(Pair(p, q).delta(1)) <= Fraction(1, 1000)
        assert lower(rule.law.above(start - 2)) > Fraction(1, 1000)  # one less would show a lone key too often


def test_gaussian_thresholds_win_where_units_hold_many_keys() -> None:
    laplace, gaussian = (kind(1, "1e-6", keys_per_unit=100) for kind in (LaplaceThreshold, GaussianThreshold))
    assert gaussian.threshold < laplace.threshold
    [(count, few, many)] = laplace.compared_with(gaussian, [gaussian.threshold + 50])
    assert count == gaussian.threshold + 50
    assert few < many


def test_noise_error_is_that_of_the_law() -> None:
    rule = LaplaceThreshold(1, "1e-6")
    assert rule.count_error("0.95") == rule.law.error("0.95")


@pytest.mark.parametrize("bad", [0, -1, math.nan, math.inf, "1e400", True, None])
@pytest.mark.parametrize("kind", [LaplaceThreshold, GaussianThreshold])
def test_refuses_prices_that_mean_nothing(kind: Any, bad: Any) -> None:
    with pytest.raises(InvalidInput):
        kind(bad, "0.01")
    with pytest.raises(InvalidInput):
        kind(1, bad)


@pytest.mark.parametrize("kind", [LaplaceThreshold, GaussianThreshold])
def test_refuses_a_delta_of_one_and_units_without_keys(kind: Any) -> None:
    for delta, keys in ((1, 1), ("1.5", 1), ("0.1", 0), ("0.1", 1.5)):
        with pytest.raises(InvalidInput):
            kind(1, delta, keys_per_unit=keys)
    with pytest.raises(InvalidInput, match="promises nothing"):
        kind(2**17, "0.1")


def test_prints_its_price() -> None:
    assert repr(LaplaceThreshold(1, "0.5")) == "LaplaceThreshold(epsilon=1, delta=1/2, keys_per_unit=1)"
