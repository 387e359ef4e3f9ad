"""Copying a book into another one that is empty, or that holds the same already after a copy that was cut off."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from discreet.books.book import Database

__all__ = ["Row", "copied"]

Row = tuple[Any, ...]
"""The values of one row."""


def copied(
    source: Database,
    target: Database,
    columns: Mapping[str, str],
    rewritten: Callable[[str, list[Row]], list[Row]] = lambda _, rows: rows,
) -> bool:
    """Copy the ``columns`` of all tables, in this order; False, and nothing is done, where the other differs.

    ``rewritten`` are the rows of a table as the other book takes them, in order.
    """
    rows = {table: rewritten(table, _rows(source, table, names)) for table, names in columns.items()}
    held = {table: _rows(target, table, names) for table, names in columns.items()}
    if not any(held.values()):
        for table, names in columns.items():
            marks = ", ".join("?" for _ in names.split(","))
            for row in rows[table]:
                target.execute(f"INSERT INTO {table} ({names}) VALUES ({marks})", row)  # noqa: S608  names of our own
        return True
    return held == rows


def _rows(database: Database, table: str, names: str) -> list[Row]:
    return [tuple(row) for row in database.execute(f"SELECT {names} FROM {table} ORDER BY {names}")]  # noqa: S608
