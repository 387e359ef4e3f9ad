"""Bins: a line of values cut at round places that are fixed before any row is read.

Numbers are cut at 1, 2, 5, 10, 20, 50, … and their negatives, and at zero, which is a bin of its own; dates at the new
year. A positive cut belongs to the bin below it and a negative one to the bin above it, so a column that ends at 100
has nothing in the bin from 100 to 200.

>>> bins = bins_for(ColumnType.INTEGER)
>>> bins.between(bins.place(73), bins.place(100))
(50, 100)
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from fractions import Fraction

from discreet.catalog.column import ColumnType, Value
from discreet.catalog.literal import written

__all__ = ["Bins", "Cut", "bins_for", "bins_of_counts", "literal"]

_FIRST_YEAR, _LAST_YEAR = 1900, 2100
_LARGEST_COUNT = 20  # as a power of two: no policy may state a larger rows_per_unit


@dataclass(frozen=True)
class Cut:
    """A place where one bin ends and the next begins."""

    value: Value
    is_below: bool
    """Whether the value itself lies in the bin below."""


@dataclass(frozen=True)
class Bins:
    """Bin k lies between cut k - 1 and cut k; the first and the last have no other end."""

    cuts: tuple[Cut, ...]

    def __len__(self) -> int:
        return len(self.cuts) + 1

    def sql(self, expression: str) -> str:
        """The number of the bin that a value lies in, as a CASE that halves what is left at every step."""
        return self._tree(expression, 0, len(self.cuts))

    def _tree(self, expression: str, first: int, last: int) -> str:
        if first == last:
            return str(first)
        middle = (first + last) // 2
        cut = self.cuts[middle]
        test = f"{expression} {'<=' if cut.is_below else '<'} {literal(cut.value)}"
        return (
            f"CASE WHEN {test} THEN {self._tree(expression, first, middle)} "
            f"ELSE {self._tree(expression, middle + 1, last)} END"
        )

    def place(self, value: Value) -> int:
        """The bin of a value."""
        return bisect_left(self.cuts, True, key=lambda cut: _is_beyond(cut, value))

    def between(self, first: int, last: int) -> tuple[Value, Value]:
        """The bounds of the bins from ``first`` to ``last``; an open end is taken to be where its cut is."""
        low, high = max(first - 1, 0), min(last, len(self.cuts) - 1)
        if self.cuts[low].value == self.cuts[high].value:
            high = min(high + 1, len(self.cuts) - 1)  # zeros alone: bounds must differ
        return self.cuts[low].value, _last_day(self.cuts[high].value)

    def is_open(self, place: int) -> bool:
        """Whether a bin goes on for ever."""
        return place in (0, len(self.cuts))


def _is_beyond(cut: Cut, value: Value) -> bool:
    return value <= cut.value if cut.is_below else value < cut.value  # type: ignore[operator]  # of one type


def _last_day(value: Value) -> Value:
    """A year of dates ends with December; the first of January lies outside."""
    return value - timedelta(days=1) if isinstance(value, date) and not isinstance(value, datetime) else value


def bins_for(kind: ColumnType) -> Bins:
    """The bins of a column of this type."""
    if kind is ColumnType.DATE:
        return Bins(tuple(Cut(date(year, 1, 1), False) for year in range(_FIRST_YEAR, _LAST_YEAR + 1)))
    if kind is ColumnType.TIMESTAMP:
        return Bins(tuple(Cut(datetime(year, 1, 1), False) for year in range(_FIRST_YEAR, _LAST_YEAR + 1)))
    exponents = range(19) if kind is ColumnType.INTEGER else range(-6, 16)
    sizes = [Fraction(digit) * Fraction(10) ** exponent for exponent in exponents for digit in (1, 2, 5)]
    return _signed([int(size) for size in sizes] if kind is ColumnType.INTEGER else sizes)


def bins_of_counts() -> Bins:
    """1, 2, 3 to 4, 5 to 8, 9 to 16, …; how many rows a person has."""
    return Bins(tuple(Cut(2**power, True) for power in range(_LARGEST_COUNT + 1)))


def _signed(sizes: Iterable[int | Fraction]) -> Bins:
    up = list(sizes)
    negative = [Cut(-size, False) for size in reversed(up)]
    return Bins((*negative, Cut(0, False), Cut(0, True), *(Cut(size, True) for size in up)))


def literal(value: Value) -> str:
    """A value as SQL spells it."""
    if isinstance(value, datetime):
        return f"TIMESTAMP '{value.isoformat(sep=' ')}'"
    if isinstance(value, date):
        return f"DATE '{value.isoformat()}'"
    return f"({written(value)})"
