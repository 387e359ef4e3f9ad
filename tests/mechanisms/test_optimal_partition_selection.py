"""The optimal rule shows each key as often as privacy allows, and no more."""

from __future__ import annotations

import itertools
import math
from collections.abc import Hashable
from fractions import Fraction
from typing import Any

import pytest

from discreet.errors import InvalidInput
from discreet.exact.ball import Ball, ball, floor_of, lower, upper, working_precision
from discreet.mechanisms.noisy_threshold import GaussianThreshold, LaplaceThreshold
from discreet.mechanisms.optimal_partition_selection import OptimalKeySelection
from discreet.noise.source import ReplayableSource, ScriptedSource
from discreet.privacy.hypothesis_tests import Pair
from tests.mechanisms.contract import MechanismContract, privacy_violation
from tests.mechanisms.test_noisy_threshold import BAD_COUNTS


class TestOneKeyPerUnit(MechanismContract):
    def mechanism(self) -> OptimalKeySelection:
        return OptimalKeySelection(epsilon="0.5", delta="0.01")

    def worst_neighbours(self) -> list[tuple[Any, Any]]:
        steps = [({"a": n + 1}, {"a": n}) for n in range(self.mechanism().always_from + 2)]
        return [steps[7], *steps, ({"a": 1}, {})]

    def outcomes(self) -> list[Any]:
        return [["a"], []]

    def hashable(self, answer: Any) -> Hashable:
        return tuple(answer)

    def bad_inputs(self) -> list[Any]:
        return BAD_COUNTS


class TestTwoKeysPerUnit(TestOneKeyPerUnit):
    def mechanism(self) -> OptimalKeySelection:
        return OptimalKeySelection(epsilon=2, delta="0.05", keys_per_unit=2)

    def worst_neighbours(self) -> list[tuple[Any, Any]]:
        counts = range(1, self.mechanism().always_from + 2)
        pairs = [({"a": n, "b": k}, {"a": n - 1, "b": k - 1}) for n, k in itertools.product(counts, repeat=2)]
        return [pairs[len(pairs) // 2], *pairs, ({"a": 3, "b": 2}, {"a": 2, "b": 2})]

    def outcomes(self) -> list[Any]:
        return [[], ["a"], ["b"], ["a", "b"]]


PRICES = [("1", "1e-6"), ("0.1", "0.01"), ("3", "0.2"), ("0.7", "1/2"), ("1/3", "0.9"), ("5", "1e-20"), ("2", "1/2")]


@pytest.mark.parametrize(("epsilon", "delta"), PRICES)
def test_the_closed_form_is_the_recursion(epsilon: str, delta: str) -> None:
    rule = OptimalKeySelection(epsilon, delta)
    with working_precision(600):
        grown, spare = ball(Fraction(epsilon)).exp(), ball(Fraction(delta))
        chance, n = Ball(0), 0
        while n < rule.always_from:
            assert abs(float(rule.shown(n) - chance)) < 1e-60
            chance, n = chance_after(chance, grown, spare), n + 1
        assert float(abs(chance - 1)) < 1e-60
        assert rule.shown(n) == 1


def chance_after(chance: Ball, grown: Ball, spare: Ball) -> Ball:
    return min(grown * chance + spare, 1 - (1 - chance - spare) / grown, Ball(1))


@pytest.mark.parametrize(("epsilon", "delta"), PRICES)
def test_every_step_until_certainty_uses_all_of_delta(epsilon: str, delta: str) -> None:
    rule = OptimalKeySelection(epsilon, delta)
    for n in range(rule.always_from + 1):
        with working_precision(400):
            fewer, more = rule.shown(n), rule.shown(n + 1)
            one = [[fewer, 1 - fewer], [more, 1 - more]]
        both = [Pair(one[1], one[0]).delta(epsilon), Pair(one[0], one[1]).delta(epsilon)]
        assert all(lower(found) <= Fraction(delta) for found in both)
        if n + 1 < rule.always_from:
            assert math.isclose(max(map(float, both)), float(Fraction(delta)), rel_tol=1e-9)


def test_a_little_more_would_break_the_promise() -> None:
    class Bolder(OptimalKeySelection):
        def shown(self, count: int) -> Ball:
            return super().shown(count) * ball(Fraction(1001, 1000)) if 0 < count < 10 else super().shown(count)

    assert privacy_violation(Bolder(1, "0.001"), {"a": 1}, {}, [["a"], []]) is not None
    assert privacy_violation(OptimalKeySelection(1, "0.001"), {"a": 1}, {}, [["a"], []]) is None


@pytest.mark.parametrize("other", [LaplaceThreshold, GaussianThreshold])
def test_no_threshold_shows_any_key_more_often(other: Any) -> None:
    best = OptimalKeySelection(1, "1e-5")
    for _, mine, theirs in best.compared_with(other(1, "1e-5"), range(60)):
        assert mine >= theirs * (1 - 1e-12)
    assert best.visible_from("0.95") < other(1, "1e-5").visible_from("0.95")


def test_words_at_the_threshold_are_settled_by_the_next_bits() -> None:
    rule = OptimalKeySelection(1, "0.01")
    edge = floor_of(lambda: rule.shown(3) * 2**64, 300)
    next_edge = floor_of(lambda: rule.shown(3) * Ball(2) ** 128, 500) - (edge << 64)
    scripts = [([edge - 1], True), ([edge + 1], False), ([edge, next_edge - 1], True), ([edge, next_edge + 1], False)]
    for words, is_shown in scripts:
        assert rule.release({"a": 3}, source=ScriptedSource(words)) == (["a"] if is_shown else [])


def test_lone_keys_are_shown_with_exactly_delta() -> None:
    rule = OptimalKeySelection(1, Fraction(1, 2**20))
    assert rule.release({"a": 1}, source=ScriptedSource([2**44 - 1])) == ["a"]
    assert rule.release({"a": 1}, source=ScriptedSource([2**44])) == []


def test_many_keys_at_once_follow_their_own_probabilities() -> None:
    rule = OptimalKeySelection(1, "0.001")
    counts = {(n, copy): n for n in (0, 4, 7, 30) for copy in range(4000)}
    shown = rule.release(counts, source=ReplayableSource("many"))
    for n in (0, 4, 7, 30):
        p = rule.probability_of_release(n)
        assert abs(sum(key[0] == n for key in shown) - 4000 * p) <= 6 * math.sqrt(4000 * p * (1 - p))
    assert abs(rule.expected_keys(counts) - len(shown)) < 300


def test_order_says_nothing_about_the_data() -> None:
    rule = OptimalKeySelection(1, "0.01")
    assert rule.release({"b": 10**9, "a": 10**9}) == rule.release({"a": 10**9, "b": 10**9}) == ["a", "b"]


def test_several_keys_split_delta_by_roots() -> None:
    rule = OptimalKeySelection(1, "0.19", keys_per_unit=2)
    with working_precision(400):
        each = upper(rule.shown(1))
    assert each <= Fraction(1, 10)
    assert math.isclose(float(each), 0.1, rel_tol=1e-12)


def test_one_key_has_a_law_of_two_outcomes() -> None:
    law = OptimalKeySelection(1, "0.01").distribution(1)
    assert law.pmf(True) == pytest.approx(0.01)
    assert law.pmf(False) == pytest.approx(0.99)


def test_tiny_prices_need_no_table() -> None:
    rule = OptimalKeySelection("1e-9", "1e-15")
    assert rule.always_from > 10**9
    assert 0 < rule.probability_of_release(10**9) < 1
    assert rule.release({"a": rule.always_from}) == ["a"]


@pytest.mark.parametrize("bad", [0, -1, math.nan, math.inf, "1e400", True, None])
def test_refuses_prices_that_mean_nothing(bad: Any) -> None:
    for price in ((bad, "0.1"), (1, bad)):
        with pytest.raises(InvalidInput):
            OptimalKeySelection(*price)


def test_refuses_a_delta_of_one() -> None:
    with pytest.raises(InvalidInput):
        OptimalKeySelection(1, 1)
