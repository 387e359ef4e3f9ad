"""Filters hold budgets against prices chosen adaptively."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.accounting.filter import ConcentratedFilter, PureFilter
from discreet.accounting.odometer import ConcentratedOdometer, PureOdometer
from discreet.errors import BudgetExceeded, InvalidInput, NoProvedPath
from discreet.exact.ball import Ball, ball, exp_up, lower, upper, working_precision
from discreet.privacy.loss import Approximate, GaussianDP, Pure, Renyi, ZeroConcentrated
from discreet.privacy.neighbours import Neighbours
from tests.threads import at_once


def test_three_thirds_fill_a_budget_of_one() -> None:
    budget = PureFilter(Pure(1))
    for _ in range(3):
        budget.charge(Pure("1/3"))
    assert budget.spent == Pure(1)
    assert budget.left == Pure(0)


def test_ten_tenths_fill_a_budget_of_one() -> None:
    budget = PureFilter(Pure(1))
    for _ in range(10):
        budget.charge(Pure(0.1))
    assert not budget.affords(Pure("1/1000000000000"))


def test_many_small_prices_never_pass_the_budget() -> None:
    budget = PureFilter(Pure(1))
    for _ in range(10**5):
        budget.charge(Pure(1e-5))
    with pytest.raises(BudgetExceeded):
        budget.charge(Pure(1e-5))
    assert budget.spent == Pure(1)


def test_a_refused_price_spends_nothing() -> None:
    budget = PureFilter(Pure(1))
    budget.charge(Pure("0.9"))
    with pytest.raises(BudgetExceeded, match="nothing was spent"):
        budget.charge(Pure("0.2"))
    assert budget.left == Pure("0.1")
    budget.charge(Pure("0.1"))


@given(st.lists(st.fractions(min_value=0, max_value=1, max_denominator=997), max_size=30))
def test_the_sum_of_accepted_prices_never_passes_the_budget(prices: list[Fraction]) -> None:
    budget, accepted = PureFilter(Pure(1)), Fraction(0)
    for price in prices:
        if budget.affords(Pure(price)):
            budget.charge(Pure(price))
            accepted += price
    assert accepted <= 1
    assert budget.spent == Pure(accepted)


def test_the_concentrated_budget_implies_its_epsilon_and_is_nearly_full() -> None:
    wanted = Approximate(1, 1e-6)
    budget = ConcentratedFilter(wanted)
    assert ZeroConcentrated(budget.rho).epsilon_at(1e-6) <= 1
    assert ZeroConcentrated(budget.rho * Fraction(1001, 1000)).epsilon_at(1e-6) > 1


def test_concentrated_budgets_take_every_kind_with_a_proved_path() -> None:
    budget = ConcentratedFilter(Approximate(3, 1e-6), delta_for_events=1e-7)
    budget.charge(Pure("0.2"))
    budget.charge(GaussianDP("0.2"))
    budget.charge(ZeroConcentrated("0.02"))
    budget.charge(Approximate("0.2", 1e-8))
    assert budget.spent == ZeroConcentrated("0.08")
    assert budget.delta_left == Fraction(9, 10**8)


def test_events_draw_on_their_own_share_of_delta() -> None:
    budget = ConcentratedFilter(Approximate(3, 1e-6), delta_for_events=1e-8)
    budget.charge(Approximate("0.1", 1e-8))
    with pytest.raises(BudgetExceeded):
        budget.charge(Approximate("0.1", 1e-12))
    budget.charge(Pure("0.1"))


def test_refuses_prices_without_a_proved_path() -> None:
    with pytest.raises(NoProvedPath):
        PureFilter(Pure(1)).charge(ZeroConcentrated("0.1"))
    with pytest.raises(NoProvedPath):
        ConcentratedFilter(Approximate(1, 1e-6)).charge(Renyi({2: 1}))


@pytest.mark.parametrize(
    "make",
    [
        lambda: PureFilter(Approximate(1, 1e-6)),  # type: ignore[arg-type]
        lambda: ConcentratedFilter(Pure(1)),  # type: ignore[arg-type]
        lambda: ConcentratedFilter(Approximate(1, 0)),
        lambda: ConcentratedFilter(Approximate(1, 1e-6), delta_for_events=1e-6),
    ],
)
def test_refuses_budgets_of_the_wrong_kind(make: object) -> None:
    with pytest.raises(InvalidInput):
        make()  # type: ignore[operator]


def _transcript_laws(bits: int, plan: dict[tuple[int, ...], Fraction]) -> dict[tuple[int, ...], Ball]:
    """Exact law of adaptive randomized responses about one bit, where the next ε depends on the answers so far."""
    laws = {(): Ball(1)}
    finished: dict[tuple[int, ...], Ball] = {}
    while laws:
        grown = {}
        for history, mass in laws.items():
            epsilon = plan.get(history)
            if epsilon is None:
                finished[history] = mass
                continue
            truth = 1 / (1 + (-ball(epsilon)).exp())
            for answer in (0, 1):
                grown[(*history, answer)] = mass * (truth if answer == bits else 1 - truth)
        laws = grown
    return finished


@given(st.data())
def test_adaptively_chosen_prices_stay_within_the_budget_exactly(data: st.DataObject) -> None:
    """Whatever strategy picks the next ε from the answers so far, the transcript keeps the budget, exactly."""
    plan: dict[tuple[int, ...], Fraction] = {}
    for depth in range(4):
        for history in itertools.product((0, 1), repeat=depth):
            if depth and history[:-1] not in plan:
                continue
            budget = PureFilter(Pure(1))
            for k in range(depth):
                budget.charge(Pure(plan[history[:k]]))
            price = data.draw(st.fractions(min_value=0, max_value="3/4", max_denominator=20))
            if budget.affords(Pure(price)):
                plan[history] = price
    with working_precision():
        here, there = _transcript_laws(0, plan), _transcript_laws(1, plan)
        assert here.keys() == there.keys()
        assert all(lower(here[t]) <= exp_up(1) * upper(there[t]) for t in here)


def test_threads_cannot_spend_the_same_remainder() -> None:
    def was_charged(budget: PureFilter) -> bool:
        try:
            budget.charge(Pure("1/20"))
        except BudgetExceeded:
            return False
        return True

    for _ in range(30):
        budget = PureFilter(Pure(1))
        assert sum(at_once(lambda budget=budget: was_charged(budget), times=40)) == 20  # type: ignore[misc]
        assert budget.left == Pure(0)


def test_gaussian_prices_are_not_rounded_twice() -> None:
    budget = ConcentratedFilter(Approximate(1, 1e-6))
    price = 3 * GaussianDP("0.01")
    budget.charge(price)
    assert budget.spent == ZeroConcentrated(Fraction(3, 20_000))


@pytest.mark.parametrize("budget", [PureFilter(Pure(9)), ConcentratedFilter(Approximate(9, 1e-6))])
def test_a_filter_adds_up_prices_of_one_relation(budget: Any) -> None:
    budget.charge(Pure("0.1"))
    budget.charge(Pure("0.1", "replace-one"))
    before = budget.spent
    with pytest.raises(NoProvedPath, match="two relations"):
        budget.charge(Pure("0.1", "add-remove-one"))
    assert budget.spent == before
    budget.charge(Pure("0.1", "add-remove-one").under("replace-one"))


@pytest.mark.parametrize("odometer", [PureOdometer(), ConcentratedOdometer(1e-6)])
def test_an_odometer_adds_up_prices_of_one_relation(odometer: Any) -> None:
    odometer.record(Pure("0.1", "replace-one"))
    before = odometer.reading()
    with pytest.raises(NoProvedPath, match="two relations"):
        odometer.record(Pure("0.1", "add-remove-one"))
    assert odometer.reading() == before
    assert before.neighbours is Neighbours.REPLACE_ONE
