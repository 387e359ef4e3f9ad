"""Growing a tree of cuts: Mondrian's search, for all nodes of one depth at once.

Every node is cut at the median of the axis on which it is widest, or on the next axis where both sides would not meet
the models. A strict cut keeps equal values together; a relaxed one halves the rows. Nothing recurses, so that skewed
tables, whose trees are deep, are no matter.

Why a strict search gives an axis up for good where the most even cut leaves fewer than k rows on one side: every
other cut along the axis leaves fewer still, and so does every cut of a part of the node.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from discreet.anonymize.acceptance import Acceptance
from discreet.anonymize.cuts import LEAF, CutTree
from discreet.anonymize.front import Flags, Front, Places, Whole
from discreet.anonymize.medians import Cut, halves, strict_cuts

__all__ = ["Progress", "grow_cuts", "share_done"]

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
    growing = _Growing.from_root(codes.shape[1])
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
class _Cuts:
    """The cut of every node of a front: its axis is -1 where there is none."""

    axis: Whole
    threshold: Whole
    ties: Whole
    lower_ties: Whole
    upper: Flags
    """For every row of the front, whether it goes to the upper child."""

    @classmethod
    def none(cls, front: Front) -> _Cuts:
        threshold, ties, lower_ties = np.zeros((3, front.count), dtype=np.int64)
        upper = np.zeros(len(front.rows), dtype=np.bool_)
        return cls(np.full(front.count, LEAF, dtype=np.int64), threshold, ties, lower_ties, upper)


def _widest_cuts(front: Front, scales: Sequence[Scale], closed: Flags, acceptance: Acceptance, relaxed: bool) -> _Cuts:
    """For every node the acceptable cut along its widest axis; ``closed`` learns which axes are given up."""
    found = _Cuts.none(front)
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

    def strict_cuts(self) -> tuple[Cut, Cut]:
        return strict_cuts(self.owner, self.codes, self.sizes)

    def halves(self) -> Cut:
        return halves(self.owner, self.codes, self.sizes)

    def smaller_side(self, cut: Cut) -> Whole:
        return np.asarray(np.minimum(cut.lower, self.sizes - cut.lower))

    def settled(self, cuts: Sequence[Cut], acceptance: Acceptance, found: _Cuts) -> Flags:
        """Note at every node the first cut that the models accept; tells which nodes have one."""
        done = np.zeros(len(self.nodes), dtype=np.bool_)
        for cut in cuts:
            accepted = self._accepted(cut, ~done, acceptance)
            self._note(cut, accepted, found)
            done |= accepted
        return done

    def _accepted(self, cut: Cut, asked: Flags, acceptance: Acceptance) -> Flags:
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

    def _note(self, cut: Cut, accepted: Flags, found: _Cuts) -> None:
        nodes = self.nodes[accepted]
        found.axis[nodes] = self.axis[accepted]
        found.threshold[nodes] = cut.threshold[accepted]
        found.ties[nodes] = cut.ties[accepted]
        found.lower_ties[nodes] = cut.lower_ties[accepted]
        mine = accepted[self.owner]
        found.upper[self.place[mine]] = cut.upper[mine]


@dataclass(eq=False)
class _Growing:
    """A tree while it grows: what is known of the nodes of every depth so far."""

    rounds: list[_Cuts]
    children: list[Whole]
    nodes: int
    leaves: int
    leaf_of_row: Whole

    @classmethod
    def from_root(cls, rows: int) -> _Growing:
        return cls([], [], 1, 0, np.zeros(rows, dtype=np.int64))

    def split(self, front: Front, closed: Flags, cuts: _Cuts) -> tuple[Front, Flags]:
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
