"""Coins of any bias: Bernoulli(p) for a rational p, and Bernoulli(e^-x) for a rational x ≥ 0, drawn exactly.

A coin compares a lazy uniform with its probability. The first 64 bits decide all but one draw in 2^64.

>>> Bernoulli("1/3").mean == 1 / 3, Bernoulli.exponential(1).mean == math.exp(-1)
(True, True)
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache

import numpy as np

from discreet.errors import InvalidValue
from discreet.exact.ball import Ball, ball, floor_of
from discreet.exact.grid import Integers
from discreet.exact.rational import Number, probability, rational
from discreet.noise.law import Floats, Law, Whole, whole_numbers
from discreet.noise.lazy import ThresholdAt, falls_below
from discreet.noise.source import Stream

__all__ = ["Bernoulli", "threshold_of", "threshold_of_exponential", "threshold_of_odds"]


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
