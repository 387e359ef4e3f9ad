"""The search for the recoding that loses least: best bound first, and every inspection rules out many others.

An inspected node proves something about the nodes below it: rows that violate there are suppressed below as well, so
either none of them is within the limit or each of them loses more than its floor. The search takes the node with the
smallest bound and looks, on a chain from it to the top, for the highest node that rules it out. It ends when no bound
is below the best loss: then the best recoding is proved to be optimal.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Protocol

from discreet.anonymize.certificate import Certificate
from discreet.anonymize.frontier import Frontier
from discreet.anonymize.inspection import Inspection, Inspector
from discreet.anonymize.lattice import Lattice, Node
from discreet.anonymize.search_loss import Bound, SearchLoss
from discreet.anonymize.sparse_frontier import SparseFrontier

__all__ = ["LARGEST_LATTICE", "LatticeSearch", "Progress"]

LARGEST_LATTICE = 1_000_000
"""The most nodes of which each has its bound written down."""

Progress = Callable[[Certificate], None]
"""Is called again and again with what is proved so far."""

_ROUNDING = 1e-12


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
        self._open: _Open = (
            Frontier(self._lattice, loss)
            if self._lattice.nodes <= LARGEST_LATTICE
            else SparseFrontier(self._lattice, loss, self._is_late)
        )
        self._least_loss = math.inf
        self._checked = 0

    def run(self, progress: Progress | None = None) -> Certificate:
        """Search until optimality is proved or the time is over. The top and one chain are looked at in any case."""
        self._inspect(self._lattice.top)
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
