"""Coins of any bias: Bernoulli(p) for a rational p, and Bernoulli(e^-x) for a rational x ≥ 0, drawn exactly.

A coin compares a lazy uniform with its probability. The first 64 bits decide all but one draw in 2^64.

>>> Bernoulli("1/3").mean == 1 / 3, Bernoulli.exponential(1).mean == math.exp(-1)
(True, True)

Many coins of one bias need one random byte each, and are as exact. A coin's first 8 bits decide all but one draw in
256; those that agree with the first 8 bits of p read 64 more, and so on. A hundred million coins take a hundred
megabytes of keystream in place of eight hundred, and no float.

A coin that reads on takes longer, and such coins do not fall as often on each side as the others. In a batch that
tells nothing about any one of them; where there are few coins each gets a whole word, so that time tells nothing.

>>> from fractions import Fraction
>>> from discreet.noise.bernoulli import threshold_of
>>> from discreet.noise.source import ScriptedSource
>>> words = [int.from_bytes(bytes([84, 85, 86, 0, 0, 0, 0, 0]), "little"), 0]
>>> byte_coins(3, threshold_of(Fraction(1, 3)), ScriptedSource(words)).tolist()  # 1/3 begins with the byte 85
[True, True, False]
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache

import numpy as np
import numpy.typing as npt

from discreet.errors import InvalidValue
from discreet.exact.ball import Ball, ball, floor_of
from discreet.exact.grid import Integers
from discreet.exact.rational import Number, probability, rational
from discreet.noise.law import Floats, Law, Whole, whole_numbers
from discreet.noise.source import Stream
from discreet.noise.uniform import LazyUniform, ThresholdAt, falls_below, settle

__all__ = ["FEW", "Bernoulli", "byte_coins", "coins", "threshold_of", "threshold_of_exponential", "threshold_of_odds"]


class Bernoulli(Law):
    """1 with probability p, else 0."""

    def __init__(self, p: Number) -> None:
        exact = probability(p, "p")
        self._set(threshold_of(exact), exact)

    @classmethod
    def exponential(cls, x: Number) -> Bernoulli:
        """The coin that shows 1 with probability e^-x, for a rational x ≥ 0."""
        exponent = rational(x, "x")
        if exponent < 0:
            raise InvalidValue("x must not be negative", x)
        coin = cls.__new__(cls)
        coin._set(threshold_of_exponential(exponent), None, exponent)
        return coin

    def _set(self, threshold: ThresholdAt, exact: Fraction | None, exponent: Fraction = Fraction(0)) -> None:
        self._threshold = threshold
        self._exact = exact
        self._exponent = exponent

    def draw(self, count: int, stream: Stream) -> Integers:
        """``count`` draws that read their randomness from ``stream``."""
        return falls_below(stream.words(count), self._threshold, stream).astype(np.int64)

    @property
    def support(self) -> tuple[int | None, int | None]:
        """Zero and one."""
        return (0, 1)

    def mass(self, value: int) -> Ball:
        """P(X = value)."""
        if value not in (0, 1):
            return Ball(0)
        heads = (-ball(self._exponent)).exp() if self._exact is None else ball(self._exact)
        return heads if value == 1 else 1 - heads

    def below(self, value: int) -> Ball:
        """P(X ≤ value)."""
        return Ball(0) if value < 0 else self.mass(0) if value < 1 else Ball(1)

    def pmf(self, values: Whole) -> Floats:
        """P(X = value) for each value."""
        k = whole_numbers(values)
        return np.where(k == 1, self.mean, np.where(k == 0, self._miss, 0.0))

    def cdf(self, values: Whole) -> Floats:
        """P(X ≤ value) for each value."""
        k = whole_numbers(values)
        return np.where(k < 0, 0.0, np.where(k < 1, self._miss, 1.0))

    def tail(self, values: Whole) -> Floats:
        """P(X ≥ value) for each value."""
        k = whole_numbers(values)
        return np.where(k <= 0, 1.0, np.where(k <= 1, self.mean, 0.0))

    @property
    def mean(self) -> float:
        """P(X = 1)."""
        return math.exp(-self._rate) if self._exact is None else float(self._exact)

    @property
    def _miss(self) -> float:
        return -math.expm1(-self._rate) if self._exact is None else float(1 - self._exact)

    @property
    def _rate(self) -> float:
        return float(min(self._exponent, Fraction(1000)))  # e^-1000 is 0 in floating point

    @property
    def variance(self) -> float:
        """The variance, p (1 - p)."""
        return self.mean * self._miss


def threshold_of(p: Fraction) -> ThresholdAt:
    """floor(p · 2^bits) for a rational p."""

    def at(bits: int) -> tuple[int, bool]:
        edge, rest = divmod(p.numerator << bits, p.denominator)
        return edge, rest == 0

    return at


def threshold_of_exponential(x: Fraction) -> ThresholdAt:
    """floor(e^-x · 2^bits) for a rational x ≥ 0. It is whole only for x = 0, where e^-x is rational."""

    @cache
    def at(bits: int) -> tuple[int, bool]:
        if x == 0:
            return 1 << bits, True
        if x >= bits:
            return 0, False
        return floor_of(lambda: (-ball(x)).exp() * Ball(2) ** bits, bits + 64), False

    return at


def threshold_of_odds(x: Fraction, odds: Fraction) -> ThresholdAt:
    """floor(2^bits · r/(e^x + r)) for rationals x, r > 0. Never whole: e^x is transcendental for a rational x ≠ 0."""

    @cache
    def at(bits: int) -> tuple[int, bool]:
        if x >= bits + math.ceil(odds).bit_length():  # r e^-x < 2^-bits
            return 0, False
        return floor_of(lambda: ball(odds) * Ball(2) ** bits / (ball(x).exp() + ball(odds)), bits + 64), False

    return at


FEW = 4096
"""Below this many coins each one gets a word of its own."""

_BYTE = 8
_WORD = 64


def coins(count: int, threshold: ThresholdAt, stream: Stream) -> npt.NDArray[np.bool_]:
    """``count`` independent draws that are true with the probability of ``threshold``."""
    if count < FEW:
        return falls_below(stream.words(count), threshold, stream)
    return byte_coins(count, threshold, stream)


def byte_coins(count: int, threshold: ThresholdAt, stream: Stream) -> npt.NDArray[np.bool_]:
    """The same from a byte each, and a further word for one in 256."""
    edge, whole = threshold(_BYTE)
    if edge >> _BYTE:
        return np.ones(count, np.bool_)
    first = stream.words(-(-count // 8)).view(np.uint8)[:count]
    below = first < np.uint8(edge)
    if not whole:
        ties = np.flatnonzero(first == np.uint8(edge))
        below[ties] = _read_on(edge, len(ties), threshold, stream)
    return below


def _read_on(prefix: int, count: int, threshold: ThresholdAt, stream: Stream) -> npt.NDArray[np.bool_]:
    """The draws of which the first byte agrees with that of the threshold."""
    edge, whole = threshold(_BYTE + _WORD)
    rest = np.uint64(edge - (prefix << _WORD))
    words = stream.words(count)
    below = words < rest
    if not whole:
        for index in np.flatnonzero(words == rest):
            below[index] = settle(LazyUniform(edge, _BYTE + _WORD, stream), threshold)
    return below
