"""One word, one logarithm, one draw: the floor of a scaled and shifted exponential.

If E is exponential with rate 1, then floor(t · (c + E)) is geometric-like: the value is at least k exactly when
U ≤ e^(c - k/t), where E = -ln U. The draw starts from a 63-bit prefix of U, evaluates t · (c - ln U) in floating
point with a proved bound on the error, and keeps the floor when both ends of the bound agree. The rare rest is
settled in ball arithmetic with as many further bits as it takes. Proof: docs/explanation/exact-noise.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from discreet.errors import InvalidValue
from discreet.exact.ball import Ball, ball, upper, working_precision
from discreet.exact.grid import Integers
from discreet.noise import host
from discreet.noise.law import Floats
from discreet.noise.source import Stream
from discreet.noise.uniform import LazyUniform

__all__ = ["CHUNK", "PREFIX_BITS", "ScaledExponential"]


CHUNK = 1 << 14
"""Draws made at a time, so that every intermediate array stays in the cache."""

PREFIX_BITS = 63
"""Bits of a word that start the uniform; the last one is the caller's, usually for a sign."""

SMALLEST_SCALE = Fraction(1, 2**10)
LARGEST_SCALE = Fraction(2**42)


class ScaledExponential:
    """floor(t · (c - ln U)) for many U at once, exactly."""

    def __init__(self, scale: Fraction, offset: Callable[[], Ball]) -> None:
        """``scale`` is t; ``offset`` computes c, with 0 ≤ c ≤ 1, at the working precision."""
        if not SMALLEST_SCALE <= scale <= LARGEST_SCALE:
            rule = "scale must lie between 2^-10 and 2^42"
            raise InvalidValue(rule, float(scale), "use a coarser or a finer grid")
        self._scale = scale
        self._offset = offset
        self._slope = float(scale)
        with working_precision():
            top = ball(scale) * (offset() + PREFIX_BITS * Ball(2).log())
        self._top = float(upper(top))
        # A small prefix says little about ln U. Prefixes below this are rare enough to settle in balls. They
        # belong to large values, so their share, least / 2^63, is at most 2^-19 also where t is large.
        self._least_prefix = 2 ** min(32 + math.ceil(scale).bit_length() // 2, 44)
        self._radius = self._slope * (1 / self._least_prefix + (host.ULPS + 4) * 2.0**-47)

    def floors(self, prefixes: Integers, stream: Stream, work: Floats) -> Floats:
        """The floors for an array of 63-bit prefixes, as whole floats; ``work`` is scratch of the same length."""
        found = np.empty(len(prefixes))
        if not host.trusted():
            found[:] = [self._settle(int(p), stream) for p in prefixes]
            return found
        with np.errstate(divide="ignore", invalid="ignore"):  # a prefix of 0 gives ∞ - ∞ below
            np.log(prefixes, out=work)
            work *= -self._slope
            work += self._top + self._radius
            np.floor(work, out=found)
            work -= found
        if work.min(initial=np.inf) < 2.125 * self._radius or prefixes.min(initial=2**62) < self._least_prefix:
            self._settle_open(prefixes, found, work, stream)
        return found

    def _settle_open(self, prefixes: Integers, found: Floats, distance: Floats, stream: Stream) -> None:
        still_open = ~(distance >= 2.125 * self._radius) | (prefixes < self._least_prefix)
        for index in np.flatnonzero(still_open):
            found[index] = self._settle(int(prefixes[index]), stream)

    def _settle(self, prefix: int, stream: Stream) -> int:
        uniform = LazyUniform(prefix, PREFIX_BITS, stream)
        return uniform.floor_of(lambda u: ball(self._scale) * (self._offset() - u.log()))
