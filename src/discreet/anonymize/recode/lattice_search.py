"""The search for the recoding that loses least: best bound first, and every inspection rules out many others.

An inspected node proves something about the nodes below it: rows that violate there are suppressed below as well, so
either none of them is within the limit or each of them loses more than its floor. The search takes the node with the
smallest bound and looks, on a chain from it to the top, for the highest node that rules it out. It ends when no bound
is below the best loss: then the best recoding is proved to be optimal.

Of a lattice that fits into memory, the least that every node can lose is kept; of one that is too large, nodes appear
when they are reached. A lattice that is too large to be searched still has a bound: its columns are searched a few at a
time. Let a part be some of the columns. If a recoding is within the limit, the node that keeps its levels in the part
and has all other columns at the top is above it, so it is not hopeless below. The smallest sum of terms among such
nodes is a bound for the terms of the part, and the bounds of parts that share no column add up.

A certificate says what the search proves about the recoding that it found.
"""

from __future__ import annotations

import heapq
import math
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Protocol

import numpy as np

from discreet.anonymize.loss.search_loss import Floats, LossBound, SearchLoss
from discreet.anonymize.recode.lattice import GeneralizationLattice, Node
from discreet.anonymize.recode.lattice_node import Inspection, Inspector

__all__ = ["LARGEST_LATTICE", "Certificate", "Frontier", "LatticeSearch", "Progress", "SparseFrontier", "least_total"]


class Frontier:
    """The nodes that were not inspected, each with a proved bound on its loss."""

    def __init__(self, lattice: GeneralizationLattice, loss: SearchLoss) -> None:
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

    def settle(self, node: Node, bound: LossBound) -> None:
        """Take an inspected node out, and raise the bounds of the nodes below and above it."""
        below, above = self._lattice.below(node), self._lattice.above(node)
        raised = np.maximum(self._floors[below] + bound.added_below, bound.least_below)
        np.maximum(self._least[below], raised, out=self._least[below])
        np.maximum(self._least[above], bound.least_above, out=self._least[above])
        self._least[node] = math.inf


_Entry = tuple[float, Node, bool]
_FACTS = 4096
_MOST_REACHED = 1_000_000


class SparseFrontier:
    """The reached nodes that were not inspected, each with a proved bound; every other node is above one of them.

    A floor rises along every chain, so the smallest bound among the reached nodes bounds all nodes.
    """

    def __init__(self, lattice: GeneralizationLattice, loss: SearchLoss, is_late: Callable[[], bool]) -> None:
        self._lattice = lattice
        self._loss = loss
        self._is_late = is_late
        self._heap: list[_Entry] = [(loss.floor(lattice.bottom), lattice.bottom, False)]
        self._settled: dict[Node, LossBound] = {}
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

    def settle(self, node: Node, bound: LossBound) -> None:
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


_NODES = 65_536


def least_total(
    inspector: Inspector, terms: Sequence[Floats], is_late: Callable[[], bool], nodes: int = _NODES
) -> float:
    """A bound for the sum of the terms of every feasible node, from parts with about so many ``nodes`` at most."""
    lattice = inspector.patterns.lattice
    return math.fsum(_least_of(part, inspector, terms, is_late) for part in _parts(lattice, nodes))


def _parts(lattice: GeneralizationLattice, nodes: int) -> Iterator[list[int]]:
    """The columns, neighbours together, as long as a part has no more than ``nodes``."""
    part: list[int] = []
    for column, levels in enumerate(lattice.shape):
        if part and levels * math.prod(lattice.shape[one] for one in part) > nodes:
            yield part
            part = []
        part.append(column)
    yield part


def _least_of(part: list[int], inspector: Inspector, terms: Sequence[Floats], is_late: Callable[[], bool]) -> float:
    """The smallest sum of the part's terms among its nodes that are not hopeless; less, if there is no time to tell."""
    top = inspector.patterns.lattice.top
    small = GeneralizationLattice(tuple(top[column] for column in part))
    own = [terms[column] for column in part]
    totals = reduce(np.add.outer, own)
    while math.isfinite(least := float(totals.min())) and not is_late():
        node = tuple(int(level) for level in np.unravel_index(int(np.argmin(totals)), totals.shape))
        highest = _highest_hopeless(small.path_to_top(node, own), part, inspector)
        if highest is None:
            return least
        totals[small.below(highest)] = math.inf
    return least


def _highest_hopeless(path: Sequence[Node], part: list[int], inspector: Inspector) -> Node | None:
    """The highest node of a chain below which nothing is within the limit; with it all nodes below are hopeless."""
    low, high = 0, len(path) - 1
    while low <= high:
        middle = (low + high) // 2
        levels = list(inspector.patterns.lattice.top)
        for column, level in zip(part, path[middle], strict=True):
            levels[column] = level
        if inspector.inspect(tuple(levels)).is_hopeless_below:
            low = middle + 1
        else:
            high = middle - 1
    return path[high] if high >= 0 else None


@dataclass(frozen=True)
class Certificate:
    """How much of the lattice was looked at, and how much better another recoding could be at most."""

    nodes: int
    """How many recodings there are."""
    checked: int
    """How many of them were inspected."""
    loss: float
    """The loss of the best recoding that was found; infinite if none was."""
    lower_bound: float
    """No recoding within the limits loses less. It equals the loss, up to rounding, when optimality is proved."""
    is_optimal: bool
    """Whether it is proved that no recoding loses less."""

    @property
    def pruned(self) -> int:
        """How many recodings were ruled out by what others proved, or were not reached in time."""
        return self.nodes - self.checked

    @property
    def gap(self) -> float:
        """How much less another recoding might lose; 0 when optimality is proved."""
        return 0.0 if self.is_optimal else self.loss - self.lower_bound

    def __str__(self) -> str:
        looked = f"{self.checked:,} of {self.nodes:,} recodings were inspected"
        if self.is_optimal:
            return f"optimal: {looked}, the others are proved to be no better than {self.loss:.6f}"
        return f"not proved optimal: {looked}; the loss is {self.loss:.6f}, none is below {self.lower_bound:.6f}"


LARGEST_LATTICE = 1_000_000
"""The most nodes that are searched without a limit of time."""

Progress = Callable[[Certificate], None]
"""Is called again and again with what is proved so far."""

_ROUNDING = 1e-12
_WRITTEN_DOWN = 2**23  # nodes of which each has its bound in memory


class _OpenNodes(Protocol):
    """The nodes that were not inspected."""

    @property
    def is_full(self) -> bool: ...
    def first(self) -> tuple[Node, float]: ...
    def least(self, node: Node) -> float: ...
    def settle(self, node: Node, bound: LossBound) -> None: ...


class LatticeSearch:
    """One search. ``run`` it once; then ``best`` is what it found."""

    def __init__(self, inspector: Inspector, loss: SearchLoss, seconds: float | None = None) -> None:
        self.best: Inspection | None = None
        self._inspector = inspector
        self._loss = loss
        self._lattice: GeneralizationLattice = inspector.patterns.lattice
        self._end = math.inf if seconds is None else time.monotonic() + seconds
        self._is_huge = self._lattice.nodes > _WRITTEN_DOWN
        self._open: _OpenNodes = (
            SparseFrontier(self._lattice, loss, self._is_late) if self._is_huge else Frontier(self._lattice, loss)
        )
        self._least_loss = math.inf
        self._checked = 0
        self._bound = -math.inf

    def run(self, progress: Progress | None = None) -> Certificate:
        """Search until optimality is proved or the time is over. The top and one chain are looked at in any case."""
        self._inspect(self._lattice.top)
        if self._is_huge:
            self._rule_out(self._lattice.bottom)
            self._bound_by_parts()
            self._descend()
        while True:
            node, bound = self._open.first()
            certificate = self._certificate(bound)
            if progress:
                progress(certificate)
            if certificate.is_optimal:
                self._refine()
                return certificate
            if (self._is_late() or self._open.is_full) and self._checked > 1:
                return certificate
            self._rule_out(node)

    def _certificate(self, bound: float) -> Certificate:
        bound = max(bound, self._bound)
        is_optimal = bound >= self._threshold()
        lower_bound = self._least_loss if is_optimal else bound
        return Certificate(self._lattice.nodes, self._checked, self._least_loss, lower_bound, is_optimal)

    def _threshold(self) -> float:
        """A bound from which on a node is no better, as far as rounding lets us tell."""
        return self._least_loss - _ROUNDING * max(abs(self._least_loss), 1.0) if self.best else math.inf

    def _rule_out(self, node: Node) -> None:
        """Find the highest node on a chain to the top that proves ``node`` to be no better, or inspect ``node``."""
        path = self._lattice.path_to_top(node, self._loss.terms)
        low, high = 0, len(path) - 1
        while low <= high:
            middle = (low + high) // 2
            if self._open.least(path[middle]) < math.inf:
                self._inspect(path[middle])
            if self._open.least(node) >= self._threshold():
                low = middle + 1
            else:
                high = middle - 1

    def _bound_by_parts(self) -> None:
        """Bound all nodes by what parts of the columns cost, within a quarter of the time."""
        end = time.monotonic() + (self._end - time.monotonic()) / 4
        total = least_total(self._inspector, self._loss.terms, lambda: time.monotonic() > end)
        self._bound = float(self._loss.floor_of(np.array(total)))

    def _descend(self) -> None:
        """Go from the best node to a better neighbour as long as there is one: proofs take long in a huge lattice."""
        before = None
        while self.best is not before:
            before = self.best
            if before is not None:
                self._try(sorted(self._lattice.neighbours(before.node), key=self._loss.floor))

    def _try(self, nodes: Iterable[Node]) -> None:
        """Inspect nodes that may be better, until one is."""
        before = self.best
        for node in nodes:
            if self._is_late() or self.best is not before:
                return
            if self._open.least(node) < self._threshold():
                self._inspect(node)

    def _refine(self) -> None:
        """Of recodings that lose the same, take a finer one: what costs nothing need not be hidden."""
        for column in range(len(self._lattice.heights)):
            while self.best and (finer := self._finer(self.best.node, column)):
                self.best = finer

    def _finer(self, node: Node, column: int) -> Inspection | None:
        """The node one level down in a column, if it is feasible and loses no more."""
        if not node[column]:
            return None
        found = self._inspector.inspect((*node[:column], node[column] - 1, *node[column + 1 :]))
        is_as_good = found.is_feasible and self._loss.of(found) <= self._least_loss + _ROUNDING
        return found if is_as_good else None

    def _inspect(self, node: Node) -> None:
        found = self._inspector.inspect(node)
        self._checked += 1
        bound = self._loss.bound(found)
        self._open.settle(node, replace(bound, added_below=math.inf) if found.is_hopeless_below else bound)
        if found.is_feasible and self._loss.of(found) < self._least_loss:
            self.best, self._least_loss = found, self._loss.of(found)

    def _is_late(self) -> bool:
        return time.monotonic() > self._end
