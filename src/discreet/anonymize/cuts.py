"""A tree of cuts: every inner node asks whether a row lies up to a threshold on one axis, every leaf is a class.

Rows are given by their positions on the axes (see ``axes``). Every row there can be falls into exactly one leaf, also
rows that were not there when the tree was grown.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = ["LEAF", "CutTree", "Positions"]

Positions = npt.NDArray[np.int32]
"""For every axis and row, where the row lies: an even number at a known value, an odd one between two of them."""

LEAF = -1
"""The axis of a node that is not cut."""


@dataclass(frozen=True, eq=False)
class CutTree:
    """The nodes of a tree by number; node 0 is the root. The children of a node are neighbours: lower, then upper."""

    axis: npt.NDArray[np.int64]
    """The axis along which a node is cut; -1 for a leaf."""
    threshold: npt.NDArray[np.int64]
    """The last position of the lower child."""
    ties: npt.NDArray[np.int64]
    """A relaxed cut shares out the rows at the threshold: how many there were."""
    lower_ties: npt.NDArray[np.int64]
    """How many of them went to the lower child. All of them in a strict cut."""
    child: npt.NDArray[np.int64]
    """The lower child of a node; the class number of a leaf."""

    @property
    def leaves(self) -> int:
        """How many leaves there are."""
        return int((self.axis == LEAF).sum())

    def leaf_of(self, positions: Positions) -> npt.NDArray[np.int64]:
        """The class number of every row. Rows that tie at a relaxed cut are shared out as they were in the fit.

        Ties are broken by the other positions, in the order of the axes, and then by the order of the rows.
        """
        rows = np.lexsort(positions[::-1])
        node = np.zeros(len(rows), dtype=np.int64)
        moving = np.arange(len(rows)) if self.axis[0] != LEAF else np.arange(0)
        while len(moving):
            at = node[moving]
            place = positions[self.axis[at], rows[moving]]
            node[moving] = self.child[at] + self._upper(at, place)
            moving = moving[self.axis[node[moving]] != LEAF]
        found = np.empty(len(rows), dtype=np.int64)
        found[rows] = self.child[node]
        return found

    def regions(self, highest: Sequence[int]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """By axis and leaf, the lowest and the highest position that falls into the leaf; -1 is below all values.

        ``highest`` is the highest position there can be, by axis.
        """
        low = np.full((len(highest), len(self.axis)), -1, dtype=np.int64)
        high = np.repeat(np.array(highest)[:, None], len(self.axis), axis=1)
        wave = np.flatnonzero(self.axis[:1] != LEAF)
        while len(wave):
            lower, axis = self.child[wave], self.axis[wave]
            for child in (lower, lower + 1):
                low[:, child], high[:, child] = low[:, wave], high[:, wave]
            high[axis, lower] = self.threshold[wave]
            low[axis, lower + 1] = self.threshold[wave] + (self.lower_ties[wave] == self.ties[wave])
            wave = np.concatenate([lower, lower + 1])
            wave = wave[self.axis[wave] != LEAF]
        leaf = np.flatnonzero(self.axis == LEAF)
        leaf = leaf[np.argsort(self.child[leaf])]
        return low[:, leaf], high[:, leaf]

    def _upper(self, node: npt.NDArray[np.int64], place: npt.NDArray[np.int32]) -> npt.NDArray[np.bool_]:
        upper = place > self.threshold[node]
        tied = np.flatnonzero((place == self.threshold[node]) & (self.lower_ties[node] < self.ties[node]))
        if len(tied):
            upper[tied] = self._tied_upper(node[tied])
        return upper

    def _tied_upper(self, node: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
        """Of the rows that tie at each node, the first ones stay below, in the same share as in the fit."""
        order = np.argsort(node, kind="stable")
        nodes, first, count = np.unique(node[order], return_index=True, return_counts=True)
        quota = (2 * count * self.lower_ties[nodes] + self.ties[nodes]) // (2 * self.ties[nodes])
        rank = np.arange(len(node)) - np.repeat(first, count)
        upper = np.empty(len(node), dtype=np.bool_)
        upper[order] = rank >= np.repeat(quota, count)
        return upper
