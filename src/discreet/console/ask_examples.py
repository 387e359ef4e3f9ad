"""Questions for a newcomer, made from what is public about a table."""

from __future__ import annotations

from collections.abc import Iterator

from discreet.catalog.column import ColumnType
from discreet.catalog.table import Table
from discreet.console.ask_editor import quoted_name, written

__all__ = ["examples"]


def examples(table: Table) -> Iterator[tuple[str, str]]:
    """Titles and questions: how many, how many in each group, an average, and over time."""
    source = written(table.name)
    yield "How many rows?", f"SELECT COUNT(*) AS n\nFROM {source}"
    grouped = next((one for one in table.columns if one.keys is not None), None)
    measured = next((one for one in table.columns if one.type.is_numeric and one.bounds is not None), None)
    dated = next((one for one in table.columns if one.type is ColumnType.DATE and one.bounds is not None), None)
    if grouped is not None:
        by = quoted_name(grouped.name)
        yield f"How many for each {grouped.name}?", f"SELECT {by}, COUNT(*) AS n\nFROM {source}\nGROUP BY {by}"
    if measured is not None:
        of = quoted_name(measured.name)
        yield f"What is the average {measured.name}?", f"SELECT AVG({of}) AS mean_{measured.name}\nFROM {source}"
    if dated is not None:
        day = quoted_name(dated.name)
        sql = (
            f"SELECT date_trunc('month', {day}) AS month, COUNT(*) AS n\nFROM {source}\nGROUP BY month\nORDER BY month"
        )
        yield "How many in each month?", sql
