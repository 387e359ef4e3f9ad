"""What is known about a lattice that is too large to be written down: nodes appear when they are reached."""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable

import numpy as np

from discreet.anonymize.lattice import Lattice, Node
from discreet.anonymize.search_loss import Bound, SearchLoss

__all__ = ["SparseFrontier"]

_Entry = tuple[float, Node, bool]
_FACTS = 4096
_MOST_REACHED = 1_000_000


class SparseFrontier:
    """The reached nodes that were not inspected, each with a proved bound; every other node is above one of them.

    A floor rises along every chain, so the smallest bound among the reached nodes bounds all nodes.
    """

    def __init__(self, lattice: Lattice, loss: SearchLoss, is_late: Callable[[], bool]) -> None:
        self._lattice = lattice
        self._loss = loss
        self._is_late = is_late
        self._heap: list[_Entry] = [(loss.floor(lattice.bottom), lattice.bottom, False)]
        self._settled: dict[Node, Bound] = {}
        self._nodes = np.zeros((0, len(lattice.heights)), dtype=np.int16)
        self._bounds = np.zeros((0, 3))

    @property
    def is_full(self) -> bool:
        """Whether no more nodes can be kept, so that the smallest bound stays what it is."""
        return len(self._heap) > _MOST_REACHED

    def first(self) -> tuple[Node, float]:
        """A node with the smallest bound, and the bound; infinite when all are settled, loose when late or full."""
        while self._heap:
            known, node, is_expanded = self._heap[0]
            least = self.least(node)
            if (is_expanded and least <= known) or self._is_late() or self.is_full:
                return node, known
            heapq.heappop(self._heap)
            if not is_expanded:
                self._expand(node)
            if least < math.inf:
                heapq.heappush(self._heap, (max(least, known), node, True))
        return self._lattice.top, math.inf

    def least(self, node: Node) -> float:
        """The bound of a node; infinite if it is settled."""
        floor = self._loss.floor(node)
        if node in self._settled:
            return math.inf
        levels = np.array(node, dtype=np.int16)
        below = self._bounds[np.all(levels <= self._nodes, axis=1)]
        above = self._bounds[np.all(levels >= self._nodes, axis=1)]
        added, least = below[:, 0].max(initial=0.0), below[:, 1].max(initial=-math.inf)
        return float(max(floor + added, least, above[:, 2].max(initial=-math.inf)))

    def settle(self, node: Node, bound: Bound) -> None:
        """Take an inspected node out, and raise the bounds of the nodes below and above it."""
        self._settled[node] = bound
        row = [[bound.added_below, bound.least_below, bound.least_above]]
        self._nodes = np.concatenate([self._nodes, np.array([node], dtype=np.int16)])[-_FACTS:]
        self._bounds = np.concatenate([self._bounds, row])[-_FACTS:]

    def _expand(self, node: Node) -> None:
        """Reach the nodes one level up, each from one node only: the last column that was raised, or one after it."""
        last = max((column for column, level in enumerate(node) if level), default=0)
        for column in range(last, len(node)):
            if node[column] < self._lattice.heights[column]:
                above = (*node[:column], node[column] + 1, *node[column + 1 :])
                heapq.heappush(self._heap, (self._loss.floor(above), above, False))
