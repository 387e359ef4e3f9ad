"""Bins: a line of values cut at round places that are fixed before any row is read.

Numbers are cut at 1, 2, 5, 10, 20, 50, … and their negatives, and at zero, which is a bin of its own; dates at the new
year. A positive cut belongs to the bin below it and a negative one to the bin above it, so a column that ends at 100
has nothing in the bin from 100 to 200.

>>> bins = bins_for(ColumnType.INTEGER)
>>> bins.between(bins.place(73), bins.place(100))
(50, 100)

Paid questions that help an owner to write a policy: bounds, rows per unit, and what these touch.

Each is an ordinary question like any other, so it is planned without looking, charged before a row is read,
stored, certified, and free when it is asked again. Nothing here adds noise or reads rows by itself.

Some of them need values as they were taken in, before bounds move them: they are planned against the same catalog with
the bounds of some columns left out. That is as private as any question. Unit, neighbours, rows per unit and budget stay
as they are, and the noise of a plan follows from the catalog it was planned with: a column without bounds is one about
which less is known, so that less is answered about it (counts, and no sums), never with less noise. A plan's statement
says which bounds it applies, so that answers with and without them are never taken for each other.
"""

from __future__ import annotations

import json
import shlex
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from copy import copy
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from enum import Enum
from fractions import Fraction
from typing import TYPE_CHECKING

from discreet.catalog.catalog import Catalog
from discreet.catalog.column import Column, ColumnType, Value, write_literal
from discreet.catalog.names import suggestion
from discreet.catalog.table import Table
from discreet.engines.parameters import quote
from discreet.errors import InvalidValue

if TYPE_CHECKING:
    from discreet.curator.curator import Curator

__all__ = [
    "AS_TAKEN_IN",
    "BinEdge",
    "HistogramBins",
    "Offers",
    "bins_for",
    "bins_of_counts",
    "count_people",
    "drop_bounds",
    "find_protected_table",
    "is_unit_column",
    "literal",
    "offer",
    "offer_of_groups",
    "planning_with",
    "the_column",
]


_FIRST_YEAR, _LAST_YEAR = 1900, 2100
_LARGEST_COUNT = 20  # as a power of two: no policy may state a larger rows_per_unit


@dataclass(frozen=True)
class BinEdge:
    """A place where one bin ends and the next begins."""

    value: Value
    is_below: bool
    """Whether the value itself lies in the bin below."""


@dataclass(frozen=True)
class HistogramBins:
    """Bin k lies between cut k - 1 and cut k; the first and the last have no other end."""

    cuts: tuple[BinEdge, ...]

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


def _is_beyond(cut: BinEdge, value: Value) -> bool:
    return value <= cut.value if cut.is_below else value < cut.value  # type: ignore[operator]  # of one type


def _last_day(value: Value) -> Value:
    """A year of dates ends with December; the first of January lies outside."""
    return value - timedelta(days=1) if isinstance(value, date) and not isinstance(value, datetime) else value


def bins_for(kind: ColumnType) -> HistogramBins:
    """The bins of a column of this type."""
    if kind is ColumnType.DATE:
        return HistogramBins(tuple(BinEdge(date(year, 1, 1), False) for year in range(_FIRST_YEAR, _LAST_YEAR + 1)))
    if kind is ColumnType.TIMESTAMP:
        return HistogramBins(tuple(BinEdge(datetime(year, 1, 1), False) for year in range(_FIRST_YEAR, _LAST_YEAR + 1)))
    exponents = range(19) if kind is ColumnType.INTEGER else range(-6, 16)
    sizes = [Fraction(digit) * Fraction(10) ** exponent for exponent in exponents for digit in (1, 2, 5)]
    return _signed([int(size) for size in sizes] if kind is ColumnType.INTEGER else sizes)


def bins_of_counts() -> HistogramBins:
    """1, 2, 3 to 4, 5 to 8, 9 to 16, …; how many rows a person has."""
    return HistogramBins(tuple(BinEdge(2**power, True) for power in range(_LARGEST_COUNT + 1)))


def _signed(sizes: Iterable[int | Fraction]) -> HistogramBins:
    up = list(sizes)
    negative = [BinEdge(-size, False) for size in reversed(up)]
    return HistogramBins((*negative, BinEdge(0, False), BinEdge(0, True), *(BinEdge(size, True) for size in up)))


def literal(value: Value) -> str:
    """A value as SQL spells it."""
    if isinstance(value, datetime):
        return f"TIMESTAMP '{value.isoformat(sep=' ')}'"
    if isinstance(value, date):
        return f"DATE '{value.isoformat()}'"
    return f"({write_literal(value)})"


AS_TAKEN_IN = "/* values as they were taken in, before bounds and defaults */ "
"""Stands before a question in the ledger and in its certificate, which show its text."""


class Offers(Enum):
    """How the paid questions that help to write a policy are named: as their reader would ask them."""

    NONE = "none"
    PYTHON = "python"
    COMMANDS = "commands"

    def touched(self, table: str) -> str:
        """The question how many people and values the policy's limits touch."""
        return self._named(f"touched({_in_quotes(table)}, epsilon=0.1)", "touched", table, "-e", "0.1")

    def groups(self, table: str, columns: Sequence[str]) -> str:
        """The question in how many groups people are."""
        names = [_in_quotes(name) for name in columns]
        by = names[0] if len(names) == 1 else f"[{', '.join(names)}]"
        call = f"left_out({_in_quotes(table)}, by={by}, epsilon=0.1)"
        return self._named(call, "groups", table, *columns, "-e", "0.1")

    def rows(self, table: str) -> str:
        """The question how many rows of a person should count."""
        return self._named(f"suggest_rows_per_unit({_in_quotes(table)}, epsilon=…)", "rows", table, "-e", "…")

    def bounds(self, table: str, column: str) -> str:
        """The question which bounds hold most values of a column."""
        call = f"suggest_bounds({_in_quotes(table)}, {_in_quotes(column)}, epsilon=…)"
        return self._named(call, "bounds", table, column, "-e", "…")

    def _named(self, call: str, *words: str) -> str:
        if self is Offers.COMMANDS:
            return "discreet suggest " + " ".join(word if word == "…" else shlex.quote(word) for word in words)
        return f"curator.{call}"


def offer(tables: Iterable[str], offers: Offers = Offers.PYTHON) -> str:
    """The sentence that offers the paid question how many people and values the policy's limits touch."""
    calls = " or ".join(offers.touched(name) for name in sorted(tables))
    return f"To estimate how many people this affects, run {calls}; it costs budget."


def offer_of_groups(table: str, columns: Sequence[str], offers: Offers = Offers.PYTHON) -> str:
    """The sentence that offers the paid question how many groups of people are left out."""
    return f"To estimate what share is missing, run {offers.groups(table, columns)}; it costs budget."


def _in_quotes(name: str) -> str:
    """A name as Python reads it."""
    return json.dumps(name, ensure_ascii=False)


def find_protected_table(catalog: Catalog, name: str) -> Table:
    """The protected table of this name."""
    table = catalog.table(name)
    if table.public:
        rule = "only a protected table has bounds and limits to be found for a price"
        raise InvalidValue(rule, name, "everybody may see the rows of a public table: look at them")
    return table


def the_column(table: Table, name: str) -> Column:
    """The column of this name."""
    column = table.column(name)
    if column is None:
        near = suggestion(name, (known.name for known in table.columns))
        raise InvalidValue(f"{table.name}: there is no column of this name", name, near)
    return column


def is_unit_column(catalog: Catalog, table: Table, column: Column) -> bool:
    """Whether a column names the person, here or through a foreign key."""
    path = catalog.unit_path(table.name)
    return path is not None and not path.steps and path.column == column.name


def drop_bounds(curator: Curator, table: Table, columns: Iterable[Column]) -> Curator:
    """The same curator, which plans without the bounds, keys and defaults of these columns."""
    names = {column.name for column in columns}
    bare = tuple(_bare(column) if column.name in names else column for column in table.columns)
    return planning_with(curator, replace(table, columns=bare))


def planning_with(curator: Curator, table: Table) -> Curator:
    """The same curator, with the same store, ledger and accounts, which plans with another policy of one table."""
    other = copy(curator)
    other.is_pinned = True
    other.catalog = curator.catalog.with_table(table)
    return other


def _bare(column: Column) -> Column:
    return replace(column, lower=None, upper=None, keys=None, default=None)


def count_people(catalog: Catalog, table: Table) -> tuple[str, str] | None:
    """FROM and GROUP BY of a subquery with one row per person; None where every row is a person.

    The table itself is called t0. Where people are found through foreign keys, the tables on the way are joined.
    """
    path = catalog.unit_path(table.name)
    if path is None or path.column is None:
        return None
    source = f"{quote(table.name)} t0"
    for place, key in enumerate(path.steps):
        source += (
            f" JOIN {quote(catalog.table(key.table).name)} t{place + 1}"
            f" ON t{place}.{quote(key.column)} = t{place + 1}.{quote(key.other_column)}"
        )
    return source, f"t{len(path.steps)}.{quote(path.column)}"
