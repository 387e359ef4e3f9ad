"""Which classes of a release fit which people of a list: what anybody can work out who reads a published table.

A class fits a person where each of its cells covers what is known of the person. Cells are read as values, ranges, sets
and masks, or by the groups of a hierarchy.

>>> import pyarrow as pa
>>> release = pa.table({"zip": ["130**", "130**", "148**"], "age": ["<30", "3*", "<30"]})
>>> people = pa.table({"zip": ["13012", "14850", "14850"], "age": [28, 28, 35]})
>>> fitting(release, people, ["zip", "age"]).times.tolist()
[1, 1, 0]

Each cell of a released column covers some of the list's values. A cell is a value, a range, a set, a mask, or a group
of a hierarchy. A value that nobody on the list has covers nobody. Unlike the losses of a release, which take a mean for
the nearest value, this takes numbers at their word.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from discreet.anonymize.equivalence_classes import EquivalenceClasses
from discreet.anonymize.hierarchies.hierarchy import Hierarchy
from discreet.anonymize.loss.cells import CellReader, Covering, Run
from discreet.anonymize.table import CodedColumn, CodedTable, label_of
from discreet.attacks.people import Codes
from discreet.errors import InvalidValue

__all__ = ["CellCover", "Fits", "fitting"]


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


_MOST_COMPARED = 2**24  # bytes of eight pairs at a time


@dataclass(frozen=True, eq=False)
class Fits:
    """Pairs of a person and a class that fits, by person and then by class."""

    person: Codes
    """For every pair the place of the person on the list."""
    group: Codes
    """For every pair the class."""
    people: int
    """How many people are on the list."""
    classes: EquivalenceClasses
    """The classes of the release."""

    @cached_property
    def times(self) -> Codes:
        """For every person how many classes fit."""
        return np.bincount(self.person, minlength=self.people)

    @cached_property
    def rows(self) -> Codes:
        """For every person how many released rows fit."""
        sizes = self.classes.sizes[self.group]
        return np.bincount(self.person, sizes, minlength=self.people).astype(np.int64)

    @cached_property
    def rivals(self) -> Codes:
        """For every class how many people of the list it fits."""
        return np.bincount(self.group, minlength=self.classes.count)


def fitting(release: Any, outside: Any, on: Sequence[str], hierarchies: Mapping[str, Hierarchy] | None = None) -> Fits:
    """Which classes of ``release`` fit which rows of ``outside``, by the columns ``on`` that both have."""
    released, listed = _both(release, outside, on)
    given = hierarchies or {}
    covers = [CellCover.of(listed[name], released[name], given.get(name)) for name in on]
    classes = EquivalenceClasses.of([released[name].codes for name in on])
    alike = EquivalenceClasses.of([listed[name].codes for name in on])  # the same classes fit people who look alike
    cells = [released[name].codes[classes.representatives()] for name in on]
    known = [listed[name].codes[alike.representatives()] for name in on]
    if all(cover.is_sharp for cover in covers):
        kind, group = _equal(known, [cover.only[cell] for cover, cell in zip(covers, cells, strict=True)])
    else:
        kind, group = _compare(known, [cover.covered(cell) for cover, cell in zip(covers, cells, strict=True)])
    return _for_everybody(kind, group, alike, classes)


def _both(release: Any, outside: Any, on: Sequence[str]) -> tuple[CodedTable, CodedTable]:
    if not on:
        rule = "a release and a list must be joined on a column"
        raise InvalidValue(rule, list(on), "name what both tell of a person")
    released, listed = CodedTable.of(release, on), CodedTable.of(outside, on)
    if not released.rows:
        raise InvalidValue("a release must have rows", 0)
    if not listed.rows:
        raise InvalidValue("an outside list must have people on it", 0)
    return released, listed


def _equal(known: Sequence[npt.NDArray[np.integer]], shown: Sequence[Codes]) -> tuple[Codes, Codes]:
    """The pairs where every column shows what is known; each class fits one kind of people at most."""
    people, groups = len(known[0]), len(shown[0])
    columns = [np.concatenate([one, other]) + 1 for one, other in zip(known, shown, strict=True)]  # -1 equals nothing
    number = EquivalenceClasses.of(columns).number
    kind_of = np.full(people + groups, -1)
    kind_of[number[:people]] = np.arange(people)
    kind = kind_of[number[people:]]
    fits = np.flatnonzero(kind >= 0)
    order = np.argsort(kind[fits], kind="stable")
    return kind[fits][order], fits[order]


def _compare(known: Sequence[npt.NDArray[np.integer]], covered: Sequence[npt.NDArray[np.bool_]]) -> tuple[Codes, Codes]:
    """The pairs where every column covers what is known: all people with all classes, eight classes in a byte."""
    packed = [np.packbits(one, axis=1) for one in covered]
    step = max(_MOST_COMPARED // packed[0].shape[1], 1)
    found = [
        _compared_from(start, [codes[start : start + step] for codes in known], packed)
        for start in range(0, len(known[0]), step)
    ]
    kinds, groups = zip(*found, strict=True)
    return np.concatenate(kinds), np.concatenate(groups)


def _compared_from(
    start: int, known: Sequence[npt.NDArray[np.integer]], packed: Sequence[npt.NDArray[np.uint8]]
) -> tuple[Codes, Codes]:
    fits = packed[0][known[0]]
    for one, codes in zip(packed[1:], known[1:], strict=True):
        fits &= one[codes]
    kind, byte = np.nonzero(fits)
    place, bit = np.nonzero(np.unpackbits(fits[kind, byte][:, None], axis=1))
    return kind[place] + start, byte[place] * 8 + bit


def _for_everybody(kind: Codes, group: Codes, alike: EquivalenceClasses, classes: EquivalenceClasses) -> Fits:
    """From kinds of people to people."""
    first = np.searchsorted(kind, np.arange(alike.count))
    times = np.bincount(kind, minlength=alike.count)[alike.number]
    person = np.repeat(np.arange(len(alike.number)), times)
    within = np.arange(len(person)) - np.repeat(np.cumsum(times) - times, times)
    return Fits(person, group[np.repeat(first[alike.number], times) + within], len(alike.number), classes)
