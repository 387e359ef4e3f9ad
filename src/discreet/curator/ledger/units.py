"""Budgets in whole units, so that adding them up is exact in any database.

A unit of ε (pure budgets) or ρ (concentrated ones) is 1 / (720720 · 10^9), so that thirds, sevenths, tenths and
millionths are whole numbers of units and three thirds fill a budget of one. A unit of δ is 10^-18. Anything between
two units rounds up in a price and down in a cap, so the units never say less than what was spent.

>>> third = price_in_units(Pure("1/3"), BudgetMeasure.PURE)
>>> 3 * third.loss == Allowance.of(Pure(1)).cap
True

Amounts of loss as people and programs read them: ε 0.5, or ρ 0.006 for budgets with a δ.

A price is never shown smaller than it is, and a balance never larger.

>>> amount(Pure("1/3")), balance(Pure("1/3"))
('ε 0.33334', 'ε 0.33333')
>>> as_json(Pure("0.3"))
{'amount': 0.3, 'unit': 'ε', 'exact': '3/10', 'repr': 'Pure(ε=0.3)'}
>>> from_json(as_json(Pure("1/3"))) == Pure("1/3")
True
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from functools import lru_cache
from heapq import nlargest
from typing import Any, NamedTuple

from discreet.accounting.filter import ConcentratedFilter, EitherFilter, rho_of
from discreet.errors import InvalidType, InvalidValue, NoProvedPath
from discreet.exact.rational import Number, integer, probability
from discreet.privacy.loss import Approximate, Loss, Pure, ZeroConcentrated, shown, write_loss

__all__ = [
    "DELTA_UNITS",
    "LOSS_UNITS",
    "MOST_UNITS",
    "Allowance",
    "BudgetMeasure",
    "LedgerPrice",
    "Portion",
    "amount",
    "as_json",
    "balance",
    "balance_as_json",
    "from_json",
    "in_epsilon",
    "largest",
    "price_for_periods",
    "price_in_units",
    "prices_as_record",
    "prices_in",
    "total",
]


LOSS_UNITS = 720_720 * 10**9
DELTA_UNITS = 10**18
MOST_UNITS = 2**62
"""What is granted or charged at most."""
_UNCAPPED = 2**63 - 1
"""The cap of what has none: the largest number that a database keeps, and more than what is ever granted."""


class BudgetMeasure(Enum):
    """What a budget counts."""

    PURE = "pure"
    """ε, for budgets without δ, or whose δ is for releases that carry one."""
    EITHER = "either"
    """ρ and ε, for (ε, δ) budgets: what is spent must fit one of the two (`accounting.filter.EitherFilter`)."""
    CONCENTRATED = "concentrated"
    """ρ alone, for (ε, δ) budgets that were granted before both were counted."""


class Portion(NamedTuple):
    """What the people with one key of a column are charged."""

    part: str
    """The column that divides people, and the version of its data."""
    key: str
    """Which of them."""
    loss: int
    """Units of ε or ρ."""
    pure: int | None = None
    """Units of ε beside those of ρ, where an account counts both and the release is pure."""


@dataclass(frozen=True)
class LedgerPrice:
    """What one release takes from a budget."""

    loss: int
    """Units of ε or ρ."""
    delta: int = 0
    """Units of δ, for releases that carry a δ of their own."""

    portions: tuple[Portion, ...] = ()
    """What only the people with certain keys are charged."""
    pure: int | None = None
    """Units of ε beside those of ρ, where an account counts both and the release is pure."""

    def __post_init__(self) -> None:
        amounts = [self.loss, self.delta, self.pure or 0]
        amounts += [amount or 0 for portion in self.portions for amount in (portion.loss, portion.pure)]
        if min(amounts) < 0 or max(amounts) > MOST_UNITS:
            worst = min(amounts) if min(amounts) < 0 else max(amounts)
            got = f"<{worst / LOSS_UNITS:,.6g}>"
            raise InvalidValue("a price must not be negative, and below 6,000 in ε or ρ", got, "name a lower one")

    @property
    def is_impure(self) -> bool:
        """Whether an account that counts both sums must not count on that of ε any more."""
        return self.pure is None and bool(self.loss or self.portions)

    def amounts(self) -> list[int]:
        """What all people are charged, as records have it: in ε or ρ, in δ, and in ε where it stands beside ρ."""
        return [self.loss, self.delta] if self.pure is None else [self.loss, self.delta, self.pure]

    def portion_amounts(self) -> list[list[str | int | None]]:
        """What some people are charged, as records have it."""
        return [list(one[:3] if one.pure is None else one) for one in sorted(self.portions)]


def prices_as_record(prices: Mapping[str, LedgerPrice]) -> dict[str, Any]:
    """What each account is charged, as records have it."""
    apart = {name: price.portion_amounts() for name, price in prices.items() if price.portions}
    return {"prices": {name: price.amounts() for name, price in prices.items()}} | (
        {"portions": apart} if apart else {}
    )


def prices_in(body: Mapping[str, Any]) -> dict[str, LedgerPrice]:
    """The same, read from a record."""
    apart = body.get("portions", {})
    return {
        name: LedgerPrice(loss, delta, tuple(Portion(*each) for each in apart.get(name, [])), *pure)
        for name, (loss, delta, *pure) in body["prices"].items()
    }


@dataclass(frozen=True)
class Allowance:
    """A cap on what may be spent."""

    measure: BudgetMeasure
    """What is counted."""
    cap: int
    """Units of ε or ρ that may be spent."""
    delta_cap: int = 0
    """Units of δ that releases of their own may spend."""
    cap_pure: int = 0
    """Units of ε that may be spent instead of those of ρ, where both are counted."""
    order: Fraction | None = None
    """The order of the divergence in which pure releases are counted as ρ, where both are counted."""

    @classmethod
    def of(cls, budget: Loss, delta_for_events: Number = 0, *, like: Allowance | None = None) -> Allowance:
        """The allowance for a pure or an (ε, δ) budget; a part of δ, or all, can be for releases that carry one.

        ``like`` is one that was granted before, and says how an (ε, δ) budget is counted: in ρ alone, or at which
        order.

        (εᵢ, δᵢ)-private releases, each chosen with the others in view, are (Σεᵢ, Σδᵢ)-private together as long as both
        sums stay within their caps.
        """
        events = probability(delta_for_events, "delta_for_events")
        if isinstance(budget, Pure) or (isinstance(budget, Approximate) and budget.delta == events):
            return cls(BudgetMeasure.PURE, _down(budget.epsilon, LOSS_UNITS), _down(events, DELTA_UNITS))
        if isinstance(budget, Approximate):
            if like is not None and like.measure is BudgetMeasure.CONCENTRATED:
                return _concentrated_sum(budget, events)
            return _both_sums(budget, events, None if like is None else like.order)
        raise InvalidType("a budget must be a pure or an (ε, δ) loss", budget)

    @classmethod
    def counted(cls, measure: BudgetMeasure, order: Fraction | None = None) -> Allowance:
        """No cap: what is spent is counted alone.

        Where both sums are counted, the order is 1 unless another is named. A pure loss e then takes min(e²/2, e) of ρ,
        which is at least its divergence of *every* order α over α, min(αe²/2, e)/α. So that the sum is a ρ as zCDP has
        it and can be read by an odometer, while one of a higher order is a bound at that order alone.
        """
        if measure is not BudgetMeasure.EITHER:
            return cls(measure, _UNCAPPED, _UNCAPPED)
        return cls(measure, _UNCAPPED, _UNCAPPED, _UNCAPPED, Fraction(1) if order is None else order)

    @property
    def is_counted(self) -> bool:
        """Whether there is no cap."""
        return self.cap == _UNCAPPED

    @property
    def is_cut(self) -> bool:
        """Whether less is granted than the budget says, because an account cannot count as much."""
        return MOST_UNITS in (self.cap, self.cap_pure)

    def __repr__(self) -> str:
        if self.is_counted:
            return f"Allowance.counted({self.measure}{'' if self.order is None else f', {self.order!r}'})"
        facts = ", ".join(f"{name}={getattr(self, name)!r}" for name in self.__dataclass_fields__)
        return f"Allowance({facts})"

    def holds(self, spent: int, pure: int, impure: int) -> bool:
        """Whether what was spent fits: one of the sums, and that of ε only where every release was pure."""
        return spent <= self.cap or (self.measure is BudgetMeasure.EITHER and not impure and pure <= self.cap_pure)

    def loss(self, units: int) -> Pure | ZeroConcentrated:
        """What ``units`` of this allowance mean."""
        amount = Fraction(units, LOSS_UNITS)
        return Pure(amount) if self.measure is BudgetMeasure.PURE else ZeroConcentrated(amount)

    @property
    def granted(self) -> Pure | ZeroConcentrated:
        """All of it."""
        return self.loss(self.cap)


@lru_cache(maxsize=1024)
def _both_sums(budget: Approximate, events: Fraction, order: Fraction | None) -> Allowance:
    found = EitherFilter(budget, events, order)
    caps = (_down(found.rho, LOSS_UNITS), _down(events, DELTA_UNITS), _down(budget.epsilon, LOSS_UNITS))
    return Allowance(BudgetMeasure.EITHER, *caps, found.order)


def _concentrated_sum(budget: Approximate, events: Fraction) -> Allowance:
    rho = ConcentratedFilter(budget, events).rho
    return Allowance(BudgetMeasure.CONCENTRATED, _down(rho, LOSS_UNITS), _down(events, DELTA_UNITS))


def price_in_units(
    loss: Loss, measure: BudgetMeasure, delta: Fraction = Fraction(0), order: Fraction | None = None
) -> LedgerPrice:
    """What a loss takes from a budget of this measure, rounded up; ``delta`` is for keys that are not public.

    Where both sums are counted, a pure loss e is a divergence of at most min(αe²/2, e) at the ``order`` α of the
    account, and takes that much of ρ = divergence / α.
    """
    if measure is BudgetMeasure.PURE:
        if isinstance(loss, Pure) or (isinstance(loss, Approximate) and loss.delta == 0):
            return LedgerPrice(_up(loss.epsilon, LOSS_UNITS), _up(delta, DELTA_UNITS))
        raise NoProvedPath("a pure budget takes pure prices", repr(loss), "give the table an (ε, δ) budget")
    rho, own = _concentrated(loss)
    if order is None or not isinstance(loss, (Pure, Approximate)):
        return LedgerPrice(_up(rho, LOSS_UNITS), _up(own + delta, DELTA_UNITS))
    least = _up(min(rho, loss.epsilon / order), LOSS_UNITS)
    return LedgerPrice(least, _up(own + delta, DELTA_UNITS), pure=_up(loss.epsilon, LOSS_UNITS))


def price_for_periods(
    loss: Loss,
    periods: int,
    measure: BudgetMeasure,
    delta: Fraction = Fraction(0),
    order: Fraction | None = None,
    *,
    is_divided: bool,
) -> LedgerPrice:
    """What a question that reads several periods takes from the account of a person who is in all of them.

    ``loss`` is what it costs one unit, which is a person in one period; ``is_divided`` says that the period is among
    its keys, so that it is released and rounded up period by period.

    Claim. Let the units of a person in m periods be m, and let a release at ``loss`` read these periods. Divided, it
    costs the person m times the price, in ε, in ρ, in the divergence of one order, and in δ. Undivided, it costs what
    a group of m costs: mε of a pure loss, m²ρ of a concentrated one.

    Proof. Divided, the cells of a period are a function of its rows with noise of their own, so the release is m
    releases, one for each period, and in each the person is one unit: the losses of each add up, whatever the order.
    Undivided, take the person's units away one after the other: m steps between neighbours lead from the table with
    the person to the one without. Logarithms of ratios of probabilities add up along the way, so a pure loss e becomes
    me, which is a divergence of at most min(α(me)²/2, me) at order α and takes min((me)²/2, me/α) of ρ. A concentrated
    loss ρ becomes m²ρ (Bun and Steinke 2016, proposition 1.9). A person in fewer of the periods loses less. ∎

    The price of an undivided question with a δ is refused: along the way δ grows by powers of e^ε.

    >>> from discreet.privacy.loss import ZeroConcentrated
    >>> rho = ZeroConcentrated("0.01")
    >>> each, all_at_once = (price_for_periods(rho, 12, BudgetMeasure.EITHER, is_divided=way) for way in (True, False))
    >>> all_at_once.loss == 12 * each.loss
    True
    """
    number = integer(periods, "periods", least=1)
    if not is_divided:
        if number > 1 and (delta or (isinstance(loss, Approximate) and loss.delta)):
            rule = "a question with a δ must have the period among its keys where it reads several"
            raise NoProvedPath(rule, f"<{number} periods>", "group by the period, or list the keys")
        return price_in_units(loss.group(number), measure, delta, order)
    each = price_in_units(loss, measure, delta, order)
    pure = None if each.pure is None else number * each.pure
    return LedgerPrice(number * each.loss, number * each.delta, pure=pure)


def _concentrated(loss: Loss) -> tuple[Fraction, Fraction]:
    if isinstance(loss, Approximate):
        return rho_of(Pure(loss.epsilon)), loss.delta
    return rho_of(loss), Fraction(0)


def in_epsilon(units: int) -> Pure:
    """What units of ε mean, also where they stand beside those of ρ."""
    return Pure(Fraction(units, LOSS_UNITS))


def _up(amount: Fraction, units: int) -> int:
    return math.ceil(amount * units)


def _down(amount: Fraction, units: int) -> int:
    return min(math.floor(amount * units), MOST_UNITS)


def total(common: int, apart: Mapping[str, Mapping[str, int]], places: int) -> int:
    """The loss of the worst-off unit: what all were charged, and the largest portions of every column.

    >>> spent = {"ward": {"A": 3, "B": 5}, "sex": {"f": 1}}
    >>> total(10, spent, places=1), total(10, spent, places=2)
    (16, 19)
    """
    return common + sum(largest(keys.values(), places) for keys in apart.values())


def largest(portions: Iterable[int], places: int) -> int:
    """The sum of the largest portions, as many as one neighbour can touch."""
    return sum(nlargest(places, portions))


_EXACT = re.compile(r"[0-9]{1,4000}(/[1-9][0-9]{0,3999})?")
"""Plain digits, and not so many that Python refuses to read them."""


def amount(loss: Loss) -> str:
    """A price in its own unit, rounded up."""
    unit, size = _measured(loss)
    return f"{unit} {shown(size)}"


def balance(loss: Loss) -> str:
    """What is left in its own unit, rounded down."""
    unit, size = _measured(loss)
    return f"{unit} {shown(-size).removeprefix('-')}"


def as_json(price: Loss) -> dict[str, Any]:
    """A price for programs: a number rounded up, its unit, the exact number, and the text that records have of it."""
    return _as_json(price, math.inf)


def balance_as_json(left: Loss) -> dict[str, Any]:
    """What is left for programs, in the same form, rounded down."""
    return _as_json(left, -math.inf)


def from_json(stated: object) -> Pure | ZeroConcentrated:
    """The price or the balance that `as_json` or `balance_as_json` wrote, exactly."""
    unit, exact = (stated.get("unit"), stated.get("exact")) if isinstance(stated, Mapping) else (None, None)
    if unit not in ("ε", "ρ") or not isinstance(exact, str) or not _EXACT.fullmatch(exact):
        raise InvalidValue("an amount of loss has a unit, ε or ρ, and an exact number", "<something else>")
    return Pure(Fraction(exact)) if unit == "ε" else ZeroConcentrated(Fraction(exact))


def _as_json(loss: Loss, direction: float) -> dict[str, Any]:
    unit, size = _measured(loss)
    return {"amount": _float(size, direction), "unit": unit, "exact": str(size), "repr": write_loss(loss)}


def _float(value: Fraction, direction: float) -> float:
    """The nearest float, or the next one where its decimal digits would lie on the wrong side of ``value``."""
    nearest = float(value)
    written = Fraction(repr(nearest))
    is_fine = written >= value if direction > 0 else written <= value
    return nearest if is_fine else math.nextafter(nearest, direction)


def _measured(loss: Loss) -> tuple[str, Fraction]:
    if isinstance(loss, Pure):
        return "ε", loss.epsilon
    if isinstance(loss, ZeroConcentrated):
        return "ρ", loss.rho
    raise AssertionError(f"budgets count ε or ρ, not {loss!r}")
