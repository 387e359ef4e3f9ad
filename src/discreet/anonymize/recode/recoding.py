"""What every way of recoding a table has in common: it is found once and can be applied to other rows.

A fit gives back the table that can be published, and the recoding that made it. Published rows have no identifying
column, no index, and an order that says nothing; whoever they are, they are held against the models again, and only
classes that meet all of them are released. At most a share of the table, in whole rows, may be suppressed.

Whether classes would meet every model is found for many candidate classes at once. A search that splits classes asks
this before each split. Models that compare with the whole table compare with all of its rows, also when only some of
them are in the candidates.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyarrow import compute

from discreet.anonymize.equivalence_classes import SUPPRESSED_ROW, Counts, EquivalenceClasses
from discreet.anonymize.models.k_anonymity import KAnonymity
from discreet.anonymize.models.model import Flags, Histograms, Model
from discreet.anonymize.models.registry import sensitive_of
from discreet.anonymize.roles import Roles
from discreet.anonymize.table import CodedColumn, CodedTable
from discreet.catalog.names import suggestion
from discreet.errors import InvalidType, InvalidValue, OutOfReach

__all__ = [
    "Acceptance",
    "Recoded",
    "Recoding",
    "coded_for",
    "refuse_other_columns",
    "releasable",
    "release",
    "suppression_limit",
]


class Recoding(ABC):
    """How the values of a table are replaced by coarser ones. It holds no rows."""

    @abstractmethod
    def transform(self, source: Any) -> pa.Table:
        """The rows of ``source`` recoded in the same way and checked again, ready to be published."""


@dataclass(frozen=True, eq=False)
class Recoded:
    """A recoded table. It is not differential privacy: what its classes have in common is told of everybody in them."""

    recoding: Recoding
    """How it was made; it can be applied to other rows."""
    table: pa.Table
    """The released rows, sorted by their values."""
    quasi: tuple[str, ...]
    """The quasi-identifiers, which make the classes."""
    suppressed: int
    """How many rows are not released."""
    losses: Mapping[str, float]
    """How much is lost in every quasi-identifier, from 0 to 1.

    That is the mean share of its values that a cell covers, 1 for a suppressed one; of averages it is the share of the
    variance that they lose.
    """

    @property
    def loss(self) -> float:
        """The mean of what is lost in every quasi-identifier: 1 tells nothing."""
        return sum(self.losses.values()) / len(self.losses)

    @cached_property
    def classes(self) -> EquivalenceClasses:
        """The classes of the released rows: those that read the same in every quasi-identifier."""
        table = CodedTable.of(self.table, self.quasi)
        return EquivalenceClasses.of([table[name].codes for name in self.quasi])


def release(source: pa.Table, roles: Roles, recoded: Mapping[str, pa.Array], kept: npt.NDArray[np.bool_]) -> pa.Table:
    """The ``kept`` rows with the columns ``recoded`` in place of their own, sorted by all released values.

    Rows that are equal in every released column are equal, so the order holds nothing of the order of the source.
    Suppressed rows are left out as a whole: a row of stars that still shows its sensitive value would tell it to
    everybody who knows that a person is in the table and finds no class for them.
    """
    names = [name for name in source.column_names if name not in roles.identifying]
    columns = [recoded.get(name, source.column(name)) for name in names]
    return _sort(pa.Table.from_arrays(columns, names=names).filter(pa.array(kept)))


def refuse_other_columns(source: pa.Table, roles: Roles) -> None:
    """Refuse a table that lacks a column with a role, or has one without."""
    for name in roles.columns:
        if name not in source.column_names:
            raise InvalidValue("a column must be in the table", name, suggestion(name, source.column_names))
    for name in source.column_names:
        if name not in roles.columns:
            raise InvalidValue("every column of the table must have a role", name, "name it in the roles, or drop it")


def _sort(table: pa.Table) -> pa.Table:
    keys = pa.Table.from_arrays([_sortable(column) for column in table.columns], names=table.column_names)
    order = compute.sort_indices(keys, sort_keys=[(name, "ascending") for name in keys.column_names])
    columns = [_decode(column.take(order)) for column in table.columns]
    return pa.Table.from_arrays(columns, names=table.column_names).combine_chunks()


def _decode(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """The values themselves: a dictionary would still list the values of rows that are not released."""
    return column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column


def _sortable(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """The column itself, the ranks of its values, or its values as text where their type has no order."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        return _ranks(column.unify_dictionaries().combine_chunks())
    if pa.types.is_nested(kind) or pa.types.is_null(kind):
        return pa.chunked_array([[repr(value) for value in column.to_pylist()]], type=pa.string())
    return column


def _ranks(column: pa.Array) -> pa.ChunkedArray:
    """Where the value of every cell stands among the sorted values: numbers sort faster than text."""
    if isinstance(column, pa.ChunkedArray):
        column = column.chunk(0)
    ranks = compute.rank(column.dictionary, tiebreaker="dense")
    return pa.chunked_array([ranks.take(column.indices)])


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
        among = EquivalenceClasses.of([cell[offered] for cell in cells])
        number[offered] = among.number
        kept[offered] = ~_violating(EquivalenceClasses(number, among.sizes), coded, models)[among.number]
    return kept


def _violating(classes: EquivalenceClasses, coded: CodedTable, models: Sequence[Model]) -> Flags:
    histograms = {name: classes.histogram(coded[name]) for name in sensitive_of(models)}
    broken = np.zeros(classes.count, dtype=np.bool_)
    for model in models:
        broken |= model.violating(classes, histograms)
    return broken


@dataclass(frozen=True, eq=False)
class Acceptance:
    """The models that every class must meet, with the sensitive columns they speak of."""

    models: tuple[Model, ...]
    """All of them hold together."""
    sensitive: Mapping[str, CodedColumn]
    """The sensitive columns that a model speaks of."""
    table: Mapping[str, Counts]
    """For each of them how often every value occurs in the whole table."""

    @classmethod
    def of(cls, table: CodedTable, models: Sequence[Model]) -> Acceptance:
        """The models for a table; refuses models that not even the whole table as one class meets."""
        columns = {name: table[name] for name in sensitive_of(models)}
        counts = {name: np.bincount(one.codes, minlength=len(one.values)) for name, one in columns.items()}
        found = cls(tuple(models), columns, counts)
        found._refuse_out_of_reach(table.rows)
        return found

    @property
    def least(self) -> int:
        """The fewest rows that a class may have."""
        return max(model.least_size for model in self.models)

    @property
    def counts_alone(self) -> bool:
        """Whether the size of a class decides."""
        return all(isinstance(model, KAnonymity) for model in self.models)

    def violating(
        self, number: npt.NDArray[np.integer], rows: npt.NDArray[np.intp], sizes: npt.NDArray[np.integer]
    ) -> Flags:
        """For every class whether it breaks a model. Class ``number[i]`` has row ``rows[i]`` of the table."""
        classes = EquivalenceClasses(number.astype(np.int64, copy=False), sizes.astype(np.int64, copy=False))
        broken = np.zeros(classes.count, dtype=np.bool_)
        histograms = self._histograms(classes, rows)
        for model in self.models:
            broken |= model.violating(classes, histograms)
        return broken

    def _histograms(self, classes: EquivalenceClasses, rows: npt.NDArray[np.intp]) -> Histograms:
        return {
            name: classes.histogram(CodedColumn(name, column.codes[rows], column.values)).against(self.table[name])
            for name, column in self.sensitive.items()
        }

    def _refuse_out_of_reach(self, rows: int) -> None:
        classes = EquivalenceClasses(np.zeros(rows, dtype=np.int64), np.array([rows]))
        histograms = self._histograms(classes, np.arange(rows))
        for model in self.models:
            if model.violating(classes, histograms).any():
                best = f"{model.parameter} = {model.strictest(classes, histograms):.4g}"
                rule = f"{model.name} must hold at least when all {rows} rows are one class"
                raise OutOfReach(rule, f"<{best}>", "no recoding does better without suppression; ask for less")


def suppression_limit(share: float, rows: int) -> int:
    """The largest number of rows within the share, which is read as it is written: 0.29 of 100 rows are 29.

    >>> suppression_limit(0.29, 100), suppression_limit(0, 100)
    (29, 0)
    """
    if isinstance(share, bool) or not isinstance(share, (int, float, Fraction)):
        raise InvalidType("suppression must be a number", share)
    if not 0 <= share <= 1:
        raise InvalidValue("suppression must be a share from 0 to 1", share, "0.02 for two rows in a hundred")
    return math.floor(Fraction(str(share)) * rows)
