"""Bins of numbers, fixed before anybody answers: from each edge up to the next one, which is in the next bin.

The upper end of the last bin is in it.

>>> ages = Bins.at([0, 18, 65, 120])
>>> ages.names, ages.positions([17.9, 18, 120]).tolist()
(('0 to 18', '18 to 65', '65 to 120'), [0, 1, 2])
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from discreet.errors import InvalidType, InvalidValue
from discreet.exact.arrays import exact_array
from discreet.exact.grid import Integers
from discreet.exact.rational import Number, integer, rational
from discreet.local.categories import is_many

__all__ = ["Bins"]

_MOST = 2**16
_BETWEEN = " to "


@dataclass(frozen=True)
class Bins:
    """Neighbouring bins, at least two."""

    edges: tuple[Fraction, ...]
    """The ends of all bins, growing."""

    @classmethod
    def at(cls, edges: Iterable[Number]) -> Bins:
        """The bins between these edges."""
        if isinstance(edges, (str, bytes)) or not isinstance(edges, Iterable):
            raise InvalidType("edges must be a list of numbers", edges, "[0, 18, 65, 120], for example")
        listed = tuple(rational(edge, "an edge") for edge in edges)
        integer(len(listed) - 1, "the number of bins", least=2, most=_MOST)
        if any(first >= second for first, second in pairwise(listed)):
            raise InvalidValue("each edge must be above the one before it", "<others>")
        return cls(listed)

    @classmethod
    def between(cls, lower: Number, upper: Number, count: int) -> Bins:
        """``count`` bins of the same width."""
        low, high = rational(lower, "lower"), rational(upper, "upper")
        size = integer(count, "the number of bins", least=2, most=_MOST)
        if not low < high:
            raise InvalidValue("lower must be below upper", f"<{float(low):g} and {float(high):g}>")
        return cls.at([low + (high - low) * k / size for k in range(size + 1)])

    @classmethod
    def named(cls, names: Iterable[Any]) -> Bins:
        """The bins with these `names`."""
        ends = [str(name).split(_BETWEEN) for name in names]
        if not ends or any(len(pair) != 2 for pair in ends):
            raise InvalidValue("a bin must be named by its ends", "<another name>", "'0 to 18', for example")
        return cls.at([*(low for low, _ in ends), ends[-1][1]])

    def __len__(self) -> int:
        return len(self.edges) - 1

    @cached_property
    def names(self) -> tuple[str, ...]:
        """What each bin is called: its ends, exactly."""
        return tuple(f"{_written(low)}{_BETWEEN}{_written(high)}" for low, high in pairwise(self.edges))

    def positions(self, values: Any) -> Integers:
        """The bin of each value; one value counts as a list of one. Values outside all bins are refused."""
        array = exact_array(values if is_many(values) else [values])
        if array.ndim != 1:
            raise InvalidType("several values must form a flat list or array", f"<shape {array.shape}>")
        if array.dtype.kind == "O":
            array = _floats(array.tolist())
        if array.dtype.kind not in "iuf" or array.dtype.itemsize > 8:
            raise InvalidType("each value must be a number", "<another thing>")
        edges = np.asarray([float(edge) for edge in self.edges])
        if array.size and not (edges[0] <= array.min() and array.max() <= edges[-1]):  # also where one is no number
            rule = "each value must lie in one of the bins"
            raise InvalidValue(rule, "<another value>", "clamp it, or state wider bins before collecting")
        found = np.searchsorted(edges, array, side="right") - 1
        return np.minimum(found, len(self) - 1)


def _floats(entries: list[Any]) -> np.ndarray[Any, Any]:
    """Numbers of several types as floats: a number next to an edge may fall into the bin beside it."""
    if any(isinstance(entry, bool) or not isinstance(entry, (int, float, Fraction)) for entry in entries):
        raise InvalidType("each value must be a number", "<another thing>")
    return np.asarray([float(entry) for entry in entries], np.float64)


def _written(edge: Fraction) -> str:
    if edge.denominator == 1:
        return str(edge.numerator)
    short = repr(float(edge))
    return short if rational(float(edge)) == edge else str(edge)
