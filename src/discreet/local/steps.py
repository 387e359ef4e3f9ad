"""Numbers between two bounds, counted in steps from the lower one.

A number goes to the nearest step, so that a device draws from a finite law that can be listed. That moves it by half a
step at most and costs no privacy: whatever a number is before the draw, the law of the report is one of those that the
proof compares. Where the bounds are whole numbers that are not too far apart, whole numbers are not moved at all.

>>> ages = Steps.between(0, 100)
>>> ages.count, ages.positions([0, 50, 100]).tolist()
(25600, [0, 12800, 25600])
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from numbers import Integral, Rational
from typing import Any

import numpy as np
import numpy.typing as npt

from discreet.errors import InvalidType, InvalidValue
from discreet.exact.arrays import exact_array
from discreet.exact.grid import Integers
from discreet.exact.rational import Number, integer, rational
from discreet.local.categories import is_many
from discreet.local.terms import Bounds

__all__ = ["Steps"]

_USUAL = 2**15
"""As many steps, and every report of a mean fits two bytes."""
_MOST = 2**30
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
        return cls(bounds, integer(usual, "steps", least=1, most=_MOST))

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
