"""Keys that nobody listed: which of them each unit makes visible, found out once, when a table is taken in.

A question by keys that are not public keeps, of each unit, the rows of its first few keys in the unit's own order
(`discreet.engines.unit_order`). For a question about a whole table by one of its columns, that depends on the rows, the
column and the number of keys alone. An ingest therefore writes one number beside each row, per column that can be such
a key:

- 0 where the key is not among the first few of its unit;
- n where it is, the unit keeps n rows in all, and this row stands for the unit among the holders of the key;
- -n where it is, and another row of the unit with the same key stands for it.

Where the policy says how many rows of a unit count in one group by a column, listed or not, an ingest also writes how
many rows of the unit have the same key.
"""

from __future__ import annotations

from discreet.catalog.column import Column, ColumnType
from discreet.catalog.table import Table
from discreet.engines.manifest import Stored

__all__ = [
    "counted_columns",
    "kept_alike",
    "kept_held",
    "name_alike",
    "name_held",
    "unlisted_columns",
]

_UNLISTED_TYPES = (ColumnType.TEXT, ColumnType.INTEGER, ColumnType.DATE, ColumnType.TIMESTAMP)


def unlisted_columns(table: Table) -> list[int]:
    """The places of the columns by whose values, as they are, questions may group though nobody listed them."""
    if table.budget is None or not table.budget.delta_for_keys:
        return []
    return [place for place, column in enumerate(table.columns) if _is_unlisted(column)]


def _is_unlisted(column: Column) -> bool:
    stated = (column.keys, column.keys_from, column.bounds, column.default)
    is_stated = any(one is not None for one in stated)
    return column.type in _UNLISTED_TYPES and not is_stated


def counted_columns(table: Table) -> list[int]:
    """The places of the columns of which the policy says how many rows of a unit count in one group."""
    return [place for place, column in enumerate(table.columns) if column.rows_per_key is not None]


def name_held(place: int) -> str:
    """What the marks of the column at this place of its table are called."""
    return f"_held{place}"


def name_alike(place: int) -> str:
    """What the numbers of rows with the same key are called, of the column at this place."""
    return f"_alike{place}"


def kept_held(column: str, limits: str, most: int, stored: Stored) -> str | None:
    """The stored marks of a column, for so many keys of a unit; None where there are none, or values are moved now.

    Marks of rows without salts were made in the one order for everybody of an earlier release.
    """
    if not stored.salted or stored.held.get(column) != most or limits != stored.columns[column]:
        return None
    return name_held(list(stored.columns).index(column))


def kept_alike(column: str, limits: str, stored: Stored) -> str | None:
    """The stored numbers of rows with the same key, of a column within such limits; None where there are none."""
    return name_alike(list(stored.columns).index(column)) if stored.alike.get(column) == limits else None
