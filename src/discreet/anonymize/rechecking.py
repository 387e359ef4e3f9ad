"""Holding recoded rows against the models again, whoever they are: only classes that meet all of them are released."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from discreet.anonymize.asked_models import sensitive_of
from discreet.anonymize.classes import SUPPRESSED_ROW, Classes
from discreet.anonymize.coded import CodedTable
from discreet.anonymize.models.model import Model
from discreet.anonymize.release import refuse_other_columns
from discreet.anonymize.roles import Roles
from discreet.errors import InvalidValue

__all__ = ["coded_for", "releasable"]

Flags = npt.NDArray[np.bool_]


def coded_for(table: pa.Table, roles: Roles, models: Sequence[Model]) -> CodedTable:
    """The columns that a recoding looks at: the quasi-identifiers, and what the models speak of."""
    refuse_other_columns(table, roles)
    if not table.num_rows:
        raise InvalidValue("a table must have rows", 0)
    return CodedTable.of(table, [*roles.quasi, *sensitive_of(models)])


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
    histograms = {name: classes.histogram(coded[name]) for name in sensitive_of(models)}
    broken = np.zeros(classes.count, dtype=np.bool_)
    for model in models:
        broken |= model.violating(classes, histograms)
    return broken
