"""Rows of bits, eight to a byte: bit v of a row is bit v mod 8 of its byte v // 8, counted from the least.

>>> rows = packed_bits(np.array([[1, 0, 0, 0, 0, 0, 0, 0, 1], [1, 1, 0, 0, 0, 0, 0, 0, 0]], np.bool_))
>>> rows.tolist(), bit_counts(rows, 9).tolist()
([[1, 1], [3, 0]], [2, 1, 0, 0, 0, 0, 0, 0, 1])
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from discreet.exact.grid import Integers

__all__ = ["PackedBits", "all_have", "bit_counts", "has_clear_ends", "packed_bits", "width_of"]

PackedBits = npt.NDArray[np.uint8]

_TOGETHER = 1 << 14  # rows at a time, so that they stay in the cache for all their columns
_BITS_OF_BYTE = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1, bitorder="little").astype(np.int64)


def width_of(bits: int) -> int:
    """Bytes of a row."""
    return -(-bits // 8)


def packed_bits(rows: npt.NDArray[np.bool_]) -> PackedBits:
    """Each row of truth values as bytes; what is left of the last byte is 0."""
    return np.packbits(rows, axis=1, bitorder="little")


def bit_counts(rows: PackedBits, bits: int) -> Integers:
    """How many rows have each bit set, from a histogram of each byte."""
    columns = rows.reshape(len(rows), width_of(bits))
    counts = np.zeros((width_of(bits), 256), np.int64)
    for start in range(0, len(rows), _TOGETHER):
        for place, column in enumerate(columns[start : start + _TOGETHER].T):
            counts[place] += np.bincount(column, minlength=256)
    return (counts @ _BITS_OF_BYTE).reshape(-1)[:bits]


def all_have(rows: PackedBits, bits: int, wanted: int) -> bool:
    """Whether every row has as many bits set as ``wanted``."""
    columns = rows.reshape(len(rows), width_of(bits))
    return all(_have(columns[start : start + _TOGETHER], wanted) for start in range(0, len(rows), _TOGETHER))


def _have(columns: PackedBits, wanted: int) -> bool:
    total = np.zeros(len(columns), np.int64)
    for column in columns.T:
        total += np.bitwise_count(column)
    return bool((total == wanted).all())


def has_clear_ends(rows: PackedBits, bits: int) -> bool:
    """Whether no bit is set beyond the ``bits`` first ones."""
    last = rows if rows.ndim == 1 else rows[:, -1]
    used = bits - 8 * (width_of(bits) - 1)
    return int(last.max(initial=0)) < 1 << used
