"""An expression as another engine is told it: its text, its type, and what is known about its values.

What is known follows from the statement alone: from its constants, and from its own CASE and LEAST, which the engine
obeys. Nothing that a policy states about rows is believed here. Bounds of real values are doubles, moved outward, so
they hold the engine's rounded result of one operation whenever the exact bounds hold the exact one.

>>> one = Written("x", ValueKind.REAL, Fraction(0), Fraction(4))
>>> both = one.plus(Written("y", ValueKind.INTEGER, Fraction(-1), Fraction(1)))
>>> [int(end) for end in both]
[-1, 5]

Names are looked up in a scope: the relations of one SELECT, and what a branch knows.

Which letter is the large or the small form of another is as DuckDB has it. Servers know case by their operating system,
by ICU, by Java or by tables of their own, and each differs from the others in some letters: ß becomes ẞ, SS or stays.
DuckDB takes each letter for itself and is asked once, so that the list that others are sent cannot come apart from it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from fractions import Fraction
from functools import cache

import duckdb

from discreet.exact.rational import double_above, double_below

__all__ = ["Columns", "Ends", "Facts", "ValueKind", "WriterScope", "Written", "WrittenQuery", "change_letters", "hull"]


Ends = tuple[Fraction | None, Fraction | None]
"""The least and the greatest value, each None where it is not known."""


class ValueKind(StrEnum):
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
        return self in (ValueKind.INTEGER, ValueKind.REAL, ValueKind.WIDE)


@dataclass(frozen=True)
class Written:
    """An expression that was written."""

    text: str
    """In the engine's language; safe to stand beside any operator."""
    kind: ValueKind
    """What its values are."""
    low: Fraction | None = None
    """No number among its values is less. A bound says that a real value is finite, too."""
    high: Fraction | None = None
    """No number among its values is greater."""
    whole: bool = False
    """Whether a real value is a whole number, so that it is zero or at least one away from it."""

    def __post_init__(self) -> None:
        if self.kind is ValueKind.REAL:
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
    real = [part for part in parts if part.kind is not ValueKind.NOTHING]
    lows, highs = [part.low for part in real], [part.high for part in real]
    low = None if not lows or None in lows else min(low for low in lows if low is not None)
    high = None if not highs or None in highs else max(high for high in highs if high is not None)
    return low, high


def _sum(one: Fraction | None, two: Fraction | None) -> Fraction | None:
    return None if one is None or two is None else one + two


def _difference(one: Fraction | None, two: Fraction | None) -> Fraction | None:
    return None if one is None or two is None else one - two


Columns = Mapping[str, Written]
"""The columns of a relation, by the names that plans give them; the text of each is how it is written there."""
Facts = Mapping[str, tuple[Fraction, Fraction]]
"""Bounds of expressions, by their text in the language of plans."""


@dataclass(frozen=True)
class WrittenQuery:
    """A query that was written."""

    text: str
    """The query."""
    columns: Columns
    """What it returns, in order."""


@dataclass(frozen=True)
class WriterScope:
    """What an expression may name."""

    relations: Mapping[str, Columns]
    """By alias."""
    facts: Facts = field(default_factory=dict)
    """What the conditions around the expression say about others."""

    def column(self, name: str, relation: str) -> Written:
        """The column with this name, of one relation or of the first that has it."""
        for alias, columns in self.relations.items():
            if relation in ("", alias) and name in columns:
                found = columns[name]
                return replace(found, text=f"{alias}.{found.text}") if relation else found
        raise KeyError(name)

    def knowing(self, facts: Facts) -> WriterScope:
        """The same names, where more is known."""
        return replace(self, facts={**self.facts, **facts})


_LETTERS = 0x110000
_SURROGATES = range(0xD800, 0xE000)


@cache
def change_letters(function: str, first: int = 1) -> tuple[str, str]:
    """The letters from ``first`` on that ``upper`` or ``lower`` changes, and what they become."""
    every = "".join(chr(code) for code in range(first, _LETTERS) if code not in _SURROGATES)
    with duckdb.connect(":memory:", config={"threads": "1", "enable_external_access": "false"}) as database:
        turned = database.execute(f"SELECT {function}($1)", [every]).fetchall()[0][0]
    pairs = [(one, two) for one, two in zip(every, turned, strict=True) if one != two]
    return "".join(one for one, _ in pairs), "".join(two for _, two in pairs)
