"""The geometric law with P(X ≥ k) = e^(-k/t) for k ≥ 0, drawn exactly.

>>> Geometric(2).tail(np.array([0, 2])).round(3).tolist()
[1.0, 0.368]
"""

from __future__ import annotations

import math
from functools import cached_property

import numpy as np

from discreet.exact.ball import Ball, ball
from discreet.exact.grid import Integers
from discreet.exact.rational import Number, positive
from discreet.noise.inversion import CHUNK, ScaledExponential
from discreet.noise.law import Floats, Law, Whole, whole_numbers
from discreet.noise.source import Stream

__all__ = ["Geometric"]


class Geometric(Law):
    """The number of steps of size 1/t that an exponential variable covers."""

    def __init__(self, scale: Number) -> None:
        self.scale = positive(scale, "scale")
        self._exponential = ScaledExponential(self.scale, lambda: Ball(0))

    def draw(self, count: int, stream: Stream) -> Integers:
        """``count`` draws that read their randomness from ``stream``."""
        found = np.empty(count, np.int64)
        work = np.empty(min(count, CHUNK))
        for start in range(0, count, CHUNK):
            part = found[start : start + CHUNK]
            prefixes = (stream.words(len(part)) >> np.uint64(1)).view(np.int64)
            part[:] = self._exponential.floors(prefixes, stream, work[: len(part)])
        return found

    @property
    def support(self) -> tuple[int | None, int | None]:
        """The integers from zero up."""
        return (0, None)

    def mass(self, value: int) -> Ball:
        """P(X = value)."""
        return self.above(value) - self.above(value + 1) if value >= 0 else Ball(0)

    def below(self, value: int) -> Ball:
        """P(X ≤ value)."""
        return 1 - self.above(value + 1)

    def above(self, value: int) -> Ball:
        """P(X ≥ value)."""
        return (-value / ball(self.scale)).exp() if value > 0 else Ball(1)

    def pmf(self, values: Whole) -> Floats:
        """P(X = value) for each value."""
        k = whole_numbers(values)
        return np.where(k >= 0, self.tail(k) * -math.expm1(-self._rate), 0.0)

    def cdf(self, values: Whole) -> Floats:
        """P(X ≤ value) for each value."""
        k = whole_numbers(values)
        return np.where(k >= 0, -np.expm1(-self._rate * np.maximum(k + 1, 0)), 0.0)

    def tail(self, values: Whole) -> Floats:
        """P(X ≥ value) for each value."""
        return np.exp(-self._rate * np.maximum(whole_numbers(values), 0))

    @cached_property
    def _rate(self) -> float:
        return float(1 / self.scale)

    @property
    def mean(self) -> float:
        """1 / (e^(1/t) - 1)."""
        return math.exp(-self._rate) / -math.expm1(-self._rate)  # e^(1/t) itself can overflow

    @property
    def variance(self) -> float:
        """The variance, e^(1/t) / (e^(1/t) - 1)^2."""
        return self.mean * (1 + self.mean)
