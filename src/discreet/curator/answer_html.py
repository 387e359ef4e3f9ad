"""An answer in a notebook: a table with error bars, what was done to the values, and the price below."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from discreet.curator.answer import Answer

__all__ = ["html_table"]

_MOST_ROWS = 100
_RIGHT = ' style="text-align: right"'
_SMALL = ' style="color: gray; font-size: smaller; margin: 0.2em 0"'


def html_table(answer: Answer) -> str:
    """The answer as HTML; every name, value and note is escaped."""
    names, rows = answer.table.column_names, min(answer.table.num_rows, _MOST_ROWS)
    head = "".join(f"<th{_RIGHT}>{escape(name)}</th>" for name in names)
    lines = [
        "<tr>" + "".join(f"<td{_RIGHT}>{escape(answer.cell(name, row))}</td>" for name in names) + "</tr>"
        for row in range(rows)
    ]
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(lines)}</tbody></table>"
    below = [*answer.left_out(rows), *answer.notes, answer.receipt()]
    return f"<div>{table}" + "".join(f"<p{_SMALL}>{escape(line)}</p>" for line in below if line) + "</div>"
