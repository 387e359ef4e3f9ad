"""Words at and next to the decision thresholds of the inversion samplers (R2), with what they must become.

A size turns from k to k - 1 where U = e^(c - k/t). The words here have that point as their prefix, or lie a few units
off it, where a float cannot tell the two sides apart. What follows a word decides when the prefix does not.
"""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np

from discreet.noise.inversion import ScaledExponential
from discreet.noise.source import ScriptedSource
from tests.noise.reference import Tape, laplace_offset, size_threshold

TOP = 2**64 - 1
SCALES = [Fraction(1, 2), Fraction(1), Fraction(7, 3), Fraction(100), Fraction(10**6), Fraction(2**24 + 1, 3)]
LARGE_SCALES = [Fraction(2**30), Fraction(2**36) + Fraction(1, 7), Fraction(2**40)]


def steps(scale: Fraction) -> list[int]:
    """All sizes that 63 bits reach where they are few; else the first, the last, and some between."""
    last = max(int(scale * 43), 1)
    if last <= 150:
        return list(range(1, last + 1))
    return sorted({k for k in (1, 2, 3, last // 100, last // 10, last // 3, last // 2, last - 1, last) if k > 0})


def scripts(scale: Fraction, laplace: bool = True) -> list[list[int]]:
    """Prefixes around each threshold, each with the words that follow it."""
    found = []
    with localcontext(prec=100):
        offset = laplace_offset(scale) if laplace else Decimal(0)
        for k in steps(scale):
            deeper = size_threshold(scale, offset, k, 191)
            prefix, second, third = deeper >> 128, deeper >> 64 & TOP, deeper & TOP
            found += [[p, TOP // 3, TOP // 5] for p in range(prefix - 3, prefix + 4) if 0 <= p < 2**63]
            found += [[prefix, s, TOP // 5] for s in (0, second - 1, second + 1, TOP) if 0 <= s <= TOP]
            found += [[prefix, second, t] for t in (0, third - 1, third + 1, TOP) if 0 <= t <= TOP]
    return [*found, [0, 0, 1], [0, 1, 0], [0, TOP, TOP], [1, 0, 0], [2**63 - 1, 0, 0], [2**63 - 1, TOP, 0]]


def wrong_sizes(exponential: ScaledExponential, scale: Fraction, laplace: bool = True) -> list[list[int]]:
    """The scripts whose size differs from the slow oracle's, or that read more or fewer words than it does."""
    return [script for script in scripts(scale, laplace) if not _agrees(exponential, scale, laplace, script)]


def _agrees(exponential: ScaledExponential, scale: Fraction, laplace: bool, script: list[int]) -> bool:
    follow = [*script[1:], 10**18, 10**19]
    tape, source = Tape(follow), ScriptedSource(follow)
    with localcontext(prec=100):
        offset = laplace_offset(scale) if laplace else Decimal(0)
        expected = tape.floor(scale, offset, script[0], 63)
    found = exponential.floors(np.array([script[0]], np.int64), source, np.empty(1))
    return int(found[0]) == expected and int(source.words(1)[0]) == tape.take(1)[0]
