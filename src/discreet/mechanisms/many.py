"""Many answers of which few are different: each kept as its place in a short list.

>>> heads = Many(("heads", "tails"), np.array([0, 1, 1]))
>>> heads[0], len(heads), list(heads[1:])
('heads', 3, ['tails', 'tails'])
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from discreet.exact.grid import Integers

__all__ = ["Many", "coded_rows"]

_MOST_COUNTED = 2**22
_CELLS_PER_ROW = 64
_MOST_CODES = 2**62


class Many(Sequence[Any]):
    """A sequence of answers; equal ones are the same object."""

    def __init__(self, different: Sequence[Any], places: Integers) -> None:
        """``different`` answers, and for each release the place of its answer among them."""
        self.different = different
        self.places = places

    @classmethod
    def of_rows(cls, rows: Integers, answer: Callable[[list[int]], Any]) -> Many:
        """One answer for each row, where equal rows have equal answers."""
        different, places = coded_rows(rows)
        return cls([answer(row) for row in different.tolist()], places)

    def __len__(self) -> int:
        return len(self.places)

    @overload
    def __getitem__(self, index: int) -> Any: ...
    @overload
    def __getitem__(self, index: slice | npt.NDArray[np.bool_]) -> Many: ...
    def __getitem__(self, index: int | slice | npt.NDArray[np.bool_]) -> Any:
        if isinstance(index, (slice, np.ndarray)):
            return Many(self.different, self.places[index])
        return self.different[int(self.places[index])]


def coded_rows(rows: Integers) -> tuple[Integers, Integers]:
    """The different rows, sorted, and for each row which of them it is."""
    if not rows.size:
        return rows[: min(len(rows), 1)], np.zeros(len(rows), np.int64)
    low = rows.min(axis=0)
    spans = [int(most) - int(least) + 1 for most, least in zip(rows.max(axis=0), low, strict=True)]
    total = 1
    for span in spans:
        total *= span
    if total > _MOST_CODES:
        different, places = np.unique(rows, axis=0, return_inverse=True)
        return different, places.reshape(-1)
    codes = np.zeros(len(rows), np.int64)
    for column, span in enumerate(spans):
        codes = codes * span + (rows[:, column] - low[column])
    listed, places = _coded(codes, total)
    found = np.empty((len(listed), rows.shape[1]), np.int64)
    for column in range(len(spans) - 1, -1, -1):
        listed, found[:, column] = np.divmod(listed, spans[column])
    return found + low, places


def _coded(codes: Integers, total: int) -> tuple[Integers, Integers]:
    if total > min(_MOST_COUNTED, _CELLS_PER_ROW * len(codes)):
        listed, places = np.unique(codes, return_inverse=True)
        return listed, places
    is_seen = np.bincount(codes, minlength=total) > 0
    return np.flatnonzero(is_seen), (np.cumsum(is_seen) - 1)[codes]
