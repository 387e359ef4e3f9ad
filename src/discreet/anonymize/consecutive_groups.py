"""The best groups of at least k numbers: along a line they are runs of neighbours, found by dynamic programming.

Best is the least sum of squared distances to the mean of the group (Hansen and Mukherjee). Equal numbers stay together.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

__all__ = ["consecutive_groups"]

Whole = npt.NDArray[np.int64]
Numbers = npt.NDArray[np.float64]


def consecutive_groups(numbers: Numbers, counts: Whole, k: int) -> Whole:
    """For every number, in increasing order, its group; number ``i`` occurs ``counts[i]`` times, k times in total.

    A group that could be cut into two large enough ones need not be looked at, because a cut never adds to the sum of
    squares. So of the groups that end at a number at most k are compared.
    """
    rows = np.append(0, np.cumsum(counts))
    sums = np.append(0.0, np.cumsum(counts * numbers))
    squares = np.append(0.0, np.cumsum(counts * numbers**2))
    latest = np.searchsorted(rows, rows - k, "right") - 1  # the last start that leaves k rows
    earliest = np.searchsorted(rows, rows[np.maximum(latest, 0)] - k, "right")
    costs = np.full(len(rows), np.inf)
    costs[0] = 0.0
    start = np.zeros(len(rows), dtype=np.int64)
    for end in np.flatnonzero(latest >= 0).tolist():
        first, last = earliest[end], latest[end] + 1
        size, total = rows[end] - rows[first:last], sums[end] - sums[first:last]
        tried = costs[first:last] + (squares[end] - squares[first:last]) - total**2 / size
        best = int(np.argmin(tried))
        costs[end], start[end] = tried[best], first + best
    return _numbered(start)


def _numbered(start: Whole) -> Whole:
    """The group of every number, from where the last group of each beginning of the list starts."""
    begins = np.zeros(len(start) - 1, dtype=np.int64)
    end = len(start) - 1
    while end > 0:
        begins[start[end]] = 1
        end = int(start[end])
    return np.cumsum(begins) - 1
