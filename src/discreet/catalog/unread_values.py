"""What became of values that could not be read as the type of their column: exact counts, for the owner alone."""

from __future__ import annotations

from collections.abc import Mapping

from discreet.catalog.column import Column
from discreet.catalog.table import Table

__all__ = ["unread_words"]


def unread_words(table: Table, unread: Mapping[str, int]) -> list[str]:
    """A sentence for every column of ``table`` with such values; ``unread`` says how many there are."""
    return [_unread(table, one, unread[one.name]) for one in table.columns if unread.get(one.name)]


def _unread(table: Table, column: Column, count: int) -> str:
    is_unit = table.unit is not None and table.unit.casefold() == column.name.casefold()
    now = "each such row counts as a person of its own" if is_unit else "they count as missing"
    values = "value" if count == 1 else "values"
    return f"{column.name}: {count:,} {values} could not be read as {column.type.value}; {now}"
