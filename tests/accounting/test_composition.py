"""Composition theorems, checked against exact product laws."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.accounting.composition import advanced, optimal, parallel, sequential
from discreet.errors import InvalidInput, NoProvedPath
from discreet.exact.ball import Ball, exp_up, lower, working_precision
from discreet.privacy.hypothesis_tests import Pair
from discreet.privacy.loss import Approximate, GaussianDP, Loss, Pure, Renyi, ZeroConcentrated
from discreet.privacy.neighbours import Neighbours

prices = st.fractions(min_value="1/1000", max_value=3, max_denominator=1000).map(Pure)


RELATION = "add-remove-one"


def responses(epsilon: Fraction, count: int) -> Pair:
    """The exact law of ``count`` randomized responses with true bits all 0, against all 1."""
    with working_precision():
        truth = 1 / (1 + (-Ball(epsilon.numerator) / epsilon.denominator).exp())
        here, there = [], []
        for bits in itertools.product((0, 1), repeat=count):
            ones = sum(bits)
            here.append(truth ** (count - ones) * (1 - truth) ** ones)
            there.append(truth**ones * (1 - truth) ** (count - ones))
    return Pair(here, there)


@given(st.lists(prices, max_size=8))
def test_sequential_adds_in_any_order(losses: list[Pure]) -> None:
    assert sequential(losses) == sequential(reversed(losses)) == Pure(sum(loss.epsilon for loss in losses))


def test_nothing_costs_nothing() -> None:
    assert sequential([]) == parallel([], "replace-one") == Pure(0)


def test_sequential_mixes_kinds_along_proved_paths() -> None:
    assert sequential([Pure(1), ZeroConcentrated(1)]) == ZeroConcentrated("3/2")
    assert sequential([Pure(1), Approximate(1, 1e-6)]) == Approximate(2, 1e-6)
    with pytest.raises(NoProvedPath):
        sequential([Approximate(1, 1e-6), ZeroConcentrated(1)])


@pytest.mark.parametrize("count", [1, 2, 3, 5])
def test_sequential_is_attained_by_randomized_response(count: int) -> None:
    epsilon = Fraction(1, 3)
    reached = float(responses(epsilon, count).max_divergence())
    assert math.isclose(reached, float(sequential([Pure(epsilon)] * count).epsilon), rel_tol=1e-12)  # type: ignore[attr-defined]


def test_parallel_costs_the_dearest_when_people_join_or_leave() -> None:
    assert parallel([Pure(1), Pure(3), Pure(2)], "add-remove-one") == Pure(3, "add-remove-one")


def test_parallel_costs_the_two_dearest_when_people_can_move() -> None:
    assert parallel([Pure(1), Pure(3), Pure(2)], "replace-one") == Pure(5, "replace-one")
    assert parallel([Pure(3)], "replace-one") == Pure(3, "replace-one")


def test_parallel_over_many_equal_groups_is_quick() -> None:
    assert parallel([Pure(1)] * 20_000 + [Pure(3)], "replace-one") == Pure(4, "replace-one")
    assert parallel([Pure(1)] * 20_000, "replace-one") == Pure(2, "replace-one")


def test_parallel_takes_a_loss_at_its_word_about_the_relation() -> None:
    """Replaced within a set, a unit leaves it and joins it: 2ε, also where no other set is dear."""
    joins = [Pure(3, "add-remove-one"), Pure(1, "add-remove-one")]
    assert parallel(joins, "add-remove-one") == Pure(3, "add-remove-one")
    assert parallel(joins, "replace-one") == Pure(6, "replace-one")
    assert parallel(joins[:1], "replace-one") == Pure(6, "replace-one")
    for relation in ("add-remove-one", "replace-one"):
        with pytest.raises(NoProvedPath, match="leaves for another"):
            parallel([Pure(1, "replace-one"), Pure(1)], relation)


def test_compositions_keep_the_relation() -> None:
    loss = Pure("0.1", "replace-one")
    assert sequential([loss, loss, Pure(1)]) == Pure("1.2", "replace-one")
    assert advanced(loss, 5, 1e-6).neighbours is optimal(loss, 5, 1e-6).neighbours is Neighbours.REPLACE_ONE
    with pytest.raises(NoProvedPath, match="two relations"):
        sequential([loss, Pure(1, "add-remove-one")])


def test_only_losses_compose() -> None:
    for strange in ([1, 2], [Pure(1), "0.5"], None, 3):
        with pytest.raises(InvalidInput):
            sequential(strange)  # type: ignore[arg-type]
        with pytest.raises(InvalidInput):
            parallel(strange, "add-remove-one")  # type: ignore[arg-type]


def test_parallel_covers_losses_that_do_not_compare() -> None:
    assert parallel([Approximate(1, 1e-3), Approximate(2, 1e-6)], RELATION) == Approximate(2, 1e-3, RELATION)
    assert parallel([Renyi({2: 1, 3: 4}), Renyi({2: 2, 3: 3})], RELATION) == Renyi({2: 2, 3: 4}, RELATION)
    with pytest.raises(NoProvedPath):
        parallel([Approximate(1, 1e-3), GaussianDP(1)], "add-remove-one")


def test_moving_between_two_counts_really_costs_both() -> None:
    """Two disjoint counts at ε each: moving one person from one to the other reaches 2ε, not ε."""
    from discreet.mechanisms.laplace import Laplace

    count = Laplace(epsilon="1/2")
    with working_precision():
        outcomes = list(itertools.product(range(-30, 32), repeat=2))
        before, after = count.distribution([1, 0]), count.distribution([0, 1])
        pair = Pair([before.mass(y) for y in outcomes], [after.mass(y) for y in outcomes])
    assert math.isclose(float(pair.max_divergence()), 1.0, rel_tol=1e-12)
    assert parallel([count.loss, count.loss], "replace-one") == Pure(1, "replace-one")


@pytest.mark.parametrize(("epsilon", "count"), [("1/10", 6), ("1", 4), ("2", 3)])
@pytest.mark.parametrize("wanted", ["0", "1/7", "1/2", "1", "2"])
def test_optimal_composition_is_the_exact_curve_of_randomized_response(epsilon: str, count: int, wanted: str) -> None:
    delta = responses(Fraction(epsilon), count).delta(wanted)
    if lower(delta) <= Fraction(1, 10**9):  # the curve is 0 from k ε₀ on, and not invertible there
        assert Fraction(wanted) >= count * Fraction(epsilon)
        return
    found = optimal(Pure(epsilon), count, lower(delta))
    assert abs(float(found.epsilon) - float(Fraction(wanted))) < 1e-9


def test_optimal_composition_accounts_for_the_releases_own_delta() -> None:
    with pytest.raises(InvalidInput, match="use up"):
        optimal(Approximate(1, 1e-6), 10, 1e-6)
    assert optimal(Approximate(0.1, 1e-9), 10, 1e-6).epsilon >= optimal(Pure(0.1), 10, 1e-6).epsilon


@pytest.mark.parametrize("count", [10, 100, 2000])
@pytest.mark.parametrize("delta", [1e-3, 1e-9])
def test_optimal_is_never_worse_than_advanced_nor_than_the_sum(count: int, delta: float) -> None:
    best = optimal(Pure(0.05), count, delta).epsilon
    assert best <= advanced(Pure(0.05), count, delta).epsilon
    assert best <= count * Fraction(1, 20)


def test_advanced_composition_matches_its_formula() -> None:
    e, k, d = 0.1, 50, 1e-5
    expected = e * math.sqrt(2 * k * math.log(1 / d)) + k * e * math.tanh(e / 2)
    found = advanced(Pure(e), k, d)
    assert 0 <= float(found.epsilon) - expected < 1e-12
    assert advanced(Approximate(e, 1e-9), k, d).delta == Fraction(1, 10**5) + 50 * Fraction(1, 10**9)


def test_five_randomized_responses_cost_five_times_one() -> None:
    """An accountant elsewhere prices five as one."""
    once = Pure("1.6")
    assert 5 * once == sequential([once] * 5) == Pure(8)
    assert optimal(once, 5, 1e-12).epsilon > Fraction(799, 100)


@pytest.mark.parametrize("delta", [0, 1, -1, "nan", 2])
@pytest.mark.parametrize("theorem", [advanced, optimal])
def test_refuses_a_delta_that_means_nothing(theorem: object, delta: object) -> None:
    with pytest.raises(InvalidInput):
        theorem(Pure(1), 2, delta)  # type: ignore[operator]


@pytest.mark.parametrize("theorem", [advanced, optimal])
@pytest.mark.parametrize("loss", [ZeroConcentrated(1), GaussianDP(1), Renyi({2: 1})])
def test_refuses_losses_the_theorem_is_not_about(theorem: object, loss: Loss) -> None:
    with pytest.raises(NoProvedPath):
        theorem(loss, 2, 1e-6)  # type: ignore[operator]


def test_odds_never_exceed_the_composed_loss() -> None:
    pair = responses(Fraction(1, 2), 4)
    total = exp_up(4 * Pure("1/2").epsilon)
    assert lower(pair.max_divergence().exp()) <= total
