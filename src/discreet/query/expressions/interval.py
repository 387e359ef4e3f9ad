"""Interval arithmetic: the public bounds of an expression follow from the public bounds of its columns.

An end may be unknown. What is returned always contains every value the expression can take on rows within bounds.

Arithmetic here is exact, and so is an engine's on integers and dates. On doubles an engine rounds to nearest, which
never takes a result past the double that an exact end rounds to: `in_doubles` moves ends outward to doubles and so
holds every rounded result of one operation. `in_words` is for integers, which have 64 bits or are missing, and
`in_digits` for decimals, which have 38 digits or are missing; arithmetic on both is exact. Intervals decide bounds and
grids; nothing that keeps a statement from failing may rest on one.

>>> Interval.of(0, 10) * Interval.of(-1, 2)
Interval(low=Fraction(-10, 1), high=Fraction(20, 1))
>>> Interval.of(2**62 + 513, 2**62 + 513).in_doubles().known[1] - 2**62
Fraction(1024, 1)
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from discreet.exact.rational import double_above, double_below

__all__ = ["UNKNOWN", "Interval"]


_FIRST, _LAST = Fraction(-(2**63)), Fraction(2**63 - 1)
_FUNCTION_ERROR = Fraction(1, 2**40)
"""Far more than mathematical functions of any engine are off by, relative to what they return."""


@dataclass(frozen=True)
class Interval:
    """All reals from ``low`` to ``high``; None where nothing is known."""

    low: Fraction | None = None
    high: Fraction | None = None

    @classmethod
    def of(cls, low: int | Fraction, high: int | Fraction) -> Interval:
        """The interval between two known ends."""
        return cls(Fraction(low), Fraction(high))

    @property
    def known(self) -> tuple[Fraction, Fraction] | None:
        """Both ends, when both are known."""
        return None if self.low is None or self.high is None else (self.low, self.high)

    def __add__(self, other: Interval) -> Interval:
        return Interval(_plus(self.low, other.low), _plus(self.high, other.high))

    def __neg__(self) -> Interval:
        return Interval(_minus(self.high), _minus(self.low))

    def __sub__(self, other: Interval) -> Interval:
        return self + -other

    def __mul__(self, other: Interval) -> Interval:
        mine, theirs = self.known, other.known
        if mine is None or theirs is None:
            return UNKNOWN
        products = [a * b for a in mine for b in theirs]
        return Interval(min(products), max(products))

    def __truediv__(self, other: Interval) -> Interval:
        """Quotients, where division by zero gives NULL; unknown when zero lies inside the divisor's interval."""
        theirs = other.known
        if theirs is None or theirs[0] <= 0 <= theirs[1]:
            return UNKNOWN
        return self * Interval(1 / theirs[1], 1 / theirs[0])

    def hull(self, other: Interval) -> Interval:
        """The least interval that holds both."""
        low = None if self.low is None or other.low is None else min(self.low, other.low)
        high = None if self.high is None or other.high is None else max(self.high, other.high)
        return Interval(low, high)

    def magnitude(self) -> Interval:
        """Absolute values."""
        ends = self.known
        if ends is None:
            return Interval(Fraction(0), None)
        low = Fraction(0) if ends[0] <= 0 <= ends[1] else min(abs(ends[0]), abs(ends[1]))
        return Interval(low, max(abs(ends[0]), abs(ends[1])))

    def whole(self, slack: int = 0) -> Interval:
        """The least interval of whole numbers that holds every rounding of the values."""
        low = None if self.low is None else Fraction(math.floor(self.low) - slack)
        high = None if self.high is None else Fraction(math.ceil(self.high) + slack)
        return Interval(low, high)

    def in_doubles(self) -> Interval:
        """The ends moved outward to doubles; an end that a double may overflow past is unknown."""
        low = None if self.low is None else double_below(self.low)
        return Interval(low, None if self.high is None else double_above(self.high))

    def of_function(self) -> Interval:
        """The ends moved outward by more than a function's error: functions round nearly right, and never past zero."""
        low, high = (None if end is None else abs(end) * _FUNCTION_ERROR for end in (self.low, self.high))
        return Interval(_plus(self.low, _minus(low)), _plus(self.high, high)).in_doubles()

    def in_words(self) -> Interval:
        """What 64 bits hold of it: an integer further out is missing."""
        return self.within(_FIRST, _LAST)

    def in_digits(self, scale: int, digits: int = 38) -> Interval:
        """What decimals of so many digits hold of it, with ``scale`` of them after the point: others are missing."""
        last = Fraction(10**digits - 1, 10**scale)
        return self.within(-last, last)

    def within(self, first: Fraction, last: Fraction) -> Interval:
        """What is left of it where values beyond these ends are missing."""
        low, high = (None if end is None else min(max(end, first), last) for end in (self.low, self.high))
        return Interval(low, high)


UNKNOWN = Interval()


def _plus(a: Fraction | None, b: Fraction | None) -> Fraction | None:
    return None if a is None or b is None else a + b


def _minus(a: Fraction | None) -> Fraction | None:
    return None if a is None else -a
