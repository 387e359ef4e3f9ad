"""Hierarchies as plain data: for every value, the group it belongs to at every level.

>>> zips = Hierarchy.of(["13053", "13068", "14850"], [["130**", "130**", "148**"], ["*", "*", "*"]])
>>> zips.height, zips.groups(1), zips.label(1, 0)
(2, 2, '130**')

It is built for the distinct values of a column, an array or a list. A table needs one for each quasi-identifier, and
`matched_hierarchies` makes them ready to be used on it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from discreet.anonymize.table import MISSING, CodedColumn, CodedTable, Codes, label_of
from discreet.catalog.names import suggestion
from discreet.errors import InvalidType, InvalidValue

__all__ = [
    "SUPPRESSED",
    "Hierarchy",
    "Values",
    "completed",
    "matched_hierarchies",
    "present_values",
    "refuse_duplicates",
]


SUPPRESSED = "*"
"""How a value is written of which nothing is told."""

_MOST_NAMED = 10


@dataclass(frozen=True, eq=False)
class Hierarchy:
    """Groups of values, coarser from level to level. Level 0 is the values themselves."""

    values: tuple[Any, ...]
    """The leaves: every value that the column may hold."""
    levels: tuple[Codes, ...]
    """For every level the group number of every leaf."""
    labels: tuple[tuple[str, ...], ...]
    """For every level the label of every group, each a different one."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "levels", tuple(_frozen(level) for level in self.levels))
        _refuse_shapes(self)
        refuse_duplicates(self.values)
        for level, labels in enumerate(self.labels):
            _refuse_shared_labels(level, labels)
        for level in range(self.height):
            _refuse_crossing(self, level)

    @classmethod
    def of(cls, values: Iterable[Any], levels: Sequence[Sequence[str]]) -> Hierarchy:
        """The hierarchy where leaf ``i`` is written ``levels[l - 1][i]`` at level ``l``; equal labels are a group."""
        leaves = tuple(values)
        refuse_duplicates(leaves)
        for number, level in enumerate(levels, start=1):
            if len(level) != len(leaves):
                rule = f"level {number} must label every one of the {len(leaves)} values"
                raise InvalidValue(rule, len(level))
        numbered = [_number(level) for level in levels]
        identity = np.arange(len(leaves), dtype=np.int32)
        names = tuple(label_of(leaf) for leaf in leaves)
        return cls(leaves, (identity, *(codes for codes, _ in numbered)), (names, *(labels for _, labels in numbered)))

    @classmethod
    def suppressing(cls, values: Iterable[Any]) -> Hierarchy:
        """The hierarchy with two levels: the value, or nothing."""
        leaves = tuple(values)
        return cls.of(leaves, [[SUPPRESSED] * len(leaves)])

    @property
    def height(self) -> int:
        """How many steps there are from the values to the coarsest groups."""
        return len(self.levels) - 1

    def groups(self, level: int) -> int:
        """How many groups a level has."""
        return len(self.labels[level])

    def label(self, level: int, group: int) -> str:
        """How a group is written."""
        return self.labels[level][group]

    def written(self, level: int) -> list[str]:
        """How every leaf is written at a level."""
        return [self.labels[level][group] for group in self.levels[level]]

    def leaves_in(self, level: int) -> npt.NDArray[np.int64]:
        """For every group of a level, how many leaves it holds."""
        return np.bincount(self.levels[level], minlength=self.groups(level))

    def parents(self, level: int) -> Codes:
        """For every group of a level, its group one level up."""
        found = np.zeros(self.groups(level), dtype=np.int32)
        found[self.levels[level]] = self.levels[level + 1]
        return found

    def children(self, level: int, group: int) -> Codes:
        """The groups one level down that a group is made of."""
        return np.flatnonzero(self.parents(level - 1) == group).astype(np.int32)

    def ancestors(self, level: int, group: int) -> tuple[int, ...]:
        """The groups that hold a group, from its own level to the coarsest."""
        leaf = int(np.argmax(self.levels[level] == group))
        return tuple(int(codes[leaf]) for codes in self.levels[level:])

    def places(self, column: CodedColumn) -> npt.NDArray[np.intp]:
        """For every value of a column its place among the leaves; refuses values that no leaf stands for."""
        found, keys = self._keyed(column)
        missed = self.lacking(column)
        if missed:
            remedy = _remedy(missed, self.values)
            rule = f"the hierarchy of '{column.name}' must hold every value of the column; it lacks {_name(missed)}"
            raise InvalidValue(rule, None, remedy)
        return np.array([found[key] for key in keys], dtype=np.intp)

    def lacking(self, column: CodedColumn) -> list[Any]:
        """The values of a column that no leaf stands for."""
        found, keys = self._keyed(column)
        return [value for value, key in zip(column.values, keys, strict=True) if key not in found]

    def _keyed(self, column: CodedColumn) -> tuple[dict[Any, int], Sequence[Any]]:
        """The place of every leaf, and by which key every value of a column is looked up: itself, or its label."""
        spelled = _are_text(self.values) and not _are_text(column.values)
        found = {label_of(leaf) if spelled else leaf: place for place, leaf in enumerate(self.values)}
        return found, column.labels if spelled else column.values

    def coded(self, column: CodedColumn) -> Codes:
        """The matrix whose cell (level, code) is the group of a value of ``column``: ``coded[level][column.codes]``."""
        places = self.places(column)
        return np.stack([level[places] for level in self.levels])

    def with_missing(self) -> Hierarchy:
        """The same hierarchy with a leaf for the missing value: a group of its own, and part of a top that is one."""
        if None in self.values:
            return self
        levels = [[*self.written(level), self._missing_at(level)] for level in range(1, self.height + 1)]
        return Hierarchy.of((*self.values, None), levels)

    def _missing_at(self, level: int) -> str:
        top = level == self.height and self.groups(level) == 1
        return self.labels[level][0] if top else MISSING


def refuse_duplicates(values: Sequence[Any]) -> None:
    """Refuse values that occur twice, and name them."""
    twice = [value for value, times in Counter(values).items() if times > 1]
    if twice:
        raise InvalidValue(f"every value must occur once; {_name(twice)} occur more often")


def _name(values: Sequence[Any]) -> str:
    """Some of the values in words, and how many more there are. An error would cut a list short."""
    more = f" and {len(values) - _MOST_NAMED} more" if len(values) > _MOST_NAMED else ""
    listed = ", ".join(MISSING if value is None else repr(value) for value in values[:_MOST_NAMED])
    return f"{listed}{more}"


def _remedy(missed: Sequence[Any], leaves: Sequence[Any]) -> str:
    theirs, ours = ({type(value).__name__ for value in values if value is not None} for values in (missed, leaves))
    if theirs and ours and not theirs & ours:
        return f"the values of the column are {' and '.join(sorted(theirs))}, its own are {' and '.join(sorted(ours))}"
    return f"add {'them' if len(missed) > 1 else 'it'}, with a group at each level"


def _are_text(values: Sequence[Any]) -> bool:
    return all(isinstance(value, str) for value in values if value is not None)


def _frozen(level: npt.ArrayLike) -> Codes:
    codes = np.array(level, dtype=np.int32)
    codes.setflags(write=False)
    return codes


def _number(labels: Sequence[str]) -> tuple[Codes, tuple[str, ...]]:
    written = [label_of(label) for label in labels]
    numbers = {label: number for number, label in enumerate(dict.fromkeys(written))}
    return np.array([numbers[label] for label in written], dtype=np.int32), tuple(numbers)


def _refuse_shapes(hierarchy: Hierarchy) -> None:
    leaves = len(hierarchy.values)
    if not hierarchy.levels or not np.array_equal(hierarchy.levels[0], np.arange(leaves)):
        raise InvalidValue("level 0 of a hierarchy must be the values themselves")
    if len(hierarchy.labels) != len(hierarchy.levels):
        raise InvalidValue("every level must have labels", len(hierarchy.labels), f"{len(hierarchy.levels)} are needed")
    for number, (level, labels) in enumerate(zip(hierarchy.levels, hierarchy.labels, strict=True)):
        if level.shape != (leaves,) or not np.array_equal(np.unique(level), np.arange(len(labels))):
            rule = f"level {number} must give every value a group, numbered from 0, with a label each"
            raise InvalidValue(rule, level.tolist())


def _refuse_shared_labels(level: int, labels: Sequence[str]) -> None:
    """Two groups with one label could not be told apart in the release."""
    shared = [label for label, times in Counter(labels).items() if times > 1]
    if shared:
        raise InvalidValue(f"the groups of level {level} must have different labels; {_name(shared)} are shared")


def _refuse_crossing(hierarchy: Hierarchy, level: int) -> None:
    crossing = hierarchy.parents(level)[hierarchy.levels[level]] != hierarchy.levels[level + 1]
    split = np.unique(hierarchy.levels[level][crossing])
    if len(split):
        names = [hierarchy.labels[level][group] for group in split]
        rule = f"what is together at level {level} must stay together at level {level + 1}; {_name(names)} is split"
        raise InvalidValue(rule, None, "give all values of a group the same group above")


Values = CodedColumn | Iterable[Any]
"""A coded column, or anything with values: a list, a range, an array, a column of a frame."""


def present_values(values: Values) -> tuple[list[Any], bool]:
    """The distinct values in their order, as plain Python values, and whether a missing one was among them."""
    plain = _plain(values)
    present = list(dict.fromkeys(value for value in plain if not _is_missing(value)))
    return present, any(map(_is_missing, plain))


def completed(hierarchy: Hierarchy, has_missing: bool) -> Hierarchy:
    """The hierarchy, with a leaf for the missing value where there was one."""
    return hierarchy.with_missing() if has_missing else hierarchy


def _plain(values: Any) -> list[Any]:
    if isinstance(values, CodedColumn):
        return list(values.values)
    for plainly in ("to_pylist", "tolist", "to_list"):  # Arrow, NumPy and pandas, Polars
        if hasattr(values, plainly):
            return list(getattr(values, plainly)())
    return list(values)


def _is_missing(value: Any) -> bool:
    return value is None or value != value  # NaN and NaT differ from themselves


def matched_hierarchies(
    table: CodedTable, quasi: Sequence[str], given: Mapping[str, Hierarchy] | None = None
) -> dict[str, Hierarchy]:
    """The hierarchies of the columns ``quasi``, each of which holds every value of its column.

    A column without a hierarchy is released as it is or not at all. Where a column has missing cells and its hierarchy
    says nothing about them, they are a value of their own.
    """
    hierarchies = given or {}
    for name in hierarchies:
        if name not in quasi:
            raise InvalidValue("a hierarchy must belong to a quasi-identifier", name, suggestion(name, quasi))
    return {name: _matched(table[name], hierarchies.get(name)) for name in quasi}


def _matched(column: CodedColumn, hierarchy: Hierarchy | None) -> Hierarchy:
    if hierarchy is None:
        return Hierarchy.suppressing(column.values)
    if not isinstance(hierarchy, Hierarchy):
        remedy = "build one with intervals, masks, taxonomy, dates, ordered or read_arx_csv"
        raise InvalidType(f"the hierarchy of '{column.name}' must be a Hierarchy", hierarchy, remedy)
    found = hierarchy.with_missing() if column.has_missing else hierarchy
    found.places(column)  # refuses values that the hierarchy misses
    return found
