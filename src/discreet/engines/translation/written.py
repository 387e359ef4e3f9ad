"""An expression as another engine is told it: its text, its type, and what is known about its values.

What is known follows from the statement alone: from its constants, and from its own CASE and LEAST, which the engine
obeys. Nothing that a policy states about rows is believed here. Bounds of real values are doubles, moved outward, so
they hold the engine's rounded result of one operation whenever the exact bounds hold the exact one.

>>> both = Written("x", Kind.REAL, Fraction(0), Fraction(4)).plus(Written("y", Kind.INTEGER, Fraction(-1), Fraction(1)))
>>> [int(end) for end in both]
[-1, 5]
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

from discreet.exact.doubles import double_above, double_below

__all__ = ["Ends", "Kind", "Written", "hull"]

Ends = tuple[Fraction | None, Fraction | None]
"""The least and the greatest value, each None where it is not known."""


class Kind(StrEnum):
    """What the values of an expression are; the first six are the types that columns are declared with."""

    INTEGER = "integer"
    REAL = "real"
    TEXT = "text"
    BOOLEAN = "boolean"
    DATE = "date"
    TIMESTAMP = "timestamp"
    WIDE = "wide"
    """A sum of integers, as wide as it takes; or a decimal in its steps, of up to 38 digits."""
    SPAN = "span"
    """So many months, days or microseconds."""
    UNIT = "unit"
    """The id of a unit, of whatever type the engine gives it."""
    NOTHING = "nothing"
    """The word NULL."""

    @property
    def is_number(self) -> bool:
        """Whether one can calculate with it."""
        return self in (Kind.INTEGER, Kind.REAL, Kind.WIDE)


@dataclass(frozen=True)
class Written:
    """An expression that was written."""

    text: str
    """In the engine's language; safe to stand beside any operator."""
    kind: Kind
    """What its values are."""
    low: Fraction | None = None
    """No number among its values is less. A bound says that a real value is finite, too."""
    high: Fraction | None = None
    """No number among its values is greater."""
    whole: bool = False
    """Whether a real value is a whole number, so that it is zero or at least one away from it."""

    def __post_init__(self) -> None:
        if self.kind is Kind.REAL:
            object.__setattr__(self, "low", None if self.low is None else double_below(self.low))
            object.__setattr__(self, "high", None if self.high is None else double_above(self.high))

    @property
    def ends(self) -> Ends:
        """Both bounds."""
        return self.low, self.high

    @property
    def point(self) -> Fraction | None:
        """The one value that it has, where that is known."""
        return self.low if self.low == self.high else None

    @property
    def largest(self) -> Fraction | None:
        """No value is further from zero; None where that is not known."""
        return None if self.low is None or self.high is None else max(abs(self.low), abs(self.high))

    def plus(self, other: Written) -> Ends:
        """The bounds of a sum."""
        return _sum(self.low, other.low), _sum(self.high, other.high)

    def minus(self, other: Written) -> Ends:
        """The bounds of a difference."""
        return _difference(self.low, other.high), _difference(self.high, other.low)

    def times(self, other: Written) -> Ends:
        """The bounds of a product."""
        if self.low is None or self.high is None or other.low is None or other.high is None:
            return None, None
        products = [one * two for one in (self.low, self.high) for two in (other.low, other.high)]
        return min(products), max(products)


def hull(parts: list[Written]) -> Ends:
    """Bounds that hold for each of these; what is NULL has no values."""
    real = [part for part in parts if part.kind is not Kind.NOTHING]
    lows, highs = [part.low for part in real], [part.high for part in real]
    low = None if not lows or None in lows else min(low for low in lows if low is not None)
    high = None if not highs or None in highs else max(high for high in highs if high is not None)
    return low, high


def _sum(one: Fraction | None, two: Fraction | None) -> Fraction | None:
    return None if one is None or two is None else one + two


def _difference(one: Fraction | None, two: Fraction | None) -> Fraction | None:
    return None if one is None or two is None else one - two
