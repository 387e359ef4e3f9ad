"""A table as it reads at some levels of its hierarchies."""

from __future__ import annotations

from collections.abc import Mapping

from discreet.anonymize.coded import CodedColumn, CodedTable
from discreet.anonymize.hierarchy import Hierarchy
from discreet.errors import InvalidValue

__all__ = ["generalised", "generalised_column"]


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
