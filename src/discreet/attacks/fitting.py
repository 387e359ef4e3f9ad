"""Which classes of a release fit which people of a list: what anybody can work out who reads a published table.

A class fits a person where each of its cells covers what is known of the person. Cells are read as values, ranges, sets
and masks, or by the groups of a hierarchy.

>>> import pyarrow as pa
>>> release = pa.table({"zip": ["130**", "130**", "148**"], "age": ["<30", "3*", "<30"]})
>>> people = pa.table({"zip": ["13012", "14850", "14850"], "age": [28, 28, 35]})
>>> fitting(release, people, ["zip", "age"]).times.tolist()
[1, 1, 0]
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from discreet.anonymize.classes import Classes
from discreet.anonymize.coded import CodedTable
from discreet.anonymize.hierarchy import Hierarchy
from discreet.attacks.cell_cover import CellCover
from discreet.attacks.people import Codes
from discreet.errors import InvalidValue

__all__ = ["Fits", "fitting"]

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
    classes: Classes
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
    classes = Classes.of([released[name].codes for name in on])
    alike = Classes.of([listed[name].codes for name in on])  # the same classes fit people who look alike
    cells = [released[name].codes[classes.representatives()] for name in on]
    known = [listed[name].codes[alike.representatives()] for name in on]
    if all(cover.is_sharp for cover in covers):
        kind, group = _equal(known, [cover.only[cell] for cover, cell in zip(covers, cells, strict=True)])
    else:
        kind, group = _compared(known, [cover.covered(cell) for cover, cell in zip(covers, cells, strict=True)])
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
    number = Classes.of(columns).number
    kind_of = np.full(people + groups, -1)
    kind_of[number[:people]] = np.arange(people)
    kind = kind_of[number[people:]]
    fits = np.flatnonzero(kind >= 0)
    order = np.argsort(kind[fits], kind="stable")
    return kind[fits][order], fits[order]


def _compared(
    known: Sequence[npt.NDArray[np.integer]], covered: Sequence[npt.NDArray[np.bool_]]
) -> tuple[Codes, Codes]:
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


def _for_everybody(kind: Codes, group: Codes, alike: Classes, classes: Classes) -> Fits:
    """From kinds of people to people."""
    first = np.searchsorted(kind, np.arange(alike.count))
    times = np.bincount(kind, minlength=alike.count)[alike.number]
    person = np.repeat(np.arange(len(alike.number)), times)
    within = np.arange(len(person)) - np.repeat(np.cumsum(times) - times, times)
    return Fits(person, group[np.repeat(first[alike.number], times) + within], len(alike.number), classes)
