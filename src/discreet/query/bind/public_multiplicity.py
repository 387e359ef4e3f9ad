"""Counts how often values stand in a public table, as a question reads them: defaults filled in, values within bounds.

It takes time in proportion to the table, and each count is taken once for a version of its data.
"""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa

from discreet.catalog.catalog import Catalog
from discreet.catalog.column import Column
from discreet.engines.sql_text import quote
from discreet.errors import InvalidValue
from discreet.query.bind.relation import normalise
from discreet.query.expressions.expression import Field, Statement, canonical
from discreet.query.expressions.interval import UNKNOWN

__all__ = ["PublicMultiplicity"]


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
