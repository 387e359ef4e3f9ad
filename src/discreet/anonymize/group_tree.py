"""A tree of groups: every inner node asks for the group of a row at one level of one hierarchy, every leaf is a class.

A node has a child for each of some groups, and where others remained a child for the rest. A row of a group that the
fit never saw there goes to the rest; where there is none, it belongs to no class.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from discreet.anonymize.classes import SUPPRESSED_ROW
from discreet.anonymize.cuts import LEAF
from discreet.anonymize.front import Whole
from discreet.anonymize.group_levels import GroupLevels

__all__ = ["NOWHERE", "GroupTree"]

NOWHERE = -1
"""The number of a node that is not there."""


@dataclass(frozen=True, eq=False)
class GroupTree:
    """The nodes of a tree by number; node 0 is the root."""

    axis: Whole
    """The axis whose groups tell the children of a node apart; -1 for a leaf."""
    level: Whole
    """The level of these groups."""
    rest: Whole
    """The child for all other groups, -1 where there is none; the class number of a leaf."""
    parent: Whole
    """For every edge to a child for a group, the node it comes from, in order."""
    group: Whole
    """For every edge its group, in order within a parent."""
    child: Whole
    """For every edge the node it leads to."""

    @property
    def leaves(self) -> int:
        """How many leaves there are."""
        return int((self.axis == LEAF).sum())

    def leaf_of(self, codes: npt.NDArray[np.int32], levels: Sequence[GroupLevels]) -> Whole:
        """The class number of every row with these codes, by axis; -1 for rows that belong to no class."""
        node = np.zeros(codes.shape[1], dtype=np.int64)
        moving = np.flatnonzero(self.axis[node] != LEAF)
        while len(moving):
            node[moving] = self._next(node[moving], codes[:, moving], levels)
            moving = moving[node[moving] != NOWHERE]
            moving = moving[self.axis[node[moving]] != LEAF]
        return np.where(node == NOWHERE, SUPPRESSED_ROW, self.rest[node])

    def _next(self, node: Whole, codes: npt.NDArray[np.int32], levels: Sequence[GroupLevels]) -> Whole:
        found = np.empty(len(node), dtype=np.int64)
        for axis, laid_out in enumerate(levels):
            mine = np.flatnonzero(self.axis[node] == axis)
            group = laid_out.group[self.level[node[mine]], codes[axis, mine]]
            found[mine] = self._child(node[mine], group)
        return found

    def _child(self, node: Whole, group: npt.NDArray[np.int32]) -> Whole:
        radix = int(max(self.group.max(initial=0), group.max(initial=0))) + 1
        edges = self.parent * radix + self.group
        keys = node * radix + group
        place = np.minimum(np.searchsorted(edges, keys), len(edges) - 1)
        return np.where(edges[place] == keys, self.child[place], self.rest[node])
