"""An answer as CSV: one line per row, perhaps with the ends of its error bars beside each value.

An answer as JSON: rows, error bars, the price, what is left, and where the ledger has it.

JSON knows no infinity, so a value that is not finite is written as null.

What a notebook shows: answers, explanations, budgets and curators as tables, with words below.
"""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterable, Sequence
from datetime import date, time
from decimal import Decimal
from html import escape
from typing import TYPE_CHECKING, Any

from discreet.catalog.column import Column, write_literal
from discreet.catalog.table import Table
from discreet.curator.answers.cell import with_ends
from discreet.curator.ledger.units import as_json, balance_as_json

if TYPE_CHECKING:
    from discreet.curator.answers.answer import Answer

__all__ = ["catalog_html", "csv_text", "html_grid", "html_table", "json_text"]


def csv_text(answer: Answer, intervals: bool) -> str:
    """The answer's rows; a missing value is an empty field, and so is an error bar that is not known."""
    table = with_ends(answer.table, answer.error) if intervals else answer.table
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(table.column_names)
    writer.writerows(zip(*(column.to_pylist() for column in table.columns), strict=True))
    return text.getvalue()


def json_text(answer: Answer) -> str:
    """The answer as one JSON object."""
    body = {
        "rows": [{name: _plain(value) for name, value in row.items()} for row in answer.to_rows()],
        "error": {
            name: [None if interval is None else [_plain(end) for end in interval] for interval in intervals]
            for name, intervals in answer.error.items()
        },
        "confidence": answer.confidence,
        "price": None if answer.price is None else as_json(answer.price),
        "charged": answer.charged,
        "left": {account: balance_as_json(left) for account, left in answer.left.items()},
        "entry": answer.entry,
        "notes": list(answer.notes),
    }
    return json.dumps(body, ensure_ascii=False, allow_nan=False)


def _plain(value: Any) -> Any:
    if isinstance(value, (float, Decimal)):
        return _number(float(value))
    if isinstance(value, (date, time)):
        return value.isoformat()
    return value if value is None or isinstance(value, (bool, int, str)) else str(value)


def _number(value: float) -> float | None:
    return value if math.isfinite(value) else None


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
    bounds = "" if column.bounds is None else f" {write_literal(column.bounds[0])} to {write_literal(column.bounds[1])}"
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
