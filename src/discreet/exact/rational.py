"""Rationals from what people type: 1, 0.1, "0.1", "1/3", Fraction(1, 3), Decimal("0.1"); and the doubles beside them.

A float means its shortest decimal, so ``0.1`` is exactly 1/10 and ten of them fill a budget of 1.

>>> rational(0.1), rational("1/3"), rational(2)
(Fraction(1, 10), Fraction(1, 3), Fraction(2, 1))

An engine rounds to the nearest double, and that never passes one: if an exact result lies between two doubles, so does
its rounded value.

>>> [double_below(Fraction(1, 10)) < Fraction(1, 10) < double_above(Fraction(1, 10)), double_above(Fraction(2) ** 1024)]
[True, None]
"""

from __future__ import annotations

import math
import operator
import re
from decimal import Decimal
from fractions import Fraction
from numbers import Integral, Rational, Real
from typing import TypeAlias

from discreet.errors import InvalidType, InvalidValue

__all__ = [
    "LARGEST_DOUBLE",
    "Number",
    "double_above",
    "double_below",
    "integer",
    "positive",
    "probability",
    "rational",
]


Number: TypeAlias = int | float | str | Fraction | Decimal

# Privacy parameters outside this range are typing errors, and refusing them keeps integers small.
_SMALLEST = Fraction(1, 2**100)
_LARGEST = Fraction(2**100)
_MOST_DIGITS = 1000
_TEXT = re.compile(r"[+-]?(\d+/\d+|(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,4})?)", re.ASCII)


def rational(value: Number, name: str = "value") -> Fraction:
    """The exact rational that ``value`` stands for; NaN, infinities and other types are refused."""
    if isinstance(value, bool) or not isinstance(value, (str, Decimal, Real)):
        raise InvalidType(f"{name} must be a number or a decimal string", value, "write 0.5, '0.5' or '1/2'")
    if isinstance(value, Integral):
        return Fraction(integer(value, name))
    if isinstance(value, Rational):
        return Fraction(int(value.numerator), int(value.denominator))
    if isinstance(value, (float, Decimal, Real)):
        if not _is_finite(value):
            raise InvalidValue(f"{name} must be finite", value)
        value = str(value)  # the shortest decimal that reads back as the same float
    if len(value) > _MOST_DIGITS or not _TEXT.fullmatch(value.strip()):
        raise InvalidValue(f"{name} must be a decimal or a fraction", value, "write '0.5' or '1/2'")
    try:
        return Fraction(value)
    except ZeroDivisionError:
        raise InvalidValue(f"{name} must have a denominator other than 0", value) from None


def _is_finite(value: float | Decimal | Real) -> bool:
    # A Decimal answers for itself: a signalling NaN has no float, and 1E+400 is finite.
    return value.is_finite() if isinstance(value, Decimal) else math.isfinite(value)


def positive(value: Number, name: str = "value") -> Fraction:
    """``value`` as a rational above zero, between 2^-100 and 2^100."""
    number = rational(value, name)
    if number <= 0:
        raise InvalidValue(f"{name} must be positive", value)
    if not _SMALLEST <= number <= _LARGEST:
        raise InvalidValue(f"{name} must lie between 2^-100 and 2^100", value)
    return number


def probability(value: Number, name: str = "probability") -> Fraction:
    """``value`` as a rational in [0, 1]."""
    number = rational(value, name)
    if not 0 <= number <= 1:
        raise InvalidValue(f"{name} must lie between 0 and 1", value)
    return number


def integer(value: object, name: str = "value", *, least: int | None = None, most: int | None = None) -> int:
    """``value`` as a Python int; floats and booleans are refused even when they look whole."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise InvalidType(f"{name} must be an integer", value)
    try:
        number = operator.index(value)
    except TypeError:  # NumPy counts its time spans among the integers
        raise InvalidType(f"{name} must be an integer", value) from None
    if least is not None and number < least:
        raise InvalidValue(f"{name} must be at least {least}", value)
    if most is not None and number > most:
        raise InvalidValue(f"{name} must be at most {most}", value)
    return number


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
