"""Full-domain recoding: every cell of a column is released at the same level of its hierarchy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from discreet.anonymize.hierarchies.hierarchy import Hierarchy, matched_hierarchies
from discreet.anonymize.models.model import Model
from discreet.anonymize.recode.recoding import Recoding, coded_for, releasable, release, suppression_limit
from discreet.anonymize.roles import Roles
from discreet.anonymize.table import CodedColumn, CodedTable, arrow_table
from discreet.errors import InvalidValue, OutOfReach

__all__ = ["FullDomainRecoding", "generalised", "generalised_column"]


def generalised(table: CodedTable, hierarchies: Mapping[str, Hierarchy], levels: Mapping[str, int]) -> CodedTable:
    """The table in which the columns of ``levels`` are replaced by their groups at that level; others stay."""
    found = {name: generalised_column(table[name], hierarchies[name], level) for name, level in levels.items()}
    return CodedTable({**table.columns, **found}, table.rows)


def generalised_column(column: CodedColumn, hierarchy: Hierarchy, level: int) -> CodedColumn:
    """The column of groups at one level, of which all are values, also those that no row has."""
    if not 0 <= level <= hierarchy.height:
        raise InvalidValue(f"the level of '{column.name}' must be from 0 to {hierarchy.height}", level)
    groups = hierarchy.levels[level][hierarchy.places(column)]
    return CodedColumn(column.name, groups[column.codes], hierarchy.labels[level])


_EXAMPLES = 3


@dataclass(frozen=True, eq=False)
class FullDomainRecoding(Recoding):
    """A level for every quasi-identifier, and what must hold afterwards. It is not differential privacy."""

    roles: Roles
    """The role of every column."""
    hierarchies: Mapping[str, Hierarchy]
    """The hierarchies that were given; a column without one is released as it is or not at all."""
    levels: Mapping[str, int]
    """For every quasi-identifier its level; 0 leaves it as it is."""
    models: tuple[Model, ...]
    """What every released class meets."""
    suppression: float
    """The largest share of rows that may be left out."""

    def transform(self, source: Any) -> pa.Table:
        """The rows of ``source`` at the same levels. Rows of classes that break a model are left out.

        Models that compare a class with the whole table compare it with all rows of ``source``. Refuses when more rows
        than the limit would have to be left out: then these rows need a recoding of their own.
        """
        table = arrow_table(source)
        coded = coded_for(table, self.roles, self.models)
        hierarchies = matched_hierarchies(coded, self.roles.quasi, self.hierarchies)
        columns = {name: generalised_column(coded[name], one, self.levels[name]) for name, one in hierarchies.items()}
        kept = self._kept(coded, [column.codes.astype(np.int64) for column in columns.values()])
        return release(table, self.roles, {name: _text(columns[name]) for name in columns if self.levels[name]}, kept)

    def described(self) -> dict[str, str]:
        """For every quasi-identifier its level in words, with some of the labels.

        >>> roles = Roles.of(["zip"], quasi="zip")
        >>> zips = Hierarchy.of(["13053", "14850"], [["130**", "148**"], ["*", "*"]])
        >>> FullDomainRecoding(roles, {"zip": zips}, {"zip": 1}, (), 0).described()
        {'zip': 'level 1 of 2: 130**, 148**'}
        """
        return {name: self._level_in_words(name, level) for name, level in self.levels.items()}

    def _level_in_words(self, name: str, level: int) -> str:
        if name not in self.hierarchies:
            return "not released" if level else "as it is"
        hierarchy = self.hierarchies[name]
        labels = hierarchy.labels[level]
        more = ", …" if len(labels) > _EXAMPLES else ""
        words = "as it is" if level == 0 else ", ".join(labels[:_EXAMPLES]) + more
        return f"level {level} of {hierarchy.height}: {words}"

    def _kept(self, coded: CodedTable, cells: Sequence[npt.NDArray[np.int64]]) -> npt.NDArray[np.bool_]:
        """For every row whether its class meets every model; refuses when too many do not."""
        kept = releasable(cells, np.ones(coded.rows, dtype=np.bool_), coded, self.models)
        lost, limit = int(np.count_nonzero(~kept)), suppression_limit(self.suppression, coded.rows)
        if lost > limit or not kept.any():
            rule = f"at most {limit} of {coded.rows} rows may be left out by this recoding, and not all"
            raise OutOfReach(rule, lost, "find a recoding for these rows, or add more of them")
        return kept


def _text(column: CodedColumn) -> pa.DictionaryArray:
    """The labels of a column, each written once."""
    return pa.DictionaryArray.from_arrays(column.codes, pa.array(column.values, pa.string()))
