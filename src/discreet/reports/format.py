"""Numbers as people read them."""

from __future__ import annotations

import math

__all__ = ["counted", "figure", "share"]


_SMALL = 0.001
_LARGE = 1000


def share(value: float) -> str:
    """A share as a percentage.

    >>> share(0.5), share(0.00004), share(0), share(1), share(0.9999)
    ('50.0 %', '<0.1 %', '0 %', '100 %', '>99.9 %')
    """
    if value in (0, 1):
        return f"{100 * value:.0f} %"
    if 1 - _SMALL < value < 1:
        return ">99.9 %"
    return "<0.1 %" if value < _SMALL else f"{100 * value:,.1f} %"


def figure(value: float) -> str:
    """A number with as many digits as it needs.

    >>> figure(12345.6), figure(3.14159), figure(7.0), figure(float("inf"))
    ('12,346', '3.142', '7', '∞')
    """
    if not math.isfinite(value):
        return "∞"
    return f"{value:,.0f}" if abs(value) >= _LARGE or value == int(value) else f"{value:.4g}"


def counted(number: int, one: str, many: str) -> str:
    """A number of things.

    >>> counted(1, "row", "rows"), counted(1200, "row", "rows")
    ('1 row', '1,200 rows')
    """
    return f"{number:,} {one if number == 1 else many}"
