"""Accounts of periods and of people who are in many, by enumeration: no view tells more of anybody than they count.

A world grows: a period closes, a question is asked about some closed periods, the next one closes. What is asked, of
which periods and at which price, and which rows come next, those of the unit included, depends on all that was seen.
Every view of every small world is looked at. Counts have geometric noise at odds of 2 to the power of the price, so
that all probabilities are fractions; for concentrated prices they have Gaussian noise on the integers, whose divergence
of order 2 is twice the price times the square of the distance, in doublings.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from typing import Any

import pytest

from discreet.curator.ledger.units import LOSS_UNITS, BudgetMeasure, price_for_periods
from discreet.privacy.loss import Loss, Pure, ZeroConcentrated

SEEDS, PERIODS = range(12), 3
View = tuple[int, ...]
Rule = Callable[[int, int, bool], int]
"""What a person pays for a question at a price that reads so many periods, divided by the period or not."""
Periods = tuple[int, ...]


@dataclass(frozen=True)
class Asked:
    """A question: its price, the periods that it reads, and whether they are among its keys."""

    price: int
    periods: Periods
    is_divided: bool


def asks(seed: int, view: View, closed: int) -> Asked:
    """What somebody asks who has seen this."""
    chance = random.Random(f"{seed} asks {view}")
    periods = chance.sample(range(closed), chance.randrange(1, closed + 1))
    return Asked(chance.randrange(1, 3), tuple(sorted(periods)), chance.random() < 0.4)


def comes(seed: int, view: View) -> int:
    """How many rows of others come in the next period, after this was seen."""
    return random.Random(f"{seed} comes {view}").randrange(2)


@dataclass(frozen=True)
class Hidden:
    """Somebody who is there in one of the worlds: in which periods, and whether that depends on what was seen."""

    periods: frozenset[int]
    is_led: bool

    def comes(self, seed: int, period: int, view: View) -> int:
        stays_away = self.is_led and random.Random(f"{seed} leads {view}").random() < 0.5
        return int(period in self.periods and not stays_away)


@dataclass(frozen=True)
class Seen:
    """A view, its probabilities without and with somebody, and what the accounts counted meanwhile."""

    without: Any
    having: Any
    of_periods: tuple[int, ...]
    of_person: int
    periods: int = 0
    """How many are closed."""


# What is released ----------------------------------------------------------------------------------------------------


@cache
def geometric(price: int, count: int) -> tuple[Fraction, ...]:
    """A count with noise, of which is told whether it is at most 0, 1, or more."""
    q = Fraction(1, 2**price)

    def at_most(k: int) -> Fraction:
        return q ** (count - k) / (1 + q) if k <= count else 1 - q ** (k + 1 - count) / (1 + q)

    return at_most(0), at_most(1) - at_most(0), 1 - at_most(1)


@cache
def gaussian(price: int, count: int) -> tuple[float, ...]:
    """A count with noise; what lies outside is less than a millionth of any sum below."""
    whole: float = sum(2.0 ** (-price * k * k) for k in range(-20, 21))
    return tuple(2.0 ** (-price * (k - count) ** 2) / whole for k in range(-4, 12))


Law = Callable[[int, int], Sequence[Any]]


def released(asked: Asked, rows: Periods) -> list[int]:
    """The counts that are released, each with noise of its own."""
    counts = [rows[period] for period in asked.periods]
    return counts if asked.is_divided else [sum(counts)]


def views(
    seed: int,
    hidden: Hidden,
    law: Law = geometric,
    rule: Rule | None = None,
    charged: Callable[[Periods], Periods] = tuple,
    most: int = PERIODS,
) -> Iterator[Seen]:
    """Every view of one world, with the accounts as they stand then."""
    pays = pure_rule if rule is None else rule

    def grow(seen: Seen, view: View, rows: tuple[Periods, Periods]) -> Iterator[Seen]:
        yield seen
        period = len(rows[0])
        if period == most:
            return
        others = comes(seed, view)
        own = others + hidden.comes(seed, period, view)
        yield from ask(seen, view, ((*rows[0], others), (*rows[1], own)))

    def ask(seen: Seen, view: View, rows: tuple[Periods, Periods]) -> Iterator[Seen]:
        asked = asks(seed, view, len(rows[0]))
        paid = charged(asked.periods)
        of_periods = tuple(spent + asked.price * (k in paid) for k, spent in enumerate(seen.of_periods))
        person = seen.of_person + pays(asked.price, len(asked.periods), asked.is_divided)
        now = Seen(seen.without, seen.having, of_periods, person, len(rows[0]))
        yield from hear(now, view, rows, asked.price, [released(asked, one) for one in rows])

    def hear(
        seen: Seen, view: View, rows: tuple[Periods, Periods], price: int, counts: list[list[int]]
    ) -> Iterator[Seen]:
        if not counts[0]:
            yield from grow(seen, view, rows)
            return
        chances = zip(law(price, counts[0][0]), law(price, counts[1][0]), strict=True)
        for answer, (without, having) in enumerate(chances):
            then = replace(seen, without=seen.without * without, having=seen.having * having)
            yield from hear(then, (*view, answer), rows, price, [counts[0][1:], counts[1][1:]])

    yield from grow(Seen(Fraction(1), Fraction(1), (0,) * PERIODS, 0), (), ((), ()))


# What is counted -----------------------------------------------------------------------------------------------------


@cache
def units(loss: Loss, periods: int, is_divided: bool) -> int:
    measure = BudgetMeasure.PURE if isinstance(loss, Pure) else BudgetMeasure.CONCENTRATED
    return price_for_periods(loss, periods, measure, is_divided=is_divided).loss // LOSS_UNITS


def pure_rule(price: int, periods: int, is_divided: bool) -> int:
    return units(Pure(price), periods, is_divided)


def concentrated_rule(price: int, periods: int, is_divided: bool) -> int:
    return units(ZeroConcentrated(price), periods, is_divided)


def no_factor(price: int, periods: int, is_divided: bool) -> int:
    return price


def no_square(price: int, periods: int, is_divided: bool) -> int:
    return price * periods


def worst_of_a_unit(charged: Callable[[Periods], Periods]) -> Fraction:
    """The largest part of what the account of its period counts that a row, or a person in one period, loses."""
    worst = Fraction(0)
    for seed in SEEDS:
        for period in range(PERIODS):
            for is_led in (False, True):
                for seen in views(seed, Hidden(frozenset([period]), is_led), charged=charged):
                    ratio, bound = seen.having / seen.without, 2 ** seen.of_periods[period]
                    worst = max(worst, ratio / bound, 1 / ratio / bound)
    return worst


def people() -> list[Hidden]:
    """People who are in several periods."""
    found = [frozenset(k for k in range(PERIODS) if bits >> k & 1) for bits in range(1, 2**PERIODS)]
    return [Hidden(periods, is_led) for periods in found for is_led in (False, True)]


def worst_of_a_person(rule: Rule) -> Fraction:
    """The same for a person, who is in many periods."""
    worst = Fraction(0)
    for seed in SEEDS:
        for person in people():
            for seen in views(seed, person, rule=rule):
                ratio, bound = seen.having / seen.without, 2**seen.of_person
                worst = max(worst, ratio / bound, 1 / ratio / bound)
    return worst


def test_the_account_of_a_period_counts_what_whoever_is_in_it_loses() -> None:
    assert worst_of_a_unit(tuple) == 1


def test_a_question_that_is_charged_to_one_of_its_periods_is_found() -> None:
    assert worst_of_a_unit(lambda periods: periods[:1]) > 1


def test_the_account_of_a_person_counts_what_they_lose_in_all_periods() -> None:
    assert worst_of_a_person(pure_rule) == 1


def test_a_person_who_pays_as_for_one_period_is_found() -> None:
    assert worst_of_a_person(no_factor) > 1


def largest_mean_of_squares(rule: Rule) -> float:
    """Over the last views, the mean of (P/Q)² divided by what the person's account allows there: never above 1."""
    worst = 0.0
    for seed in SEEDS:
        for person in (one for one in people() if max(one.periods) < 2):
            seen = [one for one in views(seed, person, gaussian, rule, most=2) if one.periods == 2]
            worst = max(worst, sum(one.having**2 / one.without / 4.0**one.of_person for one in seen))
            worst = max(worst, sum(one.without**2 / one.having / 4.0**one.of_person for one in seen))
    return worst


def test_the_account_of_a_person_counts_the_divergence_of_what_they_lose() -> None:
    assert largest_mean_of_squares(concentrated_rule) == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize("rule", [no_factor, no_square])
def test_a_person_who_pays_less_than_the_square_is_found(rule: Rule) -> None:
    assert largest_mean_of_squares(rule) > 2
