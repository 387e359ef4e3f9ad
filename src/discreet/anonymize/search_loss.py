"""What a search needs from a measure of loss: its value at a node, and bounds for nodes that were not inspected."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import reduce

import numpy as np
import numpy.typing as npt

from discreet.anonymize.inspection import Inspection
from discreet.anonymize.lattice import Node

__all__ = ["Bound", "Floats", "SearchLoss"]

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Bound:
    """What one inspection proves about the loss of the nodes below and above."""

    added_below: float = 0.0
    """Every feasible node below loses at least this much more than its floor; infinite if none is feasible."""
    least_below: float = -math.inf
    """Every feasible node below loses at least this much."""
    least_above: float = -math.inf
    """Every feasible node above loses at least this much."""


class SearchLoss(ABC):
    """A loss to be minimised. Its floor at a node bounds the loss there, known before any class was made.

    The floor is a rising function of a sum with a term for every column and its level, so it rises along every chain.
    """

    terms: tuple[Floats, ...]
    """For every column the term of each level, rising with the level."""

    @abstractmethod
    def floor_of(self, total: Floats) -> Floats:
        """The floor of nodes whose terms sum up to ``total``."""

    @abstractmethod
    def of(self, inspection: Inspection) -> float:
        """The loss of an inspected node, with its violating classes suppressed."""

    @abstractmethod
    def bound(self, inspection: Inspection) -> Bound:
        """What the inspection proves about other nodes, as far as the rows go that are suppressed in all of them."""

    def floors(self) -> Floats:
        """The floor of every node, as an array over the lattice."""
        return self.floor_of(reduce(np.add.outer, self.terms))

    def floor(self, node: Node) -> float:
        """The floor of one node."""
        total = sum(float(term[level]) for term, level in zip(self.terms, node, strict=True))
        return float(self.floor_of(np.array(total)))
