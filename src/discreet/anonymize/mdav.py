"""Groups of at least k near points: MDAV, the maximum distance to the average vector.

Again and again the point that is farthest from the middle forms a group with the points nearest to it, and so does the
point farthest from it. Large tables are cut into blocks first, since every group looks at every point that is left.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt

__all__ = ["mdav"]

Whole = npt.NDArray[np.int64]
Points = npt.NDArray[np.float64]
Places = npt.NDArray[np.intp]

_BLOCK = 2048


def mdav(points: Points, counts: Whole, k: int, progress: Callable[[float], None] | None = None) -> Whole:
    """For every point its group. Point ``i`` stands for ``counts[i]`` rows; each group has at least k rows."""
    group = np.zeros(len(points), dtype=np.int64)
    found = done = 0
    for block in _blocks(points, max(_BLOCK, 4 * k)):
        members = list(_block_groups(points[block], counts[block], k))
        for number, places in enumerate(members, start=found):
            group[block[places]] = number
        found += len(members)
        done += len(block)
        if progress is not None:
            progress(done / len(points))
    return group


def _blocks(points: Points, most: int) -> Iterator[Places]:
    """The points in blocks of at most ``most``, halved along their widest side."""
    waiting = [np.arange(len(points))]
    while waiting:
        block = waiting.pop()
        if len(block) <= most:
            yield block
            continue
        side = int(np.argmax(np.ptp(points[block], axis=0)))
        halves = np.argpartition(points[block, side], len(block) // 2)
        waiting += [block[halves[: len(block) // 2]], block[halves[len(block) // 2 :]]]


def _block_groups(points: Points, counts: Whole, k: int) -> Iterator[Places]:
    """The groups of one block. What is left in the end, fewer than 2k rows, is a group or joins the last one."""
    left = np.arange(len(points))
    last: Places = left[:0]
    far_from = None
    while counts[left].sum() >= 2 * k:
        middle = np.average(points[left], axis=0, weights=counts[left]) if far_from is None else far_from
        seed = left[np.argmax(_distances(points[left], middle))]
        if len(last):
            yield last
        last = _nearest(points, counts, left, points[seed], k)
        left = left[~np.isin(left, last, assume_unique=True)]
        far_from = points[seed] if far_from is None else None
    if counts[left].sum() >= k and len(last):
        yield last
        last = left[:0]
    yield np.concatenate([last, left])


def _nearest(points: Points, counts: Whole, left: Places, seed: Points, k: int) -> Places:
    """The points nearest to a seed, as many as have k rows."""
    distances = _distances(points[left], seed)
    few = np.argpartition(distances, k - 1)[:k] if len(left) > k else np.arange(len(left))
    few = few[np.argsort(distances[few], kind="stable")]
    needed = int(np.searchsorted(np.cumsum(counts[left[few]]), k)) + 1
    return left[few[:needed]]


def _distances(points: Points, centre: Points) -> Points:
    apart = points - centre
    return np.asarray(np.einsum("ij,ij->i", apart, apart))
