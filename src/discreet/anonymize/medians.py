"""Where nodes can be cut: at the median of an axis, with equal values kept together or shared out.

Of all cuts that keep equal values together, the most even one lies directly above or directly below the median value.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from discreet.anonymize.front import Flags, Places, Whole

__all__ = ["Cut", "halves", "strict_cuts"]

_SMALL = 2**31 - 1


@dataclass(frozen=True, eq=False)
class Cut:
    """One cut for each of some nodes: rows up to the threshold go below, or only some of those that tie with it."""

    threshold: Whole
    """The largest code below the cut."""
    lower: Whole
    """How many rows go below."""
    upper: Flags
    """For every row of the nodes, whether it goes above."""
    ties: Whole
    """How many rows lie at the threshold, where they are shared out; else 0."""
    lower_ties: Whole
    """How many of them go below; else 0."""


def strict_cuts(owner: Places, codes: npt.NDArray[np.int32], sizes: Places) -> tuple[Cut, Cut]:
    """The cuts above and below the median value of every node, the more even one first.

    Row ``i`` has ``codes[i]`` and belongs to node ``owner[i]``, which has ``sizes[owner[i]]`` rows.
    """
    radix = int(codes.max(initial=0)) + 1
    keys = np.sort(_keys(owner, codes, radix, len(sizes)))
    first = np.cumsum(sizes) - sizes
    median = keys[first + (sizes - 1) // 2]
    value = median - np.arange(len(sizes)) * radix
    upto = np.searchsorted(keys, median, "right") - first
    below = np.searchsorted(keys, median, "left") - first
    above_first = np.minimum(upto, sizes - upto) >= np.minimum(below, sizes - below)
    return (
        _strict(owner, codes, np.where(above_first, value, value - 1), np.where(above_first, upto, below)),
        _strict(owner, codes, np.where(above_first, value - 1, value), np.where(above_first, below, upto)),
    )


def halves(owner: Places, codes: npt.NDArray[np.int32], sizes: Places) -> Cut:
    """The cut of every node into halves. Ties go below in the order in which the rows are given."""
    radix = int(codes.max(initial=0)) + 1
    keys = _keys(owner, codes, radix, len(sizes))
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    first = np.cumsum(sizes) - sizes
    lower = sizes // 2
    last = keys[first + lower - 1]
    upto = np.searchsorted(keys, last, "right") - first
    below = np.searchsorted(keys, last, "left") - first
    upper = np.empty(len(owner), dtype=np.bool_)
    upper[order] = np.arange(len(owner)) >= (first + lower)[owner[order]]
    return Cut(last - np.arange(len(sizes)) * radix, lower, upper, upto - below, lower - below)


def _strict(owner: Places, codes: npt.NDArray[np.int32], threshold: Whole, lower: Whole) -> Cut:
    none = np.zeros(len(threshold), dtype=np.int64)
    return Cut(threshold, lower, codes > threshold[owner], none, none)


def _keys(owner: Places, codes: npt.NDArray[np.int32], radix: int, nodes: int) -> npt.NDArray[np.integer]:
    """One number per row, by node and then by code; a small one where it fits, because it sorts faster."""
    if nodes * radix <= _SMALL:
        return np.asarray(owner.astype(np.int32) * radix + codes)
    return np.asarray(owner * radix + codes)
