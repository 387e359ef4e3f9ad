"""Low-order bits: what the last digits of a number give away, such as the grid that it was rounded to.

The sum of a true value and a float of noise can only take some floats, and which ones depends on the true value
(Mironov 2012). Whole numbers can give away a parity or a remainder.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from discreet.audit.family import Floats, Learning, Score
from discreet.audit.likelihood import grouped_score
from discreet.audit.thresholds import coordinate_words

__all__ = ["LowBits", "lowest_bit"]

Groups = npt.NDArray[np.int64]

_REMAINDERS = (2, 3, 4, 5, 8, 10, 16, 64)
_MOST_COORDINATES = 8
_SIGNIFICAND = 52
_LEAST_EXPONENT = -1100


class LowBits:
    """The last bits of the answer."""

    name = "low-order bits"

    def scores(self, learning: Learning) -> Iterator[Score]:
        """Remainders of integers; the lowest bit that is set, and the last bits, of floats."""
        integers = learning.outcomes.integers
        if integers is not None:
            for k in range(min(integers.shape[1], _MOST_COORDINATES)):
                yield from _of_integers(integers[:, k], learning, coordinate_words(k, integers.shape[1]))
            return
        numbers = learning.outcomes.numbers
        for k in range(min(numbers.shape[1], _MOST_COORDINATES)):
            yield from _of_floats(numbers[:, k], learning, coordinate_words(k, numbers.shape[1]))


def _of_integers(values: Groups, learning: Learning, words: str) -> Iterator[Score]:
    for divisor in _REMAINDERS:
        yield grouped_score(values % divisor, learning, f"{words} divided by {divisor} leaves", str)


def _of_floats(values: Floats, learning: Learning, words: str) -> Iterator[Score]:
    lowest = lowest_bit(values)
    offset = -_LEAST_EXPONENT
    found = np.isfinite(values)
    place = np.where(found, lowest + offset, -1).astype(np.int64)
    yield grouped_score(place, learning, f"the lowest bit set in {words} is 2 to the", lambda k: str(k - offset))
    yield Score(np.where(found, lowest, np.nan), f"the lowest bit set in {words}, as a power of 2,")
    filled = np.where(found, values, 0.0)
    unused = np.where(found, np.frexp(filled)[1] - 1 - lowest, np.nan)
    yield Score(unused, f"the number of significant bits of {words} after the first")
    last = (np.abs(filled).view(np.uint64) & np.uint64(7)).astype(np.int64)
    yield grouped_score(
        np.where(found, last, -1), learning, f"the last three bits of {words} are", lambda k: f"{k:03b}"
    )


def lowest_bit(values: Floats) -> Floats:
    """The exponent of the largest power of two that divides each number; 0 counts as divisible by all of them."""
    filled = np.where(np.isfinite(values) & (values != 0), values, 1.0)
    fraction, exponent = np.frexp(filled)
    whole = np.abs(np.ldexp(fraction, _SIGNIFICAND + 1)).astype(np.int64)
    trailing = np.log2((whole & -whole).astype(np.float64))
    found = exponent - (_SIGNIFICAND + 1) + trailing
    return np.where(np.isfinite(values), np.where(values == 0, 1024.0, found), np.nan)
