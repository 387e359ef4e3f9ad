"""A small table of people with several rows each."""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa

from discreet.catalog.column import Column, ColumnType
from discreet.catalog.table import Budget, Table

__all__ = ["PEOPLE", "people"]

PEOPLE = Table(
    "people",
    (Column("person", ColumnType.INTEGER), Column("visit", ColumnType.INTEGER)),
    unit="person",
    budget=Budget(1),
)


def people(keys: Iterable[int], rows_each: int = 2) -> pa.Table:
    """Rows of these people, in no particular order."""
    rows = [(visit, key) for visit in range(rows_each) for key in keys]
    return pa.table({"person": [key for _, key in rows], "visit": [visit for visit, _ in rows]})
