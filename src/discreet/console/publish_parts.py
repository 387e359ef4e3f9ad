"""The few things that the sections of the page of publications share."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from nicegui import ui

from discreet.anonymize.roles import Role
from discreet.console.publish_style import ROLE_ICONS, ROLE_NAMES, role_class

__all__ = ["bar", "plain_table", "quiet", "role_chip", "upload_look"]


def role_chip(role: Role) -> None:
    """A role with its colour, its sign and its name."""
    with ui.element("span").classes(f"role-chip {role_class(role)}"):
        ui.icon(ROLE_ICONS[role]).props('aria-hidden="true"')
        ui.label(ROLE_NAMES[role])


def quiet(words: str) -> ui.label:
    """Words that can wait."""
    return ui.label(words).classes("d-muted d-small").style("overflow-wrap:anywhere")


def plain_table(heads: Sequence[str], rows: Sequence[Sequence[str]], roles: Sequence[Role | None] = ()) -> None:
    """A small table of text, whose heads may have the colours of roles."""
    given = list(roles) or [None] * len(heads)
    head = "".join(_head(name, role) for name, role in zip(heads, given, strict=True))
    body = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows)
    content = f'<table class="d-table tight"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'
    ui.html(content, sanitize=False).classes("d-table-box").props('tabindex="0"')


def _head(name: str, role: Role | None) -> str:
    if role is None:
        return f"<th>{escape(name)}</th>"
    said = f'<span class="d-hidden-name">, {ROLE_NAMES[role]}</span>'
    return f'<th class="role-head {role_class(role)}" title="{ROLE_NAMES[role]}">{escape(name)}{said}</th>'


def bar(value: float, kind: str, limit: float | None = None) -> None:
    """A bar for a share that is said beside it, ``within`` or ``above`` a limit, with a mark where the limit is."""
    mark = "" if limit is None else f'<span class="at" style="left:{100 * limit:.2f}%"></span>'
    filled = f'<span class="{kind}" style="width:{100 * value:.2f}%"></span>'
    ui.html(f'<div class="risk-bar" aria-hidden="true">{filled}{mark}</div>', sanitize=False).classes("w-full")


def upload_look(upload: ui.upload, endings: str) -> None:
    """One line to choose a file or drop it on, without the list of files below."""
    upload.props(f'accept="{endings}" flat bordered').classes("one-line-upload")
