"""The losses that a search can minimise, by name: their value at a node, and bounds for nodes that were not inspected.

Some add up over cells: a cell loses more at every level, and most when its row is suppressed. Let c(x, l) be the loss
of a cell x at level l and m(x) its loss when suppressed, with c(x, l) ≤ c(x, l + 1) ≤ m(x). The loss of a node is the
sum of its floor, all cells at their levels, and of the margin m - c of every suppressed row. The floor needs no
classes. Rows that are suppressed at a node and at every node below have at least as large a margin there, so what they
add at the node is a bound for what they add below.

Ambiguity is the share of all combinations of values that a row may stand for. Discernibility and the average size of a
class count classes instead of cells.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np
import numpy.typing as npt

from discreet.anonymize.equivalence_classes import Patterns
from discreet.anonymize.hierarchies.hierarchy import Hierarchy
from discreet.anonymize.recode.lattice import Node
from discreet.anonymize.recode.lattice_node import Inspection
from discreet.catalog.names import suggestion
from discreet.errors import InvalidType, InvalidValue

__all__ = [
    "LOSSES",
    "AdditiveLoss",
    "AmbiguityLoss",
    "AverageClassSize",
    "ColumnLoss",
    "Discernibility",
    "Floats",
    "LossBound",
    "SearchLoss",
    "certainty_penalty",
    "entropy_lost",
    "named_loss",
    "normalised_loss",
    "precision_lost",
]


Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class LossBound:
    """What one inspection proves about the loss of the nodes below and above."""

    added_below: float = 0.0
    """Every feasible node below loses at least this much more than its floor; infinite if none is feasible."""
    least_below: float = -math.inf
    """Every feasible node below loses at least this much."""
    least_above: float = -math.inf
    """Every feasible node above loses at least this much."""


class SearchLoss(ABC):
    """A loss to be minimised. Its floor at a node bounds the loss there, known before any class was made.

    The floor is a rising function of a sum with a term for every column and its level, so it rises along every chain.
    """

    terms: tuple[Floats, ...]
    """For every column the term of each level, rising with the level."""

    @abstractmethod
    def floor_of(self, total: Floats) -> Floats:
        """The floor of nodes whose terms sum up to ``total``."""

    @abstractmethod
    def of(self, inspection: Inspection) -> float:
        """The loss of an inspected node, with its violating classes suppressed."""

    @abstractmethod
    def bound(self, inspection: Inspection) -> LossBound:
        """What the inspection proves about other nodes, as far as the rows go that are suppressed in all of them."""

    def floors(self) -> Floats:
        """The floor of every node, as an array over the lattice."""
        return self.floor_of(reduce(np.add.outer, self.terms))

    def floor(self, node: Node) -> float:
        """The floor of one node."""
        total = sum(float(term[level]) for term, level in zip(self.terms, node, strict=True))
        return float(self.floor_of(np.array(total)))


@dataclass(frozen=True, eq=False)
class ColumnLoss:
    """How much one column loses, per row."""

    mean: Floats
    """For every level the mean loss over all rows when none is suppressed."""
    margin: tuple[Floats, ...]
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
        self._margin = tuple(
            tuple(share * margin / patterns.total for margin in column.margin)
            for share, column in zip(shares, columns, strict=True)
        )

    def floor_of(self, total: Floats) -> Floats:
        """The sum itself: what is lost when no row is suppressed."""
        return total

    def of(self, inspection: Inspection) -> float:
        """The loss of the released rows at their levels and of the suppressed ones."""
        suppressed = np.where(inspection.violating, inspection.sizes, 0)
        return self.floor(inspection.node) + float(suppressed @ self._margins(inspection))

    def bound(self, inspection: Inspection) -> LossBound:
        """The margin of the rows that are suppressed at every finer node."""
        return LossBound(added_below=float(inspection.lost_below @ self._margins(inspection)))

    def _margins(self, inspection: Inspection) -> Floats:
        """For every class the margin of one row."""
        margins = np.zeros(len(inspection.sizes))
        for margin, level, groups in zip(self._margin, inspection.node, inspection.groups, strict=True):
            margins += margin[level][groups]
        return margins


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


class AmbiguityLoss(SearchLoss):
    """The mean over all rows of the product over the columns of the share of leaves; 1 for a suppressed row.

    The logarithm of a product is a sum, and by Jensen's inequality the mean of the products is at least the exponential
    of the mean sum, which is the floor. The products rise along every chain, so all rows unsuppressed are a bound above
    a node, and rows that are lost below a node have at least as large a margin there.
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

    def bound(self, inspection: Inspection) -> LossBound:
        """Below, the margin of the lost rows; above, the products of all rows."""
        products = self._products(inspection)
        added = float(inspection.lost_below @ (1 - products)) / inspection.rows
        return LossBound(added_below=added, least_above=float(inspection.sizes @ products) / inspection.rows)

    def _products(self, inspection: Inspection) -> Floats:
        products = np.ones(len(inspection.sizes))
        for shares, level, groups in zip(self._shares, inspection.node, inspection.groups, strict=True):
            products *= shares[level][groups]
        return products


def _mean_logarithm(patterns: Patterns, shares: Floats) -> float:
    return float(patterns.rows @ np.log(shares)) / patterns.total


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

    def bound(self, inspection: Inspection) -> LossBound:
        """Below, the price of the lost rows; above, the squares of all classes."""
        lost, sizes = int(inspection.lost_below.sum()), inspection.sizes.astype(np.float64)
        below = self._rows * lost + (self._rows - lost) * self._least_size
        return LossBound(least_below=below, least_above=float(sizes @ sizes))


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

    def bound(self, inspection: Inspection) -> LossBound:
        """Below, the classes that the remaining rows can make; above, the classes that there are."""
        below = self._with_lost(int(inspection.lost_below.sum()))
        return LossBound(least_below=below, least_above=self._rows / len(inspection.sizes))

    def _with_lost(self, lost: int) -> float:
        return self._rows / ((self._rows - lost) // self._least_size + 1)


def _logarithms_of_groups(patterns: Patterns) -> tuple[Floats, ...]:
    """For every column and level -ln of the number of groups that occur: their sum bounds that of the classes."""
    return tuple(
        np.array([-np.log(len(np.unique(level[codes]))) for level in levels])
        for levels, codes in zip(patterns.levels, patterns.quasi, strict=True)
    )


_ADDITIVE = {
    "normalised": normalised_loss,
    "ncp": certainty_penalty,
    "precision": precision_lost,
    "non-uniform entropy": entropy_lost,
}
_BY_CLASS = {"discernibility": Discernibility, "average class size": AverageClassSize}

LOSSES = (*_ADDITIVE, "ambiguity", *_BY_CLASS)
"""What ``loss`` may be."""


def named_loss(
    name: str,
    patterns: Patterns,
    hierarchies: Mapping[str, Hierarchy],
    weights: Mapping[str, float] | None,
    least_size: int,
) -> SearchLoss:
    """The loss of that name for a table. ``weights`` say how much a column counts, 1 if it is not named."""
    if name not in LOSSES:
        raise InvalidValue("the loss must be one that is known", name, f"one of {', '.join(LOSSES)}")
    if name in _ADDITIVE:
        return AdditiveLoss(_ADDITIVE[name], patterns, list(hierarchies.values()), _checked(weights or {}, hierarchies))
    if weights:
        remedy = f"leave them out, or use one of {', '.join(_ADDITIVE)}"
        raise InvalidValue("weights must go with a loss that adds up over columns", name, remedy)
    if name in _BY_CLASS:
        return _BY_CLASS[name](patterns, least_size)
    return AmbiguityLoss(patterns, list(hierarchies.values()))


def _checked(weights: Mapping[str, float], columns: Mapping[str, Hierarchy]) -> list[float]:
    for name, weight in weights.items():
        if name not in columns:
            raise InvalidValue("a weight must belong to a quasi-identifier", name, suggestion(name, columns))
        if isinstance(weight, bool) or not isinstance(weight, (int, float)):
            raise InvalidType(f"the weight of '{name}' must be a number", weight)
        if not (weight >= 0 and math.isfinite(weight)):
            raise InvalidValue(f"the weight of '{name}' must be at least 0", weight)
    found = [float(weights.get(name, 1.0)) for name in columns]
    if not any(found):
        raise InvalidValue("a column must have a weight above 0", dict(weights))
    return found
