"""The one source of randomness: fresh keys from the operating system, expanded by AES-256 in counter mode.

Every draw opens a stream of its own with 32 new bytes from the OS and drops the key when it is done. Nothing is
kept between draws, so a forked process or a restored snapshot shares no future randomness with its twin, and
there is no seed to leak. `ReplayableSource` exists for tests and for rehearsals on made-up rows; it says
``trusted = False`` and the curator refuses it for anything else.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from itertools import islice
from typing import Protocol

import numpy as np
import numpy.typing as npt
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from discreet.errors import InvalidValue

__all__ = ["SYSTEM", "ReplayableSource", "ScriptedSource", "Source", "Stream", "SystemSource", "Words", "fresh_id"]


Words = npt.NDArray[np.uint64]

_BLOCK = 16
_ZEROS = memoryview(bytes(1 << 17))


class Stream(Protocol):
    """Uniform 64-bit words without an end, each given out once."""

    def words(self, count: int) -> Words:
        """The next ``count`` words, in an array the caller may overwrite."""


class Source(Protocol):
    """Where streams come from."""

    @property
    def trusted(self) -> bool:
        """Whether nobody can predict its streams."""

    def open(self) -> Stream:
        """A new stream, independent of every other one."""


class SystemSource:
    """Streams keyed by the operating system's generator."""

    trusted = True

    def open(self) -> Stream:
        """A stream under a key that was never used before and is kept nowhere else."""
        return _KeyStream(os.urandom(32))


class ReplayableSource:
    """The same streams again for the same seed. Whoever knows the seed can subtract the noise: never for real rows."""

    trusted = False

    def __init__(self, seed: int | str) -> None:
        self._seed = str(seed).encode()
        self._opened = 0

    def open(self) -> Stream:
        """The next stream of this seed."""
        self._opened += 1
        return _KeyStream(hashlib.sha256(b"replay:%d:" % self._opened + self._seed).digest())


class ScriptedSource:
    """Words written down in advance, to place a draw exactly on a decision threshold. For tests alone."""

    trusted = False

    def __init__(self, words: Iterable[int]) -> None:
        self._words = iter(words)

    def open(self) -> Stream:
        """The script, from where the last reader stopped."""
        return self

    def words(self, count: int) -> Words:
        """The next ``count`` words of the script."""
        found = np.fromiter(islice(self._words, count), np.uint64)
        if len(found) < count:
            raise InvalidValue(f"the script must hold {count} more words", len(found))
        return found


class _KeyStream:
    def __init__(self, key: bytes) -> None:
        self._encryptor = Cipher(algorithms.AES(key), modes.CTR(bytes(_BLOCK))).encryptor()

    def words(self, count: int) -> Words:
        size = 8 * count
        buffer = bytearray(size + _BLOCK)
        view = memoryview(buffer)
        for start in range(0, size, len(_ZEROS)):
            stop = min(start + len(_ZEROS), size)
            self._encryptor.update_into(_ZEROS[: stop - start], view[start:])
        return np.frombuffer(buffer, np.uint64, count)


SYSTEM = SystemSource()


def fresh_id() -> str:
    """A name that nobody had before and nobody can guess, 128 bits in hexadecimal digits."""
    return os.urandom(16).hex()
