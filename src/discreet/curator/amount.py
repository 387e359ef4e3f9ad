"""Amounts of loss as people and programs read them: ε 0.5, or ρ 0.006 for budgets with a δ.

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
from fractions import Fraction
from typing import Any

from discreet.errors import InvalidValue
from discreet.privacy.loss import Loss, Pure, ZeroConcentrated, shown
from discreet.query.fingerprint import text_of

__all__ = ["amount", "as_json", "balance", "balance_as_json", "from_json"]

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
    return {"amount": _float(size, direction), "unit": unit, "exact": str(size), "repr": text_of(loss)}


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
