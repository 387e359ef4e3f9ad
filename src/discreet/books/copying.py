"""Copying a book into another one that is empty, or that holds the same already after a copy that was cut off."""

from __future__ import annotations

from collections.abc import Mapping

from discreet.books.book import Database

__all__ = ["copied"]


def copied(source: Database, target: Database, columns: Mapping[str, str]) -> bool:
    """Copy the ``columns`` of all tables, in this order; False, and nothing is done, where the other differs."""
    held = {table: _rows(target, table, names) for table, names in columns.items()}
    if not any(held.values()):
        for table, names in columns.items():
            marks = ", ".join("?" for _ in names.split(","))
            for row in _rows(source, table, names):
                target.execute(f"INSERT INTO {table} ({names}) VALUES ({marks})", row)  # noqa: S608  names of our own
        return True
    return held == {table: _rows(source, table, names) for table, names in columns.items()}


def _rows(database: Database, table: str, names: str) -> list[tuple[object, ...]]:
    return [tuple(row) for row in database.execute(f"SELECT {names} FROM {table} ORDER BY {names}")]  # noqa: S608
