"""The lattice of full-domain recodings, and one of its nodes held against the models.

A node picks one level of generalisation for every quasi-identifier. An inspection finds which classes violate there,
and what that says about finer nodes.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from discreet.anonymize.equivalence_classes import Counts, EquivalenceClasses, Patterns
from discreet.anonymize.models.model import Flags, Model
from discreet.anonymize.table import Codes

__all__ = [
    "GeneralizationLattice",
    "Inspection",
    "Inspector",
    "Node",
]


Node = tuple[int, ...]
"""A level for every quasi-identifier; 0 leaves a column as it is."""


@dataclass(frozen=True)
class GeneralizationLattice:
    """All nodes between the table as it is and the coarsest recoding. A node is below another if no level is higher."""

    heights: tuple[int, ...]
    """For every quasi-identifier the highest level of its hierarchy."""

    @property
    def shape(self) -> tuple[int, ...]:
        """For every quasi-identifier how many levels there are."""
        return tuple(height + 1 for height in self.heights)

    @property
    def nodes(self) -> int:
        """How many recodings there are."""
        return math.prod(self.shape)

    @property
    def bottom(self) -> Node:
        """The table as it is."""
        return (0,) * len(self.heights)

    @property
    def top(self) -> Node:
        """The coarsest recoding."""
        return self.heights

    def below(self, node: Node) -> tuple[slice, ...]:
        """The box of an array over the lattice that holds the nodes below ``node``, itself included."""
        return tuple(slice(0, level + 1) for level in node)

    def above(self, node: Node) -> tuple[slice, ...]:
        """The box of an array over the lattice that holds the nodes above ``node``, itself included."""
        return tuple(slice(level, None) for level in node)

    def neighbours(self, node: Node) -> Iterator[Node]:
        """The nodes with one column a level lower; then those where another column is a level higher in exchange."""
        lower = [column for column, level in enumerate(node) if level]
        higher = [column for column, level in enumerate(node) if level < self.heights[column]]
        yield from (_moved(node, {down: -1}) for down in lower)
        yield from (_moved(node, {down: -1, up: 1}) for down in lower for up in higher if up != down)

    def path_to_top(self, node: Node, terms: Sequence[npt.NDArray[np.float64]]) -> list[Node]:
        """A chain from ``node`` to the top that always takes the step for which ``terms`` rise least."""
        path, at = [node], list(node)
        while tuple(at) != self.top:
            rises = [
                (float(term[level + 1] - term[level]), column)
                for column, (term, level, height) in enumerate(zip(terms, at, self.heights, strict=True))
                if level < height
            ]
            at[min(rises)[1]] += 1
            path.append(tuple(at))
        return path


def _moved(node: Node, steps: Mapping[int, int]) -> Node:
    return tuple(level + steps.get(column, 0) for column, level in enumerate(node))


_SNAPSHOTS = 32


@dataclass(frozen=True, eq=False)
class Inspection:
    """What a node does to the table."""

    node: Node
    """The node."""
    groups: tuple[Codes, ...]
    """For every quasi-identifier the group of every class."""
    sizes: Counts
    """For every class how many rows it has."""
    violating: Flags
    """For every class whether it breaks a model, and is suppressed."""
    lost_below: Counts
    """For every class how many of its rows at least are suppressed at every finer node."""
    is_feasible: bool
    """Whether the suppressed rows are within the limit, and a row is left."""
    is_hopeless_below: bool
    """Whether no finer node is within the limit."""

    @property
    def rows(self) -> int:
        """How many rows there are, suppressed ones included."""
        return int(self.sizes.sum())

    @property
    def suppressed(self) -> int:
        """How many rows are suppressed."""
        return int(self.sizes[self.violating].sum())


class Inspector:
    """Inspects nodes of one table under some models, with at most ``limit`` rows suppressed."""

    def __init__(self, patterns: Patterns, models: Sequence[Model], limit: int) -> None:
        self.patterns = patterns
        self.models = tuple(models)
        self.limit = limit
        self.least_size = max((model.least_size for model in models), default=1)
        self._snapshots: list[tuple[Node, Patterns]] = [(patterns.lattice.bottom, patterns)]

    def inspect(self, node: Node) -> Inspection:
        """The classes of a node, and which of them violate."""
        patterns = self._finest_needed(node)
        classes = patterns.classes(node)
        lost = self._lost_below(patterns, classes)
        violating = lost > 0
        self._remember(node, patterns, classes)
        place = classes.representatives()
        suppressed = int(classes.sizes[violating].sum())
        return Inspection(
            node,
            tuple(group[place] for group in patterns.groups(node)),
            classes.sizes,
            violating,
            lost,
            suppressed <= self.limit and suppressed < patterns.total,
            bool(lost.sum() > self.limit) or bool(lost.sum() >= patterns.total),
        )

    def violating_patterns(self, node: Node) -> Flags:
        """For every pattern whether its class at a node breaks a model."""
        classes = self.patterns.classes(node)
        return (self._lost_below(self.patterns, classes) > 0)[classes.number]

    def _lost_below(self, patterns: Patterns, classes: EquivalenceClasses) -> Counts:
        """The rows lost to any of the models. Where fewer would be left than a class needs, all are lost."""
        histograms = patterns.histograms(classes)
        lost: Counts = np.zeros(classes.count, dtype=np.int64)
        for model in self.models:
            lost = np.maximum(lost, model.lost_below(classes, histograms))
        too_few_left = classes.sizes - lost < self.least_size
        return np.where((lost > 0) & too_few_left, classes.sizes, np.minimum(lost, classes.sizes))

    def _finest_needed(self, node: Node) -> Patterns:
        """The fewest patterns that are known to suffice: those of a node below, already merged."""
        levels = np.array(node)
        known = [patterns for below, patterns in self._snapshots if np.all(below <= levels)]
        return min(known, key=lambda patterns: len(patterns.rows))

    def _remember(self, node: Node, patterns: Patterns, classes: EquivalenceClasses) -> None:
        """Keep the merged patterns where they are far fewer, so that nodes above are inspected quickly."""
        if classes.count * 4 > len(patterns.rows):
            return
        merged = patterns.rolled_up(classes)
        if len(merged.rows) * 2 <= len(patterns.rows):
            self._snapshots[1:] = [*self._snapshots[1:], (node, merged)][-_SNAPSHOTS:]
