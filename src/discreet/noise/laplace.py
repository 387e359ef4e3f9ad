"""The discrete Laplace law: P(X = k) proportional to e^(-|k|/t) on all integers, drawn exactly.

With r = e^(-1/t), P(|X| ≥ k) = 2 r^k / (1 + r) for k ≥ 1, so |X| = floor(t · (ln(2/(1+r)) - ln U)): one word and one
logarithm. The sign is the word's top bit; where |X| = 0 it changes nothing, so zero is counted once.

>>> DiscreteLaplace(1).pmf(np.array([-1, 0, 1])).round(4).tolist()
[0.17, 0.4621, 0.17]
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cached_property, partial

import numpy as np

from discreet.exact.ball import Ball, ball
from discreet.exact.grid import Integers
from discreet.exact.rational import Number, positive
from discreet.noise.inversion import CHUNK, ScaledExponential
from discreet.noise.law import Floats, SymmetricLaw, Whole, whole_numbers
from discreet.noise.source import Stream

__all__ = ["DiscreteLaplace", "laplace_offset"]


_PREFIX_MASK = np.int64(2**63 - 1)


class DiscreteLaplace(SymmetricLaw):
    """Two-sided geometric noise of scale t > 0."""

    def __init__(self, scale: Number) -> None:
        self.scale = positive(scale, "scale")
        self._exponential = ScaledExponential(self.scale, partial(laplace_offset, self.scale))

    def __repr__(self) -> str:
        return f"DiscreteLaplace(scale={self.scale})"

    def _ratio(self) -> Ball:
        return (-1 / ball(self.scale)).exp()

    def draw(self, count: int, stream: Stream) -> Integers:
        """``count`` draws that read their randomness from ``stream``."""
        found = np.empty(count, np.int64)
        work = np.empty(min(count, CHUNK))
        for start in range(0, count, CHUNK):
            part = found[start : start + CHUNK]
            words = stream.words(len(part)).view(np.int64)
            np.bitwise_and(words, _PREFIX_MASK, out=part)
            part[:] = self._exponential.floors(part, stream, work[: len(part)])
            words >>= 63  # all ones for a negative draw: (x ^ -1) - (-1) = -x
            part ^= words
            part -= words
        return found

    def mass(self, value: int) -> Ball:
        """P(X = value)."""
        ratio = self._ratio()
        return (1 - ratio) / (1 + ratio) * (-abs(value) / ball(self.scale)).exp()

    def above(self, value: int) -> Ball:
        """P(X ≥ value)."""
        if value <= 0:
            return 1 - self.above(1 - value)
        return (-value / ball(self.scale)).exp() / (1 + self._ratio())

    def pmf(self, values: Whole) -> Floats:
        """P(X = value) for each value."""
        weight = -math.expm1(-self._rate) / (1 + math.exp(-self._rate))
        return weight * np.exp(-self._rate * np.abs(whole_numbers(values)))

    def tail(self, values: Whole) -> Floats:
        """P(X ≥ value) for each value."""
        k = whole_numbers(values)
        far = np.exp(-self._rate * np.where(k > 0, k, 1 - k)) / (1 + math.exp(-self._rate))
        return np.where(k > 0, far, 1 - far)

    @cached_property
    def _rate(self) -> float:
        return float(1 / self.scale)

    @property
    def variance(self) -> float:
        """The variance, 2 e^(1/t) / (e^(1/t) - 1)^2: a little below 2 t^2."""
        return 2 * math.exp(-self._rate) / math.expm1(-self._rate) ** 2


def laplace_offset(scale: Fraction) -> Ball:
    """ln(2/(1+r)) with r = e^(-1/t): where the size of a discrete Laplace variable starts on the exponential scale."""
    return (2 / (1 + (-1 / ball(scale)).exp())).log()
