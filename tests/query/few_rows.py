"""Questions in groups of which few rows of a person count, and the catalog that says so."""

from __future__ import annotations

from dataclasses import replace

from discreet.catalog.catalog import Catalog
from discreet.catalog.table import Table
from tests.query.world import CATALOG

LISTED = [
    "SELECT ward, COUNT(*), SUM(cost), VARIANCE(age) FROM visits GROUP BY ward",
    "SELECT ward, kind, SUM(cost), COUNT(*) FILTER (WHERE flag) FROM swaps GROUP BY ward, kind",
    "SELECT ward, MEDIAN(age), MODE(kind), MAX(age) FROM visits GROUP BY ward",
    "SELECT ward, AVG(age) FROM (SELECT ward, age FROM visits WHERE age > 3) t GROUP BY ward",
]
UNLISTED = [
    "SELECT note, COUNT(*), SUM(cost), MEDIAN(age) FROM visits GROUP BY note",
    "SELECT note, ward, AVG(cost), COUNT(DISTINCT patient_id) FROM swaps GROUP BY note, ward",
]


def catalog_with(most: int | None, groups: int = 2) -> Catalog:
    """The catalog in which a person has so many rows per ward and note, and makes so many notes visible."""
    return Catalog([_with(table, most, groups) if table.unit == "patient_id" else table for table in CATALOG])


def _with(table: Table, most: int | None, groups: int) -> Table:
    columns = (
        replace(column, rows_per_key=most) if column.name in ("ward", "note", "age") else column
        for column in table.columns
    )
    return replace(table, columns=tuple(columns), groups_per_unit=groups)
