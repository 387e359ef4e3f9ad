"""The exponential mechanism keeps the promise on its proof sheet."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from discreet.errors import InvalidInput, InvalidType, InvalidValue
from discreet.exact.ball import upper, working_precision
from discreet.mechanisms.exponential import Exponential
from discreet.noise.source import ReplayableSource, ScriptedSource
from discreet.privacy.hypothesis_tests import Pair
from discreet.privacy.loss import Pure, ZeroConcentrated
from discreet.privacy.neighbours import Neighbours
from discreet.privacy.sensitivity import Norm, Sensitivity
from tests.mechanisms.contract import MechanismContract, privacy_violation
from tests.mechanisms.neighbouring_scores import moved_anyhow, moved_together

BAD_LISTS: list[Any] = [
    [],
    [1.0, math.nan, 2.0],
    [1.0, math.inf, 2.0],
    [1, None, 2],
    [True, False, True],
    ["a", "b", "c"],
    [[1, 2, 3]],
    [[1, 2], [3]],
    np.asarray([1 + 2j, 0, 0]),
    [2**63, 0, 0],
    {},
    None,
    3,
    "abc",
]
"""Scores that no choice can read."""

BAD_SCORES: list[Any] = [*BAD_LISTS, [1, 2], [1, 2, 3, 4], {"a": 1, "b": 2}, {"a": 1, "b": 2, "d": 3}]
"""And those that do not fit the candidates a, b, c."""


class TestNames(MechanismContract):
    tight = False  # the bound is reached only where the rest of the list outweighs the candidate by far

    def mechanism(self) -> Exponential:
        return Exponential(1, ["a", "b", "c"])

    def worst_neighbours(self) -> list[tuple[Any, Any]]:
        return [*moved_anyhow([0, 3, 1]), ({"a": 0, "b": 3, "c": 1}, {"c": 2, "b": 4, "a": -1})]

    def outcomes(self) -> list[str]:
        return ["a", "b", "c"]

    def bad_inputs(self) -> list[Any]:
        return BAD_SCORES


class TestAFarCandidate(MechanismContract):
    """e^ε is the limit as a candidate falls behind; sixty points behind, the limit is near to thirteen digits."""

    draws = 1000

    def mechanism(self) -> Exponential:
        return Exponential(1)

    def worst_neighbours(self) -> list[tuple[Any, Any]]:
        return [([-60, 0], [-61, 1])]

    def outcomes(self) -> list[int]:
        return [0, 1]

    def bad_inputs(self) -> list[Any]:
        return BAD_LISTS


class TestMonotone(TestAFarCandidate):
    def mechanism(self) -> Exponential:
        return Exponential(2, monotone=True)

    def worst_neighbours(self) -> list[tuple[Any, Any]]:
        return [([-60, 0], [-60, 1]), *moved_together([2, 5]), *moved_together([0, 0])]


class TestRationalScores(TestNames):
    def mechanism(self) -> Exponential:
        return Exponential("1/3", ["a", "b", "c"], sensitivity="3/7")

    def worst_neighbours(self) -> list[tuple[Any, Any]]:
        third, move = Fraction(1, 3), Fraction(3, 7)
        return [([third, 0, 2.5], [third - move, move, Fraction(5, 2) + move])]


def test_the_law_is_the_one_of_the_definition() -> None:
    scores, epsilon = [3, -1, 0.5], 0.7
    weights = [math.exp(epsilon * s / (2 * 2)) for s in scores]
    law = Exponential(epsilon, sensitivity=2).distribution(scores)
    for k, weight in enumerate(weights):
        assert math.isclose(law.pmf(k), weight / sum(weights), rel_tol=1e-12)


def test_monotone_scores_get_the_factor_of_two_back() -> None:
    assert Exponential(1, monotone=True).factor == 2 * Exponential(1).factor
    for pair in moved_together([0, 3, 1, 1]):
        assert privacy_violation(Exponential(1, monotone=True), *pair, range(4)) is None


def test_auction_from_the_course_text() -> None:
    prices = [Fraction(p, 100) for p in range(1, 401)]
    auction = Exponential(4, prices, sensitivity=4)  # one bidder is worth at most the highest price

    def revenue(bids: list[int], price: Fraction) -> Fraction:
        return price * sum(bid >= price for bid in bids)

    bids = [1, 1, 3]
    law = auction.distribution([revenue(bids, p) for p in prices])
    assert law.pmf(Fraction(1)) == law.pmf(Fraction(3))
    assert law.pmf(Fraction(1)) > law.pmf(Fraction(101, 100)) > law.pmf(Fraction(301, 100))
    assert auction.choose(bids, revenue) in prices


def test_course_example_of_nationalities() -> None:
    common = Exponential(1, ["Chinese", "Indian", "American", "Greek"])
    confidence = 1 - math.exp(-3)
    assert math.isclose(common.utility_bound(confidence), 2 * (math.log(4) + 3), rel_tol=1e-9)
    assert common.error(confidence) < common.utility_bound(confidence)
    assert common.utility_bound(confidence, optimal=4) == pytest.approx(6)


@pytest.mark.parametrize("count", [2, 5, 40])
@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.999])
def test_error_is_exact_at_the_worst_scores(count: int, confidence: float) -> None:
    mechanism = Exponential("1/2")
    error = mechanism.error(confidence, count)
    behind = Fraction(error)
    law = mechanism.distribution([0, *[-behind] * (count - 1)])
    assert math.isclose(law.pmf(0), max(confidence, 1 / count), rel_tol=1e-9)


def test_error_bounds_what_any_scores_do() -> None:
    mechanism = Exponential(1)
    for scores in ([0, 0, 0], [0, -1, -2], [0, -9, -9], [0, -5, -100], [7, 7, 0]):
        for confidence in (0.5, 0.9, 0.99):
            assert mechanism.exact_shortfall(scores, confidence) <= mechanism.error(confidence, 3)


def test_shortfall_of_given_scores_is_exact() -> None:
    mechanism = Exponential(2)
    first = mechanism.distribution([0, -1, -2]).pmf(0)
    assert mechanism.exact_shortfall([0, -1, -2], first - 1e-9) == 0
    assert mechanism.exact_shortfall([0, -1, -2], first + 1e-9) == 1
    assert mechanism.exact_shortfall([5, 5, 5], 0.999) == 0


@pytest.mark.parametrize("monotone", [False, True])
def test_concentrated_loss_bounds_every_renyi_divergence(monotone: bool) -> None:
    mechanism = Exponential(2, monotone=monotone)
    rho = mechanism.concentrated_loss().rho
    assert mechanism.concentrated_loss() == ZeroConcentrated("1/2", "add-remove-one" if monotone else None)
    pairs = (moved_together if monotone else moved_anyhow)([0, 2, 1])
    for first, second in pairs + [(b, a) for a, b in pairs]:
        laws = [mechanism.distribution(x) for x in (first, second)]
        pair = Pair(laws[0].masses, laws[1].masses)
        for order in ("1.01", "1.5", 2, 5, 40):
            with working_precision():
                assert upper(pair.renyi(order)) <= Fraction(order) * rho + Fraction(1, 10**30)


def test_concentrated_loss_is_reached_to_first_order() -> None:
    """Two balanced halves reach ε²/8 as ε falls: the constant cannot be improved."""
    mechanism = Exponential("1/1000")
    laws = [mechanism.distribution(x) for x in ([0, 0], [-1, 1])]
    divergence = float(Pair(laws[0].masses, laws[1].masses).renyi("1.0001"))
    assert divergence == pytest.approx(1.0001 * float(mechanism.concentrated_loss().rho), rel=1e-3)


def test_loss_is_exactly_what_was_asked() -> None:
    assert Exponential(0.1, sensitivity=7).loss == Pure("1/10")


def test_any_norm_bounds_one_score() -> None:
    for norm in Norm:
        declared = Sensitivity.histogram("add-remove-one", norm)
        mechanism = Exponential(1, sensitivity=declared)
        assert mechanism.sensitivity == 1
        assert mechanism.neighbours is Neighbours.ADD_REMOVE_ONE


def test_scores_of_all_exact_kinds_agree() -> None:
    laws = [
        Exponential(1).distribution(scores)
        for scores in ([1, 0.5], ["1", "1/2"], [Decimal(1), Decimal("0.5")], np.asarray([1.0, 0.5], np.float32))
    ]
    assert len({law.pmf(0) for law in laws}) == 1


def test_a_mapping_names_its_own_candidates() -> None:
    source = ReplayableSource("names")
    assert Exponential(50).release({"x": 0, "y": 100}, source=source) == "y"


def test_order_of_a_mapping_does_not_matter() -> None:
    mechanism = Exponential(1, ["a", "b"])
    assert mechanism.distribution({"b": 3, "a": 1}).pmf("b") == mechanism.distribution([1, 3]).pmf("b")


def test_one_candidate_is_always_chosen() -> None:
    only = Exponential(1, ["this"])
    assert only.release([-5]) == "this"
    assert only.error() == 0


def test_extreme_scores_do_not_overflow() -> None:
    assert Exponential(1).release([-(2**62), 2**62]) == 1
    assert Exponential(1).distribution([-(2**62), 2**62]).pmf(0) == 0.0


@pytest.mark.parametrize("epsilon", [0, -1, math.nan, math.inf, "1e400", 5e-324, True, None, "one"])
def test_refuses_prices_that_mean_nothing(epsilon: Any) -> None:
    with pytest.raises(InvalidInput):
        Exponential(epsilon)


@pytest.mark.parametrize(
    "wrong",
    [
        {"candidates": []},
        {"candidates": ["a", "a"]},
        {"candidates": "abc"},
        {"candidates": [["a"], ["b"]]},
        {"candidates": 3},
        {"sensitivity": 0},
        {"sensitivity": -1},
        {"sensitivity": math.nan},
        {"sensitivity": 2**100},
        {"monotone": 1},
        {"monotone": None},
    ],
)
def test_refuses_settings_without_meaning(wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        Exponential(1, **wrong)


def test_choose_needs_candidates() -> None:
    with pytest.raises(InvalidValue, match="candidates="):
        Exponential(1).choose([1, 2], lambda data, candidate: 0)


def test_choose_refuses_a_score_that_is_no_number_before_drawing() -> None:
    with pytest.raises(InvalidType):
        Exponential(1, [1, 2]).choose(None, lambda data, candidate: None, source=ScriptedSource([]))  # type: ignore[arg-type, return-value]


def test_error_asks_for_the_number_of_candidates() -> None:
    with pytest.raises(InvalidValue, match="candidates_count"):
        Exponential(1).error()
    with pytest.raises(InvalidValue):
        Exponential(1, [1, 2]).utility_bound(optimal=3)
    for confidence in (0, 1, -1, math.nan):
        with pytest.raises(InvalidInput):
            Exponential(1, [1, 2]).error(confidence)
