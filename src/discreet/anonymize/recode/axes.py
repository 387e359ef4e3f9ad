"""A quasi-identifier as an axis: its values in the order in which cuts run, each with a code.

Numbers, dates and text run in their own order, and missing cells come last. With a hierarchy the values run through
it depth first, so that neighbours are related. The position of a value is twice its code; a value that the fit did
not see lies between two known ones, at an odd position.

Along such a line the codes of every group of the hierarchy are consecutive, and the top is one group. So what some rows
have in common is told by the smallest and the largest of their codes.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

import numpy as np
import numpy.typing as npt

from discreet.anonymize.hierarchies.hierarchy import SUPPRESSED, Hierarchy
from discreet.anonymize.table import CodedColumn, Codes, label_of
from discreet.errors import InvalidType

__all__ = ["UNKNOWN", "Axis", "GroupLevels"]


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


UNKNOWN = -2
"""The position of a missing cell where the fit saw none."""


@dataclass(frozen=True, eq=False)
class Axis:
    """The values of a column along a line."""

    name: str
    """The column."""
    values: tuple[Any, ...]
    """The values by code; None, the missing value, is the last one unless a hierarchy places it."""
    scale: npt.NDArray[np.float64]
    """Where every value lies from 0 to 1: numbers and dates by their size, others by their rank."""
    levels: GroupLevels | None = None
    """The groups of a hierarchy."""

    @classmethod
    def of(cls, column: CodedColumn) -> Axis:
        """The values of a column in their own order."""
        return cls(column.name, column.values, _scale(column.values))

    @classmethod
    def along(cls, name: str, hierarchy: Hierarchy) -> Axis:
        """The values of a hierarchy, those of one group next to each other."""
        levels = GroupLevels.of(hierarchy)
        order = np.argsort(levels.code)
        values = tuple(levels.hierarchy.values[leaf] for leaf in order)
        return cls(name, values, np.arange(len(values)) / max(len(values) - 1, 1), levels)

    @property
    def ends_missing(self) -> bool:
        """Whether the last code is that of missing cells."""
        return bool(self.values) and self.values[-1] is None

    @property
    def highest(self) -> int:
        """The highest position there can be: above all values, or that of missing cells."""
        return 2 * len(self.values) - (2 if self.ends_missing else 1)

    @property
    def is_measured(self) -> bool:
        """Whether the values are numbers or dates, so that a range of them means something."""
        present = [value for value in self.values if value is not None]
        measured = (int, float, Decimal, date, time, timedelta)
        return bool(present) and all(isinstance(one, measured) and not isinstance(one, bool) for one in present)

    def label(self, code: int) -> str:
        """How a value is written."""
        return label_of(self.values[code])

    def positions(self, column: CodedColumn) -> npt.NDArray[np.int32]:
        """The position of every row of a column."""
        if self.levels is not None:
            places = 2 * self.levels.code[self.levels.hierarchy.places(column)]
        else:
            places = np.array([self._position(value) for value in column.values], dtype=np.int32)
        return places[column.codes]

    def codes(self, column: CodedColumn) -> Codes:
        """The code of every row of a column, all of whose values are on the axis."""
        return self.positions(column) // 2

    def _position(self, value: Any) -> int:
        if value is None:
            return 2 * (len(self.values) - 1) if self.ends_missing else UNKNOWN
        known = len(self.values) - self.ends_missing
        try:
            place = bisect_left(self.values, value, hi=known)
        except TypeError:
            rule = f"the values of '{self.name}' must be of the same type as in the fit"
            raise InvalidType(rule, value, f"such as {self.values[0]!r}") from None
        return 2 * place if place < known and self.values[place] == value else 2 * place - 1


def _scale(values: tuple[Any, ...]) -> npt.NDArray[np.float64]:
    """Numbers and dates by their size, others by their rank; missing cells one rank beyond the rest."""
    present = [value for value in values if value is not None]
    sizes = np.array(_sizes(present))
    with np.errstate(over="ignore", invalid="ignore"):
        reach = sizes[-1] - sizes[0] if len(sizes) else 0.0
    if not 0 < reach < math.inf:
        sizes, reach = np.arange(len(present), dtype=np.float64), max(len(present) - 1, 1)
    found = (sizes - sizes[:1]) / reach
    if len(present) == len(values):
        return np.asarray(found)
    return np.append(found * (1 - 1 / len(values)), 1.0)


def _sizes(present: list[Any]) -> list[float]:
    """How large every value is; its rank where that has no meaning."""
    for kinds, size in _MEASURES:
        if all(isinstance(value, kinds) for value in present):
            return [float(size(value)) for value in present]
    return [float(rank) for rank in range(len(present))]


def _seconds(moment: datetime) -> float:
    return (moment.replace(tzinfo=None) - datetime.min).total_seconds()


_MEASURES: tuple[tuple[tuple[type, ...], Callable[[Any], float]], ...] = (
    ((int, float, Decimal), float),
    ((datetime,), _seconds),
    ((date,), date.toordinal),
    ((timedelta,), timedelta.total_seconds),
)
