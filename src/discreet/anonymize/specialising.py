"""Growing a tree of groups: from the tops of all hierarchies down, always along the one that saves most.

A node is a class whose rows share one group in every hierarchy. It is split along the hierarchy where the split leaves
least to be guessed: into the groups one level below that the models accept, and a rest that keeps the node's group.
Where no group one level below is accepted, those further below are tried.
What all rows of a node have in common is told at once, since telling it splits nothing. All nodes of one depth are
worked on at once, and nothing recurses.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from discreet.anonymize.acceptance import Acceptance
from discreet.anonymize.cuts import LEAF
from discreet.anonymize.front import Flags, Front, Places, Whole
from discreet.anonymize.group_levels import GroupLevels
from discreet.anonymize.group_tree import NOWHERE, GroupTree
from discreet.anonymize.median_cuts import Progress, share_done
from discreet.anonymize.parts import Parts

__all__ = ["grow_groups"]


def grow_groups(
    codes: npt.NDArray[np.int32],
    levels: Sequence[GroupLevels],
    acceptance: Acceptance,
    *,
    progress: Progress | None = None,
) -> tuple[GroupTree, Whole]:
    """The tree for rows with these codes, by axis, and the leaf of every row."""
    growing = _Growing.from_root(codes.shape[1])
    front = Front.root(codes)
    while front.count:
        front = growing.settled(front, front.sizes < 2 * acceptance.least)
        parts = [one for axis, groups in enumerate(levels) for one in Parts.tried(front, axis, groups, acceptance)]
        front = growing.split(front, parts)
        if progress is not None:
            progress(share_done(front, codes.shape[1], acceptance.least))
    return growing.tree(), growing.leaf_of_row


@dataclass(eq=False)
class _Growing:
    """A tree while it grows."""

    nodes: list[tuple[Whole, ...]]
    """Number, axis, level and rest of some nodes, again and again."""
    edges: list[tuple[Whole, ...]]
    """Parent, group and child of some edges, again and again."""
    born: int
    leaves: int
    leaf_of_row: Whole

    @classmethod
    def from_root(cls, rows: int) -> _Growing:
        return cls([], [], 1, 0, np.zeros(rows, dtype=np.int64))

    def settled(self, front: Front, leaf: Flags) -> Front:
        """The front without some nodes, which become leaves."""
        chosen = np.flatnonzero(leaf)
        place, owner = front.rows_of(chosen)
        number = self.leaves + np.arange(len(chosen))
        self.leaf_of_row[front.rows[place]] = number[owner]
        self.leaves += len(chosen)
        none = np.full(len(chosen), LEAF)
        self.nodes.append((front.node[chosen], none, none, number))
        return front.narrowed(np.flatnonzero(~leaf))

    def split(self, front: Front, parts: Sequence[Parts]) -> Front:
        """The front of the children; nodes that cannot be split become leaves."""
        gains = np.stack([np.zeros(front.count), *(one.gain for one in parts)])
        best = gains.argmax(axis=0) - 1  # the first, which gains nothing, stands for no split
        inner = np.flatnonzero(best >= 0)
        place, owner = front.rows_of(inner)
        before = self.born
        child = np.zeros(len(place), dtype=np.int64)
        for number, one in enumerate(parts):
            mine = best[inner[owner]] == number
            child[mine] = self._children(front, one, np.flatnonzero(best == number))[one.number[place[mine]]]
        kept = self.settled(front, best < 0)
        return kept.regrouped(np.arange(before, self.born), child - before)

    def _children(self, front: Front, parts: Parts, chosen: Places) -> Whole:
        """Number the children of the chosen nodes; tells for every part of theirs the child it goes to."""
        mine = np.isin(parts.node, chosen)
        edge = np.flatnonzero(mine & parts.alone)
        child = np.full(len(parts.node), NOWHERE, dtype=np.int64)
        child[edge] = self._numbers(len(edge))
        self.edges.append((front.node[parts.node[edge]], parts.group[edge], child[edge]))
        resting = np.flatnonzero(mine & ~parts.alone)
        holders, place = np.unique(parts.node[resting], return_inverse=True)
        rest = np.full(front.count, NOWHERE, dtype=np.int64)
        rest[holders] = self._numbers(len(holders))
        child[resting] = rest[holders][place]
        self.nodes.append((front.node[chosen], np.full(len(chosen), parts.axis), parts.level[chosen], rest[chosen]))
        return child

    def _numbers(self, count: int) -> Whole:
        self.born += count
        return np.arange(self.born - count, self.born)

    def tree(self) -> GroupTree:
        number, axis, level, rest = (np.concatenate(found) for found in zip(*self.nodes, strict=True))
        none = (np.zeros(0, dtype=np.int64),) * 3
        parent, group, child = (np.concatenate(found) for found in zip(none, *self.edges, strict=True))
        by_number, by_parent = np.argsort(number), np.lexsort((group, parent))
        return GroupTree(
            axis[by_number], level[by_number], rest[by_number], parent[by_parent], group[by_parent], child[by_parent]
        )
