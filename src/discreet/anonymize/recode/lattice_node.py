"""One node of the lattice held against the models: which classes violate, and what that says about finer nodes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from discreet.anonymize.equivalence_classes import Counts, EquivalenceClasses, Patterns
from discreet.anonymize.models.model import Flags, Model
from discreet.anonymize.recode.lattice import Node
from discreet.anonymize.table import Codes

__all__ = ["Inspection", "Inspector"]


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
