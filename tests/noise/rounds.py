"""Words at and next to the decision thresholds of the Gaussian rejection (R2), with what they must become.

A proposal of size y is kept when its coin V lies below the acceptance probability of y. The coins here have that
probability as their first word, or lie a few units off it.
"""

from __future__ import annotations

from decimal import localcontext
from fractions import Fraction

from discreet.noise.gaussian import DiscreteGaussian
from discreet.noise.source import ScriptedSource
from tests.noise.reference import SIGN, Tape, acceptance, laplace_offset, proposal_scale, size_threshold

TOP = 2**64 - 1
SIGMAS = [Fraction(1, 4), Fraction(1, 2), Fraction(1), Fraction(10, 3), Fraction(100), Fraction(10**6)]
LARGE_SIGMAS = [Fraction(2**36) + Fraction(1, 7), Fraction(2**40)]


def word_of_size(scale: Fraction, size: int) -> int:
    """A word whose proposal has this size, far from the thresholds on both sides."""
    with localcontext(prec=100):
        offset = laplace_offset(scale)
        least, most = (size_threshold(scale, offset, k, 63) for k in (size + 1, size))
    return (least + min(most, SIGN - 1)) // 2


def scripts(sigma: Fraction) -> list[list[int]]:
    """A proposal, a coin around its threshold, and the words that follow."""
    squared, found = sigma**2, []
    scale = proposal_scale(squared)
    for size in sorted({0, 1, 2, int(sigma), int(sigma) + 1, int(2 * sigma), int(3 * sigma), int(5 * sigma)}):
        word = word_of_size(scale, size)
        with localcontext(prec=100):
            deeper = int(acceptance(squared, scale, size) * 2**128)
        edge, second = deeper >> 64, deeper & TOP
        found += [[word, coin, TOP // 3] for coin in range(edge - 3, edge + 4) if 0 <= coin <= TOP]
        found += [[word, edge, s] for s in (0, second - 1, second + 1, TOP) if edge <= TOP and 0 <= s <= TOP]
        found += [[word, coin, TOP // 7] for coin in (0, 1, 2**40, TOP)]
    return found


def wrong_rounds(law: DiscreteGaussian, sigma: Fraction) -> list[list[int]]:
    """The scripts whose round differs from the slow oracle's, or that read more or fewer words than it does."""
    wrong = []
    for script in scripts(sigma):
        words = [*script, 10**18, 10**19]
        tape, source = Tape(words), ScriptedSource(words)
        expected = tape.gaussian_round(sigma**2, 1)
        found = law._accepted(1, source).tolist()
        if found != expected or int(source.words(1)[0]) != tape.take(1)[0]:
            wrong.append(script)
    return wrong
