"""Uniform integers, drawn exactly, and uniform reals that are known only as far as a decision needs.

For an integer from 0 to n - 1, a word is accepted when it is below the largest multiple of n that fits 64 bits; its
remainder is then uniform, and how many words were needed says nothing about which one it is.

>>> UniformInteger(6).mean
2.5

A lazy uniform U is a prefix of ``bits`` random bits: U lies in [prefix, prefix + 1] / 2^bits. A decision that the
prefix leaves open is settled by reading more bits, so its probability is exactly that of a real uniform U.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from discreet.exact.ball import Ball, working_precision
from discreet.exact.grid import Integers
from discreet.exact.rational import integer
from discreet.noise.law import Floats, Law, Whole, whole_numbers
from discreet.noise.source import Stream, Words

__all__ = ["LazyUniform", "ThresholdAt", "UniformInteger", "falls_below", "settle"]


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


ThresholdAt = Callable[[int], tuple[int, bool]]
"""For a probability p: bits ↦ (floor(p · 2^bits), whether that product is a whole number)."""


@dataclass
class LazyUniform:
    """A uniform real in (0, 1), known to ``bits`` bits."""

    prefix: int
    bits: int
    stream: Stream

    def read_more(self) -> None:
        """Read 64 more bits."""
        self.prefix = self.prefix << 64 | int(self.stream.words(1)[0])
        self.bits += 64

    def least(self) -> Ball:
        """The smallest real that starts with the prefix."""
        return Ball(self.prefix) / (Ball(2) ** self.bits)

    def most(self) -> Ball:
        """The largest real that starts with the prefix."""
        return Ball(self.prefix + 1) / (Ball(2) ** self.bits)

    def floor_of(self, falling: Callable[[Ball], Ball]) -> int:
        """floor(g(U)) for a decreasing function g with g(0+) = ∞."""
        while True:
            with working_precision(self.bits + 96):
                low = falling(self.most()).lower().floor().unique_fmpz()
                high = falling(self.least()).upper().floor().unique_fmpz() if self.prefix else None
            if high is not None and low == high:
                return int(high)
            self.read_more()

    def exceeds(self, falling: Callable[[Ball], Ball]) -> bool:
        """Whether g(U) > 0 for a decreasing function g with g(0+) = ∞."""
        while True:
            with working_precision(self.bits + 96):
                if falling(self.most()) > 0:
                    return True
                if self.prefix and falling(self.least()) < 0:
                    return False
            self.read_more()


def falls_below(words: Words, threshold: ThresholdAt, stream: Stream) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """For each word, whether the lazy uniform that starts with it is below p: a Bernoulli(p) draw, exactly."""
    edge, whole = threshold(64)
    if edge >= 2**64:
        return np.ones(len(words), np.bool_)
    below = words < np.uint64(edge)
    if not whole:
        for index in np.flatnonzero(words == np.uint64(edge)):
            below[index] = settle(LazyUniform(edge, 64, stream), threshold)
    return below


def settle(uniform: LazyUniform, threshold: ThresholdAt) -> bool:
    """Whether a lazy uniform that agrees with p as far as it was read is below p."""
    while True:
        uniform.read_more()
        edge, whole = threshold(uniform.bits)
        if uniform.prefix != edge or whole:
            return uniform.prefix < edge
