"""What a public table's column holds: values that anybody may know, so that they can be the keys of groups.

They are read as a query reads them, with defaults filled in and values moved into their bounds, and once for each
version of the table's data.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import pyarrow as pa

from discreet.catalog.catalog import Catalog
from discreet.catalog.column import Value
from discreet.engines.identifier import quoted
from discreet.errors import InvalidValue
from discreet.query.expression import Statement
from discreet.query.relation import normalised

__all__ = ["ListValues", "PublicValues"]

ListValues = Callable[[str, str, int], tuple[Value | None, ...]]
"""The distinct values of a public table's column, as many as asked for at most; None among them for missing ones."""


class PublicValues:
    """Lists the values of public columns, each once for a version of its table."""

    def __init__(
        self, catalog: Catalog, run: Callable[[str, list[object]], pa.Table], version: Callable[[str], str]
    ) -> None:
        self._catalog, self._run, self._version = catalog, run, version
        self._known: dict[tuple[str, str, int, str], tuple[Value | None, ...]] = {}

    def __call__(self, table: str, column: str, most: int) -> tuple[Value | None, ...]:
        """At most ``most`` distinct values of a public table's column; a protected table is never read."""
        key = (table, column, most, self._version(table))
        if key not in self._known:
            self._known[key] = self._read(table, column, most)
        return self._known[key]

    def _read(self, name: str, column_name: str, most: int) -> tuple[Value | None, ...]:
        table = self._catalog.table(name)
        column = table.column(column_name)
        if not table.public or column is None:
            raise InvalidValue("values are listed for columns of public tables alone", f"{name}.{column_name}")
        statement = Statement()
        shown = normalised(column, statement)
        text = f"SELECT DISTINCT {shown} AS v FROM {quoted(table.name)} LIMIT {most}"
        values = self._run(text, statement.parameters)["v"].to_pylist()
        return tuple(Fraction(value) if isinstance(value, float) else value for value in values if _is_key(value))


def _is_key(value: object) -> bool:
    """Infinity and what is not a number are in no group."""
    return not isinstance(value, float) or math.isfinite(value)
