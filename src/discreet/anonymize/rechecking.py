"""Holding recoded rows against the models again, whoever they are: only classes that meet all of them are released."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from discreet.anonymize.acceptance import refuse_unfit_models
from discreet.anonymize.classes import SUPPRESSED_ROW, Classes
from discreet.anonymize.coded import CodedTable
from discreet.anonymize.models.model import Model
from discreet.anonymize.release import refuse_other_columns
from discreet.anonymize.roles import Roles

__all__ = ["coded_for", "releasable"]

Flags = npt.NDArray[np.bool_]


def coded_for(table: pa.Table, roles: Roles, models: Sequence[Model]) -> CodedTable:
    """The columns that a recoding looks at: the quasi-identifiers, and what the models speak of."""
    refuse_other_columns(table, roles)
    refuse_unfit_models(models, roles)
    spoken_of = {model.sensitive for model in models}
    return CodedTable.of(table, [*roles.quasi, *(name for name in roles.sensitive if name in spoken_of)])


def releasable(
    cells: Sequence[npt.NDArray[np.int64]], offered: Flags, coded: CodedTable, models: Sequence[Model]
) -> Flags:
    """For every row whether it can be released: it is ``offered``, and its class among those meets every model.

    A class is made by equal ``cells``. Models that compare with the whole table compare with all rows of ``coded``.
    """
    kept = offered.copy()
    if offered.any():
        number = np.full(len(offered), SUPPRESSED_ROW, dtype=np.int64)
        among = Classes.of([cell[offered] for cell in cells])
        number[offered] = among.number
        kept[offered] = ~_violating(Classes(number, among.sizes), coded, models)[among.number]
    return kept


def _violating(classes: Classes, coded: CodedTable, models: Sequence[Model]) -> Flags:
    named = {model.sensitive for model in models if model.sensitive is not None}
    histograms = {name: classes.histogram(coded[name]) for name in named}
    broken = np.zeros(classes.count, dtype=np.bool_)
    for model in models:
        broken |= model.violating(classes, histograms)
    return broken
