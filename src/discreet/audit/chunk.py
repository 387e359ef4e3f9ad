"""Answers for both inputs that were drawn at about the same time, and the roles that they play in an audit."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import compress

import numpy as np
import numpy.typing as npt

from discreet.audit.pieces import Piece
from discreet.noise.experiment import Chance

__all__ = ["Chunk", "Roles"]

_PATTERN = 4 * 1021


@dataclass(frozen=True)
class Chunk:
    """As many answers for the first input as for the second."""

    first: Piece
    """Answers for the first input, in the order they came."""
    second: Piece
    """Answers for the second input, in the order they came."""

    def __len__(self) -> int:
        return len(self.first)


class Roles:
    """Which draws teach, which choose and which prove: a quarter, a quarter and a half, in a fixed random pattern.

    A pattern without a rhythm: a mechanism that does something at every other call must not do it to one role alone.
    """

    def __init__(self, chance: Chance) -> None:
        """Shuffle the pattern once."""
        self._pattern = chance.permutation(np.arange(_PATTERN) % 4)

    def of(self, count: int, before: int = 0) -> npt.NDArray[np.int64]:
        """The role of each of ``count`` draws after so many ``before``: 0 teaches, 1 chooses, 2 and 3 prove."""
        return np.resize(np.roll(self._pattern, -before), count)

    def split(self, pieces: Iterable[Piece]) -> tuple[list[Piece], list[Piece], list[Piece]]:
        """The parts of these pieces that teach, that choose and that prove."""
        teaching: list[Piece] = []
        choosing: list[Piece] = []
        proving: list[Piece] = []
        before = 0
        for one in pieces:
            role = self.of(len(one), before)
            before += len(one)
            for part, chosen in ((teaching, role == 0), (choosing, role == 1), (proving, role >= 2)):
                part.append(list(compress(one, chosen.tolist())) if isinstance(one, list) else one[chosen])
        return teaching, choosing, proving
