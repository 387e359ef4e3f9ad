"""The search for the recoding that loses least: best bound first, and every inspection rules out many others.

An inspected node proves something about the nodes below it: rows that violate there are suppressed below as well, so
either none of them is within the limit or each of them loses more than its floor. The search takes the node with the
smallest bound and looks, on a chain from it to the top, for the highest node that rules it out. It ends when no bound
is below the best loss: then the best recoding is proved to be optimal.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Protocol

import numpy as np

from discreet.anonymize.bound_by_parts import least_total
from discreet.anonymize.certificate import Certificate
from discreet.anonymize.frontier import Frontier
from discreet.anonymize.inspection import Inspection, Inspector
from discreet.anonymize.lattice import Lattice, Node
from discreet.anonymize.search_loss import Bound, SearchLoss
from discreet.anonymize.sparse_frontier import SparseFrontier

__all__ = ["LARGEST_LATTICE", "LatticeSearch", "Progress"]

LARGEST_LATTICE = 1_000_000
"""The most nodes that are searched without a limit of time."""

Progress = Callable[[Certificate], None]
"""Is called again and again with what is proved so far."""

_ROUNDING = 1e-12
_WRITTEN_DOWN = 2**23  # nodes of which each has its bound in memory


class _Open(Protocol):
    """The nodes that were not inspected."""

    @property
    def is_full(self) -> bool: ...
    def first(self) -> tuple[Node, float]: ...
    def least(self, node: Node) -> float: ...
    def settle(self, node: Node, bound: Bound) -> None: ...


class LatticeSearch:
    """One search. ``run`` it once; then ``best`` is what it found."""

    def __init__(self, inspector: Inspector, loss: SearchLoss, seconds: float | None = None) -> None:
        self.best: Inspection | None = None
        self._inspector = inspector
        self._loss = loss
        self._lattice: Lattice = inspector.patterns.lattice
        self._end = math.inf if seconds is None else time.monotonic() + seconds
        self._is_huge = self._lattice.nodes > _WRITTEN_DOWN
        self._open: _Open = (
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
