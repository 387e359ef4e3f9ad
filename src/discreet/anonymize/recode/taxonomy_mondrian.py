"""Mondrian along hierarchies: start with everything told by ``*`` and tell more wherever every class stays large.

Every cell of the release is a group of its column's hierarchy, each class at levels of its own. Of all ways to recode
a table here this one loses least. It is not differential privacy.

The tree of groups grows from the tops of all hierarchies down, always along the one that saves most. A node is a class
whose rows share one group in every hierarchy. It is split along the hierarchy where the split leaves least to be
guessed: into the groups one level below that the models accept, and a rest that keeps the node's group. Where no group
one level below is accepted, those further below are tried. What all rows of a node have in common is told at once,
since telling it splits nothing. All nodes of one depth are worked on at once, and nothing recurses.

Along a hierarchy some groups can stand alone, and the rest stays together. A group that the models refuse goes to the
rest. Where the rest is refused too, the smallest group that could stand alone joins it, and the next, until the rest is
accepted or nothing stands alone any more.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from discreet.anonymize.hierarchies.hierarchy import Hierarchy, matched_hierarchies
from discreet.anonymize.models.model import Model
from discreet.anonymize.models.registry import asked_models
from discreet.anonymize.recode.axes import Axis, GroupLevels
from discreet.anonymize.recode.labels import group_labels
from discreet.anonymize.recode.mondrian import Progress, share_done
from discreet.anonymize.recode.partition_tree import (
    LEAF,
    NOWHERE,
    Flags,
    Front,
    GroupTree,
    LeafRecoding,
    Places,
    Positions,
    Whole,
)
from discreet.anonymize.recode.recoding import Acceptance, Recoded, coded_for
from discreet.anonymize.roles import Roles
from discreet.anonymize.table import arrow_table

__all__ = ["Parts", "TaxonomyRecoding", "grow_groups", "taxonomy_mondrian"]


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
        (node, group), number, counts = _number(at, levels.group[level[at], front.codes[axis, place]], front.count)
        alone = _Split(front.count, node, counts, number, front.rows[place], acceptance).alone()
        saved = (whole[node] - levels.leaves[level[node], group]) * counts * alone
        every = np.full(len(front.rows), -1, dtype=np.int64)
        every[place] = number
        gain = np.bincount(node, saved, minlength=front.count) / len(levels.code)
        return cls(axis, level, node, group, alone, every, gain)


def _number(node: Whole, group: npt.NDArray[np.int32], nodes: int) -> tuple[tuple[Whole, Whole], Whole, Whole]:
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


def grow_groups(
    codes: npt.NDArray[np.int32],
    levels: Sequence[GroupLevels],
    acceptance: Acceptance,
    *,
    progress: Progress | None = None,
) -> tuple[GroupTree, Whole]:
    """The tree for rows with these codes, by axis, and the leaf of every row."""
    growing = _GrowingHierarchy.from_root(codes.shape[1])
    front = Front.root(codes)
    while front.count:
        front = growing.settled(front, front.sizes < 2 * acceptance.least)
        parts = [one for axis, groups in enumerate(levels) for one in Parts.tried(front, axis, groups, acceptance)]
        front = growing.split(front, parts)
        if progress is not None:
            progress(share_done(front, codes.shape[1], acceptance.least))
    return growing.tree(), growing.leaf_of_row


@dataclass(eq=False)
class _GrowingHierarchy:
    """A tree while it grows."""

    nodes: list[tuple[Whole, ...]]
    """Number, axis, level and rest of some nodes, again and again."""
    edges: list[tuple[Whole, ...]]
    """Parent, group and child of some edges, again and again."""
    born: int
    leaves: int
    leaf_of_row: Whole

    @classmethod
    def from_root(cls, rows: int) -> _GrowingHierarchy:
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


def taxonomy_mondrian(
    source: Any,
    roles: Roles,
    hierarchies: Mapping[str, Hierarchy] | None,
    models: Model | Iterable[Model],
    *,
    progress: Progress | None = None,
) -> Recoded:
    """Recode a table by groups of its hierarchies so that every class meets all models, with no row suppressed.

    Columns without a hierarchy are released as they are or as ``*``, class by class. Raises ``OutOfReach`` where the
    whole table as one class breaks a model. It is not differential privacy.
    """
    table = arrow_table(source)
    asked = asked_models(models, roles)
    coded = coded_for(table, roles, asked)
    acceptance = Acceptance.of(coded, asked)
    matched = matched_hierarchies(coded, roles.quasi, hierarchies)
    axes = tuple(Axis.along(name, matched[name]) for name in roles.quasi)
    codes = np.stack([axis.codes(coded[axis.name]) for axis in axes])
    tree, leaf = grow_groups(codes, _levels(axes), acceptance, progress=progress)
    front = Front.grouped(codes, leaf)
    labels = tuple(group_labels(axis, *front.extremes(place)) for place, axis in enumerate(axes))
    return TaxonomyRecoding(roles, asked, axes, labels, tree).published(table, coded, leaf)


@dataclass(frozen=True, eq=False)
class TaxonomyRecoding(LeafRecoding):
    """The groups that were told apart, class by class."""

    tree: GroupTree
    """Which groups were told apart where."""

    def leaf_of(self, positions: Positions) -> Whole:
        """The class that a row falls into; -1 where it would need a group that the fit did not see there."""
        return self.tree.leaf_of(positions // 2, _levels(self.axes))


def _levels(axes: Sequence[Axis]) -> list[GroupLevels]:
    return [axis.levels for axis in axes if axis.levels is not None]
