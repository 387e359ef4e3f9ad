"""Merging groups that break a model with the nearest others, until none is left that does.

Merging groups that meet a model keeps it, and all rows as one group meet all models, so this comes to an end.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from discreet.anonymize.acceptance import Acceptance

__all__ = ["merged_until_accepted"]

Whole = npt.NDArray[np.int64]
Points = npt.NDArray[np.float64]


def merged_until_accepted(group: Whole, points: Points, acceptance: Acceptance) -> Whole:
    """For every row its group, after each refused group was merged with the one whose middle is nearest."""
    while True:
        sizes = np.bincount(group)
        refused = np.flatnonzero(acceptance.violating(group, np.arange(len(group)), sizes))
        if not len(refused) or len(sizes) == 1:
            return group
        group = _joined(refused, _nearest_other(_middles(group, points, sizes), refused), len(sizes))[group]


def _middles(group: Whole, points: Points, sizes: Whole) -> Points:
    return np.stack([np.bincount(group, side) for side in points.T], axis=1) / sizes[:, None]


def _nearest_other(middles: Points, refused: Whole) -> Whole:
    """For every refused group another one with the nearest middle."""
    from scipy.spatial import KDTree  # noqa: PLC0415  an import of a third of a second, for those who need it

    found = np.asarray(KDTree(middles).query(middles[refused], k=2)[1])
    return np.where(found[:, 0] == refused, found[:, 1], found[:, 0])


def _joined(one: Whole, other: Whole, groups: int) -> Whole:
    """For every group the number of what it is part of when these pairs are joined."""
    from scipy.sparse import coo_array  # noqa: PLC0415  an import of a third of a second, for those who need it
    from scipy.sparse.csgraph import connected_components  # noqa: PLC0415

    pairs = coo_array((np.ones(len(one)), (one, other)), shape=(groups, groups))
    _, number = connected_components(pairs, directed=False)
    return np.asarray(number, dtype=np.int64)
