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
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from typing import Any, NamedTuple

from discreet.accounting.filter import ConcentratedFilter, rho_of
from discreet.errors import InvalidType, InvalidValue, NoProvedPath
from discreet.exact.rational import Number, probability
from discreet.privacy.loss import Approximate, Loss, Pure, ZeroConcentrated, shown, write_loss

__all__ = [
    "DELTA_UNITS",
    "LOSS_UNITS",
    "Allowance",
    "BudgetMeasure",
    "LedgerPrice",
    "Portion",
    "amount",
    "as_json",
    "balance",
    "balance_as_json",
    "from_json",
    "price_in_units",
]


LOSS_UNITS = 720_720 * 10**9
DELTA_UNITS = 10**18
_LARGEST = 2**62


class BudgetMeasure(Enum):
    """What a budget counts."""

    PURE = "pure"
    """ε, for budgets without δ, or whose δ is for releases that carry one."""
    CONCENTRATED = "concentrated"
    """ρ, for (ε, δ) budgets: the filter that is proved for adaptively chosen prices."""


class Portion(NamedTuple):
    """What the people with one key of a column are charged."""

    part: str
    """The column that divides people, and the version of its data."""
    key: str
    """Which of them."""
    loss: int
    """Units of ε or ρ."""


@dataclass(frozen=True)
class LedgerPrice:
    """What one release takes from a budget."""

    loss: int
    """Units of ε or ρ."""
    delta: int = 0
    """Units of δ, for releases that carry a δ of their own."""

    portions: tuple[Portion, ...] = ()
    """What only the people with certain keys are charged."""

    def __post_init__(self) -> None:
        amounts = [self.loss, self.delta, *(portion.loss for portion in self.portions)]
        if min(amounts) < 0 or max(amounts) > _LARGEST:
            worst = min(amounts) if min(amounts) < 0 else max(amounts)
            got = f"<{worst / LOSS_UNITS:,.6g}>"
            raise InvalidValue("a price must not be negative, and below 6,000 in ε or ρ", got, "name a lower one")


@dataclass(frozen=True)
class Allowance:
    """A cap on what may be spent."""

    measure: BudgetMeasure
    """What is counted."""
    cap: int
    """Units of ε or ρ that may be spent."""
    delta_cap: int = 0
    """Units of δ that releases of their own may spend."""

    @classmethod
    def of(cls, budget: Loss, delta_for_events: Number = 0) -> Allowance:
        """The allowance for a pure or an (ε, δ) budget; a part of δ, or all, can be for releases that carry one.

        (εᵢ, δᵢ)-private releases, each chosen with the others in view, are (Σεᵢ, Σδᵢ)-private together as long as both
        sums stay within their caps.
        """
        events = probability(delta_for_events, "delta_for_events")
        if isinstance(budget, Pure) or (isinstance(budget, Approximate) and budget.delta == events):
            return cls(BudgetMeasure.PURE, _down(budget.epsilon, LOSS_UNITS), _down(events, DELTA_UNITS))
        if isinstance(budget, Approximate):
            rho = ConcentratedFilter(budget, delta_for_events).rho
            return cls(BudgetMeasure.CONCENTRATED, _down(rho, LOSS_UNITS), _down(events, DELTA_UNITS))
        raise InvalidType("a budget must be a pure or an (ε, δ) loss", budget)

    def loss(self, units: int) -> Pure | ZeroConcentrated:
        """What ``units`` of this allowance mean."""
        amount = Fraction(units, LOSS_UNITS)
        return Pure(amount) if self.measure is BudgetMeasure.PURE else ZeroConcentrated(amount)


def price_in_units(loss: Loss, measure: BudgetMeasure, delta: Fraction = Fraction(0)) -> LedgerPrice:
    """What a loss takes from a budget of this measure, rounded up; ``delta`` is for keys that are not public."""
    if measure is BudgetMeasure.PURE:
        if isinstance(loss, Pure) or (isinstance(loss, Approximate) and loss.delta == 0):
            return LedgerPrice(_up(loss.epsilon, LOSS_UNITS), _up(delta, DELTA_UNITS))
        raise NoProvedPath("a pure budget takes pure prices", repr(loss), "give the table an (ε, δ) budget")
    rho, own = _concentrated(loss)
    return LedgerPrice(_up(rho, LOSS_UNITS), _up(own + delta, DELTA_UNITS))


def _concentrated(loss: Loss) -> tuple[Fraction, Fraction]:
    if isinstance(loss, Approximate):
        return rho_of(Pure(loss.epsilon)), loss.delta
    return rho_of(loss), Fraction(0)


def _up(amount: Fraction, units: int) -> int:
    return math.ceil(amount * units)


def _down(amount: Fraction, units: int) -> int:
    return min(math.floor(amount * units), _LARGEST)


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
