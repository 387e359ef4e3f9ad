"""What a notebook shows: answers, explanations, budgets and curators as tables, with words below."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING

from discreet.catalog.column import Column
from discreet.catalog.literal import written
from discreet.catalog.table import Table

if TYPE_CHECKING:
    from discreet.curator.answer import Answer

__all__ = ["catalog_html", "html_grid", "html_table"]

_MOST_ROWS = 100
_RIGHT = ' style="text-align: right"'
_LEFT = ' style="text-align: left"'
_SMALL = ' style="color: gray; font-size: smaller; margin: 0.2em 0"'


def html_table(answer: Answer) -> str:
    """The answer as HTML."""
    names, rows = answer.table.column_names, min(answer.table.num_rows, _MOST_ROWS)
    cells = [[answer.cell(name, row) for name in names] for row in range(rows)]
    return html_grid(names, cells, [*answer.left_out(rows), *answer.notes, answer.receipt()], style=_RIGHT)


def catalog_html(tables: Iterable[Table]) -> str:
    """Tables with whose privacy is protected and what is public about their columns."""
    rows = [(table.name, _protects(table), ", ".join(map(_column, table.columns))) for table in tables]
    return html_grid(("table", "protects", "columns"), rows, [] if rows else ["no table yet: curator.protect(…)"])


def _protects(table: Table) -> str:
    if table.public:
        return "nobody: it is public"
    each = "each row" if not table.foreign_keys else "whom its foreign keys lead to"
    return each if table.unit is None else f"each {table.unit}, {table.rows_per_unit:,} of their rows"


def _column(column: Column) -> str:
    bounds = "" if column.bounds is None else f" {written(column.bounds[0])} to {written(column.bounds[1])}"
    keys = "" if column.keys is None else f" with {len(column.keys):,} keys"
    return f"{column.name} {column.type.value}{bounds}{keys}"


def html_grid(
    heads: Sequence[str], rows: Iterable[Sequence[str]], below: Iterable[str] = (), *, style: str = _LEFT
) -> str:
    """A table and lines below it; every name, value and line is escaped."""
    head = f"<thead><tr>{''.join(f'<th{style}>{escape(name)}</th>' for name in heads)}</tr></thead>" if heads else ""
    lines = ("<tr>" + "".join(f"<td{style}>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    table = f"<table>{head}<tbody>{''.join(lines)}</tbody></table>"
    return f"<div>{table}" + "".join(f"<p{_SMALL}>{escape(line)}</p>" for line in below if line) + "</div>"
