"""Budgets in whole units: exact where people expect it, safe everywhere else."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.curator.ledger.units import DELTA_UNITS, LOSS_UNITS, Allowance, BudgetMeasure, LedgerPrice, price_in_units
from discreet.errors import InvalidInput, NoProvedPath
from discreet.privacy.loss import Approximate, GaussianDP, Pure, Renyi, ZeroConcentrated


@pytest.mark.parametrize("parts", [2, 3, 6, 7, 10, 12, 13, 1000, 10**6])
def test_equal_parts_fill_a_budget_exactly(parts: int) -> None:
    price = price_in_units(Pure(Fraction(1, parts)), BudgetMeasure.PURE)
    assert parts * price.loss == Allowance.of(Pure(1)).cap


@given(st.fractions(min_value=0, max_value=100), st.fractions(min_value=0, max_value=100))
def test_prices_round_up_and_caps_round_down(price: Fraction, cap: Fraction) -> None:
    assert Fraction(price_in_units(Pure(price), BudgetMeasure.PURE).loss, LOSS_UNITS) >= price
    assert Fraction(Allowance.of(Pure(cap)).cap, LOSS_UNITS) <= cap


def test_an_approximate_budget_is_held_as_rho_or_as_epsilon() -> None:
    allowance = Allowance.of(Approximate(1, 1e-6), delta_for_events=1e-7)
    assert allowance.measure is BudgetMeasure.EITHER
    assert allowance.cap_pure == LOSS_UNITS
    before = Allowance(BudgetMeasure.CONCENTRATED, allowance.cap, allowance.delta_cap)
    assert Allowance.of(Approximate(1, 1e-6), delta_for_events=1e-7, like=before) == before
    rho = Fraction(allowance.cap, LOSS_UNITS)
    assert ZeroConcentrated(rho).epsilon_at(Fraction(9, 10**7)) <= 1
    assert allowance.delta_cap == DELTA_UNITS // 10**7


def test_every_kind_with_a_proved_path_has_a_price_in_rho() -> None:
    half = LOSS_UNITS // 2
    assert price_in_units(ZeroConcentrated("1/2"), BudgetMeasure.CONCENTRATED) == LedgerPrice(half)
    assert price_in_units(GaussianDP(1), BudgetMeasure.CONCENTRATED) == LedgerPrice(half)
    assert price_in_units(Pure(1), BudgetMeasure.CONCENTRATED) == LedgerPrice(half)
    assert price_in_units(Approximate(1, "1e-6"), BudgetMeasure.CONCENTRATED) == LedgerPrice(half, DELTA_UNITS // 10**6)


def test_what_has_no_proved_path_has_no_price() -> None:
    for loss in (ZeroConcentrated(1), Approximate(1, 1e-6), GaussianDP(1)):
        with pytest.raises(NoProvedPath):
            price_in_units(loss, BudgetMeasure.PURE)
    with pytest.raises(NoProvedPath):
        price_in_units(Renyi({2: 1}), BudgetMeasure.CONCENTRATED)


def test_refuses_prices_that_mean_nothing() -> None:
    with pytest.raises(InvalidInput):
        LedgerPrice(-1)
    with pytest.raises(InvalidInput):
        LedgerPrice(2**63)
    with pytest.raises(InvalidInput):
        Allowance.of(ZeroConcentrated(1))


def test_a_budget_whose_delta_is_all_for_keys_adds_up_epsilon() -> None:
    allowance = Allowance.of(Approximate(1, "1e-6"), delta_for_events="1e-6")
    assert (allowance.measure, allowance.cap) == (BudgetMeasure.PURE, LOSS_UNITS)
    assert allowance.delta_cap == DELTA_UNITS // 10**6
    price = price_in_units(Pure("1/3"), BudgetMeasure.PURE, Fraction(1, 3 * 10**6))
    assert (3 * price.loss, price.delta) == (allowance.cap, math.ceil(DELTA_UNITS / Fraction(3 * 10**6)))
