"""What public tables hold, which anybody may know: values that can be keys, ends of columns, and rows that are alike.

They are read as a question reads them, with defaults filled in and values moved into their bounds. That takes time in
proportion to the table, so each is read once for a version of the table's data. A protected table is never read.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import pyarrow as pa

from discreet.catalog.catalog import Catalog
from discreet.catalog.column import Column, Value
from discreet.engines.parameters import quote
from discreet.errors import InvalidValue
from discreet.query.bind.relation import normalise
from discreet.query.expressions.expression import Field, Statement, canonical
from discreet.query.expressions.interval import UNKNOWN
from discreet.query.expressions.public_values import KnownRows

__all__ = ["PublicEnds", "PublicMultiplicity", "PublicValues"]


class PublicMultiplicity:
    """The most rows of a public table that are alike in some columns."""

    def __init__(
        self,
        catalog: Catalog,
        run: Callable[[str, list[object]], pa.Table],
        version: Callable[[str], str],
        *,
        at_rest: bool = True,
    ) -> None:
        """Where rows are not ``at_rest`` within a version, they are counted whenever somebody wants to know."""
        self._catalog, self._run, self._version, self._at_rest = catalog, run, version, at_rest
        self._known: dict[tuple[str, tuple[str, ...], str], int] = {}

    def __call__(self, table: str, columns: tuple[str, ...]) -> int:
        """The number for these columns; a protected table is never read."""
        key = (table, columns, self._version(table))
        if key not in self._known or not self._at_rest:
            self._known[key] = self._count(table, columns)
        return self._known[key]

    def _count(self, name: str, columns: tuple[str, ...]) -> int:
        table = self._catalog.table(name)
        wanted = [table.column(column) for column in columns]
        if not table.public or None in wanted:
            raise InvalidValue("rows are counted for columns of public tables alone", f"{name} {columns}")
        statement = Statement()
        values = [_compared(column, statement) for column in wanted if column is not None]
        listed = ", ".join(f"{value} AS v{k}" for k, value in enumerate(values)) or "1 AS one"
        names = [f"v{k}" for k in range(len(values))]
        there = " WHERE " + " AND ".join(f"{value} IS NOT NULL" for value in names) if names else ""
        grouped = f" GROUP BY {', '.join(names)}" if names else ""
        counts = f"SELECT COUNT(*) AS n FROM (SELECT {listed} FROM {quote(table.name)}) r{there}{grouped}"
        (most,) = self._run(f"SELECT MAX(n) AS n FROM ({counts}) c", statement.parameters)["n"].to_pylist()
        return int(most or 0)


def _compared(column: Column, statement: Statement) -> str:
    """The column in a form that is equal where a join takes it for equal."""
    return canonical(Field(column.type, UNKNOWN, True, normalise(column, statement))).write(statement)


class PublicValues:
    """Lists the values of public columns, each once for a version of its table."""

    def __init__(
        self, catalog: Catalog, run: Callable[[str, list[object]], pa.Table], version: Callable[[str], str]
    ) -> None:
        self._catalog, self._run, self._version = catalog, run, version
        self._known: dict[tuple[str, tuple[str, ...], int, str], KnownRows] = {}

    def __call__(self, table: str, columns: tuple[str, ...], most: int) -> KnownRows:
        """At most ``most`` distinct rows of a public table's columns; a protected table is never read."""
        key = (table, columns, most, self._version(table))
        if key not in self._known:
            self._known[key] = self._read(table, columns, most)
        return self._known[key]

    def _read(self, name: str, columns: tuple[str, ...], most: int) -> KnownRows:
        table = self._catalog.table(name)
        wanted = [table.column(column) for column in columns]
        if not table.public or None in wanted:
            raise InvalidValue("values are listed for columns of public tables alone", f"{name} {columns}")
        statement = Statement()
        shown = [normalise(column, statement) for column in wanted if column is not None]
        listed = ", ".join(f"{value} AS v{k}" for k, value in enumerate(shown))
        found = self._run(f"SELECT DISTINCT {listed} FROM {quote(table.name)} LIMIT {most}", statement.parameters)
        rows = zip(*(found[f"v{k}"].to_pylist() for k in range(len(shown))), strict=True)
        kept = tuple(tuple(map(_exact, row)) for row in rows if all(map(_is_key, row)))
        return KnownRows(kept, is_whole=len(kept) == found.num_rows)


class PublicEnds:
    """Tells between which values the columns of public tables lie, each table once for a version of it."""

    def __init__(
        self,
        catalog: Catalog,
        run: Callable[[str, list[object]], pa.Table],
        version: Callable[[str], str],
        *,
        at_rest: bool = True,
    ) -> None:
        """Where rows are not ``at_rest`` within a version, they are looked at whenever somebody wants to know."""
        self._catalog, self._run, self._version, self._at_rest = catalog, run, version, at_rest
        self._known: dict[tuple[str, str], dict[str, tuple[Value, Value] | None]] = {}

    def __call__(self, table: str, column: str) -> tuple[Value, Value] | None:
        """The least and the greatest value of a column; None where it has none, or one that is no number."""
        key = (table, self._version(table))
        if key not in self._known or not self._at_rest:
            self._known[key] = self._read(table)
        return self._known[key][column]

    def _read(self, name: str) -> dict[str, tuple[Value, Value] | None]:
        table = self._catalog.table(name)
        if not table.public:
            raise InvalidValue("values are listed for columns of public tables alone", name)
        statement, columns = Statement(), [column for column in table.columns if column.type.is_ordered]
        shown = ", ".join(f"{normalise(column, statement)} AS v{k}" for k, column in enumerate(columns))
        ends = ", ".join(f"MIN(v{k}) AS low{k}, MAX(v{k}) AS high{k}" for k in range(len(columns)))
        text = f"SELECT {ends} FROM (SELECT {shown} FROM {quote(table.name)}) r"
        (row,) = self._run(text, statement.parameters).to_pylist()
        return {column.name: _ends(row[f"low{k}"], row[f"high{k}"]) for k, column in enumerate(columns)}


def _ends(low: Value | float | None, high: Value | float | None) -> tuple[Value, Value] | None:
    if low is None or high is None or not (_is_key(low) and _is_key(high)):
        return None
    return _exact(low), _exact(high)  # type: ignore[return-value]  # neither is missing


def _exact(value: Value | float | None) -> Value | None:
    return Fraction(value) if isinstance(value, float) else value


def _is_key(value: object) -> bool:
    """Infinity and what is not a number are in no group."""
    return not isinstance(value, float) or math.isfinite(value)
