"""The distance of distributions over values on a line: the area between their cumulative distributions.

Between two values that follow each other in a class, the cumulative share of the class stands still while that of the
table grows. So the area between them needs one search for the place where the table overtakes the class, and two
differences of sums that were made once for the table: no class is ever spread out over all values.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from discreet.anonymize.classes import ClassHistogram
from discreet.errors import InvalidType, InvalidValue

__all__ = ["numeric_distances", "ordered_distances"]

Floats = npt.NDArray[np.float64]


def ordered_distances(histogram: ClassHistogram, name: str, order: Sequence[Any] | None = None) -> Floats:
    """For every class the distance to the table where values are apart by their ranks; one value alone is at 0.

    Numbers, dates and text are ranked as they are sorted, unless ``order`` lists the values from least to most.
    """
    if order is not None:
        histogram = _ranked(histogram, name, order)
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


def _ranked(histogram: ClassHistogram, name: str, order: Sequence[Any]) -> ClassHistogram:
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
