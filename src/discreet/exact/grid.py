"""Power-of-two grids: the only places where a released number can lie.

A float divided by a power of two loses nothing, so putting a value on a grid is exact, and a released value says
nothing through its low bits. Halves round up, always: rounding that depends on parity would turn a move of one
step into a move of two.

>>> eighths = Grid(-3)
>>> eighths.steps_of([0.3, 0.5]).tolist(), eighths.value_of(2)
([2, 4], 0.25)

Arrays hold exactly the numbers that were passed. NumPy reads a list that mixes integers with floats as floats, so that
one float among the rows would round every other row, and reads past the mask of a masked array. Here mixed lists stay
lists of Python numbers.

>>> exact_array([2**54 + 3, 0.5]).tolist() == [2**54 + 3, 0.5]
True
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from numbers import Integral
from typing import Any

import numpy as np
import numpy.typing as npt

from discreet.errors import InvalidType, InvalidValue
from discreet.exact.rational import Number, integer, rational

__all__ = ["LARGEST_STEPS", "Grid", "Integers", "exact_array", "holds_integers"]


def exact_array(values: object, name: str = "values") -> npt.NDArray[Any]:
    """``values`` as a rectangular array that changes none of them; of objects where no other type would do."""
    if isinstance(values, np.ma.MaskedArray):
        raise InvalidType(f"{name} must not be masked", "<a masked array>", "fill or drop what is masked first")
    try:
        return np.asarray(values) if hasattr(values, "__array__") else _narrow(np.asarray(values, dtype=object))
    except ValueError:
        raise InvalidType(f"{name} must form a rectangular array", "<rows of different lengths>") from None


def holds_integers(array: npt.NDArray[Any]) -> bool:
    """Whether every entry is an integer, so that a grid of whole numbers rounds nothing; booleans are none."""
    if array.dtype.kind != "O":
        return array.dtype.kind in "iu"
    return all(isinstance(entry, Integral) and not isinstance(entry, bool) for entry in array.ravel())


def _narrow(array: npt.NDArray[np.object_]) -> npt.NDArray[Any]:
    entries = array.ravel().tolist()
    kinds = {type(entry) for entry in entries}
    if kinds == {int}:
        fits = min(entries) >= -(2**63) and max(entries) < 2**63
        return array.astype(np.int64) if fits else array
    return array if len(kinds) > 1 else np.asarray(entries).reshape(array.shape)


Integers = npt.NDArray[np.int64]

_WHAT_VALUES_ARE = "values must be integers or floats of at most 64 bits"

LARGEST_STEPS = 2**62
"""Values further out than this many steps are moved to it; noise then still fits a 64-bit integer."""


@dataclass(frozen=True)
class Grid:
    """All multiples of 2^exponent."""

    exponent: int = 0
    """Zero for whole numbers, -10 for multiples of 1/1024."""

    def __post_init__(self) -> None:
        integer(self.exponent, "grid exponent", least=-1000, most=900)

    @classmethod
    def of_step(cls, step: Number) -> Grid:
        """The grid whose step is ``step``, which must be a power of two."""
        if type(step) is int and step == 1:
            return _WHOLE_NUMBERS  # every statistic of every plan is counted in steps of one
        size = rational(step, "grid")
        if isinstance(step, (float, np.floating)):
            size = Fraction(float(step))  # the shortest decimal of 2^-30 is not a power of two; the float is
        for part, other, sign in (
            (size.numerator, size.denominator, 1),
            (size.denominator, size.numerator, -1),
        ):
            if size > 0 and other == 1 and part & (part - 1) == 0:
                return cls(sign * (part.bit_length() - 1))
        raise InvalidValue("grid must be a power of two", step, "1, 0.25 or 2**-10, for example")

    @classmethod
    def finer_than(cls, length: Fraction) -> Grid:
        """The coarsest grid whose step is at most ``length``."""
        if length <= 0:
            raise InvalidValue("length must be positive", length)
        exponent = length.numerator.bit_length() - length.denominator.bit_length()
        return cls(exponent if Fraction(2) ** exponent <= length else exponent - 1)

    @property
    def step(self) -> Fraction:
        """The distance between two neighbours on the grid."""
        return Fraction(2) ** self.exponent

    def steps_within(self, distance: Fraction) -> int:
        """How many steps apart two values can land that were at most ``distance`` apart before rounding."""
        return math.ceil(distance / self.step)

    def steps_of(self, values: npt.ArrayLike) -> Integers:
        """The nearest grid points, as numbers of steps. Each entry is rounded once; NaN and infinities are refused."""
        array = exact_array(values)
        if array.dtype.kind in "iu":
            return self._integers_to_steps(array)
        if array.dtype.kind == "O":
            return self._entries_to_steps(array)
        # Wider floats would be rounded to 64 bits first, and two roundings can double a distance.
        if array.dtype.kind != "f" or array.dtype.itemsize > 8:
            raise InvalidType(_WHAT_VALUES_ARE, f"<{array.dtype}>")
        if not np.isfinite(array).all():
            raise _not_finite()
        with np.errstate(over="ignore"):
            scaled = np.ldexp(array.astype(np.float64), -self.exponent)
        scaled = np.clip(scaled, -float(LARGEST_STEPS), float(LARGEST_STEPS))
        below = np.floor(scaled)
        return np.asarray(below + (scaled - below >= 0.5), dtype=np.int64)

    def _integers_to_steps(self, array: npt.NDArray[np.integer]) -> Integers:
        wide = array.astype(np.uint64 if array.dtype.kind == "u" else np.int64)
        if self.exponent > 0:
            # floor(x / 2^e + 1/2), written without the sum that could overflow.
            wide = (wide >> self.exponent) + ((wide >> (self.exponent - 1)) & 1)
        clipped: Integers = np.clip(wide, -LARGEST_STEPS, LARGEST_STEPS).astype(np.int64)
        if self.exponent >= 0:
            return clipped
        outermost = LARGEST_STEPS >> -self.exponent
        saturated = np.sign(clipped) * LARGEST_STEPS
        return np.where(np.abs(clipped) > outermost, saturated, clipped << min(-self.exponent, 62))

    def _entries_to_steps(self, array: npt.NDArray[np.object_]) -> Integers:
        """Integers need not fit 64 bits: refusing them would tell how large one row is."""
        found = [self._step_of(_exact_entry(value)) for value in array.ravel()]
        return np.asarray(found, dtype=np.int64).reshape(array.shape)

    def _step_of(self, value: Fraction) -> int:
        steps = math.floor(value / self.step + Fraction(1, 2))
        return min(max(steps, -LARGEST_STEPS), LARGEST_STEPS)

    def value_of(self, steps: int) -> int | float:
        """The number that many steps from zero: an int on whole-number grids, a float on finer ones."""
        return int(steps) << self.exponent if self.exponent >= 0 else math.ldexp(steps, self.exponent)

    def values_of(self, steps: Integers) -> npt.NDArray[np.int64] | npt.NDArray[np.float64]:
        """The numbers that many steps from zero: integers on the grid of 1, floats on all others."""
        if self.exponent == 0:
            return steps
        return np.ldexp(steps.astype(np.float64), self.exponent)


_WHOLE_NUMBERS = Grid()


def _exact_entry(value: object) -> Fraction:
    if isinstance(value, Integral) and not isinstance(value, bool):
        return Fraction(integer(value, "values"))
    if not isinstance(value, (float, np.float32, np.float16)):
        raise InvalidType(_WHAT_VALUES_ARE, f"<a {type(value).__name__}>")
    if not math.isfinite(value):
        raise _not_finite()
    return Fraction(float(value))


def _not_finite() -> InvalidValue:
    return InvalidValue("values must be finite", "<NaN or infinity>", "replace them before the release")
