"""What a released cell may stand for: the values of its column that are compatible with it.

The values of a column are put in order, so that most released cells cover one run of neighbours. Sums over what a cell
covers are then differences of running sums, however many values there are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from discreet.anonymize.cell_reader import CellReader, Run, runs_of
from discreet.anonymize.coded import CodedColumn, label_of
from discreet.anonymize.hierarchy import SUPPRESSED, Hierarchy
from discreet.errors import InvalidValue

__all__ = ["Covering"]

Floats = npt.NDArray[np.float64]
Whole = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Covering:
    """For every value that a released column shows, the runs of original values that it covers."""

    domain: tuple[Any, ...]
    """What the column may hold, in order, the missing value last."""
    cells: tuple[str, ...]
    """How the released values are written."""
    cell: Whole
    """For every run, the released value it belongs to."""
    start: Whole
    """For every run, the place of its first value in the domain."""
    stop: Whole
    """For every run, the place after its last value."""
    level: npt.NDArray[np.float64]
    """For every released value its level as a share of the height of the hierarchy; NaN where it has none."""

    @classmethod
    def of(cls, before: CodedColumn, after: CodedColumn, hierarchy: Hierarchy | None = None) -> Covering:
        """What the cells of ``after`` say about ``before``; refuses cells that cannot be read."""
        if hierarchy is not None and before.has_missing:
            hierarchy = hierarchy.with_missing()  # as every recoding does
        domain = _domain(before, hierarchy)
        known = _known(domain, hierarchy)
        reader = CellReader(domain)
        runs = [known.get(label_of(value)) or reader.runs(value) for value in after.values]
        _refuse_unread(after, runs)
        flat = [(place, first, last) for place, found in enumerate(runs) for first, last in found]
        cell, start, stop = np.array(flat, dtype=np.int64).reshape(-1, 3).T
        return cls(domain, after.labels, cell, start, stop, _levels(after.labels, before.labels, hierarchy))

    @cached_property
    def leaves(self) -> Whole:
        """For every released value how many values it covers."""
        return np.bincount(self.cell, self.stop - self.start, minlength=len(self.cells)).astype(np.int64)

    def summed(self, amounts: npt.ArrayLike) -> Floats:
        """For every released value the sum of what is given for the values that it covers."""
        running = np.concatenate([[0.0], np.cumsum(np.asarray(amounts, dtype=np.float64))])
        covered = running[self.stop] - running[self.start]
        return np.asarray(np.bincount(self.cell, covered, minlength=len(self.cells)), dtype=np.float64)

    def places_of(self, column: CodedColumn) -> Whole:
        """For every value of an original column its place in the domain."""
        places = {label_of(value): place for place, value in enumerate(self.domain)}
        return np.array([places[text] for text in column.labels], dtype=np.int64)

    @property
    def numbers(self) -> Floats | None:
        """The domain as numbers, missing as NaN; None where it holds something else, or nothing but missing."""
        present = [value for value in self.domain if value is not None]
        if not present or not all(isinstance(value, (int, float)) and abs(value) < np.inf for value in present):
            return None
        return np.array([np.nan if value is None else float(value) for value in self.domain])


def _domain(column: CodedColumn, hierarchy: Hierarchy | None) -> tuple[Any, ...]:
    """The leaves of the hierarchy in the order of the column's type, or the values themselves."""
    if hierarchy is None:
        return column.values
    hierarchy.places(column)  # refuses values that it misses
    leaves = dict(zip(hierarchy.labels[0], hierarchy.values, strict=True))
    written = dict(zip(column.labels, column.values, strict=True))
    values = [_as_number(text, written.get(text, leaf), column) for text, leaf in leaves.items()]
    return tuple(sorted(values, key=_in_order))


def _as_number(text: str, value: Any, column: CodedColumn) -> Any:
    """A leaf that a file spells as text, as a number where the column holds numbers."""
    if value is None or not isinstance(value, str) or not _holds_numbers(column):
        return value
    try:
        return float(text)
    except ValueError:
        return value


def _holds_numbers(column: CodedColumn) -> bool:
    return all(isinstance(value, (int, float)) for value in column.values if value is not None)


def _in_order(value: Any) -> tuple[bool, bool, Any]:
    """Missing last; text apart from all else, because it cannot be compared."""
    return value is None, isinstance(value, str), 0 if value is None else value


def _known(domain: Sequence[Any], hierarchy: Hierarchy | None) -> Mapping[str, list[Run]]:
    """The runs of every value and of every group of the hierarchy; a label with two meanings keeps the wider one."""
    place = {label_of(value): number for number, value in enumerate(domain)}
    known = {text: [(number, number + 1)] for text, number in place.items()}
    if hierarchy is None:
        return known
    leaf = np.array([place[text] for text in hierarchy.labels[0]], dtype=np.int64)
    for level in range(1, hierarchy.height + 1):
        order = np.lexsort((leaf, hierarchy.levels[level]))
        parts = np.split(leaf[order], np.cumsum(hierarchy.leaves_in(level))[:-1])
        known |= {text: runs_of(part) for text, part in zip(hierarchy.labels[level], parts, strict=True)}
    return known


def _refuse_unread(after: CodedColumn, runs: Sequence[Sequence[Run]]) -> None:
    unread = [text for text, found in zip(after.labels, runs, strict=True) if not found]
    if unread:
        rule = f"every released cell of '{after.name}' must stand for values of the original"
        raise InvalidValue(rule, unread[:5], "pass the hierarchy that it was made with")


def _levels(cells: Sequence[str], values: Sequence[str], hierarchy: Hierarchy | None) -> Floats:
    """A column without a hierarchy is released as it is or not at all: two levels."""
    if hierarchy is None or not hierarchy.height:
        share = dict.fromkeys(values, 0.0) | {SUPPRESSED: 1.0}
        return np.array([share.get(text, np.nan) for text in cells])
    share = {text: level / hierarchy.height for level, labels in enumerate(hierarchy.labels) for text in labels}
    return np.array([share.get(text, np.nan) for text in cells])
