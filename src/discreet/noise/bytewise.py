"""Many coins of one bias from one random byte each, drawn exactly.

A coin compares a lazy uniform with its probability p. Its first 8 bits decide all but one draw in 256; those that
agree with the first 8 bits of p read 64 more, and so on. A hundred million coins take a hundred megabytes of
keystream in place of eight hundred, and no float.

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

import numpy as np
import numpy.typing as npt

from discreet.noise.lazy import LazyUniform, ThresholdAt, falls_below, settle
from discreet.noise.source import Stream

__all__ = ["FEW", "byte_coins", "coins"]

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
