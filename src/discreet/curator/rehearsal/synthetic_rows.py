"""Rows made up from policies alone: types, bounds, keys, missing values, foreign keys and people with several rows.

No value depends on a protected row, so whatever is computed from these rows is free. They are the same for the same
policies: value k of a column is found by stepping round a circle by the square root of a prime, which spreads values
evenly, and differently for every column. Whoever has no rows of a public table gets made-up ones for it too.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from fractions import Fraction
from itertools import count, islice
from typing import Any

import pyarrow as pa

from discreet.catalog.catalog import Catalog
from discreet.catalog.column import Column, ColumnType
from discreet.catalog.table import ForeignKey, Table
from discreet.exact.rational import integer

__all__ = ["MadeUpRows", "PublicRows"]


PublicRows = Callable[[str], pa.Table | None]
"""The rows of a public table; None where nobody has them yet."""

_MOST_ROWS = 10**6
_PUBLIC_ROWS = 10
_LEAST_PEOPLE = 20
_TWO = 2  # people, when true and false are their names
_MISSING = Fraction(1, 10)
_FIRST_DAY = date(2024, 1, 1)
_ARROW = {
    ColumnType.INTEGER: pa.int64(),
    ColumnType.REAL: pa.float64(),
    ColumnType.TEXT: pa.string(),
    ColumnType.BOOLEAN: pa.bool_(),
    ColumnType.DATE: pa.date32(),
    ColumnType.TIMESTAMP: pa.timestamp("us"),
}


@dataclass(frozen=True)
class _Made:
    """The rows of one table, and whose they are."""

    columns: dict[str, list[Any]]
    """Values by folded name."""
    people: list[int]
    """For every row the number of its person."""


class MadeUpRows:
    """Made-up rows for the tables of a catalog; rows of public tables are real where there are any."""

    def __init__(self, catalog: Catalog, rows: int = 1000, public_rows: PublicRows = lambda name: None) -> None:
        self.catalog = catalog
        self.rows = integer(rows, "rows", least=1, most=_MOST_ROWS)
        self._public_rows = public_rows
        self._known: dict[str, pa.Table] = {}
        self._made: dict[str, _Made] = {}

    def of(self, name: str) -> pa.Table:
        """The rows of a table."""
        table = self.catalog.table(name)
        if table.name not in self._known:
            real = self._public_rows(table.name) if table.public else None
            self._known[table.name] = _as_arrow(table, self._rows_of(table)) if real is None else real
        return self._known[table.name]

    def _rows_of(self, table: Table) -> _Made:
        if table.name not in self._made:
            self._made[table.name] = self._make(table)
        return self._made[table.name]

    def _make(self, table: Table) -> _Made:
        size = _public_size(table) if table.public else self.rows
        parent_rows = self._parent_rows(table, size)
        people = self._people(table, size) if parent_rows is None else self._people_of_parent(table, parent_rows)
        columns = {}
        for place, column in enumerate(table.columns):
            columns[column.name.casefold()] = self._column(table, column, place, people, parent_rows)
        return _Made(columns, people)

    # Whose rows they are ------------------------------------------------------------------------------------------

    def _people(self, table: Table, size: int) -> list[int]:
        path = self.catalog.unit_path(table.name)
        if path is None or path.column is None:
            return list(range(size))
        named = table.column(path.column)
        names = _TWO if named is not None and named.type is ColumnType.BOOLEAN else size
        return [number % names for number in _several_each(size, table.rows_per_unit)]

    def _parent_rows(self, table: Table, size: int) -> list[int] | None:
        """For a table that finds its people through another: which row there each row belongs to."""
        path = self.catalog.unit_path(table.name)
        if path is None or not path.steps:
            return None
        parents = len(self._rows_of(self.catalog.table(path.steps[0].table)).people)
        return [number % parents for number in _several_each(size, table.rows_per_unit)]

    def _people_of_parent(self, table: Table, parent_rows: list[int]) -> list[int]:
        path = self.catalog.unit_path(table.name)
        if path is None:
            raise AssertionError("public rows have no parent")
        owners = self._rows_of(self.catalog.table(path.steps[0].table)).people
        return [owners[row] for row in parent_rows]

    # Columns ------------------------------------------------------------------------------------------------------

    def _column(
        self, table: Table, column: Column, place: int, people: list[int], parent_rows: list[int] | None
    ) -> list[Any]:
        path = self.catalog.unit_path(table.name)
        if path is not None and not path.steps and _is_named(column, path.column):
            return [_name_of(column.type, number) for number in people]
        for key in table.foreign_keys:
            if _is_named(column, key.column):
                return self._led(table, key, people, parent_rows)
        if self._is_led_to(table, column):
            return [_name_of(column.type, row) for row in range(len(people))]
        missing = Fraction(0) if table.public or not column.may_be_missing else _MISSING
        if column.constant_per_unit:
            each = _values(column, place, max(people) + 1, missing)
            return [each[number] for number in people]
        return _values(column, place, len(people), missing)

    def _led(self, table: Table, key: ForeignKey, people: list[int], parent_rows: list[int] | None) -> list[Any]:
        """Values of a foreign key, taken from the table that it leads to."""
        other = self.catalog.table(key.table)
        path = self.catalog.unit_path(table.name)
        if other.public:
            some = self.of(other.name).slice(0, len(people))
            known = [value for value in _column_of(some, key.other_column) if value is not None]
            return [known[row % len(known)] if known else None for row in range(len(people))]
        made = self._rows_of(other)
        values = made.columns[key.other_column.casefold()]
        if path is not None and parent_rows is not None and path.steps[0] == key:
            return [values[row] for row in parent_rows]
        first_row = {number: row for row, number in reversed(list(enumerate(made.people)))}
        return [values[first_row.get(number, 0)] for number in people]

    def _is_led_to(self, table: Table, column: Column) -> bool:
        """Whether foreign keys lead here, so that no two rows may share a value; public keys differ already."""
        if table.public and column.keys is not None:
            return False
        keys = [key for other in self.catalog for key in other.foreign_keys if _is_named(column, key.other_column)]
        return any(self.catalog.table(key.table) is table for key in keys)


def _is_named(column: Column, name: str | None) -> bool:
    return name is not None and column.name.casefold() == name.casefold()


def _public_size(table: Table) -> int:
    """One row per listed key, as in a table of wards."""
    return max((len(column.listed) for column in table.columns if column.listed), default=_PUBLIC_ROWS)


def _several_each(size: int, rows_per_unit: int) -> list[int]:
    """Whose each row is: people have 1, 2, 3, … rows and so round again, up to one more than counts in full."""
    most = max(min(rows_per_unit + 1, size // _LEAST_PEOPLE), 1)
    rows = (number for number in count() for _ in range(1 + number % most))
    return list(islice(rows, size))


def _column_of(table: pa.Table, name: str) -> list[Any]:
    found = next(known for known in table.column_names if known.casefold() == name.casefold())
    return list(table[found].to_pylist())


def _as_arrow(table: Table, made: _Made) -> pa.Table:
    return pa.table(
        {column.name: pa.array(made.columns[column.name.casefold()], _ARROW[column.type]) for column in table.columns}
    )


# Values -----------------------------------------------------------------------------------------------------------


def _values(column: Column, place: int, size: int, missing: Fraction) -> list[Any]:
    """``size`` values of a column, spread over what is public about it; a share of them is missing."""
    pairs = zip(_spread(size, 2 * place), _spread(size, 2 * place + 1), strict=True)
    return [None if absence < missing else _value(column, share) for share, absence in pairs]


def _spread(size: int, which: int) -> list[Fraction]:
    """The numbers 1/2n, 3/2n, 5/2n, … in the order in which multiples of an irrational number lie on a circle."""
    step = math.sqrt(_prime(which))
    order = sorted(range(size), key=lambda row: ((row + 1) * step) % 1.0)
    found = [Fraction(0)] * size
    for rank, row in enumerate(order):
        found[row] = Fraction(2 * rank + 1, 2 * size)
    return found


def _prime(which: int) -> int:
    return next(islice((n for n in count(2) if all(n % d for d in range(2, math.isqrt(n) + 1))), which, None))


def _value(column: Column, share: Fraction) -> Any:
    if column.listed is not None:
        return _plain(column.listed[int(share * len(column.listed))])
    if column.type is ColumnType.BOOLEAN:
        return share < Fraction(1, 2)
    if column.type is ColumnType.TEXT:
        return f"{column.name} {1 + int(_PUBLIC_ROWS * share)}"
    return _between(column, share)


def _plain(value: Any) -> Any:
    return float(value) if isinstance(value, Fraction) else value


def _between(column: Column, share: Fraction) -> Any:
    """A value between the bounds; between 0 and 99, or in the year 2024, where there are none."""
    low, high = column.bounds or _USUAL[column.type]
    if isinstance(low, datetime) and isinstance(high, datetime):
        return low + timedelta(microseconds=int((high - low) // timedelta(microseconds=1) * share))
    if isinstance(low, date) and isinstance(high, date):
        return low + timedelta(days=int(((high - low).days + 1) * share))
    if isinstance(low, (int, Fraction)) and isinstance(high, (int, Fraction)):
        if column.type is ColumnType.INTEGER:
            return int(low) + int((int(high) - int(low) + 1) * share)
        return min(max(float(low + (high - low) * share), float(low)), float(high))
    raise AssertionError("values between bounds have an order")


_USUAL: dict[ColumnType, tuple[Any, Any]] = {
    ColumnType.INTEGER: (0, 99),
    ColumnType.REAL: (Fraction(0), Fraction(99)),
    ColumnType.DATE: (_FIRST_DAY, date(2024, 12, 31)),
    ColumnType.TIMESTAMP: (datetime(2024, 1, 1), datetime(2024, 12, 31)),
}


def _name_of(kind: ColumnType, number: int) -> Any:
    """The name of person or row ``number``, the same in every table."""
    if kind is ColumnType.BOOLEAN:
        return number % 2 == 0
    if kind is ColumnType.DATE:
        return _FIRST_DAY + timedelta(days=number)
    if kind is ColumnType.TIMESTAMP:
        return datetime(2024, 1, 1) + timedelta(seconds=number)
    return f"id {number + 1}" if kind is ColumnType.TEXT else number + 1
