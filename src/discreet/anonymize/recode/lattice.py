"""The lattice of full-domain recodings: a node picks one level of generalisation for every quasi-identifier."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = ["GeneralizationLattice", "Node"]


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
        yield from (_move(node, {down: -1}) for down in lower)
        yield from (_move(node, {down: -1, up: 1}) for down in lower for up in higher if up != down)

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


def _move(node: Node, steps: Mapping[int, int]) -> Node:
    return tuple(level + steps.get(column, 0) for column, level in enumerate(node))
