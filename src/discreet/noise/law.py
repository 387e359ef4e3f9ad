"""What every law on the integers can do: be drawn from, and state its own probabilities.

Floats (`pmf`, `cdf`, `tail`) are for plots and bulk arithmetic; balls (`mass`, `below`, `above`) are for proofs.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from discreet.errors import InvalidType, InvalidValue
from discreet.exact.ball import BITS, Ball, ball, working_precision
from discreet.exact.grid import Integers, exact_array, holds_integers
from discreet.exact.rational import Number, integer, rational
from discreet.noise.source import SYSTEM, Source, Stream

__all__ = ["Floats", "Law", "SymmetricLaw", "Whole", "is_at_least", "open_probability", "whole_numbers"]


Floats = npt.NDArray[np.float64]
Whole: TypeAlias = int | npt.NDArray[np.integer]

_MOST_BITS = 2**14  # where two numbers still agree, they are taken to be equal
_UNSEEN = Fraction(1, 2**60)
_MOST_BLOCKS = 2**18
_FURTHEST = 2**62  # no law puts a probability that a float can show beyond this


class Law(ABC):
    """A probability law on the integers."""

    def sample(self, count: int, source: Source = SYSTEM) -> Integers:
        """``count`` independent draws from exactly this law, under a fresh key."""
        return self.draw(integer(count, "count", least=0), source.open())

    @abstractmethod
    def draw(self, count: int, stream: Stream) -> Integers:
        """``count`` draws that read their randomness from ``stream``."""

    @property
    @abstractmethod
    def support(self) -> tuple[int | None, int | None]:
        """The least and the greatest possible value; None where there is none."""

    @abstractmethod
    def mass(self, value: int) -> Ball:
        """P(X = value), as a ball at the working precision."""

    @abstractmethod
    def below(self, value: int) -> Ball:
        """P(X ≤ value), as a ball at the working precision."""

    def above(self, value: int) -> Ball:
        """P(X ≥ value), as a ball at the working precision."""
        return 1 - self.below(value - 1)

    @abstractmethod
    def pmf(self, values: Whole) -> Floats:
        """P(X = value) for each value, in floating point."""

    @abstractmethod
    def cdf(self, values: Whole) -> Floats:
        """P(X ≤ value) for each value, in floating point."""

    @abstractmethod
    def tail(self, values: Whole) -> Floats:
        """P(X ≥ value) for each value, in floating point, accurate where it is small."""

    @property
    @abstractmethod
    def mean(self) -> float:
        """The expectation."""

    @property
    @abstractmethod
    def variance(self) -> float:
        """The variance."""

    def quantile(self, probabilities: npt.ArrayLike | Number | Sequence[Number]) -> int | Integers:
        """The least k with P(X ≤ k) ≥ p for each p strictly between 0 and 1, decided exactly."""
        wanted = exact_array(probabilities, "probabilities")
        if wanted.ndim == 0:
            return self._quantile(open_probability(wanted.ravel()[0]))
        found = [self._quantile(open_probability(p)) for p in wanted.ravel()]
        return np.asarray(found, dtype=np.int64).reshape(wanted.shape)

    def _quantile(self, wanted: Fraction) -> int:
        def reaches(k: int) -> bool:
            return is_at_least(lambda: self.below(k), wanted)

        lowest, highest = self.support
        width, start = 1, round(self.mean)
        high = start if highest is None else min(start, highest)
        while not reaches(high):
            high, width = high + width, 2 * width
        width, low = 1, high
        while (lowest is None or low >= lowest) and reaches(low):
            low, width = low - width, 2 * width
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if reaches(middle) else (middle, high)
        return high


class SymmetricLaw(Law):
    """A law with P(X = k) = P(X = -k) for every k."""

    @property
    def support(self) -> tuple[int | None, int | None]:
        """All integers."""
        return (None, None)

    @property
    def mean(self) -> float:
        """Zero, by symmetry."""
        return 0.0

    def below(self, value: int) -> Ball:
        """P(X ≤ value), as a ball at the working precision."""
        return self.above(-value) if value < 0 else 1 - self.above(value + 1)

    def cdf(self, values: Whole) -> Floats:
        """P(X ≤ value) for each value, in floating point."""
        return self.tail(-whole_numbers(values))

    def error(self, confidence: Number = 0.95, answers: int = 1) -> int:
        """The least m such that ``answers`` independent draws all stay within ±m with this confidence, exactly."""
        wanted = open_probability(confidence, "confidence")
        integer(answers, "answers", least=1)

        def suffices(m: int) -> bool:
            return is_at_least(lambda: (1 - 2 * self.above(m + 1)) ** answers, wanted)

        high = 1
        while not suffices(high):
            high *= 2
        low = -1
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if suffices(middle) else (middle, high)
        return high

    def mean_error(self, answers: int = 1) -> float:
        """The mean of the largest |X| of ``answers`` independent draws, so that of |X| itself for one.

        E(max |X|) = Σ P(max |X| ≥ m) over m ≥ 1. A wide law is summed in blocks by their middles, which changes the
        result by less than one part in 10^8.
        """
        reach = self.error(1 - _UNSEEN, integer(answers, "answers", least=1))
        middles, width = _blocks(max(reach, 1))
        beyond = np.minimum(2 * self.tail(middles), 1.0)
        with np.errstate(divide="ignore"):  # ln 0 where every draw is as large as that
            return float(width * -np.expm1(answers * np.log1p(-beyond)).sum()) + 0.0  # and never -0.0


def _blocks(reach: int) -> tuple[Integers, int]:
    """The middles of blocks of an odd width that cover 1, …, reach; single points where they are few."""
    width = 2 * (reach // (2 * _MOST_BLOCKS)) + 1
    middles = 1 + width // 2 + width * np.arange(-(-reach // width), dtype=np.int64)
    return middles, width


def open_probability(value: Number, name: str = "probability") -> Fraction:
    """``value`` as a rational strictly between 0 and 1."""
    number = rational(value, name)
    if not 0 < number < 1:
        raise InvalidValue(f"{name} must lie strictly between 0 and 1", value)
    return number


def is_at_least(compute: Callable[[], Ball], threshold: Fraction) -> bool:
    """Whether a computable real reaches a rational; numbers equal to thousands of bits count as equal."""
    # A threshold next to 0 or 1 has a long denominator. Multiples of 64 let laws reuse what they computed.
    bits = BITS + 64 * (threshold.denominator.bit_length() // 64)
    while bits <= _MOST_BITS:
        with working_precision(bits):
            gap = compute() - ball(threshold)
            if gap > 0 or gap < 0:
                return bool(gap > 0)
        bits *= 2
    return True


def whole_numbers(values: Whole) -> Integers:
    """``values`` as an array of integers, at most 2^62 from zero so that k + 1 and -k cannot overflow.

    Values further out are moved there, which changes no probability. Floats are refused.
    """
    array = exact_array(values)
    if not holds_integers(array):
        raise InvalidType("values must be integers", f"<{array.dtype}>", "round them to the grid first")
    return np.asarray(np.clip(array, -_FURTHEST, _FURTHEST), dtype=np.int64)
