"""Interval arithmetic: the public bounds of an expression follow from the public bounds of its columns.

An end may be unknown. What is returned always contains every value the expression can take on rows within bounds.

>>> Interval.of(0, 10) * Interval.of(-1, 2)
Interval(low=Fraction(-10, 1), high=Fraction(20, 1))
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

__all__ = ["UNKNOWN", "Interval"]


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


UNKNOWN = Interval()


def _plus(a: Fraction | None, b: Fraction | None) -> Fraction | None:
    return None if a is None or b is None else a + b


def _minus(a: Fraction | None) -> Fraction | None:
    return None if a is None else -a
