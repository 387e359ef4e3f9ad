"""The different outcomes that were drawn, as things to count and as numbers to compare.

Outcomes of one kind of number are kept as one array; all others as objects. `numbers` sees both as coordinates.
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


@dataclass(frozen=True)
class Outcomes:
    """Different outcomes in a fixed order."""

    listed: npt.NDArray[Any] | Sequence[Any]
    """One entry, or one row of an array, per outcome."""

    def __len__(self) -> int:
        return len(self.listed)

    def __getitem__(self, index: int) -> Any:
        found = self.listed[index]
        if isinstance(found, np.ndarray):
            return tuple(found.tolist())
        return found.item() if isinstance(found, np.generic) else found

    @cached_property
    def numbers(self) -> npt.NDArray[np.float64]:
        """One row per outcome, one column per coordinate; NaN where an outcome has no such number."""
        if isinstance(self.listed, np.ndarray):
            return self.listed.reshape(len(self.listed), -1)[:, :_MOST_COORDINATES].astype(np.float64)
        rows = [_coordinates(outcome) for outcome in self.listed]
        found = np.full((len(rows), min(max(map(len, rows), default=0), _MOST_COORDINATES)), np.nan)
        for index, row in enumerate(rows):
            kept = row[:_MOST_COORDINATES]
            found[index, : len(kept)] = kept
        return found

    @cached_property
    def integers(self) -> npt.NDArray[np.int64] | None:
        """The coordinates as integers; None where some outcome is not made of as many integers as the others."""
        if isinstance(self.listed, np.ndarray):
            whole = self.listed.reshape(len(self.listed), -1)
            return whole[:, :_MOST_COORDINATES].astype(np.int64) if whole.dtype.kind in "biu" else None
        rows = [outcome if isinstance(outcome, tuple) else (outcome,) for outcome in self.listed]
        is_whole = all(isinstance(part, int) and abs(part) < 2**62 for row in rows for part in row)
        if not rows or not is_whole or len({len(row) for row in rows}) > 1:
            return None
        return np.asarray(rows, np.int64)[:, :_MOST_COORDINATES]

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
        if isinstance(self.listed, np.ndarray):
            return [str(Kind.of(self[0]))] * len(self) if len(self) else []
        return [str(Kind.of(outcome)) for outcome in self.listed]


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
