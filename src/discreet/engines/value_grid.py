"""Values as a policy limits them, and in whole steps of the grid on which sums are taken.

Missing values are filled in, and those beyond the bounds are moved to them. A question adds up integers, so values are
then counted in steps of a grid. An ingest keeps a bounded column as it came, within its limits, and, where every row is
a unit, in steps of the finest grid that sums use, so that questions need not compute either again and take no longer
where some values lay outside. Where a question has another grid, or the policy other limits by now, it computes them
itself. What is written for all of these is written here.

>>> from discreet.catalog.column import Column, ColumnType
>>> describe_limits(Column("age", ColumnType.INTEGER, lower=0, upper=110, default=40))
'integer from 0 to 110, else 40'
>>> find_grid(Column("price", ColumnType.REAL, lower=0, upper=64))
(Fraction(0, 1), Fraction(1, 262144))
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from discreet.catalog.column import Column, ColumnType, Value, write_literal
from discreet.exact.grid import Grid

__all__ = [
    "VALUE_BITS",
    "Bind",
    "clamp_value",
    "describe_limits",
    "describe_steps",
    "find_grid",
    "find_step",
    "in_steps",
    "is_exact",
    "real",
]


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


VALUE_BITS = 24
"""The finest grid has two to this many steps, or fewer than twice as many, between the bounds of a column."""
_LEAST_RANGE = Fraction(1, 2**60)
_WIDEST = Fraction(2) ** 500
_EXACT_STEPS = 2**49
"""Values of fewer steps than this are off by less than a quarter of one, so rounding keeps them between their ends."""


def find_grid(column: Column) -> tuple[Fraction, Fraction] | None:
    """The origin and the step in which a column is kept; None for one that is not."""
    if not column.type.is_numeric or column.bounds is None:
        return None
    low, high = (Fraction(float(end)) for end in column.bounds)  # type: ignore[arg-type]  # as values are read
    if high - low > _WIDEST:
        return None
    step = find_step(high - low, VALUE_BITS, is_whole=column.type is ColumnType.INTEGER)
    return (low, step) if is_exact((low, high), low, step) else None


def find_step(reach: Fraction, bits: int, *, is_whole: bool) -> Fraction:
    """The step, a power of two, that divides ``reach`` into some 2^bits; for whole numbers at least one."""
    return max(Grid.finer_than(max(reach, _LEAST_RANGE) / 2**bits).step, Fraction(1 if is_whole else 0))


def is_exact(ends: tuple[Fraction, Fraction], origin: Fraction, step: Fraction) -> bool:
    """Whether values between these ends, in steps from the origin, stay between theirs when they are rounded."""
    return max(abs(ends[0]), abs(ends[1]), abs(origin)) / step < _EXACT_STEPS


def in_steps(text: str, origin: Fraction, step: Fraction) -> str:
    """A real value in steps from the origin, not yet whole."""
    moved = text if origin == 0 else f"({text} - {real(origin)})"
    return moved if step == 1 else f"{moved} * {real(1 / step)}"


def real(value: Fraction) -> str:
    """A public number as a constant of the statement."""
    return f"CAST({float(value)!r} AS DOUBLE)"


def describe_steps(limits: str, origin: Fraction, step: Fraction) -> str:
    """All that the steps of a column depend on, in words."""
    return f"{limits}, from {origin} in steps of {step}"
