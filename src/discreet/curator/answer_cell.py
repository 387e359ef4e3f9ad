"""One value of an answer as people read it: with its error bar, and no more digits than that leaves.

>>> cell_text(21, (0.0, 111.0)), cell_text(None, None), cell_text(52.5312, (52.42, 52.64))
('21 ± 90', 'NULL', '52.53 ± 0.11')
"""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

__all__ = ["Interval", "cell_text"]

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
