"""Columns that an ingest computes in advance beside the declared ones, and how a statement finds them.

Each of them only saves time: where it is not there, or was computed for other limits than those of the policy by now,
the statement computes the same from the columns as they came. What they hold is said where it is computed: values
within their limits and in steps of a grid (`discreet.engines.value_grid`), marks of the keys that a unit makes visible
and numbers of rows with the same key (`discreet.engines.bounded_keys`).
"""

from __future__ import annotations

from discreet.catalog.column import Column
from discreet.engines.duckdb.manifest import Stored
from discreet.engines.parameters import quote
from discreet.engines.value_grid import describe_limits

__all__ = [
    "name_alike",
    "name_held",
    "name_steps",
    "name_within",
    "use_stored_clamp",
    "use_stored_key_bound",
    "use_stored_rows_per_key",
    "use_stored_steps",
]


def name_within(place: int) -> str:
    """What the column at this place of its table is called within its limits."""
    return f"_within{place}"


def name_steps(place: int) -> str:
    """What the column at this place of its table is called in steps."""
    return f"_steps{place}"


def name_held(place: int) -> str:
    """What the marks of the column at this place of its table are called."""
    return f"_held{place}"


def name_alike(place: int) -> str:
    """What the numbers of rows with the same key are called, of the column at this place."""
    return f"_alike{place}"


def use_stored_clamp(column: Column, stored: Stored) -> str | None:
    """The stored column with the values within the limits of this policy; None where there is none."""
    if stored.limits.get(column.name) != describe_limits(column):
        return None
    return quote(name_within(list(stored.columns).index(column.name)))


def use_stored_steps(column: str, stored: Stored) -> str | None:
    """The stored column in steps; None where there is none."""
    return quote(name_steps(list(stored.columns).index(column))) if column in stored.steps else None


def use_stored_key_bound(column: str, limits: str, most: int, stored: Stored) -> str | None:
    """The precomputed key-bound column; None if it was computed for another limit or other clamping bounds.

    Marks of rows without salts were made in the one order for everybody of an earlier release.
    """
    if not stored.salted or stored.held.get(column) != most or limits != stored.columns[column]:
        return None
    return name_held(list(stored.columns).index(column))


def use_stored_rows_per_key(column: str, limits: str, stored: Stored) -> str | None:
    """The stored numbers of rows with the same key, of a column within such limits; None where there are none."""
    return name_alike(list(stored.columns).index(column)) if stored.alike.get(column) == limits else None
