"""Amounts of loss as people and programs read them: ε 0.5, or ρ 0.006 for budgets with a δ.

>>> amount(Pure("0.5")), as_json(ZeroConcentrated("1/8"))["unit"]
('ε 0.5', 'ρ')
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from discreet.privacy.loss import Loss, Pure, ZeroConcentrated, shown

__all__ = ["amount", "as_json", "float_up"]


def amount(loss: Loss) -> str:
    """A price or a balance in its own unit."""
    measured = _measured(loss)
    return repr(loss) if measured is None else f"{measured[0]} {shown(measured[1])}"


def as_json(loss: Loss) -> dict[str, Any]:
    """A price or a balance for programs: a number rounded up, its unit, the exact number, and how Python writes it."""
    measured = _measured(loss)
    if measured is None:
        return {"repr": repr(loss)}
    unit, size = measured
    return {"amount": float_up(size), "unit": unit, "exact": str(size), "repr": repr(loss)}


def float_up(value: Fraction) -> float:
    """The float nearest to ``value`` that is not below it."""
    nearest = float(value)
    return nearest if Fraction(nearest) >= value else math.nextafter(nearest, math.inf)


def _measured(loss: Loss) -> tuple[str, Fraction] | None:
    if isinstance(loss, Pure):
        return "ε", loss.epsilon
    return ("ρ", loss.rho) if isinstance(loss, ZeroConcentrated) else None
