"""How much each quasi-identifier adds to what singles people out: the table is looked at without it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from discreet.anonymize.classes import Classes
from discreet.anonymize.coded import CodedColumn

__all__ = ["Contribution", "contributions"]


@dataclass(frozen=True)
class Contribution:
    """What would be left without one quasi-identifier."""

    column: str
    """The quasi-identifier that is left out."""
    unique_rows: int
    """How many rows would still be alone in their class."""
    classes: int
    """How many classes there would still be."""
    smallest_class: int
    """The size of the smallest class, which is the largest k that would hold."""
    unique_rows_removed: int
    """How many rows are alone in their class because of this column."""


def contributions(columns: Sequence[CodedColumn], classes: Classes) -> tuple[Contribution, ...]:
    """The contribution of every column, the largest first."""
    # Equal rows stay equal without a column, so one row of every class is enough.
    chosen = classes.representatives()
    codes = [column.codes[chosen] for column in columns]
    unique = _unique(classes)
    found = [_without(place, columns[place].name, codes, classes, unique) for place in range(len(columns))]
    return tuple(sorted(found, key=lambda one: (one.unique_rows, one.classes)))


def _without(place: int, name: str, codes: Sequence[np.ndarray], classes: Classes, unique: int) -> Contribution:
    others = [*codes[:place], *codes[place + 1 :]] or [np.zeros(classes.count, dtype=np.int32)]
    rest = Classes.of(others, classes.sizes)
    left = _unique(rest)
    return Contribution(name, left, rest.count, int(rest.sizes.min()), unique - left)


def _unique(classes: Classes) -> int:
    return int(np.count_nonzero(classes.sizes == 1))
