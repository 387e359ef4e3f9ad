"""Values as a policy limits them: missing ones filled in, and those beyond the bounds moved to them.

An ingest keeps a bounded column twice, as it came and within its limits. Questions read the second, so they need not
move every value again, and take no longer where some lay outside. Where the policy has other limits by now, they read
the first. What is written for both is written here.

>>> from discreet.catalog.column import Column, ColumnType
>>> describe_limits(Column("age", ColumnType.INTEGER, lower=0, upper=110, default=40))
'integer from 0 to 110, else 40'
"""

from __future__ import annotations

from collections.abc import Callable

from discreet.catalog.column import Column, ColumnType, Value, write_literal

__all__ = ["Bind", "clamp_value", "describe_limits"]


Bind = Callable[[Value, ColumnType], str]
"""Binds a value, and returns what stands for it in the statement."""


def clamp_value(column: Column, text: str, bind: Bind) -> str:
    """``text``, the value of a column as it came, within the limits of the policy."""
    if column.bounds is not None:
        low, high = (bind(end, column.type) for end in column.bounds)
        below, above = f"WHEN {text} < {low} THEN {low}", f"WHEN {text} > {high} THEN {high}"
        if column.type is ColumnType.REAL:  # nearly every value lies within its bounds, and is compared once
            text = f"CASE WHEN {text} BETWEEN {low} AND {high} THEN {text} {below} {above} END"
        else:  # written so that the engine sees between which ends keys lie, and counts groups without looking them up
            text = f"CASE {below} {above} ELSE {text} END"
    if column.default is not None:
        text = f"COALESCE({text}, {bind(column.default, column.type)})"
    return text


def describe_limits(column: Column) -> str:
    """All that `clamp_value` depends on, in words; for a column without limits the word of its type."""
    moved = "" if column.bounds is None else " from {} to {}".format(*map(write_literal, column.bounds))
    filled = "" if column.default is None else f", else {write_literal(column.default)}"
    return f"{column.type.value}{moved}{filled}"
