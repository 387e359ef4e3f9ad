"""A hierarchy laid out along a line: the codes of every group are consecutive, and the top is one group.

Then what some rows have in common is told by the smallest and the largest of their codes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from discreet.anonymize.coded import Codes
from discreet.anonymize.hierarchy import SUPPRESSED, Hierarchy

__all__ = ["GroupLevels"]


@dataclass(frozen=True, eq=False)
class GroupLevels:
    """For every level and code the group, and what every group covers."""

    hierarchy: Hierarchy
    """Where the groups are from; its top is one group."""
    code: Codes
    """For every leaf of the hierarchy its code."""
    group: Codes
    """By level and code, the group."""
    leaves: npt.NDArray[np.int64]
    """By level and group, how many leaves it holds."""

    @classmethod
    def of(cls, hierarchy: Hierarchy) -> GroupLevels:
        """The layout in depth-first order. Leaves keep their order wherever the groups allow it."""
        tree = _with_one_top(hierarchy)
        order = np.lexsort([_by_first_leaf(level) for level in tree.levels])  # the last key, the top, comes first
        code = np.empty(len(order), dtype=np.int32)
        code[order] = np.arange(len(order), dtype=np.int32)
        counts = [np.bincount(level, minlength=len(order)) for level in tree.levels]
        return cls(tree, code, np.stack(tree.levels)[:, order], np.stack(counts))

    def shared(self, low: npt.NDArray[np.integer], high: npt.NDArray[np.integer]) -> npt.NDArray[np.int64]:
        """The lowest level at which two codes, and so all codes between them, are in one group."""
        return np.asarray((self.group[:, low] != self.group[:, high]).sum(axis=0), dtype=np.int64)

    def spans(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """By level and group, its first and its last code."""
        first, last = np.zeros(self.group.shape, dtype=np.int64), np.zeros(self.group.shape, dtype=np.int64)
        codes = np.arange(self.group.shape[1])
        for level, groups in enumerate(self.group):
            first[level, groups[::-1]] = codes[::-1]
            last[level, groups] = codes
        return first, last


def _by_first_leaf(level: Codes) -> npt.NDArray[np.intp]:
    """For every leaf the first leaf of its group."""
    _, first, inverse = np.unique(level, return_index=True, return_inverse=True)
    return np.asarray(first[inverse])


def _with_one_top(hierarchy: Hierarchy) -> Hierarchy:
    """Rows that share no group are told apart by nothing but suppression."""
    if hierarchy.groups(hierarchy.height) <= 1:
        return hierarchy
    top = np.zeros(len(hierarchy.values), dtype=np.int32)
    return Hierarchy(hierarchy.values, (*hierarchy.levels, top), (*hierarchy.labels, (SUPPRESSED,)))
