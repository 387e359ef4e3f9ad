"""What all additive-noise mechanisms share: put the truth on a grid, add integer noise, say how far it went.

Integers on a whole-number grid are already on it. Real numbers are rounded, which can move one answer by up to a
step more between neighbours, and so a vector of k real answers by up to k steps more. The noise is scaled for that,
which is why a vector of floats must say its ``dimension``.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from discreet.errors import InvalidValue
from discreet.exact.grid import Grid, Integers, exact_array, holds_integers
from discreet.exact.rational import Number, integer, positive
from discreet.mechanisms.distribution import Distribution, ProductLaw, ShiftedLaw
from discreet.mechanisms.measurement import Measurement
from discreet.noise.law import SymmetricLaw
from discreet.noise.source import SYSTEM, Source, Stream
from discreet.privacy.neighbours import Neighbours
from discreet.privacy.sensitivity import Norm, Sensitivity

__all__ = ["AdditiveNoise", "Answers", "draw_onto"]


Answers = int | float | npt.NDArray[np.int64] | npt.NDArray[np.float64]


def draw_onto(law: SymmetricLaw, steps: Integers, stream: Stream) -> Integers:
    """Integers with an independent draw of ``law`` on each."""
    noisy = law.draw(steps.size, stream).reshape(steps.shape)
    noisy += steps  # in place: another array of this size takes longer than the sum
    return noisy


class AdditiveNoise(Measurement):
    """The truth plus independent symmetric integer noise on each coordinate, in steps of a grid."""

    grid: Grid
    """Where every answer lies, fixed before any data is seen."""
    dimension: int | None
    """How many real numbers one release may hold; None allows one real number, or any number of integers."""
    sensitivity: Fraction
    """How far neighbours can move the truth, as declared."""
    neighbours: Neighbours | None
    """The relation the sensitivity was proved under, where the caller said it."""

    @property
    @abstractmethod
    def law(self) -> SymmetricLaw:
        """The noise on one coordinate, in steps."""

    def _declare(self, sensitivity: Number | Sensitivity, norm: Norm, grid: Number, dimension: int | None) -> None:
        if isinstance(sensitivity, Sensitivity) and sensitivity.norm is not norm:
            rule = f"sensitivity must be in {norm}"
            raise InvalidValue(rule, str(sensitivity), f"use sensitivity.in_norm(Norm.{norm.name}, dimension)")
        declared = sensitivity.value if isinstance(sensitivity, Sensitivity) else sensitivity
        self.sensitivity = positive(declared, "sensitivity")
        self.neighbours = sensitivity.neighbours if isinstance(sensitivity, Sensitivity) else None
        self.grid = Grid.of_step(grid)
        self.dimension = None if dimension is None else integer(dimension, "dimension", least=1)

    def release(self, value: npt.ArrayLike, *, source: Source = SYSTEM) -> Answers:
        """The noisy value or values, in the shape they came in.

        One value is an int on whole-number grids, else a float. An array holds integers on the grid of 1, else floats.
        """
        noisy = self.add_noise(self._steps(value), source.open())
        return self.grid.values_of(noisy) if noisy.ndim else self.grid.value_of(int(noisy))

    def releases(self, value: npt.ArrayLike, count: int, *, source: Source = SYSTEM) -> npt.NDArray[Any]:
        """``count`` independent releases, one in each row, each at the full price: for audits and studies."""
        steps = self._steps(value)
        return self.grid.values_of(draw_onto(self.law, np.broadcast_to(steps, (count, *steps.shape)), source.open()))

    def add_noise(self, steps: Integers, stream: Stream) -> Integers:
        """Exact integers with noise on each, in steps of the grid: one release of all of them, at ``loss``.

        What `release` does with a value that is on the grid, for those who count in steps and keep their own stream.
        """
        self._check(steps)
        return draw_onto(self.law, steps, stream)

    def distribution(self, value: npt.ArrayLike) -> Distribution:
        """The exact law of the release for the true ``value``: one law, or one per entry of a vector."""
        steps = self._steps(value)
        laws = tuple(ShiftedLaw(self.law, int(centre), self.grid) for centre in steps.ravel())
        return ProductLaw(laws) if steps.ndim else laws[0]

    def error(self, confidence: Number = 0.95, answers: int = 1) -> int | float:
        """The exact quantile of |noise|: all ``answers`` stay within it, together, with this confidence."""
        return self.grid.value_of(self.law.error(confidence, answers))

    def mean_error(self, answers: int = 1) -> float:
        """The mean of the largest |noise| on ``answers`` answers; of |noise| itself for one."""
        return self.law.mean_error(answers) * float(self.grid.step)

    @property
    def standard_deviation(self) -> float:
        """The standard deviation of the noise on one answer."""
        return math.sqrt(self.law.variance) * float(self.grid.step)

    def _steps(self, value: Any) -> Integers:
        array = exact_array(value, "the value")
        steps = self.grid.steps_of(array)
        self._check(array)
        return steps

    def _check(self, array: npt.NDArray[Any]) -> None:
        is_rounded = self.grid.exponent > 0 or not holds_integers(array)
        if is_rounded and array.size > (self.dimension or 1):
            rule = f"at most {self.dimension or 1} rounded numbers fit this sensitivity"
            raise InvalidValue(
                rule, array.size, "pass dimension= for the number of answers, or integers with a grid of 1"
            )
