"""Accounts that count without a cap, what they say was spent, and what people pay who are in many periods."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.accounting.odometer import bound_of_order
from discreet.curator.balances import Balances
from discreet.curator.ledger.chain import Account
from discreet.curator.ledger.ledger import Ledger
from discreet.curator.ledger.remaining import compute_balance, state_spent
from discreet.curator.ledger.units import (
    DELTA_UNITS,
    LOSS_UNITS,
    Allowance,
    BudgetMeasure,
    LedgerPrice,
    price_for_periods,
    price_in_units,
)
from discreet.curator.ledger.verify import verify
from discreet.errors import InvalidInput, NoProvedPath
from discreet.privacy.loss import Approximate, Pure, ZeroConcentrated

PURE, EITHER = BudgetMeasure.PURE, BudgetMeasure.EITHER
COUNTED = Allowance.counted(EITHER)
EPSILONS = st.fractions(min_value="1/100", max_value=8, max_denominator=100)


def test_an_account_that_counts_takes_whatever_is_charged(tmp_path: Path) -> None:
    ledger = Ledger.create(tmp_path)
    ledger.open_people("/patients.id", COUNTED)
    ledger.open_people("/patients.id", Allowance.of(Pure(1)))  # it is there, and stays as it is
    for k in range(5):
        price = price_in_units(Pure(1000), EITHER, Fraction(1, 10), order=COUNTED.order)
        ledger.charge(f"r{k}", b"", {"/patients.id": price}, {})
    assert ledger.accounts()["/patients.id"].was_spent == Pure(5000)
    assert verify(tmp_path).problems == []


def test_people_whose_table_granted_something_for_good_have_that_in_all(tmp_path: Path) -> None:
    ledger, budget = Ledger.create(tmp_path), Allowance.of(Approximate(2, "1e-6"))
    ledger.open_table("patients", budget, 1, "/patients.id")
    price = price_in_units(Pure("1/2"), EITHER, order=budget.order)
    ledger.charge("r", b"", {"patients": price}, {})
    ledger.open_people("/patients.id", COUNTED)
    account = ledger.accounts()["/patients.id"]
    assert account.was_spent == Pure("1/2")
    assert account.allowance == budget
    assert verify(tmp_path).problems == []


def test_no_cap_is_never_the_largest_cap_that_can_be_granted() -> None:
    assert not Allowance.of(Pure(10**9)).is_counted
    assert repr(COUNTED) == "Allowance.counted(BudgetMeasure.EITHER, Fraction(1, 1))"
    assert repr(Allowance.counted(PURE)) == "Allowance.counted(BudgetMeasure.PURE)"
    assert "is_counted" not in repr(Allowance.of(Pure(1)))


def test_what_has_no_cap_is_shown_as_counted() -> None:
    account = Account("/patients.id", Allowance.counted(PURE), LOSS_UNITS, 0)
    shown = Balances(
        {"/patients.id": compute_balance(account, None), "visits//2026-03": compute_balance(account, None)}
    )
    lines = str(shown).splitlines()
    assert lines[1].split("  ")[0] == "people of patients.id"
    assert lines[2] == "visits"
    assert lines[3].startswith("  2026-03 ")
    assert "counted" in lines[1]
    assert "ε 1" in lines[1]
    facts = shown.to_dict()["/patients.id"]
    assert (facts["cap"], facts["left"], facts["more"]) == ("counted", None, None)
    assert facts["spent"]["exact"] == "1"


# What was spent, as a promise ----------------------------------------------------------------------------------------


def test_what_was_spent_is_epsilon_while_all_was_pure() -> None:
    assert state_spent(Account("p", COUNTED, LOSS_UNITS // 2, 0, spent_pure=LOSS_UNITS), "1e-6") == Pure(1)
    assert state_spent(Account("p", Allowance.counted(PURE), LOSS_UNITS, 0), "1e-6") == Pure(1)


def test_delta_for_keys_is_part_of_what_was_spent() -> None:
    delta = DELTA_UNITS // 10**6
    assert state_spent(Account("p", Allowance.counted(PURE), LOSS_UNITS, delta), "1e-6") == Approximate(1, "1e-6")
    assert state_spent(Account("p", COUNTED, LOSS_UNITS, delta, impure=1), "1e-6").delta_at(0) >= 0
    found = state_spent(Account("p", COUNTED, LOSS_UNITS, delta, impure=1), "1e-6")
    assert isinstance(found, Approximate)
    assert found.delta == Fraction(2, 10**6)


def test_a_sum_that_holds_at_one_order_is_read_at_that_order() -> None:
    allowance = Allowance.of(Approximate(2, "1e-6"))
    assert allowance.order is not None
    spent = LOSS_UNITS // 20
    found = state_spent(Account("p", allowance, spent, 0, impure=1), "1e-6")
    assert found == bound_of_order(allowance.order, allowance.order / 20, "1e-6")
    with pytest.raises(InvalidInput):
        bound_of_order(allowance.order, Fraction(1), 0)


def test_what_is_said_grows_with_what_was_spent() -> None:
    told = [state_spent(Account("p", COUNTED, LOSS_UNITS * k // 10, 0, impure=1), "1e-6") for k in range(1, 40)]
    bounds = [one.epsilon for one in told]
    assert all(one <= two for one, two in pairwise(bounds))


@given(EPSILONS)
def test_a_pure_price_of_a_counted_account_holds_at_every_order(epsilon: Fraction) -> None:
    price = price_in_units(Pure(epsilon), EITHER, order=COUNTED.order)
    for order in (Fraction(101, 100), Fraction(2), Fraction(12), Fraction(1000)):
        assert price.loss * order >= LOSS_UNITS * min(order * epsilon**2 / 2, epsilon)


# What people pay who are in many periods -----------------------------------------------------------------------------


@given(EPSILONS, st.integers(1, 40), st.booleans())
def test_pure_prices_are_paid_for_every_period(epsilon: Fraction, periods: int, is_divided: bool) -> None:
    one = price_in_units(Pure(epsilon), PURE).loss
    found = price_for_periods(Pure(epsilon), periods, PURE, is_divided=is_divided)
    assert periods * one - periods <= found.loss <= periods * one


@given(EPSILONS, st.integers(1, 40))
def test_both_sums_are_those_of_a_group(epsilon: Fraction, periods: int) -> None:
    order, group = Fraction(12), periods * epsilon
    found = price_for_periods(Pure(epsilon), periods, EITHER, order=order, is_divided=False)
    assert found == price_in_units(Pure(group), EITHER, order=order)
    assert found.loss >= LOSS_UNITS * min(group**2 / 2, group / order)
    apart = price_for_periods(Pure(epsilon), periods, EITHER, order=order, is_divided=True)
    assert apart.loss == periods * price_in_units(Pure(epsilon), EITHER, order=order).loss
    assert found.pure is not None
    assert apart.pure is not None
    assert found.pure <= apart.pure


def test_concentrated_prices_grow_with_the_square_where_periods_are_put_together() -> None:
    rho = ZeroConcentrated("0.01")
    divided, together = (price_for_periods(rho, 12, EITHER, order=Fraction(9), is_divided=way) for way in (True, False))
    assert (divided.loss, together.loss) == (LOSS_UNITS * 12 // 100, LOSS_UNITS * 144 // 100)
    assert (divided.pure, together.pure) == (None, None)


def test_a_delta_is_paid_for_every_period_and_refused_where_they_are_put_together() -> None:
    delta = Fraction(1, 10**6)
    assert price_for_periods(Pure(1), 3, PURE, delta, is_divided=True) == LedgerPrice(
        3 * LOSS_UNITS, 3 * DELTA_UNITS // 10**6
    )
    assert price_for_periods(Pure(1), 1, PURE, delta, is_divided=False).delta == DELTA_UNITS // 10**6
    for loss, events in ((Pure(1), delta), (Approximate(1, delta), Fraction(0))):
        with pytest.raises(NoProvedPath, match="the period among its keys"):
            price_for_periods(loss, 2, EITHER, events, is_divided=False)


@pytest.mark.parametrize("periods", [0, -1, 1.5])
def test_a_question_reads_a_number_of_periods(periods: float) -> None:
    with pytest.raises(InvalidInput):
        price_for_periods(Pure(1), periods, PURE, is_divided=True)  # type: ignore[arg-type]
