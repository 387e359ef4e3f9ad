"""What the cells of a released column say of the people on a list: which of the list's values each cell covers.

A cell is a value, a range, a set, a mask, or a group of a hierarchy. A value that nobody on the list has covers nobody.
Unlike the losses of a release, which take a mean for the nearest value, this takes numbers at their word.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from discreet.anonymize.cell_reader import CellReader, Run
from discreet.anonymize.coded import CodedColumn, label_of
from discreet.anonymize.covering import Covering
from discreet.anonymize.hierarchy import Hierarchy
from discreet.attacks.people import Codes
from discreet.errors import InvalidValue

__all__ = ["CellCover"]

_READABLE = re.compile(
    r"[\[(].+, .+[\])].*|[<>≤≥].+|\{.*\}|.*\*.*|[\d.+-].*"
)  # a range, a set, a mask, a number, a date


@dataclass(frozen=True, eq=False)
class CellCover:
    """For every released cell the values of the list that it covers, as pairs."""

    cell: Codes
    """For every pair the place of the cell among those released."""
    value: Codes
    """For every pair the place of the value among those of the list."""
    cells: int
    """How many different cells are released."""
    values: int
    """How many different values are on the list."""

    @classmethod
    def of(cls, listed: CodedColumn, released: CodedColumn, hierarchy: Hierarchy | None = None) -> CellCover:
        """What the cells of ``released`` say about the values of ``listed``; refuses cells that cannot be read."""
        if hierarchy is not None:
            return cls._by_groups(listed, released, hierarchy)
        reader = CellReader(listed.values)
        runs = [_runs(reader, cell) for cell in released.values]
        _refuse_unread(listed, released, runs)
        return cls._of_runs(runs, np.arange(len(listed.values)), len(listed.values))

    @classmethod
    def _by_groups(cls, listed: CodedColumn, released: CodedColumn, hierarchy: Hierarchy) -> CellCover:
        covering = Covering.of(listed, released, hierarchy)
        place = np.full(len(covering.domain), -1)
        place[covering.places_of(listed)] = np.arange(len(listed.values))
        runs: list[list[Run]] = [[] for _ in covering.cells]
        for cell, start, stop in zip(covering.cell, covering.start, covering.stop, strict=True):
            runs[cell].append((int(start), int(stop)))
        return cls._of_runs(runs, place, len(listed.values))

    @classmethod
    def _of_runs(cls, runs: Sequence[Sequence[Run]], place: Codes, values: int) -> CellCover:
        """From runs over a domain, where ``place`` is the place of each of its values on the list, or -1."""
        none = np.zeros(0, np.int64)
        covered = [np.concatenate([none, *(place[first:last] for first, last in found)]) for found in runs]
        cell = np.repeat(np.arange(len(runs)), [len(found) for found in covered])
        value = np.concatenate([none, *covered])
        return cls(cell[value >= 0], value[value >= 0], len(runs), values)

    @cached_property
    def is_sharp(self) -> bool:
        """Whether every cell covers one value at most."""
        return bool((np.bincount(self.cell, minlength=1) <= 1).all())

    @cached_property
    def only(self) -> Codes:
        """For every cell of a sharp column its value, -1 where it covers none."""
        found = np.full(self.cells, -1)
        found[self.cell] = self.value
        return found

    def covered(self, cells: npt.NDArray[np.integer]) -> npt.NDArray[np.bool_]:
        """For every value, down, and each of these cells, across, whether it is covered."""
        table = np.zeros((self.values, self.cells), np.bool_)
        table[self.value, self.cell] = True
        return table[:, cells]


def _runs(reader: CellReader, cell: Any) -> list[Run]:
    if not isinstance(cell, str):
        place = reader.place.get(label_of(cell))
        return [] if place is None else [(place, place + 1)]
    return reader.runs(cell)


def _refuse_unread(listed: CodedColumn, released: CodedColumn, runs: Sequence[Sequence[Run]]) -> None:
    """Text that covers nobody is a value or a group that nobody is in; where the list holds no text, it is a riddle."""
    if any(isinstance(value, str) for value in listed.values):
        return
    unread = [cell for cell, found in zip(released.values, runs, strict=True) if not found and _is_riddle(cell)]
    if unread:
        rule = f"every released cell of '{released.name}' must stand for values like those of the list"
        raise InvalidValue(rule, unread[:5], "pass the hierarchy that it was made with")


def _is_riddle(cell: Any) -> bool:
    return isinstance(cell, str) and not _READABLE.fullmatch(cell)
