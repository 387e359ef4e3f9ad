"""Powers at every edge, by what no library rounds differently: their sign, and whether they are zero or infinite."""

from __future__ import annotations

import itertools
import math
import sys
from collections.abc import Iterator

import pyarrow as pa

from discreet.catalog.column import Column, ColumnType
from discreet.catalog.table import Table
from discreet.engines.engine import TableStore

__all__ = ["POWERS", "differences", "rows"]

POWERS = Table(
    "powers",
    (Column("n", ColumnType.INTEGER), Column("a", ColumnType.REAL), Column("b", ColumnType.REAL)),
    public=True,
)
_MAX = sys.float_info.max
_REALS = [
    x * sign
    for x in (
        0.0, 5e-324, sys.float_info.min, 1e-300, 1 / 3, 0.5, math.nextafter(1, 0), 1.0, math.nextafter(1, 2), 1.5, 2.0,
        3.0, 4.0, 7.0, 308.0, 309.0, 324.0, 1023.0, 1024.0, 1075.0, 1e15, 2.0**52 + 1, 2.0**53 - 1, 2.0**53, 1e19,
        1e154, 1e155, 1e300, _MAX,
    )
    for sign in (1, -1)
]  # fmt: skip
_INFINITE = "(CAST(1e308 AS DOUBLE) * 10)"
_PAIRS = [(x, '"b"') for x in ('"a"', '"a" * 0', 'round("a", 1)', f"-{_INFINITE}")]
_PAIRS += [('"a"', y) for y in ('"b" * 0', _INFINITE)]
_CONSTANTS = [('"a" * 0', f"CAST(-CAST({x} AS DOUBLE) AS DOUBLE)") for x in (0.5, 1, 2, 3, 1e300)]


def rows() -> pa.Table:
    """Every pair of numbers."""
    pairs = [pair for pair in itertools.product(_REALS, repeat=2) if not _is_on_the_rim(*pair)]
    a, b = zip(*pairs, strict=True)
    return pa.table({"n": range(len(pairs)), "a": a, "b": b})


def _is_on_the_rim(a: float, b: float) -> bool:
    """Closer to the largest double than a billionth of it, some powers are taken for infinite."""
    return a != 0 and abs(b) != 1 and abs(abs(math.log(abs(a))) * abs(b) - math.log(_MAX)) < 1e-8


def differences(one: TableStore, two: TableStore) -> list[object]:
    """Powers that are not of the same kind in both places."""
    powers = [f"pow({a}, {b})" for a, b in (*_PAIRS, *_CONSTANTS)]
    return [found for power in powers for found in _differences(one, two, power)]


def _differences(one: TableStore, two: TableStore, power: str) -> Iterator[object]:
    statement = f'SELECT "n", "a", "b", {power} AS v FROM "powers"'
    mine, theirs = (place.run(statement).sort_by("n").to_pylist() for place in (one, two))
    for here, there in zip(mine, theirs, strict=True):
        if _kind(here["v"]) != _kind(there["v"]):
            yield power, here, there


def _kind(value: float | None) -> object:
    if value is None or math.isnan(value):
        return repr(value)
    return math.copysign(1, value), value == 0, math.isinf(value)
