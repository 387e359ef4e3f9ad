"""What answers can be, in small whole numbers: bins, steps between two bounds, and rows of bits.

Bins of numbers are fixed before anybody answers: from each edge up to the next one, which is in the next bin.

The upper end of the last bin is in it.

>>> ages = Bins.at([0, 18, 65, 120])
>>> ages.names, ages.positions([17.9, 18, 120]).tolist()
(('0 to 18', '18 to 65', '65 to 120'), [0, 1, 2])

Numbers between two bounds are counted in steps from the lower one. A number goes to the nearest step, so that a device
draws from a finite law that can be listed. That moves it by half a step at most and costs no privacy: whatever a number
is before the draw, the law of the report is one of those that the proof compares. Where the bounds are whole numbers
that are not too far apart, whole numbers are not moved at all.

>>> ages = Steps.between(0, 100)
>>> ages.count, ages.positions([0, 50, 100]).tolist()
(25600, [0, 12800, 25600])

Rows of bits go eight to a byte: bit v of a row is bit v mod 8 of its byte v // 8, counted from the least.

>>> rows = packed_bits(np.array([[1, 0, 0, 0, 0, 0, 0, 0, 1], [1, 1, 0, 0, 0, 0, 0, 0, 0]], np.bool_))
>>> rows.tolist(), bit_counts(rows, 9).tolist()
([[1, 1], [3, 0]], [2, 1, 0, 0, 0, 0, 0, 0, 1])
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from numbers import Integral, Rational
from typing import Any

import numpy as np
import numpy.typing as npt

from discreet.errors import InvalidType, InvalidValue
from discreet.exact.grid import Integers, exact_array
from discreet.exact.rational import Number, integer, rational
from discreet.local.terms import Bounds, is_many

__all__ = ["Bins", "PackedBits", "Steps", "all_have", "bit_counts", "has_clear_ends", "packed_bits", "width_of"]


_MOST_BINS = 2**16
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
        integer(len(listed) - 1, "the number of bins", least=2, most=_MOST_BINS)
        if any(first >= second for first, second in pairwise(listed)):
            raise InvalidValue("each edge must be above the one before it", "<others>")
        return cls(listed)

    @classmethod
    def between(cls, lower: Number, upper: Number, count: int) -> Bins:
        """``count`` bins of the same width."""
        low, high = rational(lower, "lower"), rational(upper, "upper")
        size = integer(count, "the number of bins", least=2, most=_MOST_BINS)
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
        return tuple(f"{_write(low)}{_BETWEEN}{_write(high)}" for low, high in pairwise(self.edges))

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


def _write(edge: Fraction) -> str:
    if edge.denominator == 1:
        return str(edge.numerator)
    short = repr(float(edge))
    return short if rational(float(edge)) == edge else str(edge)


_USUAL = 2**15
"""As many steps, and every report of a mean fits two bytes."""
_MOST_STEPS = 2**30
_FURTHEST = 2**16


@dataclass(frozen=True)
class Steps:
    """The numbers lower, lower + step, …, upper."""

    bounds: Bounds
    """The least and the greatest number."""
    count: int
    """How many steps lie between them."""

    @classmethod
    def between(cls, lower: Number, upper: Number, count: int | None = None) -> Steps:
        """The steps between two bounds: ``count`` of them, or about 2^15 that whole numbers fall on."""
        bounds = Bounds(rational(lower, "lower"), rational(upper, "upper"))
        width = bounds.upper - bounds.lower
        if max(abs(bounds.lower), abs(bounds.upper)) > _FURTHEST * width:
            rule = f"the bounds must not lie further from 0 than {_FURTHEST} times their distance"
            raise InvalidValue(rule, f"<{float(bounds.lower):g} and {float(bounds.upper):g}>", "subtract a constant")
        usual = _usual_count(width) if count is None else count
        return cls(bounds, integer(usual, "steps", least=1, most=_MOST_STEPS))

    @property
    def width(self) -> Fraction:
        """The distance of the bounds."""
        return self.bounds.upper - self.bounds.lower

    @property
    def rounding(self) -> float:
        """How far a number may be from its step, as a share of the distance of the bounds."""
        return 0.501 / self.count  # half a step, and what floats lose on the way to it

    def value_of(self, share: float) -> float:
        """The number that lies at ``share`` of the way from the lower bound to the upper one."""
        return float(self.bounds.lower) + share * float(self.width)

    def positions(self, values: Any) -> Integers:
        """The nearest step of each value; one value counts as a list of one. Values outside the bounds are refused."""
        array = exact_array(values if is_many(values) else [values])
        if array.ndim != 1:
            raise InvalidType("several values must form a flat list or array", f"<shape {array.shape}>")
        if array.size == 0:
            return np.empty(0, np.int64)
        if array.dtype.kind == "O":
            return np.asarray([self._position(entry) for entry in array], np.int64)
        if array.dtype.kind not in "iuf" or array.dtype.itemsize > 8:
            raise _no_number()
        return self._nearest(array)

    def _nearest(self, array: npt.NDArray[Any]) -> Integers:
        low, high = float(self.bounds.lower), float(self.bounds.upper)
        if not (low <= array.min() and array.max() <= high):  # also where one of them is no number
            raise _outside()
        scaled = (array.astype(np.float64) - low) * (self.count / float(self.width))
        return np.clip(np.floor(scaled + 0.5), 0, self.count).astype(np.int64)

    def _position(self, entry: Any) -> int:
        if isinstance(entry, (bool, np.bool_)) or not isinstance(entry, (Integral, Rational, float, np.floating)):
            raise _no_number()
        if isinstance(entry, (float, np.floating)) and not math.isfinite(entry):
            raise _outside()
        value = rational(entry)  # type: ignore[arg-type]
        if not self.bounds.lower <= value <= self.bounds.upper:
            raise _outside()
        return math.floor((value - self.bounds.lower) / self.width * self.count + Fraction(1, 2))


def _usual_count(width: Fraction) -> int:
    """The largest width · 2^j up to 2^15, where that is a whole number of steps for each whole number."""
    if width.denominator != 1 or width > _USUAL:
        return _USUAL
    return width.numerator << (_USUAL // width.numerator).bit_length() - 1


def _outside() -> InvalidValue:
    rule = "each value must lie between the bounds"
    return InvalidValue(rule, "<another value>", "clamp it, or state wider bounds before collecting")


def _no_number() -> InvalidType:
    return InvalidType("each value must be a number", "<another thing>")


PackedBits = npt.NDArray[np.uint8]

_TOGETHER = 1 << 14  # rows at a time, so that they stay in the cache for all their columns
_BITS_OF_BYTE = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1, bitorder="little").astype(np.int64)


def width_of(bits: int) -> int:
    """Bytes of a row."""
    return -(-bits // 8)


def packed_bits(rows: npt.NDArray[np.bool_]) -> PackedBits:
    """Each row of truth values as bytes; what is left of the last byte is 0."""
    return np.packbits(rows, axis=1, bitorder="little")


def bit_counts(rows: PackedBits, bits: int) -> Integers:
    """How many rows have each bit set, from a histogram of each byte."""
    columns = rows.reshape(len(rows), width_of(bits))
    counts = np.zeros((width_of(bits), 256), np.int64)
    for start in range(0, len(rows), _TOGETHER):
        for place, column in enumerate(columns[start : start + _TOGETHER].T):
            counts[place] += np.bincount(column, minlength=256)
    return (counts @ _BITS_OF_BYTE).reshape(-1)[:bits]


def all_have(rows: PackedBits, bits: int, wanted: int) -> bool:
    """Whether every row has as many bits set as ``wanted``."""
    columns = rows.reshape(len(rows), width_of(bits))
    return all(_have(columns[start : start + _TOGETHER], wanted) for start in range(0, len(rows), _TOGETHER))


def _have(columns: PackedBits, wanted: int) -> bool:
    total = np.zeros(len(columns), np.int64)
    for column in columns.T:
        total += np.bitwise_count(column)
    return bool((total == wanted).all())


def has_clear_ends(rows: PackedBits, bits: int) -> bool:
    """Whether no bit is set beyond the ``bits`` first ones."""
    last = rows if rows.ndim == 1 else rows[:, -1]
    used = bits - 8 * (width_of(bits) - 1)
    return int(last.max(initial=0)) < 1 << used
