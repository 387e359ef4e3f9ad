"""Uniform integers from 0 to n - 1, drawn exactly.

A word is accepted when it is below the largest multiple of n that fits 64 bits; its remainder is then uniform,
and how many words were needed says nothing about which one it is.

>>> UniformInteger(6).mean
2.5
"""

from __future__ import annotations

import numpy as np

from discreet.exact.ball import Ball
from discreet.exact.grid import Integers
from discreet.exact.rational import integer
from discreet.noise.law import Floats, Law, Whole, whole_numbers
from discreet.noise.source import Stream

__all__ = ["UniformInteger"]


class UniformInteger(Law):
    """Each of 0, 1, ..., n - 1 with probability 1/n."""

    def __init__(self, n: int) -> None:
        self.n = integer(n, "n", least=1, most=2**62)

    def draw(self, count: int, stream: Stream) -> Integers:
        """``count`` draws that read their randomness from ``stream``."""
        last_fair = np.uint64(2**64 - 1 - 2**64 % self.n)
        words = stream.words(count)
        unfair = np.flatnonzero(words > last_fair)
        while len(unfair):
            words[unfair] = stream.words(len(unfair))
            unfair = unfair[words[unfair] > last_fair]
        return (words % np.uint64(self.n)).astype(np.int64)

    @property
    def support(self) -> tuple[int | None, int | None]:
        """From 0 to n - 1."""
        return (0, self.n - 1)

    def mass(self, value: int) -> Ball:
        """P(X = value)."""
        return Ball(1) / self.n if 0 <= value < self.n else Ball(0)

    def below(self, value: int) -> Ball:
        """P(X ≤ value)."""
        return Ball(min(max(value + 1, 0), self.n)) / self.n

    def pmf(self, values: Whole) -> Floats:
        """P(X = value) for each value."""
        k = whole_numbers(values)
        return np.where((k >= 0) & (k < self.n), 1 / self.n, 0.0)

    def cdf(self, values: Whole) -> Floats:
        """P(X ≤ value) for each value."""
        return (np.clip(whole_numbers(values), -1, self.n - 1) + 1) / self.n

    def tail(self, values: Whole) -> Floats:
        """P(X ≥ value) for each value."""
        return (self.n - np.clip(whole_numbers(values), 0, self.n)) / self.n

    @property
    def mean(self) -> float:
        """The middle, (n - 1) / 2."""
        return (self.n - 1) / 2

    @property
    def variance(self) -> float:
        """The variance, (n^2 - 1) / 12."""
        return (self.n**2 - 1) / 12
