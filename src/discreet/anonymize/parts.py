"""How nodes would split along one hierarchy: the groups that can stand alone, and the rest that stays together.

A group that the models refuse goes to the rest. Where the rest is refused too, the smallest group that could stand
alone joins it, and the next, until the rest is accepted or nothing stands alone any more.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from discreet.anonymize.acceptance import Acceptance
from discreet.anonymize.front import Flags, Front, Places, Whole
from discreet.anonymize.group_levels import GroupLevels

__all__ = ["Parts"]

_DENSE = 4  # counting in a table beats sorting while it has at most so many cells per row


@dataclass(frozen=True, eq=False)
class Parts:
    """The groups that occur in every node of a front, below the level at which its rows share one."""

    axis: int
    """The axis."""
    level: Whole
    """For every node the level of its parts; -1 where it is not split."""
    node: Whole
    """For every part its node, in order."""
    group: Whole
    """For every part its group, in order within a node."""
    alone: Flags
    """Whether a part becomes a child of its own; the others of a node are its rest."""
    number: Whole
    """For every row of the front its part; -1 where its node has none."""
    gain: npt.NDArray[np.float64]
    """For every node, how much less of the domain its cells cover after the split; 0 where it cannot be split.

    Whole numbers are summed before they are divided, so that equal gains are equal to the last bit.
    """

    @classmethod
    def tried(cls, front: Front, axis: int, levels: GroupLevels, acceptance: Acceptance) -> Iterator[Parts]:
        """The splits of all nodes along one axis: one level down, and further down where nothing can stand alone."""
        low, high = front.extremes(axis)
        shared = levels.shared(low, high)
        whole = levels.leaves[shared, levels.group[shared, low]]
        level = shared - 1
        while (level >= 0).any():
            found = cls._at(front, axis, levels, level, whole, acceptance)
            yield found
            level = np.where(found.gain > 0, -1, np.maximum(level - 1, -1))

    @classmethod
    def _at(
        cls, front: Front, axis: int, levels: GroupLevels, level: Whole, whole: Whole, acceptance: Acceptance
    ) -> Parts:
        """The split of every node into its groups at ``level``; its rows share a group of ``whole`` leaves."""
        split = np.flatnonzero(level >= 0)
        place, owner = front.rows_of(split)
        at = split[owner]
        (node, group), number, counts = _numbered(at, levels.group[level[at], front.codes[axis, place]], front.count)
        alone = _Split(front.count, node, counts, number, front.rows[place], acceptance).alone()
        saved = (whole[node] - levels.leaves[level[node], group]) * counts * alone
        every = np.full(len(front.rows), -1, dtype=np.int64)
        every[place] = number
        gain = np.bincount(node, saved, minlength=front.count) / len(levels.code)
        return cls(axis, level, node, group, alone, every, gain)


def _numbered(node: Whole, group: npt.NDArray[np.int32], nodes: int) -> tuple[tuple[Whole, Whole], Whole, Whole]:
    """The pairs of node and group that occur, in order; the place of every row's pair; how many rows each has."""
    radix = int(group.max(initial=0)) + 1
    keys = node * radix + group
    if nodes * radix > _DENSE * len(keys):
        present, number, counts = np.unique(keys, return_inverse=True, return_counts=True)
    else:
        table = np.bincount(keys, minlength=nodes * radix)
        present = np.flatnonzero(table)
        number, counts = (np.cumsum(table > 0) - 1)[keys], table[present]
    pairs = np.divmod(present, radix)
    return (pairs[0], pairs[1]), number, counts


@dataclass(frozen=True, eq=False)
class _Split:
    """The parts of nodes while it is decided which of them stand alone."""

    nodes: int
    node: Whole
    counts: Whole
    number: Whole
    """The part of every row."""
    rows: Places
    acceptance: Acceptance

    def alone(self) -> Flags:
        alone = ~self._refused(np.ones(len(self.node), dtype=np.bool_), np.arange(len(self.node)))
        bad = self._bad_rests(alone)
        while bad.any():
            alone[self._smallest_alone(alone, bad)] = False
            bad = self._bad_rests(alone, bad)
        return alone

    def _bad_rests(self, alone: Flags, among: Flags | None = None) -> Flags:
        """The nodes, of those ``among`` which to look, with a child of their own and a rest that breaks a model."""
        asked = np.bincount(self.node[alone], minlength=self.nodes) > 0
        asked = asked if among is None else asked & among
        resting = ~alone & asked[self.node]
        holders, place = np.unique(self.node[resting], return_inverse=True)
        number = np.zeros(len(self.node), dtype=np.int64)
        number[resting] = place
        bad = np.zeros(self.nodes, dtype=np.bool_)
        bad[holders] = self._refused(resting, number)
        return bad

    def _refused(self, chosen: Flags, number: Whole) -> Flags:
        """Of the classes made of the ``chosen`` parts, by ``number``, those that break a model."""
        counts = np.bincount(number[chosen], self.counts[chosen]).astype(np.int64)
        if self.acceptance.counts_alone:
            return counts < self.acceptance.least
        mine = chosen[self.number]
        return self.acceptance.violating(number[self.number[mine]], self.rows[mine], counts)

    def _smallest_alone(self, alone: Flags, bad: Flags) -> Places:
        """Of every bad node, the smallest part that stands alone."""
        able = np.flatnonzero(alone & bad[self.node])
        able = able[np.lexsort((self.counts[able], self.node[able]))]
        return able[np.flatnonzero(np.diff(self.node[able], prepend=-1))]
