"""Values of an answer with their error bars: as people read one, and as columns beside the values.

>>> cell_text(21, (0.0, 111.0)), cell_text(None, None), cell_text(52.5312, (52.42, 52.64))
('21 ± 90', 'NULL', '52.53 ± 0.11')
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Mapping, Sequence
from decimal import Decimal
from typing import Any

import pyarrow as pa

__all__ = ["Interval", "cell_text", "with_ends"]


Interval = tuple[float, float]
"""The ends of an error bar."""

_FEW = 2


def cell_text(value: Any, interval: Interval | None) -> str:
    """A value with its error bar, where it has one."""
    if value is None:
        return "NULL"
    if not isinstance(value, (int, float, Decimal)) or isinstance(value, bool):
        return str(value)
    if interval is None:
        return _number(value, _FEW)
    reach = max(float(value) - interval[0], interval[1] - float(value))  # an end at a bound does not shorten the other
    decimals = max(1 - math.floor(math.log10(reach)), 0) if 0 < reach < math.inf else _FEW
    return f"{_number(value, decimals)} ± {_number(reach, decimals)}"


def _number(value: float | Decimal, decimals: int) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:,.{decimals}f}"


def with_ends(table: pa.Table, error: Mapping[str, Sequence[Interval | None]]) -> pa.Table:
    """The values, and behind each column of aggregates the ends of its error bars, x_low and x_high."""
    columns: dict[str, Any] = {}
    for name in table.column_names:
        columns[name] = table[name]
        for place, end in enumerate(("low", "high") if name in error else ()):
            ends = [None if interval is None else float(interval[place]) for interval in error[name]]
            columns[_fresh(f"{name}_{end}", [*columns, *table.column_names])] = pa.array(ends, pa.float64())
    return pa.table(columns)


def _fresh(name: str, taken: Collection[str]) -> str:
    """The name, with a number where another column has it."""
    tries = (name if count == 0 else f"{name}_{count}" for count in itertools.count())
    return next(candidate for candidate in tries if candidate not in taken)
