"""The label of every leaf on one axis, and the values it covers: a label must be true of each row that gets it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = ["Cover", "Flags", "LeafLabels", "PairCover", "Shares", "SpanCover", "Whole"]

Whole = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]
Shares = npt.NDArray[np.float64]


class Cover(ABC):
    """Which positions (see ``axes``) the label of a leaf covers."""

    @abstractmethod
    def covers(self, leaf: Whole, position: npt.NDArray[np.int32]) -> Flags:
        """For every pair of a leaf and a position, whether the label covers it."""


@dataclass(frozen=True, eq=False)
class SpanCover(Cover):
    """Labels that cover everything between two positions, the position of missing cells apart."""

    low: Whole
    """For every leaf the lowest position."""
    high: Whole
    """For every leaf the highest position."""
    missing: Flags
    """For every leaf whether missing cells are covered."""
    missing_position: int | None = None
    """Where missing cells lie, if they are no part of the span."""
    known_only: bool = False
    """Whether values that the fit did not see are left out."""

    def covers(self, leaf: Whole, position: npt.NDArray[np.int32]) -> Flags:
        """Between the ends, or missing where that is covered."""
        within = (self.low[leaf] <= position) & (position <= self.high[leaf])
        if self.known_only:
            within &= position % 2 == 0
        if self.missing_position is None:
            return np.asarray(within)
        return np.asarray(np.where(position == self.missing_position, self.missing[leaf], within))


@dataclass(frozen=True, eq=False)
class PairCover(Cover):
    """Labels that list the values they cover."""

    pairs: Whole
    """Every leaf and code that go together, as one number each, in order."""
    width: int
    """How many codes there are: a pair is leaf · width + code."""

    def covers(self, leaf: Whole, position: npt.NDArray[np.int32]) -> Flags:
        """Whether the value is on the list."""
        keys = leaf * self.width + position // 2
        place = np.minimum(np.searchsorted(self.pairs, keys), len(self.pairs) - 1)
        return np.asarray((self.pairs[place] == keys) & (position >= 0) & (position % 2 == 0))


@dataclass(frozen=True, eq=False)
class LeafLabels:
    """The label of every leaf on one axis."""

    text: tuple[str, ...]
    """The labels, each once."""
    number: Whole
    """For every leaf its label."""
    share: Shares
    """For every leaf the share of the values of the axis that its label covers."""
    cover: Cover
    """Which positions the label of a leaf covers."""
