"""The filter that holds two sums, against the best adversary who chooses every price after seeing all answers."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache

import pytest

from discreet.accounting.filter import ConcentratedFilter, EitherFilter
from discreet.errors import BudgetExceeded
from discreet.privacy.loss import Approximate, GaussianDP, Loss, Pure, Renyi, ZeroConcentrated

BUDGET = Approximate(1, "0.01")
LOSSES = [Fraction(k, 8) for k in (1, 2, 4, 8)]
Sums = tuple[Fraction | None, Fraction]
"""What was spent: ε, None once a price was not pure, and ρ."""


def _prices() -> list[tuple[Fraction, Loss]]:
    """Randomized responses of these losses, each once with its pure price and once as if only its ρ were known."""
    return [(e, price) for e in LOSSES for price in (Pure(e), ZeroConcentrated(e**2 / 2))]


def _worst(admits: Callable[[Sums, Loss], Sums | None]) -> float:
    """The largest E[(1 - e^(ε - L))⁺] that an adversary reaches who picks the next price from all answers so far."""

    @lru_cache(None)
    def best(loss: Fraction, sums: Sums) -> float:
        found = max(0.0, 1 - math.exp(BUDGET.epsilon - loss))
        for e, price in _prices():
            after = admits(sums, price)
            if after is not None:
                likely = math.exp(e) / (1 + math.exp(e))
                found = max(found, likely * best(loss + e, after) + (1 - likely) * best(loss - e, after))
        return found

    return best(Fraction(0), (Fraction(0), Fraction(0)))


def test_no_adversary_passes_the_budget() -> None:
    budget = EitherFilter(BUDGET)

    def charged(sums: Sums, price: Loss) -> Sums | None:
        budget._spent_epsilon, budget._spent_rho = sums
        if not budget.affords(price):
            return None
        budget.charge(price)
        return budget._spent_epsilon, budget._spent_rho

    assert 0.001 < _worst(charged) <= float(BUDGET.delta)


def test_the_adversary_passes_two_allowances_that_do_not_know_of_each_other() -> None:
    rho = EitherFilter(BUDGET).rho

    def separate(sums: Sums, price: Loss) -> Sums | None:
        epsilon, spent = sums
        assert epsilon is not None
        if isinstance(price, Pure):
            return (epsilon + price.epsilon, spent) if epsilon + price.epsilon <= BUDGET.epsilon else None
        assert isinstance(price, ZeroConcentrated)
        return (epsilon, spent + price.rho) if spent + price.rho <= rho else None

    assert _worst(separate) > 10 * float(BUDGET.delta)


def test_one_release_may_have_all_of_epsilon_and_small_ones_have_as_much_as_in_rho() -> None:
    either, concentrated = EitherFilter(Approximate(2, "1e-6")), ConcentratedFilter(Approximate(2, "1e-6"))
    assert either.affords(Pure(2))
    assert not concentrated.affords(Pure(2))
    assert 0.999 < either.rho / concentrated.rho <= 1
    for _ in range(70):  # 3.5 in all, as advanced composition allows
        either.charge(Pure("1/20"))
        concentrated.charge(Pure("1/20"))
    assert not either.affords(Pure("1/20"))
    assert isinstance(either.left, Renyi)


def test_what_is_not_pure_ends_the_sum_of_epsilon_for_good() -> None:
    budget = EitherFilter(Approximate(2, "1e-6"))
    budget.charge(Pure("1/2"))
    assert budget.spent == Pure("1/2")
    budget.charge(GaussianDP("0.2"))
    assert isinstance(budget.spent, Renyi)
    assert not budget.affords(Pure("3/2"))
    budget.charge(Pure("1/4"))
    with pytest.raises(BudgetExceeded, match="nothing was spent"):
        budget.charge(Pure("1/2"))


def test_what_was_spent_beyond_rho_leaves_epsilon_alone() -> None:
    budget = EitherFilter(Approximate(2, "1e-6"))
    budget.charge(Pure("3/2"))
    assert not budget.affords(ZeroConcentrated("1/1000000"))
    assert budget.left == Pure("1/2")


def test_events_are_paid_from_their_own_delta() -> None:
    budget = EitherFilter(Approximate(2, "1e-6"), delta_for_events="5e-7")
    budget.charge(Approximate(1, "4e-7"))
    assert budget.delta_left == Fraction(1, 10**7)
    assert not budget.affords(Approximate("0.1", "2e-7"))
    assert budget.affords(Pure(1))
