"""Where a condition on whole numbers turns true: the least noise, threshold or count that suffices.

>>> turning_point(lambda n: n * n >= 50)
8
"""

from __future__ import annotations

from collections.abc import Callable

__all__ = ["turning_point"]


def turning_point(holds: Callable[[int], bool], start: int = 1, width: int = 1) -> int:
    """A k ≥ 1 where ``holds(k)`` but not ``holds(k - 1)``, near ``start``; 0 counts as not holding.

    It is the least k that holds where the condition turns true once. ``width`` is the first stride of the search.
    """
    high, stride = max(start, 1), width
    while not holds(high):
        high, stride = high + stride, 2 * stride
    low, stride = high - 1, width
    while low > 0 and holds(low):
        low, stride = max(low - stride, 0), 2 * stride
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high
