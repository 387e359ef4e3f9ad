"""Two slow oracles that share nothing with the fast samplers but the mathematics.

1. `Tape` machines replay a sampler word by word with libmpdec decimals of 100 digits and more, instead of floats and
   balls. They fix what each word must become, so one wrong draw is one failed test.
2. `Reference` draws with the integer-only algorithms of Canonne, Kamath and Steinke (2020): coins with rational
   probabilities alone, no logarithm anywhere. It fixes the law itself.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterable
from decimal import ROUND_FLOOR, Decimal, localcontext
from fractions import Fraction
from functools import cache

SIGN = 1 << 63


def _decimal(x: Fraction) -> Decimal:
    return Decimal(x.numerator) / Decimal(x.denominator)


def _floor(x: Decimal) -> int:
    nearest = x.to_integral_value()
    assert x == 0 or abs(x - nearest) > abs(x) * Decimal(10) ** -80, "more digits are needed to decide"
    return int(x.to_integral_value(ROUND_FLOOR))


class Tape:
    """Words read from left to right, by the slow rules."""

    def __init__(self, words: Iterable[int]) -> None:
        self._words = iter(words)

    def take(self, count: int) -> list[int]:
        return [next(self._words) for _ in range(count)]

    def floor(self, scale: Fraction, offset: Decimal, prefix: int, bits: int) -> int:
        """floor(scale · (offset - ln U)) where U starts with ``prefix``; more words are read when it is open."""
        while True:
            if prefix:
                ends = [_decimal(scale) * (offset - (Decimal(p) / 2**bits).ln()) for p in (prefix, prefix + 1)]
                high, low = map(_floor, ends)
                if low == high:
                    return low
            prefix, bits = prefix << 64 | self.take(1)[0], bits + 64

    def is_below(self, threshold: Decimal, prefix: int, bits: int) -> bool:
        """Whether U < threshold where U starts with ``prefix``."""
        while True:
            edge = Fraction(threshold) * 2**bits
            if prefix + 1 <= edge:
                return True
            if prefix >= edge:
                return False
            prefix, bits = prefix << 64 | self.take(1)[0], bits + 64

    def geometric(self, scale: Fraction, count: int) -> list[int]:
        with localcontext(prec=100):
            return [self.floor(scale, Decimal(0), word >> 1, 63) for word in self.take(count)]

    def laplace(self, scale: Fraction, count: int) -> list[int]:
        with localcontext(prec=100):
            found = []
            for word in self.take(count):
                size = self.floor(scale, laplace_offset(scale), word % SIGN, 63)
                found.append(-size if word >= SIGN else size)
            return found

    def gaussian_round(self, squared: Fraction, trials: int) -> list[int]:
        """What one round of ``trials`` proposals leaves, in order."""
        scale = proposal_scale(squared)
        words = self.take(trials)
        with localcontext(prec=100):
            sizes = [self.floor(scale, laplace_offset(scale), word % SIGN, 63) for word in words]
            accepted = [
                self.is_below(acceptance(squared, scale, size), coin, 64)
                for size, coin in zip(sizes, self.take(trials), strict=True)
            ]
        signed = [-size if word >= SIGN else size for size, word in zip(sizes, words, strict=True)]
        return [value for value, kept in zip(signed, accepted, strict=True) if kept]


@cache
def laplace_offset(scale: Fraction) -> Decimal:
    return (2 / (1 + (-1 / _decimal(scale)).exp())).ln()


def proposal_scale(squared: Fraction) -> Fraction:
    """The multiple of 1/8 nearest to σ, and at least 1/8."""
    return max(Fraction(round(8 * math.sqrt(squared)), 8), Fraction(1, 8))


@cache
def acceptance(squared: Fraction, scale: Fraction, size: int) -> Decimal:
    """The chance to keep a proposal of this size; 1 for the likeliest size."""
    centre = squared / scale
    exponent = (size - centre) ** 2 - (round(centre) - centre) ** 2
    with localcontext(prec=100):
        return (-_decimal(exponent / (2 * squared))).exp()


def size_threshold(scale: Fraction, offset: Decimal, k: int, bits: int) -> int:
    """floor(2^bits · e^(offset - k/scale)): the prefix at which a size of k turns into k - 1."""
    return _floor((offset - _decimal(k / scale)).exp() * 2**bits)


class Reference:
    """Integer-only samplers."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def coin(self, p: Fraction) -> bool:
        return self._random.randrange(p.denominator) < p.numerator

    def exponential_coin(self, x: Fraction) -> bool:
        """True with probability e^-x."""
        while x > 1:
            if not self.exponential_coin(Fraction(1)):
                return False
            x -= 1
        k = 1
        while self.coin(x / k):
            k += 1
        return k % 2 == 1

    def geometric(self, scale: Fraction) -> int:
        """k with probability proportional to e^(-k/scale)."""
        numerator, denominator = scale.numerator, scale.denominator
        while True:
            u = self._random.randrange(numerator)
            if self.exponential_coin(Fraction(u, numerator)):
                break
        v = 0
        while self.exponential_coin(Fraction(1)):
            v += 1
        return (u + numerator * v) // denominator

    def laplace(self, scale: Fraction) -> int:
        while True:
            size, negative = self.geometric(scale), self._random.randrange(2)
            if size or not negative:
                return -size if negative else size

    def gaussian(self, squared: Fraction) -> int:
        scale = Fraction(math.isqrt(math.floor(squared)) + 1)
        while True:
            value = self.laplace(scale)
            if self.exponential_coin((abs(value) - squared / scale) ** 2 / (2 * squared)):
                return value
