"""Losses that count classes instead of cells: discernibility and the average size of a class."""

from __future__ import annotations

import numpy as np

from discreet.anonymize.inspection import Inspection
from discreet.anonymize.patterns import Patterns
from discreet.anonymize.search_loss import Bound, Floats, SearchLoss

__all__ = ["AverageClassSize", "Discernibility"]

_ROUNDED = 1 - 1e-12  # exponentials of logarithms may be a little too large


class Discernibility(SearchLoss):
    """The rows that every row cannot be told from: Σ |E|² over the released classes, and all rows for a suppressed one.

    Let C be the number of classes, n the rows and k the rows that a class must have. The sum of squares is at least
    n² / C, C is at most the product of the groups of the columns, and every row counts at least k, so the floor holds.
    Merging classes raises the sum of all squares, in which a suppressed class counts less than it costs. A suppressed
    row costs n, so rows that are lost below cost n each there.
    """

    def __init__(self, patterns: Patterns, least_size: int) -> None:
        self.terms = _logarithms_of_groups(patterns)
        self._rows = patterns.total
        self._least_size = min(least_size, self._rows)

    def floor_of(self, total: Floats) -> Floats:
        """The sum of squares if all combinations of groups were equally frequent, or all classes as small as may be."""
        return np.asarray(np.maximum(self._rows**2 * np.exp(total) * _ROUNDED, self._rows * self._least_size))

    def of(self, inspection: Inspection) -> float:
        """The squares of the released classes, and all rows for every suppressed one."""
        released = inspection.sizes[~inspection.violating].astype(np.float64)
        return float(released @ released) + self._rows * inspection.suppressed

    def bound(self, inspection: Inspection) -> Bound:
        """Below, the price of the lost rows; above, the squares of all classes."""
        lost, sizes = int(inspection.lost_below.sum()), inspection.sizes.astype(np.float64)
        below = self._rows * lost + (self._rows - lost) * self._least_size
        return Bound(least_below=below, least_above=float(sizes @ sizes))


class AverageClassSize(SearchLoss):
    """The rows of the table for every class, where the suppressed rows together count as one class.

    What is suppressed was at least one class, so the divisor is at most the number of all classes, which falls when
    classes merge. Below a node the released rows are at most those that are not lost there, in classes of k or more.
    """

    def __init__(self, patterns: Patterns, least_size: int) -> None:
        self.terms = _logarithms_of_groups(patterns)
        self._rows = patterns.total
        self._least_size = least_size

    def floor_of(self, total: Floats) -> Floats:
        """The average if all combinations of groups occurred, or all classes were as small as may be."""
        return np.asarray(np.maximum(self._rows * np.exp(total) * _ROUNDED, self._with_lost(0)))

    def of(self, inspection: Inspection) -> float:
        """The rows divided by the released classes, and one more if rows are suppressed."""
        released = int(np.count_nonzero(~inspection.violating))
        return self._rows / max(released + (inspection.suppressed > 0), 1)

    def bound(self, inspection: Inspection) -> Bound:
        """Below, the classes that the remaining rows can make; above, the classes that there are."""
        below = self._with_lost(int(inspection.lost_below.sum()))
        return Bound(least_below=below, least_above=self._rows / len(inspection.sizes))

    def _with_lost(self, lost: int) -> float:
        return self._rows / ((self._rows - lost) // self._least_size + 1)


def _logarithms_of_groups(patterns: Patterns) -> tuple[Floats, ...]:
    """For every column and level -ln of the number of groups that occur: their sum bounds that of the classes."""
    return tuple(
        np.array([-np.log(len(np.unique(level[codes]))) for level in levels])
        for levels, codes in zip(patterns.levels, patterns.quasi, strict=True)
    )
