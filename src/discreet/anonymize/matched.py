"""One hierarchy for each quasi-identifier of a table, ready to be used on it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from discreet.anonymize.coded import CodedColumn, CodedTable
from discreet.anonymize.hierarchy import Hierarchy
from discreet.catalog.suggestion import suggestion
from discreet.errors import InvalidType, InvalidValue

__all__ = ["matched_hierarchies"]


def matched_hierarchies(
    table: CodedTable, quasi: Sequence[str], given: Mapping[str, Hierarchy] | None = None
) -> dict[str, Hierarchy]:
    """The hierarchies of the columns ``quasi``, each of which holds every value of its column.

    A column without a hierarchy is released as it is or not at all. Where a column has missing cells and its hierarchy
    says nothing about them, they are a value of their own.
    """
    hierarchies = given or {}
    for name in hierarchies:
        if name not in quasi:
            raise InvalidValue("a hierarchy must belong to a quasi-identifier", name, suggestion(name, quasi))
    return {name: _matched(table[name], hierarchies.get(name)) for name in quasi}


def _matched(column: CodedColumn, hierarchy: Hierarchy | None) -> Hierarchy:
    if hierarchy is None:
        return Hierarchy.suppressing(column.values)
    if not isinstance(hierarchy, Hierarchy):
        remedy = "build one with intervals, masks, taxonomy, dates, ordered or read_arx_csv"
        raise InvalidType(f"the hierarchy of '{column.name}' must be a Hierarchy", hierarchy, remedy)
    found = hierarchy.with_missing() if column.has_missing else hierarchy
    found.places(column)  # refuses values that the hierarchy misses
    return found
