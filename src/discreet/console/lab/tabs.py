"""The two tabs of the lab: attack a table, and audit a mechanism."""

from __future__ import annotations

from nicegui import ui

from discreet.console.lab.attacks import AttackTab
from discreet.console.lab.audit import AuditTab
from discreet.console.layout import PageVisit

__all__ = ["draw"]


def draw(visit: PageVisit) -> None:
    """Both tabs."""
    ui.add_css(_STYLE)
    with ui.tabs().props("no-caps align=left inline-label") as tabs:
        attack = ui.tab("Attack a table", icon="key")
        audit = ui.tab("Audit a mechanism", icon="fact_check")
    with ui.tab_panels(tabs, value=attack).classes("w-full lab-panels").props("keep-alive"):
        with ui.tab_panel(attack):
            AttackTab(visit).draw()
        with ui.tab_panel(audit):
            AuditTab(visit).draw()


_STYLE = """
.lab-panels{background:transparent!important;color:inherit!important}
.lab-panels .q-tab-panel{padding:16px 0 0;display:flex;flex-direction:column;gap:20px}
.lab-choices{display:grid;grid-template-columns:repeat(auto-fill,minmax(17rem,1fr));gap:6px 20px;width:100%}
.lab-choice .q-checkbox__label{font-weight:500}
.lab-choice .d-small{padding-left:34px;margin-top:-6px}
.lab-board{border-collapse:separate;border-spacing:3px;font-variant-numeric:tabular-nums}
.lab-board th{font-weight:500;font-size:.86rem;color:var(--d-muted);padding:3px 8px 3px 0;text-align:left}
.lab-board thead th{text-align:center;vertical-align:bottom;padding:3px 4px;max-width:8rem}
.lab-board tbody th{position:sticky;left:0;background:var(--d-surface);min-width:7.5rem;z-index:1}
.lab-board td{padding:0;min-width:4.6rem}
.lab-cell{width:100%;min-height:34px;border-radius:6px;border:1px solid var(--d-line);background:var(--d-raised);
color:var(--d-text);cursor:pointer;white-space:nowrap;padding:2px 8px;font-size:.92rem}
.lab-cell[disabled]{cursor:default;opacity:.45}
.lab-cell:hover:not([disabled]){border-color:var(--d-primary)}
.lab-legend{display:grid;grid-template-columns:auto 1fr;gap:2px 12px;margin:0}
.lab-legend dd{margin:0}
.lab-sides{display:grid;grid-template-columns:repeat(2,minmax(0,1fr));gap:24px;width:100%}
@media (max-width:900px){.lab-sides{grid-template-columns:minmax(0,1fr)}}
"""
