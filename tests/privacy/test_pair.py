"""What two laws side by side say about telling them apart."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import InvalidInput
from discreet.exact.ball import Ball, exp_up, lower, upper, working_precision
from discreet.privacy.hypothesis_tests import Pair
from tests.privacy.strategies import laws

LIGHT = settings(max_examples=40, deadline=None)
two_laws = st.tuples(laws(4), laws(4))
F = Fraction


def _events(size: int) -> list[tuple[int, ...]]:
    return [e for k in range(size + 1) for e in itertools.combinations(range(size), k)]


def _largest_gap(p: list[Fraction], q: list[Fraction], factor: Fraction) -> Fraction:
    return max(sum((p[i] - factor * q[i] for i in event), F(0)) for event in _events(len(p)))


@LIGHT
@given(two_laws)
def test_delta_is_the_worst_gap_over_all_events(pair: tuple[list[Fraction], list[Fraction]]) -> None:
    p, q = pair
    for epsilon in (F(0), F(1, 3), F(1)):
        with working_precision():
            found = Pair(p, q).delta(epsilon)
            exact = _largest_gap(p, q, exp_up(epsilon))
            assert lower(found) - F(1, 2**90) <= exact <= upper(found)


@LIGHT
@given(two_laws)
def test_max_divergence_is_the_worst_log_ratio_over_all_events(pair: tuple[list[Fraction], list[Fraction]]) -> None:
    p, q = pair
    ratios = [sum(p[i] for i in e) / sum(q[i] for i in e) for e in _events(4) if e]
    assert math.isclose(float(Pair(p, q).max_divergence()), math.log(max(ratios)), abs_tol=1e-15)
    both = max(math.log(max(ratios)), -math.log(min(ratios)))
    assert math.isclose(float(Pair(p, q).epsilon()), both, abs_tol=1e-15)


@LIGHT
@given(laws(4))
def test_equal_laws_cannot_be_told_apart(p: list[Fraction]) -> None:
    pair = Pair(p, p)
    for nothing in (pair.epsilon(), pair.total_variation(), pair.kullback_leibler(), pair.renyi(2)):
        assert abs(float(nothing)) < 1e-40
    assert float(pair.least_error_sum()) == pytest.approx(1, abs=1e-15)


@LIGHT
@given(two_laws)
def test_divergences_grow_with_their_order(pair: tuple[list[Fraction], list[Fraction]]) -> None:
    both = Pair(*pair)
    rising = [both.kullback_leibler(), both.renyi("1.01"), both.renyi(2), both.renyi(50), both.max_divergence()]
    assert all(lower(a) <= upper(b) for a, b in itertools.pairwise(rising))


@LIGHT
@given(two_laws)
def test_total_variation_is_the_same_both_ways_and_below_pinsker(pair: tuple[list[Fraction], list[Fraction]]) -> None:
    both = Pair(*pair)
    assert abs(float(both.total_variation() - both.reversed().total_variation())) < 1e-40
    assert float(both.total_variation()) <= math.sqrt(float(both.kullback_leibler()) / 2) + 1e-15


@LIGHT
@given(two_laws)
def test_the_trade_off_is_convex_and_reaches_every_best_test(pair: tuple[list[Fraction], list[Fraction]]) -> None:
    p, q = pair
    corners = Pair(p, q).trade_off()
    assert corners[0] == (0.0, 1.0)
    assert corners[-1] == pytest.approx((1.0, 0.0), abs=1e-15)
    slopes = [(b[1] - a[1]) / (b[0] - a[0]) for a, b in itertools.pairwise(corners)]
    assert all(first <= second + 1e-9 for first, second in itertools.pairwise(slopes))
    assert min(a + b for a, b in corners) == pytest.approx(float(Pair(p, q).least_error_sum()), abs=1e-15)
    for event in _events(4):
        false_positive, false_negative = sum(p[i] for i in event), 1 - sum(q[i] for i in event)
        assert _height(corners, float(false_positive)) <= float(false_negative) + 1e-12


def _height(corners: list[tuple[float, float]], at: float) -> float:
    for (x0, y0), (x1, y1) in itertools.pairwise(corners):
        if x0 <= at <= x1:
            return y0 if x1 == x0 else y0 + (y1 - y0) * (at - x0) / (x1 - x0)
    return 0.0


@LIGHT
@given(two_laws)
def test_the_loss_variable_gives_the_divergence_and_bounds_delta(pair: tuple[list[Fraction], list[Fraction]]) -> None:
    both = Pair(*pair)
    variable = both.loss_variable()
    assert math.fsum(variable.probabilities) == pytest.approx(1)
    assert variable.mean == pytest.approx(float(both.kullback_leibler()), abs=1e-12)
    assert max(variable.values) == pytest.approx(float(both.max_divergence()), abs=1e-12)
    for epsilon in (0.0, 0.25, 1.0):
        assert float(both.delta(epsilon)) <= variable.exceeds(epsilon) + 1e-15


def test_the_loss_variable_of_the_coins_is_plus_or_minus_log_three() -> None:
    coins = Pair([F(3, 4), F(1, 4)], [F(1, 4), F(3, 4)]).loss_variable()
    assert coins.values == (-math.log(3), math.log(3))
    assert coins.probabilities == (0.25, 0.75)


def test_an_outcome_that_one_law_excludes_costs_without_bound() -> None:
    pair = Pair([F(1, 2), F(1, 2), F(0)], [F(1), F(0), F(0)])
    assert pair.max_divergence() == Ball.pos_inf()
    assert pair.epsilon() == pair.reversed().epsilon() == Ball.pos_inf()
    assert float(pair.reversed().max_divergence()) == math.log(2)
    assert pair.kullback_leibler() == pair.renyi(2) == Ball.pos_inf()
    assert float(pair.delta(100)) == 0.5
    assert pair.loss_variable().exceeds(1e300) == 0.5
    assert pair.loss_variable().mean == math.inf


def test_a_cut_law_says_how_much_it_does_not_list() -> None:
    cut = Pair([F(1, 2), F(1, 4)], [F(1, 4), F(1, 4)])
    assert float(cut.unlisted) == 0.25
    assert float(cut.delta(0)) == 0.25
    assert float(Pair([F(1)], [F(1)]).unlisted) == 0


def test_overlapping_balls_give_a_ball_around_the_true_maximum() -> None:
    """Two log-ratios too close to rank: the answer holds both, not the one with the larger middle."""
    with working_precision():
        wide, narrow = Ball(1, Ball(2) ** -20) / 4, Ball(1) / 4 + Ball(2) ** -30
        found = Pair([wide, narrow], [F(1, 8), F(1, 8)]).max_divergence()
        assert upper(found) >= lower((2 + Ball(2) ** -19).log())  # where the wide one may end
        assert lower(found) >= lower((2 - Ball(2) ** -19).log())


@pytest.mark.parametrize(
    ("p", "q"),
    [
        ([], []),
        ([F(1)], [F(1, 2), F(1, 2)]),
        ([F(-1, 2), F(3, 2)], [F(1, 2), F(1, 2)]),
        ([F(1, 2), F(1, 2)], [F(2), F(0)]),
        ([F(2, 3), F(2, 3)], [F(1, 2), F(1, 2)]),
        ([Ball.nan()], [F(1)]),
        ([Ball.pos_inf()], [F(1)]),
    ],
)
def test_refuses_lists_that_are_not_two_laws(p: Any, q: Any) -> None:
    with pytest.raises(InvalidInput):
        Pair(p, q)


@pytest.mark.parametrize("order", [1, 0, -1, math.nan, "1"])
def test_refuses_orders_that_mean_nothing(order: Any) -> None:
    with pytest.raises(InvalidInput):
        Pair([F(1)], [F(1)]).renyi(order)
