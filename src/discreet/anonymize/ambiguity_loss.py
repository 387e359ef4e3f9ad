"""Ambiguity: the share of all combinations of values that a row may stand for."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from discreet.anonymize.hierarchy import Hierarchy
from discreet.anonymize.inspection import Inspection
from discreet.anonymize.patterns import Patterns
from discreet.anonymize.search_loss import Bound, Floats, SearchLoss

__all__ = ["AmbiguityLoss"]


class AmbiguityLoss(SearchLoss):
    """The mean over all rows of the product over the columns of the share of leaves; 1 for a suppressed row.

    The logarithm of a product is a sum, and by Jensen's inequality the mean of the products is at least the exponential
    of the mean sum, which is the floor. The products rise along every chain, so all rows unsuppressed are a bound above
    a node, and rows that are lost below a node have at least as much room there.
    """

    def __init__(self, patterns: Patterns, hierarchies: Sequence[Hierarchy]) -> None:
        self._shares = [
            [hierarchy.leaves_in(level) / len(hierarchy.values) for level in range(hierarchy.height + 1)]
            for hierarchy in hierarchies
        ]
        self.terms = tuple(
            np.array(
                [_mean_logarithm(patterns, share[level[codes]]) for share, level in zip(shares, levels, strict=True)]
            )
            for shares, levels, codes in zip(self._shares, patterns.levels, patterns.quasi, strict=True)
        )

    def floor_of(self, total: Floats) -> Floats:
        """The geometric mean of the products; less the rounding of its logarithm."""
        return np.asarray(np.exp(total) * (1 - 1e-12))

    def of(self, inspection: Inspection) -> float:
        """The products of the released rows, and 1 for each suppressed one."""
        products = np.where(inspection.violating, 1.0, self._products(inspection))
        return float(inspection.sizes @ products) / inspection.rows

    def bound(self, inspection: Inspection) -> Bound:
        """Below, the room of the lost rows; above, the products of all rows."""
        products = self._products(inspection)
        added = float(inspection.lost_below @ (1 - products)) / inspection.rows
        return Bound(added_below=added, least_above=float(inspection.sizes @ products) / inspection.rows)

    def _products(self, inspection: Inspection) -> Floats:
        products = np.ones(len(inspection.sizes))
        for shares, level, groups in zip(self._shares, inspection.node, inspection.groups, strict=True):
            products *= shares[level][groups]
        return products


def _mean_logarithm(patterns: Patterns, shares: Floats) -> float:
    return float(patterns.rows @ np.log(shares)) / patterns.total
