"""The nodes of a tree that may still be split, with their rows side by side, so that all are worked on at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = ["Flags", "Front", "Places", "Whole"]

Whole = npt.NDArray[np.int64]
Places = npt.NDArray[np.intp]
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Front:
    """Nodes, and their rows: those of the first node, then those of the second, and so on."""

    node: Whole
    """The number of every node in its tree."""
    start: Places
    """Where the rows of every node begin; one more entry for the end."""
    rows: Places
    """The rows of the table."""
    codes: npt.NDArray[np.int32]
    """The codes of these rows, by axis."""

    @classmethod
    def root(cls, codes: npt.NDArray[np.int32]) -> Front:
        """All rows in one node, in the order of their codes: it is the same whatever the order of the table is."""
        rows = np.lexsort(codes[::-1])
        return cls(np.zeros(1, dtype=np.int64), np.array([0, len(rows)]), rows, codes[:, rows])

    @classmethod
    def grouped(cls, codes: npt.NDArray[np.int32], number: Whole) -> Front:
        """The rows by the node that each belongs to; nodes are numbered from 0 without gaps."""
        order = np.argsort(number, kind="stable")
        start = np.append(0, np.cumsum(np.bincount(number)))
        return cls(np.arange(len(start) - 1), start, order, codes[:, order])

    @property
    def count(self) -> int:
        """How many nodes there are."""
        return len(self.node)

    @property
    def sizes(self) -> Places:
        """How many rows every node has."""
        return np.diff(self.start)

    def extremes(self, axis: int) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
        """The smallest and the largest code of every node on one axis."""
        first, codes = self.start[:-1], self.codes[axis]
        return np.minimum.reduceat(codes, first), np.maximum.reduceat(codes, first)

    def rows_of(self, chosen: Places) -> tuple[Places, Places]:
        """Where the rows of the chosen nodes are in the front, and which of the chosen nodes each belongs to."""
        sizes = self.sizes[chosen]
        owner = np.repeat(np.arange(len(chosen)), sizes)
        shift = self.start[chosen] - (np.cumsum(sizes) - sizes)
        return np.arange(len(owner)) + shift[owner], owner

    def narrowed(self, chosen: Places) -> Front:
        """The chosen nodes alone."""
        place, _ = self.rows_of(chosen)
        start = np.append(0, np.cumsum(self.sizes[chosen]))
        return Front(self.node[chosen], start, self.rows[place], self.codes[:, place])

    def regrouped(self, node: Whole, number: Whole) -> Front:
        """The front of the nodes ``node``, to which the rows go by ``number``; rows keep their order within a node."""
        order = np.argsort(number, kind="stable")
        start = np.append(0, np.cumsum(np.bincount(number, minlength=len(node))))
        return Front(node, start, self.rows[order], self.codes[:, order])
