"""Tables: what is protected and for whom, and how a new table comes under protection."""

from __future__ import annotations

from nicegui import ui

from discreet.console.look import page_title
from discreet.console.one_line_upload import UPLOAD_STYLE
from discreet.console.quiet_words import TABLE_STYLE
from discreet.console.tables_known import KnownTables
from discreet.console.tables_new import NewTable
from discreet.console.visit import Visit

__all__ = ["build"]

_LEAD = "What is protected, who may ask about it and how much, and how a new table comes in."
_STYLE = """
.policy-line{display:flex;gap:12px;font-family:ui-monospace,Menlo,Consolas,"DejaVu Sans Mono",monospace;
font-size:.84rem;white-space:pre-wrap;overflow-wrap:anywhere;padding:1px 8px;border-left:3px solid transparent}
.policy-line .nr{color:var(--d-muted);min-width:1.6rem;text-align:right;user-select:none}
.policy-line.wrong{background:var(--d-bad-tint);border-left-color:var(--d-bad)}
.policy-said{color:var(--d-bad);font-size:.86rem;padding:0 8px 4px 3.4rem;overflow-wrap:anywhere}
.policy{border:1px solid var(--d-line);border-radius:8px;padding:8px 0;background:var(--d-surface);width:100%}
.column-form{display:grid;gap:8px 10px;align-items:center;width:100%;
grid-template-columns:repeat(auto-fill,minmax(min(100%,9.5rem),1fr));padding:10px 0;
border-bottom:1px solid var(--d-line)}
.form-grid{display:grid;gap:12px;width:100%;grid-template-columns:repeat(auto-fill,minmax(min(100%,14rem),1fr))}
"""


async def build(visit: Visit) -> None:
    """The page for an owner."""
    ui.add_css(UPLOAD_STYLE + TABLE_STYLE + _STYLE)
    page_title("Tables", _LEAD)
    known = KnownTables(visit)
    await known.draw()
    NewTable(visit, known.draw).draw()
