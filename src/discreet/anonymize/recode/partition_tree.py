"""Recodings by a tree whose leaves are classes: every row goes to a leaf and gets the labels of the leaf.

In a tree of cuts every inner node asks whether a row lies up to a threshold on one axis. Rows are given by their
positions on the axes (see ``axes``). Every row there can be falls into exactly one leaf, also rows that were not there
when the tree was grown.

In a tree of groups every inner node asks for the group of a row at one level of one hierarchy. A node has a child for
each of some groups, and where others remained a child for the rest. A row of a group that the fit never saw there goes
to the rest; where there is none, it belongs to no class.

The nodes that may still be split have their rows side by side, so that all are worked on at once. A label must be true
of each row that gets it: a row that the labels of its leaf do not cover is not released: they would not be true of it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from discreet.anonymize.equivalence_classes import SUPPRESSED_ROW
from discreet.anonymize.models.model import Model
from discreet.anonymize.recode.axes import Axis, GroupLevels
from discreet.anonymize.recode.recoding import Recoded, Recoding, coded_for, releasable, release
from discreet.anonymize.roles import Roles
from discreet.anonymize.table import CodedTable, arrow_table

__all__ = [
    "LEAF",
    "NOWHERE",
    "Cover",
    "CutTree",
    "Flags",
    "Front",
    "GroupTree",
    "LeafLabels",
    "LeafRecoding",
    "PairCover",
    "Places",
    "Positions",
    "Shares",
    "SpanCover",
    "Whole",
]


Positions = npt.NDArray[np.int32]
"""For every axis and row, where the row lies: an even number at a known value, an odd one between two of them."""

LEAF = -1
"""The axis of a node that is not cut."""


@dataclass(frozen=True, eq=False)
class CutTree:
    """The nodes of a tree by number; node 0 is the root. The children of a node are neighbours: lower, then upper."""

    axis: npt.NDArray[np.int64]
    """The axis along which a node is cut; -1 for a leaf."""
    threshold: npt.NDArray[np.int64]
    """The last position of the lower child."""
    ties: npt.NDArray[np.int64]
    """A relaxed cut shares out the rows at the threshold: how many there were."""
    lower_ties: npt.NDArray[np.int64]
    """How many of them went to the lower child. All of them in a strict cut."""
    child: npt.NDArray[np.int64]
    """The lower child of a node; the class number of a leaf."""

    @property
    def leaves(self) -> int:
        """How many leaves there are."""
        return int((self.axis == LEAF).sum())

    def leaf_of(self, positions: Positions) -> npt.NDArray[np.int64]:
        """The class number of every row. Rows that tie at a relaxed cut are shared out as they were in the fit.

        Ties are broken by the other positions, in the order of the axes, and then by the order of the rows.
        """
        rows = np.lexsort(positions[::-1])
        node = np.zeros(len(rows), dtype=np.int64)
        moving = np.arange(len(rows)) if self.axis[0] != LEAF else np.arange(0)
        while len(moving):
            at = node[moving]
            place = positions[self.axis[at], rows[moving]]
            node[moving] = self.child[at] + self._upper(at, place)
            moving = moving[self.axis[node[moving]] != LEAF]
        found = np.empty(len(rows), dtype=np.int64)
        found[rows] = self.child[node]
        return found

    def regions(self, highest: Sequence[int]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """By axis and leaf, the lowest and the highest position that falls into the leaf; -1 is below all values.

        ``highest`` is the highest position there can be, by axis.
        """
        low = np.full((len(highest), len(self.axis)), -1, dtype=np.int64)
        high = np.repeat(np.array(highest)[:, None], len(self.axis), axis=1)
        wave = np.flatnonzero(self.axis[:1] != LEAF)
        while len(wave):
            lower, axis = self.child[wave], self.axis[wave]
            for child in (lower, lower + 1):
                low[:, child], high[:, child] = low[:, wave], high[:, wave]
            high[axis, lower] = self.threshold[wave]
            low[axis, lower + 1] = self.threshold[wave] + (self.lower_ties[wave] == self.ties[wave])
            wave = np.concatenate([lower, lower + 1])
            wave = wave[self.axis[wave] != LEAF]
        leaf = np.flatnonzero(self.axis == LEAF)
        leaf = leaf[np.argsort(self.child[leaf])]
        return low[:, leaf], high[:, leaf]

    def _upper(self, node: npt.NDArray[np.int64], place: npt.NDArray[np.int32]) -> npt.NDArray[np.bool_]:
        upper = place > self.threshold[node]
        tied = np.flatnonzero((place == self.threshold[node]) & (self.lower_ties[node] < self.ties[node]))
        if len(tied):
            upper[tied] = self._tied_upper(node[tied])
        return upper

    def _tied_upper(self, node: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
        """Of the rows that tie at each node, the first ones stay below, in the same share as in the fit."""
        order = np.argsort(node, kind="stable")
        nodes, first, count = np.unique(node[order], return_index=True, return_counts=True)
        quota = (2 * count * self.lower_ties[nodes] + self.ties[nodes]) // (2 * self.ties[nodes])
        rank = np.arange(len(node)) - np.repeat(first, count)
        upper = np.empty(len(node), dtype=np.bool_)
        upper[order] = rank >= np.repeat(quota, count)
        return upper


Whole = npt.NDArray[np.int64]
Places = npt.NDArray[np.intp]
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Front:
    """Nodes, and their rows: those of the first node, then those of the second, and so on."""

    node: Whole
    """The number of every node in its tree."""
    start: Places
    """Where the rows of every node begin; one more entry for the end."""
    rows: Places
    """The rows of the table."""
    codes: npt.NDArray[np.int32]
    """The codes of these rows, by axis."""

    @classmethod
    def root(cls, codes: npt.NDArray[np.int32]) -> Front:
        """All rows in one node, in the order of their codes: it is the same whatever the order of the table is."""
        rows = np.lexsort(codes[::-1])
        return cls(np.zeros(1, dtype=np.int64), np.array([0, len(rows)]), rows, codes[:, rows])

    @classmethod
    def grouped(cls, codes: npt.NDArray[np.int32], number: Whole) -> Front:
        """The rows by the node that each belongs to; nodes are numbered from 0 without gaps."""
        order = np.argsort(number, kind="stable")
        start = np.append(0, np.cumsum(np.bincount(number)))
        return cls(np.arange(len(start) - 1), start, order, codes[:, order])

    @property
    def count(self) -> int:
        """How many nodes there are."""
        return len(self.node)

    @property
    def sizes(self) -> Places:
        """How many rows every node has."""
        return np.diff(self.start)

    def extremes(self, axis: int) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
        """The smallest and the largest code of every node on one axis."""
        first, codes = self.start[:-1], self.codes[axis]
        return np.minimum.reduceat(codes, first), np.maximum.reduceat(codes, first)

    def rows_of(self, chosen: Places) -> tuple[Places, Places]:
        """Where the rows of the chosen nodes are in the front, and which of the chosen nodes each belongs to."""
        sizes = self.sizes[chosen]
        owner = np.repeat(np.arange(len(chosen)), sizes)
        shift = self.start[chosen] - (np.cumsum(sizes) - sizes)
        return np.arange(len(owner)) + shift[owner], owner

    def narrowed(self, chosen: Places) -> Front:
        """The chosen nodes alone."""
        place, _ = self.rows_of(chosen)
        start = np.append(0, np.cumsum(self.sizes[chosen]))
        return Front(self.node[chosen], start, self.rows[place], self.codes[:, place])

    def regrouped(self, node: Whole, number: Whole) -> Front:
        """The front of the nodes ``node``, to which the rows go by ``number``; rows keep their order within a node."""
        order = np.argsort(number, kind="stable")
        start = np.append(0, np.cumsum(np.bincount(number, minlength=len(node))))
        return Front(node, start, self.rows[order], self.codes[:, order])


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


Shares = npt.NDArray[np.float64]


class Cover(ABC):
    """Which positions (see ``axes``) the label of a leaf covers."""

    @abstractmethod
    def covers(self, leaf: Whole, position: npt.NDArray[np.int32]) -> Flags:
        """For every pair of a leaf and a position, whether the label covers it."""


@dataclass(frozen=True, eq=False)
class SpanCover(Cover):
    """Labels that cover everything between two positions, the position of missing cells apart."""

    low: Whole
    """For every leaf the lowest position."""
    high: Whole
    """For every leaf the highest position."""
    missing: Flags
    """For every leaf whether missing cells are covered."""
    missing_position: int | None = None
    """Where missing cells lie, if they are no part of the span."""
    known_only: bool = False
    """Whether values that the fit did not see are left out."""

    def covers(self, leaf: Whole, position: npt.NDArray[np.int32]) -> Flags:
        """Between the ends, or missing where that is covered."""
        within = (self.low[leaf] <= position) & (position <= self.high[leaf])
        if self.known_only:
            within &= position % 2 == 0
        if self.missing_position is None:
            return np.asarray(within)
        return np.asarray(np.where(position == self.missing_position, self.missing[leaf], within))


@dataclass(frozen=True, eq=False)
class PairCover(Cover):
    """Labels that list the values they cover."""

    pairs: Whole
    """Every leaf and code that go together, as one number each, in order."""
    width: int
    """How many codes there are: a pair is leaf · width + code."""

    def covers(self, leaf: Whole, position: npt.NDArray[np.int32]) -> Flags:
        """Whether the value is on the list."""
        keys = leaf * self.width + position // 2
        place = np.minimum(np.searchsorted(self.pairs, keys), len(self.pairs) - 1)
        return np.asarray((self.pairs[place] == keys) & (position >= 0) & (position % 2 == 0))


@dataclass(frozen=True, eq=False)
class LeafLabels:
    """The label of every leaf on one axis."""

    text: tuple[str, ...]
    """The labels, each once."""
    number: Whole
    """For every leaf its label."""
    share: Shares
    """For every leaf the share of the values of the axis that its label covers."""
    cover: Cover
    """Which positions the label of a leaf covers."""


@dataclass(frozen=True, eq=False)
class LeafRecoding(Recoding):
    """A recoding by the leaves of a tree. It holds values and counts of the fitted table, and no rows."""

    roles: Roles
    """The columns by role."""
    models: tuple[Model, ...]
    """What every class meets."""
    axes: tuple[Axis, ...]
    """The quasi-identifiers."""
    labels: tuple[LeafLabels, ...]
    """For every quasi-identifier the label of every leaf."""

    @abstractmethod
    def leaf_of(self, positions: Positions) -> Whole:
        """The leaf of every row with these positions, by axis; -1 where there is none."""

    def transform(self, source: Any) -> pa.Table:
        """The rows recoded in the same way and checked again.

        Rows that no label covers are left out, and so are classes that break a model among the new rows.
        """
        table = arrow_table(source)
        coded = coded_for(table, self.roles, self.models)
        positions = np.stack([axis.positions(coded[axis.name]) for axis in self.axes])
        leaf = self.leaf_of(positions)
        return self.published(table, coded, np.where(self._covered(leaf, positions), leaf, SUPPRESSED_ROW)).table

    def published(self, table: pa.Table, coded: CodedTable, leaf: Whole) -> Recoded:
        """What is released of rows that belong to these leaves; -1 for rows that are left out."""
        cells = [labels.number[leaf] for labels in self.labels]
        kept = releasable(cells, leaf != SUPPRESSED_ROW, coded, self.models)
        at = np.where(kept, leaf, 0)
        columns = {
            axis.name: pa.DictionaryArray.from_arrays(labels.number[at].astype(np.int32), pa.array(labels.text))
            for axis, labels in zip(self.axes, self.labels, strict=True)
        }
        released = release(table, self.roles, columns, kept)
        return Recoded(self, released, self.roles.quasi, int((~kept).sum()), self._losses(at, kept))

    def _covered(self, leaf: Whole, positions: Positions) -> Flags:
        found = leaf != SUPPRESSED_ROW
        for labels, position in zip(self.labels, positions, strict=True):
            found = found & labels.cover.covers(np.maximum(leaf, 0), position)
        return np.asarray(found)

    def _losses(self, leaf: Whole, kept: Flags) -> Mapping[str, float]:
        return {
            axis.name: float(np.where(kept, labels.share[leaf], 1.0).mean()) if len(leaf) else 0.0
            for axis, labels in zip(self.axes, self.labels, strict=True)
        }
