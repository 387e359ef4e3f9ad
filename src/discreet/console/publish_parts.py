"""The few things that the sections of the page of publications share."""

from __future__ import annotations

from html import escape

import pyarrow as pa
from nicegui import ui

from discreet.anonymize.roles import Role, Roles
from discreet.console.publish_style import ROLE_ICONS, ROLE_NAMES, role_class
from discreet.console.publishing.changes import spread_rows
from discreet.console.quiet_words import table_of

__all__ = ["bar", "role_chip", "some_rows"]

_ROWS = 8


def role_chip(role: Role) -> None:
    """A role with its colour, its sign and its name."""
    with ui.element("span").classes(f"role-chip {role_class(role)}"):
        ui.icon(ROLE_ICONS[role]).props('aria-hidden="true"')
        ui.label(ROLE_NAMES[role])


def some_rows(table: pa.Table, roles: Roles) -> None:
    """Some rows of a table, whose heads have the colours of their roles."""
    heads = [_head(name, roles.role_of(name)) for name in table.column_names]
    table_of(heads, spread_rows(table, _ROWS))


def _head(name: str, role: Role) -> str:
    said = f'<span class="d-hidden-name">, {ROLE_NAMES[role]}</span>'
    return f'<th class="role-head {role_class(role)}" title="{ROLE_NAMES[role]}">{escape(name)}{said}</th>'


def bar(value: float, kind: str, limit: float | None = None) -> None:
    """A bar for a share that is said beside it, ``within`` or ``above`` a limit, with a mark where the limit is."""
    mark = "" if limit is None else f'<span class="at" style="left:{100 * limit:.2f}%"></span>'
    filled = f'<span class="{kind}" style="width:{100 * value:.2f}%"></span>'
    ui.html(f'<div class="risk-bar" aria-hidden="true">{filled}{mark}</div>', sanitize=False).classes("w-full")
