"""Reads released cells: ranges, sets, masks and stars, as what they say about the values of a column.

>>> ages = CellReader((25, 31, 38, 44, 59))
>>> [ages.runs(cell) for cell in ("[25, 38]", "[25, 38)", ">40", "3*", "{25, 59}", "*")]
[[(0, 3)], [(0, 2)], [(3, 5)], [(1, 3)], [(0, 1), (4, 5)], [(0, 5)]]
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import date, datetime
from itertools import groupby
from typing import Any

from discreet.anonymize.coded import MISSING, label_of
from discreet.anonymize.hierarchy import SUPPRESSED

__all__ = ["CellReader", "Run", "runs_of"]

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
        value = _parsed(text, self._present)
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


def _parsed(text: str, values: Sequence[Any]) -> Any:
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
