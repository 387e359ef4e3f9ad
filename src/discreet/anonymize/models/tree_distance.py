"""The distance of distributions over the leaves of a tree, where two values are apart by the height at which they meet.

At every inner node, what its parts have too much of is moved to those that have too little, and the rest goes up. A
node without a value of the class has only too little, so that nothing moves there and it need not be looked at.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from discreet.anonymize.classes import ClassHistogram
from discreet.anonymize.coded import CodedColumn
from discreet.anonymize.hierarchy import Hierarchy
from discreet.errors import InvalidValue

__all__ = ["tree_distances"]

Floats = npt.NDArray[np.float64]


def tree_distances(histogram: ClassHistogram, hierarchy: Hierarchy, name: str) -> Floats:
    """For every class the distance to the table: at most 1, for values that meet at the top of the hierarchy."""
    tree = hierarchy.with_missing() if None in histogram.domain else hierarchy
    if tree.height < 1 or tree.groups(tree.height) != 1:
        raise InvalidValue(f"the hierarchy of '{name}' must end in one group", tree.labels[-1], "add a level with *")
    codes = tree.coded(CodedColumn(name, np.zeros(0, dtype=np.int32), histogram.domain))
    distances = np.zeros(len(histogram.sizes))
    for level in range(tree.height):
        distances += (level + 1) / tree.height * _moved(histogram, codes[level], codes[level + 1])
    return distances


def _moved(histogram: ClassHistogram, parts: npt.NDArray[np.int32], wholes: npt.NDArray[np.int32]) -> Floats:
    """For every class the mass that is moved among the parts of each whole, summed over the wholes."""
    expected = _totals(parts, histogram.table_shares)
    whole_of = np.zeros(len(expected), dtype=np.int32)
    whole_of[parts] = wholes
    pairs, place = _pairs(histogram.classes, parts[histogram.values])
    part = pairs[1]
    surplus = _totals(place, histogram.shares) - expected[part]
    holders, at = _pairs(pairs[0], whole_of[part])
    given = _totals(at, np.maximum(surplus, 0.0))
    # A part that the class lacks is short of all that is expected of it; the others of less, or of nothing.
    short = _totals(whole_of, expected)[holders[1]] - _totals(at, expected[part] - np.maximum(-surplus, 0.0))
    return np.asarray(np.bincount(holders[0], np.minimum(given, short), minlength=len(histogram.sizes)), np.float64)


def _pairs(
    classes: npt.NDArray[np.int64], groups: npt.NDArray[np.int32]
) -> tuple[tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]], npt.NDArray[np.intp]]:
    """The pairs of class and group that occur, and for every entry the place of its pair."""
    width = int(groups.max(initial=0)) + 1
    found, place = np.unique(classes * width + groups, return_inverse=True)
    holder, group = np.divmod(found, width)
    return (holder, group), place


def _totals(place: npt.NDArray[np.integer], amounts: Floats) -> Floats:
    return np.asarray(np.bincount(place, amounts), dtype=np.float64)
