"""Words that can wait, and small tables of them."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from nicegui import ui

__all__ = ["TABLE_STYLE", "plain_table", "quiet", "table_of"]

TABLE_STYLE = "table.tight th,table.tight td{white-space:nowrap;font-size:.88rem;padding:4px 14px 4px 0}"
"""The rules of a small table, for a page that has one."""


def quiet(words: str) -> ui.label:
    """Words that can wait."""
    return ui.label(words).classes("d-muted d-small").style("overflow-wrap:anywhere")


def plain_table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """A small table of text; it scrolls where there is no room."""
    table_of([f"<th>{escape(head)}</th>" for head in heads], rows)


def table_of(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """The same with heads that are HTML already."""
    body = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows)
    content = f'<table class="d-table tight"><thead><tr>{"".join(heads)}</tr></thead><tbody>{body}</tbody></table>'
    ui.html(content, sanitize=False).classes("d-table-box").props('tabindex="0"')
