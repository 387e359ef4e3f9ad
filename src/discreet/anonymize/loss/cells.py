"""Reads released cells: ranges, sets, masks and stars, as what they say about the values of a column.

>>> ages = CellReader((25, 31, 38, 44, 59))
>>> [ages.runs(cell) for cell in ("[25, 38]", "[25, 38)", ">40", "3*", "{25, 59}", "*")]
[[(0, 3)], [(0, 2)], [(3, 5)], [(1, 3)], [(0, 1), (4, 5)], [(0, 5)]]

A released cell may stand for the values of its column that are compatible with it. The values of a column are put in
order, so that most released cells cover one run of neighbours. Sums over what a cell covers are then differences of
running sums, however many values there are.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from functools import cached_property
from itertools import groupby
from typing import Any

import numpy as np
import numpy.typing as npt

from discreet.anonymize.hierarchies.hierarchy import SUPPRESSED, Hierarchy
from discreet.anonymize.table import MISSING, CodedColumn, label_of
from discreet.errors import InvalidValue

__all__ = ["CellReader", "Covering", "Run", "runs_of"]


Run = tuple[int, int]
"""The place of the first value, and the place after the last one."""

_RANGE = re.compile(r"([\[(])(.+), (.+)([\])])")
_BEYOND = re.compile(r"([<>≤≥])\s*(.+)")
_SET = re.compile(r"\{(.*)\}")
_OR_MISSING = (f" or {MISSING}", f", {MISSING}")


class CellReader:
    """Reads the cells of one column, whose values it knows in order, the missing one last."""

    def __init__(self, domain: Sequence[Any]) -> None:
        self.domain = tuple(domain)
        self.labels = tuple(label_of(value) for value in domain)
        self.place = {text: place for place, text in enumerate(self.labels)}
        self._present = [value for value in domain if value is not None]

    def runs(self, cell: Any) -> list[Run]:
        """The runs of values that a cell may stand for; none if it cannot be read."""
        text = label_of(cell)
        if text in self.place:
            return [(self.place[text], self.place[text] + 1)]
        if not isinstance(cell, str):
            return self._nearest(cell)
        for reading in (self._everything, self._with_missing, self._range, self._beyond, self._set, self._mask):
            found = reading(text)
            if found:
                return found
        return []

    def _everything(self, text: str) -> list[Run]:
        return [(0, len(self.domain))] if text == SUPPRESSED else []

    def _with_missing(self, text: str) -> list[Run]:
        """A cell that may also be missing."""
        for ending in _OR_MISSING:
            if text.endswith(ending) and MISSING in self.place:
                return runs_of(sorted({*_members(self.runs(text.removesuffix(ending))), self.place[MISSING]}))
        return []

    def _range(self, text: str) -> list[Run]:
        match = _RANGE.fullmatch(text)
        if not match:
            return []
        first = self._bound(match[2], after=match[1] == "(")
        last = self._bound(match[3], after=match[4] == "]")
        return [(first, last)] if first is not None and last is not None and first < last else []

    def _beyond(self, text: str) -> list[Run]:
        match = _BEYOND.fullmatch(text)
        place = self._bound(match[2], after=match[1] in ">≤") if match else None
        if match is None or place is None:
            return []
        run = (0, place) if match[1] in "<≤" else (place, len(self._present))
        return [run] if run[0] < run[1] else []

    def _set(self, text: str) -> list[Run]:
        match = _SET.fullmatch(text)
        names = list(self._named(match[1])) if match else []
        return runs_of(sorted({self.place[name] for name in names})) if names and None not in names else []

    def _named(self, listed: str) -> Iterator[Any]:
        """The values of a list, the longest that fits first, since a value may hold a comma itself; None for others."""
        parts = listed.split(", ")
        if all(part in self.place for part in parts):
            yield from parts
            return
        while parts:
            fits = (cut for cut in range(len(parts), 0, -1) if ", ".join(parts[:cut]) in self.place)
            cut = next(fits, 0)
            yield ", ".join(parts[:cut]) if cut else None
            parts = parts[cut:] if cut else []

    def _mask(self, text: str) -> list[Run]:
        """Stars stand for one character each."""
        if SUPPRESSED not in text:
            return []
        pattern = re.compile("".join("." if mark == SUPPRESSED else re.escape(mark) for mark in text))
        return runs_of(place for place, label in enumerate(self.labels) if pattern.fullmatch(label))

    def _bound(self, text: str, *, after: bool) -> int | None:
        """The place of the first value that is not below what a range names, or of the first above it."""
        if text in self.place:
            return self.place[text] + after
        value = _parse(text, self._present)
        if value is None:
            return None
        return (bisect_right if after else bisect_left)(self._present, value)

    def _nearest(self, cell: Any) -> list[Run]:
        """A number that is no value of the column, such as a mean, stands for the nearest one."""
        if not isinstance(cell, (int, float)) or not all(isinstance(value, (int, float)) for value in self._present):
            return []
        place = bisect_left(self._present, cell)
        near = [at for at in (place - 1, place) if 0 <= at < len(self._present)]
        return [(at, at + 1) for at in [min(near, key=lambda at: abs(self._present[at] - cell))]] if near else []


def runs_of(places: Iterable[int]) -> list[Run]:
    """Places in order as runs of neighbours."""
    found = []
    for _, group in groupby(enumerate(places), key=lambda pair: pair[1] - pair[0]):
        members = [int(place) for _, place in group]
        found.append((members[0], members[-1] + 1))
    return found


def _members(runs: Iterable[Run]) -> Iterator[int]:
    for first, last in runs:
        yield from range(first, last)


def _parse(text: str, values: Sequence[Any]) -> Any:
    """The end of a range as a value of the same kind as others."""
    kind = type(values[0]) if values else str
    readers: dict[type, Callable[[str], Any]] = {
        int: float,
        float: float,
        date: date.fromisoformat,
        datetime: datetime.fromisoformat,
        str: str,
    }
    try:
        return readers[kind](text)
    except (KeyError, ValueError):
        return None


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
