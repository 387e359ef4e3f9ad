"""Losses that add up over cells: a cell loses more at every level, and most when its row is suppressed.

Let c(x, l) be the loss of a cell x at level l and m(x) its loss when suppressed, with c(x, l) ≤ c(x, l + 1) ≤ m(x).
The loss of a node is the sum of its floor, all cells at their levels, and of the room m - c of every suppressed row.
The floor needs no classes. Rows that are suppressed at a node and at every node below have at least as much room
there, so what they add at the node is a bound for what they add below.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from discreet.anonymize.hierarchy import Hierarchy
from discreet.anonymize.inspection import Inspection
from discreet.anonymize.patterns import Patterns
from discreet.anonymize.search_loss import Bound, Floats, SearchLoss

__all__ = ["AdditiveLoss", "ColumnLoss", "certainty_penalty", "entropy_lost", "normalised_loss", "precision_lost"]


@dataclass(frozen=True, eq=False)
class ColumnLoss:
    """How much one column loses, per row."""

    mean: Floats
    """For every level the mean loss over all rows when none is suppressed."""
    room: tuple[Floats, ...]
    """For every level and group how much more a suppressed row loses than one that is released."""
    most: float
    """The mean loss when all rows are suppressed."""


Measure = Callable[[Patterns, Hierarchy, int], ColumnLoss]
"""From the patterns, the hierarchy of a column and its place to its loss."""


class AdditiveLoss(SearchLoss):
    """The weighted mean over the columns of their losses, from 0 for the table as it is to 1 for nothing released."""

    def __init__(
        self, measure: Measure, patterns: Patterns, hierarchies: Sequence[Hierarchy], weights: Sequence[float]
    ) -> None:
        columns = [measure(patterns, hierarchy, place) for place, hierarchy in enumerate(hierarchies)]
        most = math.fsum(weight * column.most for weight, column in zip(weights, columns, strict=True))
        shares = [weight / most if most else 0.0 for weight in weights]
        self.terms = tuple(share * column.mean for share, column in zip(shares, columns, strict=True))
        self._room = tuple(
            tuple(share * room / patterns.total for room in column.room)
            for share, column in zip(shares, columns, strict=True)
        )

    def floor_of(self, total: Floats) -> Floats:
        """The sum itself: what is lost when no row is suppressed."""
        return total

    def of(self, inspection: Inspection) -> float:
        """The loss of the released rows at their levels and of the suppressed ones."""
        suppressed = np.where(inspection.violating, inspection.sizes, 0)
        return self.floor(inspection.node) + float(suppressed @ self._rooms(inspection))

    def bound(self, inspection: Inspection) -> Bound:
        """The room of the rows that are suppressed at every finer node."""
        return Bound(added_below=float(inspection.lost_below @ self._rooms(inspection)))

    def _rooms(self, inspection: Inspection) -> Floats:
        """For every class the room of one row."""
        rooms = np.zeros(len(inspection.sizes))
        for room, level, groups in zip(self._room, inspection.node, inspection.groups, strict=True):
            rooms += room[level][groups]
        return rooms


def normalised_loss(patterns: Patterns, hierarchy: Hierarchy, place: int) -> ColumnLoss:
    """The share of the column's domain that a cell may stand for, scaled so that a single value loses 0."""
    domain = len(hierarchy.values)
    shares = [hierarchy.leaves_in(level) / domain for level in range(hierarchy.height + 1)]
    return _by_group(patterns, place, [(share - 1 / domain) / (1 - 1 / domain or 1.0) for share in shares])


def precision_lost(patterns: Patterns, hierarchy: Hierarchy, place: int) -> ColumnLoss:
    """The level of a cell as a share of the height of its hierarchy."""
    levels = range(hierarchy.height + 1)
    return _by_group(
        patterns, place, [np.full(hierarchy.groups(level), level / max(hierarchy.height, 1)) for level in levels]
    )


def certainty_penalty(patterns: Patterns, hierarchy: Hierarchy, place: int) -> ColumnLoss:
    """The normalised certainty penalty (NCP): 0 for a single value, else the share of the domain of its group.

    Where all leaves are numbers, it is the distance from the smallest to the largest of the group instead.
    """
    levels = range(hierarchy.height + 1)
    if all(isinstance(leaf, (int, float)) and math.isfinite(leaf) for leaf in hierarchy.values):
        return _by_group(patterns, place, [_widths(hierarchy, level) for level in levels])
    leaves, domain = [hierarchy.leaves_in(level) for level in levels], len(hierarchy.values)
    return _by_group(patterns, place, [np.where(count > 1, count / domain, 0.0) for count in leaves])


def entropy_lost(patterns: Patterns, hierarchy: Hierarchy, place: int) -> ColumnLoss:
    """The bits -log2(f(a) / f(b)) that a cell loses when its value a is released as group b; f counts the rows."""
    codes, rows, total = patterns.quasi[place], patterns.rows, patterns.total
    frequencies = [
        np.bincount(level[codes], rows, minlength=hierarchy.groups(number))
        for number, level in enumerate(patterns.levels[place])
    ]
    bits = [np.log2(np.maximum(frequency, 1)) for frequency in frequencies]
    known = [float(frequency @ bit) / total for frequency, bit in zip(frequencies, bits, strict=True)]
    whole = math.log2(total)
    return ColumnLoss(np.array(known) - known[0], tuple(whole - bit for bit in bits), whole - known[0])


def _by_group(patterns: Patterns, place: int, costs: Sequence[Floats]) -> ColumnLoss:
    """The loss of a column whose cells lose what their group costs, and 1 when suppressed."""
    codes, rows = patterns.quasi[place], patterns.rows
    mean = [
        float(rows @ cost[level[codes]]) / patterns.total
        for cost, level in zip(costs, patterns.levels[place], strict=True)
    ]
    return ColumnLoss(np.array(mean), tuple(1.0 - cost for cost in costs), 1.0)


def _widths(hierarchy: Hierarchy, level: int) -> Floats:
    """For every group how far apart its smallest and largest numbers are, as a share of all."""
    numbers = np.array(hierarchy.values, dtype=np.float64)
    low, high = np.full(hierarchy.groups(level), math.inf), np.full(hierarchy.groups(level), -math.inf)
    np.minimum.at(low, hierarchy.levels[level], numbers)
    np.maximum.at(high, hierarchy.levels[level], numbers)
    return np.asarray((high - low) / (np.ptp(numbers) or 1.0))
