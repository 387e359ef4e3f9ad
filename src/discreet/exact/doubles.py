"""The doubles beside a rational: how far an engine's rounding can take an exact end.

Rounding to nearest never passes a double. So if an exact result lies between two doubles, its rounded value does too.

>>> [double_below(Fraction(1, 10)) < Fraction(1, 10) < double_above(Fraction(1, 10)), double_above(Fraction(2) ** 1024)]
[True, None]
"""

from __future__ import annotations

import math
from fractions import Fraction

__all__ = ["LARGEST_DOUBLE", "double_above", "double_below"]


LARGEST_DOUBLE = Fraction(float.fromhex("0x1.fffffffffffffp+1023"))
"""Beyond it there is infinity."""


def double_below(value: Fraction) -> Fraction | None:
    """The greatest double that is not above ``value``; None where ``value`` lies beyond the doubles."""
    if abs(value) > LARGEST_DOUBLE:
        return None
    nearest = float(value)
    return Fraction(nearest if Fraction(nearest) <= value else math.nextafter(nearest, -math.inf))


def double_above(value: Fraction) -> Fraction | None:
    """The least double that is not below ``value``; None where ``value`` lies beyond the doubles."""
    found = double_below(-value)
    return None if found is None else -found
