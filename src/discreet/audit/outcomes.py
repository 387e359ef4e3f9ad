"""The different outcomes that were drawn, as things to count and as numbers to compare.

Outcomes of one kind of number are kept as one array; all others as objects. `numbers` sees both as coordinates.

What is said of an outcome depends on this outcome alone, and on how wide and of what kind the learned outcomes are:
never on outcomes that only the proving draws saw. So an event that was chosen without those draws stays the same event.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from discreet.audit.canonical import Kind, NotANumber, Raised

__all__ = ["Outcomes"]

_MOST_COORDINATES = 32
_TOO_LARGE = 2**62


@dataclass(frozen=True)
class Outcomes:
    """Different outcomes in a fixed order."""

    listed: npt.NDArray[Any] | Sequence[Any]
    """One entry, or one row of an array, per outcome."""
    known: npt.NDArray[np.bool_] | None = None
    """Which of them the learning draws saw; without it, all."""

    def __len__(self) -> int:
        return len(self.listed)

    def __getitem__(self, index: int) -> Any:
        found = self.listed[index]
        if isinstance(found, np.ndarray):
            return tuple(found.tolist())
        return found.item() if isinstance(found, np.generic) else found

    @property
    def learned(self) -> npt.NDArray[np.bool_]:
        """Which outcomes the learning draws saw."""
        return np.ones(len(self), np.bool_) if self.known is None else self.known

    @cached_property
    def numbers(self) -> npt.NDArray[np.float64]:
        """One row per outcome, one column per coordinate; NaN where an outcome has no such number."""
        if isinstance(self.listed, np.ndarray):
            return self.listed.reshape(len(self.listed), -1)[:, :_MOST_COORDINATES].astype(np.float64)
        rows = [_coordinates(outcome) for outcome in self.listed]
        width = min(max((len(rows[k]) for k in np.flatnonzero(self.learned)), default=0), _MOST_COORDINATES)
        found = np.full((len(rows), width), np.nan)
        for index, row in enumerate(rows):
            kept = row[:width]
            found[index, : len(kept)] = kept
        return found

    @cached_property
    def integers(self) -> npt.NDArray[np.int64] | None:
        """The coordinates as integers; None where a learned outcome is not made of as many as the other learned ones.

        Other outcomes that are not made so count as zeros.
        """
        if isinstance(self.listed, np.ndarray):
            return self._whole_array(self.listed.reshape(len(self.listed), -1))
        rows = [_whole(outcome) for outcome in self.listed]
        widths = {len(row) if row is not None else -1 for row in (rows[k] for k in np.flatnonzero(self.learned))}
        if len(widths) != 1 or -1 in widths:
            return None
        width = widths.pop()
        fitting = [row if row is not None and len(row) == width else (0,) * width for row in rows]
        return np.asarray(fitting, np.int64).reshape(len(rows), width)[:, :_MOST_COORDINATES]

    def _whole_array(self, rows: npt.NDArray[Any]) -> npt.NDArray[np.int64] | None:
        if rows.dtype.kind not in "biu":
            return None
        is_large = np.asarray((np.abs(rows.astype(np.float64)) >= _TOO_LARGE).any(axis=1))
        if is_large[self.learned].any():
            return None
        return np.where(is_large[:, None], 0, rows).astype(np.int64)[:, :_MOST_COORDINATES]

    @cached_property
    def widths(self) -> npt.NDArray[np.float64]:
        """How many parts each outcome has; NaN where it is no list."""
        if isinstance(self.listed, np.ndarray):
            width = float(self.listed.shape[1]) if self.listed.ndim > 1 else math.nan
            return np.full(len(self.listed), width)
        return np.asarray([float(len(o)) if isinstance(o, (tuple, str, bytes)) else math.nan for o in self.listed])

    @cached_property
    def kinds(self) -> list[str]:
        """The kind of each outcome in words: a whole number, a ValueError, a list of 3, …"""
        if not isinstance(self.listed, np.ndarray):
            return [str(Kind.of(outcome)) for outcome in self.listed]
        if not len(self):
            return []
        if self.listed.ndim > 1 or self.listed.dtype.kind != "f":
            return [str(Kind.of(self[0]))] * len(self)
        return np.where(np.isnan(self.listed), str(Kind.of(math.nan)), str(Kind.of(0.0))).tolist()  # type: ignore[no-any-return]


def _whole(outcome: Any) -> tuple[int, ...] | None:
    """An outcome as integers that an array can hold, where it is made of nothing else."""
    row = outcome if isinstance(outcome, tuple) else (outcome,)
    return row if all(isinstance(part, int) and abs(part) < _TOO_LARGE for part in row) else None


def _coordinates(outcome: Any) -> list[float]:
    """The numbers of an outcome from left to right, those inside of lists included."""
    if isinstance(outcome, tuple):
        return [number for part in outcome for number in _coordinates(part)]
    return [_number(outcome)]


def _number(part: Any) -> float:
    if isinstance(part, (NotANumber, Raised)) or not isinstance(part, (int, float)):
        return math.nan
    try:
        return float(part)
    except OverflowError:
        return math.inf if part > 0 else -math.inf
