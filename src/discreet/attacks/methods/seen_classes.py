"""The class of each target as an outsider sees it: how many of those who look like the target have each secret.

In a published table the class is the one that fits. Where questions are answered, the outsider asks for the secrets of
everybody by some columns, in one question: by as many columns as leave the typical person of the outside list among
five who look the same.

>>> import numpy as np
>>> from discreet.attacks.people import Coded
>>> sex, day = Coded(np.arange(20) % 2, ("f", "m")), Coded(np.arange(20), tuple(map(str, range(20))))
>>> coarse_columns({"sex": sex, "birthday": day}, secrets=2)
['sex']
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import prod

import numpy as np

from discreet.anonymize.classes import Classes
from discreet.attacks.attack import Knowledge
from discreet.attacks.parts import Value
from discreet.attacks.people import Coded
from discreet.attacks.question import Question
from discreet.attacks.view import Counts, View

__all__ = ["MOST_CELLS", "asked_by", "cells", "coarse_columns", "seen_classes"]

MOST_CELLS = 50_000
"""The largest answer that is asked for in one question."""
_ENOUGH = 5


def seen_classes(view: View, known: Knowledge) -> Counts:
    """For every target, down, the count of every secret in the class; NaN where no class fits or nothing is told."""
    table = view.published
    if table is None:
        return asked_by(view, known, coarse_columns(known.quasi, len(known.values)))
    group = table.class_of[known.targets]
    return np.where(group[:, None] >= 0, table.histograms[group], np.nan)


def asked_by(view: View, known: Knowledge, columns: list[str]) -> Counts:
    """The same from one question, by these columns and the secret."""
    parts = [Value(name, known.quasi[name].values) for name in columns]
    (answer,) = view.counts([Question(by=(*parts, Value(known.secret, known.values)))])
    cell = np.zeros(len(known.targets), np.int64)
    for name, part in zip(columns, parts, strict=True):
        cell = cell * part.size + known.quasi[name].codes[known.targets]
    return np.asarray(answer.reshape(-1, len(known.values))[cell])


def coarse_columns(quasi: Mapping[str, Coded], secrets: int) -> list[str]:
    """The columns without those of most values, until the median person shares theirs with four others."""
    names = sorted(quasi, key=lambda name: len(quasi[name].values))
    while len(names) > 1 and not _is_coarse([quasi[name] for name in names], secrets):
        names.pop()
    return names


def cells(columns: Iterable[Coded], secrets: int) -> int:
    """How many counts the answer has by these columns and the secret."""
    return secrets * prod(len(column.values) for column in columns)


def _is_coarse(columns: Sequence[Coded], secrets: int) -> bool:
    if cells(columns, secrets) > MOST_CELLS:
        return False
    classes = Classes.of([column.codes for column in columns])
    return bool(np.median(classes.sizes[classes.number]) >= _ENOUGH)
