"""t-closeness: in every class a sensitive column is spread nearly as in the table. It is not differential privacy.

Nearly means a distance of distributions, and there are three. Over values that are all equally far apart it is half the
sum of the differences. Over values on a line it is the area between the cumulative distributions. Between two values
that follow each other in a class, the cumulative share of the class stands still while that of the table grows. So the
area between them needs one search for the place where the table overtakes the class, and two differences of sums that
were made once for the table: no class is ever spread out over all values.

Over the leaves of a tree two values are apart by the height at which they meet. At every inner node, what its parts
have too much of is moved to those that have too little, and the rest goes up. A node without a value of the class has
only too little, so that nothing moves there and it need not be looked at.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from discreet.anonymize.equivalence_classes import ClassHistogram, EquivalenceClasses
from discreet.anonymize.hierarchies.hierarchy import Hierarchy, refuse_duplicates
from discreet.anonymize.models.model import (
    Histograms,
    Lost,
    Parameters,
    SensitiveModel,
    checked_number,
    lost_rows,
)
from discreet.anonymize.table import CodedColumn
from discreet.errors import InvalidType, InvalidValue

__all__ = ["Closeness", "equal_distances", "numeric_distances", "ordered_distances", "tree_distances"]


def equal_distances(histogram: ClassHistogram) -> npt.NDArray[np.float64]:
    """For every class the distance ½ Σ |p - q| to the table.

    Only values of the class are looked at: those that it lacks differ by p, and all p sum to 1.
    """
    shares = histogram.table_shares[histogram.values]
    surplus = histogram.summed(np.abs(histogram.shares - shares) - shares)
    return np.maximum((1 + surplus) / 2, 0.0)


Floats = npt.NDArray[np.float64]


def ordered_distances(histogram: ClassHistogram, name: str, order: Sequence[Any] | None = None) -> Floats:
    """For every class the distance to the table where values are apart by their ranks; one value alone is at 0.

    Numbers, dates and text are ranked as they are sorted, unless ``order`` lists the values from least to most.
    """
    if order is not None:
        histogram = _rank(histogram, name, order)
    steps = len(histogram.domain) - 1
    if steps < 1 or not len(histogram.sizes):
        return np.zeros(len(histogram.sizes))
    return _areas(histogram, np.ones(steps)) / steps


def numeric_distances(histogram: ClassHistogram, name: str) -> Floats:
    """For every class the distance to the table where values are apart by their difference, of the whole range."""
    numbers = _numbers(histogram.domain, name)
    if len(numbers) < 2 or not len(histogram.sizes):
        return np.zeros(len(histogram.sizes))
    return _areas(histogram, np.diff(numbers) / (numbers[-1] - numbers[0]))


def _rank(histogram: ClassHistogram, name: str, order: Sequence[Any]) -> ClassHistogram:
    """The histogram over the values in a given order; a missing value that it does not rank is the last."""
    domain = (*order, None) if None in histogram.domain and None not in order else tuple(order)
    rank = {value: place for place, value in enumerate(domain)}
    lacking = [value for value in histogram.domain if value not in rank]
    if lacking:
        raise InvalidValue(f"the order of '{name}' must hold every value of the column", lacking, "it lacks these")
    return histogram.reordered(np.array([rank[value] for value in histogram.domain], dtype=np.int64), domain)


def _numbers(domain: Sequence[Any], name: str) -> Floats:
    if None in domain:
        remedy = "use the ordered or the equal distance, or fill the gaps"
        raise InvalidValue(f"missing cells of '{name}' have no numeric distance to others", None, remedy)
    try:
        numbers = np.array([float(value) for value in domain])
    except (TypeError, ValueError):
        remedy = "use the ordered or the equal distance"
        raise InvalidType(f"the numeric distance needs numbers in '{name}'", domain[0], remedy) from None
    if not np.isfinite(numbers).all() or any(isinstance(value, str) for value in domain):
        raise InvalidValue(f"the numeric distance needs finite numbers in '{name}'", list(domain[:3]))
    return numbers


def _areas(histogram: ClassHistogram, widths: Floats) -> Floats:
    """For every class the sum over the gaps between values of their width times the cumulative difference."""
    cumulative = np.cumsum(histogram.table)[:-1] / histogram.table.sum()
    places = np.concatenate([[0.0], np.cumsum(widths)])
    sums = np.concatenate([[0.0], np.cumsum(widths * cumulative)])
    starts = histogram.starts
    first = histogram.values[starts]
    within = _within_class(histogram)
    ends = np.append(histogram.values[1:], len(widths))
    ends[starts[1:] - 1] = len(widths)  # after its last value a class stands still up to the end
    spans = _spans(cumulative, places, sums, histogram.values, ends, within)
    return np.asarray(histogram.summed(spans) + sums[first])


def _within_class(histogram: ClassHistogram) -> Floats:
    """For every entry the share of its value and all smaller ones in its class."""
    running = np.cumsum(histogram.counts)
    before = np.append(0, running)[histogram.starts]
    return np.asarray((running - before[histogram.classes]) / histogram.sizes[histogram.classes])


def _spans(
    cumulative: Floats,
    places: Floats,
    sums: Floats,
    begin: npt.NDArray[np.int64],
    end: npt.NDArray[np.int64],
    share: Floats,
) -> Floats:
    """The area between the table and a ``share`` that stands still, from gap ``begin`` to before gap ``end``."""
    overtaken = np.clip(np.searchsorted(cumulative, share), begin, end)
    below = share * (places[overtaken] - places[begin]) - (sums[overtaken] - sums[begin])
    above = (sums[end] - sums[overtaken]) - share * (places[end] - places[overtaken])
    return np.asarray(below + above)


def tree_distances(histogram: ClassHistogram, hierarchy: Hierarchy, name: str) -> Floats:
    """For every class the distance to the table: at most 1, for values that meet at the top of the hierarchy."""
    tree = hierarchy.with_missing() if None in histogram.domain else hierarchy
    if tree.height < 1 or tree.groups(tree.height) != 1:
        raise InvalidValue(f"the hierarchy of '{name}' must end in one group", tree.labels[-1], "add a level with *")
    codes = tree.coded(CodedColumn(name, np.zeros(0, dtype=np.int32), histogram.domain))
    distances = np.zeros(len(histogram.sizes))
    for level in range(tree.height):
        distances += (level + 1) / tree.height * _move(histogram, codes[level], codes[level + 1])
    return distances


def _move(histogram: ClassHistogram, parts: npt.NDArray[np.int32], wholes: npt.NDArray[np.int32]) -> Floats:
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


_DISTANCES = ("equal", "ordered", "numeric")


@dataclass(frozen=True)
class Closeness(SensitiveModel):
    """In every class the distribution of a sensitive column is at most ``t`` away from that of the whole table.

    The distance is the least mass that must be moved, times how far, to turn one distribution into the other. How far
    two values are apart is at most 1: always 1 (``equal``), the difference of their ranks among the values of the
    table (``ordered``, missing last) or in a tuple of values from least to most, the difference of the numbers
    themselves (``numeric``), or the height at which they meet in a ``Hierarchy``.
    """

    t: float
    """The largest distance, from 0 to 1."""
    distance: str | tuple[Any, ...] | Hierarchy = "equal"
    """``equal``, ``ordered``, ``numeric``, a tuple of values in their order, or a hierarchy."""
    parameter: ClassVar[str] = "t"
    compares_with_table: ClassVar[bool] = True

    def __post_init__(self) -> None:
        checked_number(self.t, "t", most=1, zero=True)
        if isinstance(self.distance, tuple):
            refuse_duplicates(self.distance)
        elif not isinstance(self.distance, Hierarchy) and self.distance not in _DISTANCES:
            remedy = f"one of {', '.join(_DISTANCES)}, a tuple of values in their order, or a hierarchy"
            raise InvalidValue("the distance of t-closeness must be known", self.distance, remedy)

    def worded(self, value: str, about: str = "") -> str:
        """The model in words."""
        return f"{value}-closeness{about} ({self._kind} distance)"

    @property
    def _kind(self) -> str:
        match self.distance:
            case str():
                return self.distance
            case tuple():
                return "ordered"
        return "hierarchical"

    def lost_below(self, classes: EquivalenceClasses, histograms: Histograms) -> Lost:
        """Suppressing a share of a class moves its distribution, and with it the distance, by at most that share."""
        distances = self.met(classes, histograms)
        return lost_rows(self.is_broken_by(distances), classes.sizes * (distances - self.t))

    def met(self, classes: EquivalenceClasses, histograms: Histograms) -> Parameters:
        """For every class how far it is away from the table."""
        histogram = self.histogram(histograms)
        match self.distance:
            case Hierarchy():
                return tree_distances(histogram, self.distance, self.column)
            case tuple():
                return ordered_distances(histogram, self.column, self.distance)
            case "equal":
                return equal_distances(histogram)
            case "ordered":
                return ordered_distances(histogram, self.column)
        return numeric_distances(histogram, self.column)
