"""Mondrian: cut the table at medians, again and again, as long as every part meets the models.

This is not differential privacy: where the cuts lie depends on the rows, and what the rows of a class have in common
is told of everybody in it.

Every node is cut at the median of the axis on which it is widest, or on the next axis where both sides would not meet
the models, for all nodes of one depth at once. A strict cut keeps equal values together, and the most even of these
lies directly above or directly below the median value; a relaxed one halves the rows. Nothing recurses, so that skewed
tables, whose trees are deep, are no matter.

Why a strict search gives an axis up for good where the most even cut leaves fewer than k rows on one side: every
other cut along the axis leaves fewer still, and so does every cut of a part of the node.

>>> import pyarrow as pa
>>> from discreet.anonymize.models.k_anonymity import KAnonymity
>>> people = pa.table({"age": [21, 24, 33, 37, 38], "zip": ["A", "B", "A", "A", "B"], "disease": list("ccfcf")})
>>> roles = Roles.of(people.column_names, quasi=["age", "zip"], sensitive="disease")
>>> mondrian(people, roles, [KAnonymity(2)]).table.column("age").to_pylist()
['[21, 33]', '[21, 33]', '[21, 33]', '[37, 38]', '[37, 38]']
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from discreet.anonymize.hierarchies.hierarchy import Hierarchy, matched_hierarchies
from discreet.anonymize.models.model import Model
from discreet.anonymize.models.registry import asked_models
from discreet.anonymize.recode.axes import Axis
from discreet.anonymize.recode.labels import group_labels, range_labels, region_labels, region_sets, set_labels
from discreet.anonymize.recode.partition_tree import (
    LEAF,
    CutTree,
    Flags,
    Front,
    LeafLabels,
    LeafRecoding,
    Places,
    Positions,
    Whole,
)
from discreet.anonymize.recode.recoding import Acceptance, Recoded, coded_for
from discreet.anonymize.roles import Roles
from discreet.anonymize.table import CodedColumn, CodedTable, arrow_table
from discreet.errors import InvalidValue

__all__ = [
    "Labels",
    "MedianCut",
    "MondrianRecoding",
    "Progress",
    "grow_cuts",
    "halves",
    "mondrian",
    "share_done",
    "strict_cuts",
]


_SMALL = 2**31 - 1


@dataclass(frozen=True, eq=False)
class MedianCut:
    """One cut for each of some nodes: rows up to the threshold go below, or only some of those that tie with it."""

    threshold: Whole
    """The largest code below the cut."""
    lower: Whole
    """How many rows go below."""
    upper: Flags
    """For every row of the nodes, whether it goes above."""
    ties: Whole
    """How many rows lie at the threshold, where they are shared out; else 0."""
    lower_ties: Whole
    """How many of them go below; else 0."""


def strict_cuts(owner: Places, codes: npt.NDArray[np.int32], sizes: Places) -> tuple[MedianCut, MedianCut]:
    """The cuts above and below the median value of every node, the more even one first.

    Row ``i`` has ``codes[i]`` and belongs to node ``owner[i]``, which has ``sizes[owner[i]]`` rows.
    """
    radix = int(codes.max(initial=0)) + 1
    keys = np.sort(_keys(owner, codes, radix, len(sizes)))
    first = np.cumsum(sizes) - sizes
    median = keys[first + (sizes - 1) // 2]
    value = median - np.arange(len(sizes)) * radix
    upto = np.searchsorted(keys, median, "right") - first
    below = np.searchsorted(keys, median, "left") - first
    above_first = np.minimum(upto, sizes - upto) >= np.minimum(below, sizes - below)
    return (
        _strict(owner, codes, np.where(above_first, value, value - 1), np.where(above_first, upto, below)),
        _strict(owner, codes, np.where(above_first, value - 1, value), np.where(above_first, below, upto)),
    )


def halves(owner: Places, codes: npt.NDArray[np.int32], sizes: Places) -> MedianCut:
    """The cut of every node into halves. Ties go below in the order in which the rows are given."""
    radix = int(codes.max(initial=0)) + 1
    keys = _keys(owner, codes, radix, len(sizes))
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    first = np.cumsum(sizes) - sizes
    lower = sizes // 2
    last = keys[first + lower - 1]
    upto = np.searchsorted(keys, last, "right") - first
    below = np.searchsorted(keys, last, "left") - first
    upper = np.empty(len(owner), dtype=np.bool_)
    upper[order] = np.arange(len(owner)) >= (first + lower)[owner[order]]
    return MedianCut(last - np.arange(len(sizes)) * radix, lower, upper, upto - below, lower - below)


def _strict(owner: Places, codes: npt.NDArray[np.int32], threshold: Whole, lower: Whole) -> MedianCut:
    none = np.zeros(len(threshold), dtype=np.int64)
    return MedianCut(threshold, lower, codes > threshold[owner], none, none)


def _keys(owner: Places, codes: npt.NDArray[np.int32], radix: int, nodes: int) -> npt.NDArray[np.integer]:
    """One number per row, by node and then by code; a small one where it fits, because it sorts faster."""
    if nodes * radix <= _SMALL:
        return np.asarray(owner.astype(np.int32) * radix + codes)
    return np.asarray(owner * radix + codes)


Progress = Callable[[float], None]
"""Told which share of the work is done, from 0 to 1."""

Scale = npt.NDArray[np.float64]


def grow_cuts(
    codes: npt.NDArray[np.int32],
    scales: Sequence[Scale],
    acceptance: Acceptance,
    *,
    relaxed: bool = False,
    progress: Progress | None = None,
) -> tuple[CutTree, Whole]:
    """The tree for rows with these codes, by axis, and the leaf of every row.

    ``scales[j][c]`` is where code ``c`` lies on axis ``j``, from 0 to 1, so that widths on several axes compare.
    """
    growing = _GrowingTree.from_root(codes.shape[1])
    front = Front.root(codes)
    closed = np.zeros((1, len(codes)), dtype=np.bool_)
    while front.count:
        cuts = _widest_cuts(front, scales, closed, acceptance, relaxed)
        front, closed = growing.split(front, closed, cuts)
        if progress is not None:
            progress(share_done(front, codes.shape[1], acceptance.least))
    return growing.tree(), growing.leaf_of_row


def share_done(front: Front, rows: int, least: int) -> float:
    """Which share of the work is done: a row is as far as its node is small, and done when its node is settled."""
    steps = np.log(rows / front.sizes) / max(np.log(rows / least), 1.0)
    return float(1 - ((1 - np.clip(steps, 0.0, 1.0)) * front.sizes).sum() / max(rows, 1))


@dataclass(frozen=True, eq=False)
class _MedianCuts:
    """The cut of every node of a front: its axis is -1 where there is none."""

    axis: Whole
    threshold: Whole
    ties: Whole
    lower_ties: Whole
    upper: Flags
    """For every row of the front, whether it goes to the upper child."""

    @classmethod
    def none(cls, front: Front) -> _MedianCuts:
        threshold, ties, lower_ties = np.zeros((3, front.count), dtype=np.int64)
        upper = np.zeros(len(front.rows), dtype=np.bool_)
        return cls(np.full(front.count, LEAF, dtype=np.int64), threshold, ties, lower_ties, upper)


def _widest_cuts(
    front: Front, scales: Sequence[Scale], closed: Flags, acceptance: Acceptance, relaxed: bool
) -> _MedianCuts:
    """For every node the acceptable cut along its widest axis; ``closed`` learns which axes are given up."""
    found = _MedianCuts.none(front)
    widths = _widths(front, scales, closed)
    order = np.argsort(-widths, axis=1, kind="stable")
    waiting = np.flatnonzero(front.sizes >= 2 * acceptance.least)
    for turn in range(order.shape[1]):
        waiting = waiting[widths[waiting, order[waiting, turn]] > 0]
        if not len(waiting):
            break
        trial = _Trial.along(front, waiting, order[waiting, turn])
        tried = (trial.halves(),) if relaxed else trial.strict_cuts()
        if not relaxed:
            given_up = trial.smaller_side(tried[0]) < acceptance.least
            closed[waiting[given_up], trial.axis[given_up]] = True
        waiting = waiting[~trial.settled(tried, acceptance, found)]
    return found


def _widths(front: Front, scales: Sequence[Scale], closed: Flags) -> Scale:
    """By node and axis, how far the rows reach; 0 where there is nothing to cut."""
    extremes = [front.extremes(axis) for axis in range(len(scales))]
    reaches = [scale[high] - scale[low] for scale, (low, high) in zip(scales, extremes, strict=True)]
    return np.where(closed, 0.0, np.stack(reaches, axis=1))


@dataclass(frozen=True, eq=False)
class _Trial:
    """Some nodes of a front that are tried to be cut, each along one axis."""

    front: Front
    nodes: Places
    axis: Places
    place: Places
    """Where the rows of the nodes are in the front."""
    owner: Places
    """Which of the nodes each of these rows belongs to."""
    codes: npt.NDArray[np.int32]
    """The code of each of these rows on the axis of its node."""
    sizes: Places
    """How many rows every node has."""

    @classmethod
    def along(cls, front: Front, nodes: Places, axis: Places) -> _Trial:
        place, owner = front.rows_of(nodes)
        return cls(front, nodes, axis, place, owner, front.codes[axis[owner], place], front.sizes[nodes])

    def strict_cuts(self) -> tuple[MedianCut, MedianCut]:
        return strict_cuts(self.owner, self.codes, self.sizes)

    def halves(self) -> MedianCut:
        return halves(self.owner, self.codes, self.sizes)

    def smaller_side(self, cut: MedianCut) -> Whole:
        return np.asarray(np.minimum(cut.lower, self.sizes - cut.lower))

    def settled(self, cuts: Sequence[MedianCut], acceptance: Acceptance, found: _MedianCuts) -> Flags:
        """Note at every node the first cut that the models accept; tells which nodes have one."""
        done = np.zeros(len(self.nodes), dtype=np.bool_)
        for cut in cuts:
            accepted = self._accepted(cut, ~done, acceptance)
            self._note(cut, accepted, found)
            done |= accepted
        return done

    def _accepted(self, cut: MedianCut, asked: Flags, acceptance: Acceptance) -> Flags:
        enough = asked & (self.smaller_side(cut) >= acceptance.least)
        if acceptance.counts_alone or not enough.any():
            return enough
        mine = enough[self.owner]
        number = 2 * (np.cumsum(enough) - 1)[self.owner[mine]] + cut.upper[mine]
        sides = np.stack([cut.lower, self.sizes - cut.lower], axis=1)[enough].ravel()
        broken = acceptance.violating(number, self.front.rows[self.place[mine]], sides)
        accepted = enough.copy()
        accepted[enough] = ~broken.reshape(-1, 2).any(axis=1)
        return accepted

    def _note(self, cut: MedianCut, accepted: Flags, found: _MedianCuts) -> None:
        nodes = self.nodes[accepted]
        found.axis[nodes] = self.axis[accepted]
        found.threshold[nodes] = cut.threshold[accepted]
        found.ties[nodes] = cut.ties[accepted]
        found.lower_ties[nodes] = cut.lower_ties[accepted]
        mine = accepted[self.owner]
        found.upper[self.place[mine]] = cut.upper[mine]


@dataclass(eq=False)
class _GrowingTree:
    """A tree while it grows: what is known of the nodes of every depth so far."""

    rounds: list[_MedianCuts]
    children: list[Whole]
    nodes: int
    leaves: int
    leaf_of_row: Whole

    @classmethod
    def from_root(cls, rows: int) -> _GrowingTree:
        return cls([], [], 1, 0, np.zeros(rows, dtype=np.int64))

    def split(self, front: Front, closed: Flags, cuts: _MedianCuts) -> tuple[Front, Flags]:
        """The front of the children; nodes without a cut become leaves."""
        leaf = cuts.axis == LEAF
        inner = np.flatnonzero(~leaf)
        child = np.where(leaf, self.leaves + np.cumsum(leaf) - 1, self.nodes + 2 * (np.cumsum(~leaf) - 1))
        self._settle(front, leaf, child)
        self.rounds.append(cuts)
        self.children.append(child)
        born = np.arange(self.nodes, self.nodes + 2 * len(inner))
        self.nodes += len(born)
        place, owner = front.rows_of(inner)
        left = front.narrowed(inner)
        return left.regrouped(born, 2 * owner + cuts.upper[place]), np.repeat(closed[inner], 2, axis=0)

    def _settle(self, front: Front, leaf: Flags, child: Whole) -> None:
        settled = np.flatnonzero(leaf)
        place, owner = front.rows_of(settled)
        self.leaf_of_row[front.rows[place]] = child[settled][owner]
        self.leaves += len(settled)

    def tree(self) -> CutTree:
        def joined(name: str) -> Whole:
            return np.concatenate([getattr(cuts, name) for cuts in self.rounds])

        threshold = 2 * joined("threshold")  # positions are twice the codes
        return CutTree(joined("axis"), threshold, joined("ties"), joined("lower_ties"), np.concatenate(self.children))


Labels = Literal["range", "set", "hierarchy"]
"""How classes are written: numbers as ranges and the rest as sets, all as sets, or by the groups of hierarchies."""


def mondrian(
    source: Any,
    roles: Roles,
    models: Model | Iterable[Model],
    *,
    hierarchies: Mapping[str, Hierarchy] | None = None,
    relaxed: bool = False,
    labels: Labels = "range",
    tight: bool = True,
    progress: Progress | None = None,
) -> Recoded:
    """Recode a table so that every class meets all models, with no row suppressed. It is not differential privacy.

    Strict cuts keep equal values together; relaxed ones halve the rows, so that classes overlap and are smaller. With
    ``hierarchies``, cuts run through text in the order of its groups; ``labels="hierarchy"`` writes those groups, and
    columns without a hierarchy as ranges or sets. Tight labels tell what the rows of a class have; others tell what
    the cuts allow, and are true of rows that come later too. Raises ``OutOfReach`` where the whole table as one class
    breaks a model.
    """
    if labels not in get_args(Labels):
        raise InvalidValue("labels must be known", labels, f"one of {', '.join(get_args(Labels))}")
    table = arrow_table(source)
    asked = asked_models(models, roles)
    coded = coded_for(table, roles, asked)
    acceptance = Acceptance.of(coded, asked)
    axes = _axes(coded, roles, hierarchies or {}, labels)
    codes = np.stack([axis.codes(coded[axis.name]) for axis in axes])
    tree, leaf = grow_cuts(codes, [axis.scale for axis in axes], acceptance, relaxed=relaxed, progress=progress)
    written = _tight(axes, codes, leaf, labels) if tight else _regions(axes, tree, labels)
    recoding = MondrianRecoding(roles, asked, axes, written, tree)
    return recoding.published(table, coded, leaf)


@dataclass(frozen=True, eq=False)
class MondrianRecoding(LeafRecoding):
    """The cuts that Mondrian found, with a label for every part on every axis."""

    tree: CutTree
    """The cuts."""

    def leaf_of(self, positions: Positions) -> Whole:
        """The part that a row falls into; there is one for every row."""
        return self.tree.leaf_of(positions)


def _axes(table: CodedTable, roles: Roles, given: Mapping[str, Hierarchy], labels: Labels) -> tuple[Axis, ...]:
    matched = matched_hierarchies(table, roles.quasi, given)
    return tuple(_axis(table[name], matched[name] if name in given else None, labels) for name in roles.quasi)


def _axis(column: CodedColumn, hierarchy: Hierarchy | None, labels: Labels) -> Axis:
    """Numbers and dates keep their own order, unless the groups of a hierarchy are to be written."""
    own = Axis.of(column)
    if hierarchy is None or (own.is_measured and labels != "hierarchy"):
        return own
    return Axis.along(column.name, hierarchy)


def _tight(axes: Sequence[Axis], codes: Positions, leaf: Whole, labels: Labels) -> tuple[LeafLabels, ...]:
    front = Front.grouped(codes, leaf)
    return tuple(_tight_on(axis, front, place, labels) for place, axis in enumerate(axes))


def _tight_on(axis: Axis, front: Front, place: int, labels: Labels) -> LeafLabels:
    if labels == "hierarchy" and axis.levels is not None:
        return group_labels(axis, *front.extremes(place))
    if labels != "set" and axis.is_measured:
        return range_labels(axis, front, place)
    return set_labels(axis, front, place)


def _regions(axes: Sequence[Axis], tree: CutTree, labels: Labels) -> tuple[LeafLabels, ...]:
    lows, highs = tree.regions([axis.highest for axis in axes])
    return tuple(_region_on(*found, labels) for found in zip(axes, lows, highs, strict=True))


def _region_on(axis: Axis, low: Whole, high: Whole, labels: Labels) -> LeafLabels:
    if labels == "hierarchy" and axis.levels is not None:
        return group_labels(axis, (low + 1) // 2, np.minimum(high // 2, len(axis.values) - 1))
    if labels != "set" and axis.is_measured:
        return region_labels(axis, low, high)
    return region_sets(axis, low, high)
