"""What is known about every node of a lattice that fits into memory: the least that it can lose."""

from __future__ import annotations

import math

import numpy as np

from discreet.anonymize.lattice import Lattice, Node
from discreet.anonymize.search_loss import Bound, SearchLoss

__all__ = ["Frontier"]


class Frontier:
    """The nodes that were not inspected, each with a proved bound on its loss."""

    def __init__(self, lattice: Lattice, loss: SearchLoss) -> None:
        self._lattice = lattice
        self._floors = loss.floors()
        self._least = self._floors.copy()

    @property
    def is_full(self) -> bool:
        """Never: all nodes are there from the beginning."""
        return False

    def first(self) -> tuple[Node, float]:
        """A node with the smallest bound, and the bound. It is infinite when every node is settled."""
        place = int(np.argmin(self._least))
        node = tuple(int(level) for level in np.unravel_index(place, self._least.shape))
        return node, float(self._least.flat[place])

    def least(self, node: Node) -> float:
        """The bound of a node; infinite if it is settled."""
        return float(self._least[node])

    def settle(self, node: Node, bound: Bound) -> None:
        """Take an inspected node out, and raise the bounds of the nodes below and above it."""
        below, above = self._lattice.below(node), self._lattice.above(node)
        raised = np.maximum(self._floors[below] + bound.added_below, bound.least_below)
        np.maximum(self._least[below], raised, out=self._least[below])
        np.maximum(self._least[above], bound.least_above, out=self._least[above])
        self._least[node] = math.inf
