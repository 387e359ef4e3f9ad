"""The look of the console: one style sheet, light and dark, and the few components that pages share.

Every component says what it is to somebody who cannot see it. Colours are variables of the style sheet (`palette`), so
that a page never names one.

Every pair of colours that carries words is far enough apart to be read.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from html import escape
from pathlib import Path
from typing import Literal, TypeVar

from nicegui import run, ui
from nicegui.element import Element

from discreet.console.widgets import come_back_to

__all__ = [
    "DARK",
    "LIGHT",
    "LOOK_COOKIE",
    "READ_ON",
    "TABLE_STYLE",
    "Kind",
    "Palette",
    "apply_look",
    "bullets",
    "busy",
    "button",
    "chip",
    "confirm",
    "download_button",
    "empty",
    "figure",
    "figures",
    "heading",
    "in_pages",
    "notice",
    "page_title",
    "plain_table",
    "quiet",
    "row",
    "says_why",
    "section",
    "shown_once",
    "stylesheet",
    "table_of",
]


@dataclass(frozen=True)
class Palette:
    """Colours by what they are for, as CSS writes them."""

    page: str
    """Behind everything."""
    surface: str
    """Behind a section."""
    raised: str
    """Behind what stands out of a section: chips, rows under the pointer."""
    text: str
    """Words."""
    muted: str
    """Secondary text."""
    line: str
    """Edges and rules."""
    primary: str
    """What can be acted on."""
    on_primary: str
    """Words on it."""
    tint: str
    """Behind the chosen one of several."""
    good: str
    """What went well."""
    good_tint: str
    """Behind it."""
    warn: str
    """What deserves a look."""
    warn_tint: str
    """Behind it."""
    bad: str
    """What was refused."""
    bad_tint: str
    """Behind it."""
    series: tuple[str, ...]
    """Colours of charts, in their order."""

    def css(self) -> str:
        """The colours as CSS variables, ``--d-`` and their name; charts' are numbered from 1."""
        named = {one.name.replace("_", "-"): getattr(self, one.name) for one in fields(self) if one.name != "series"}
        named |= {f"series-{place}": colour for place, colour in enumerate(self.series, 1)}
        return "".join(f"--d-{name}:{colour};" for name, colour in named.items())


LIGHT = Palette(
    page="#f5f6f8",
    surface="#ffffff",
    raised="#eef1f4",
    text="#1a2530",
    muted="#566472",
    line="#dbe1e7",
    primary="#1d5b85",
    on_primary="#ffffff",
    tint="#e3eef6",
    good="#22683b",
    good_tint="#e5f3e9",
    warn="#7d4b00",
    warn_tint="#fdf1dc",
    bad="#a1271e",
    bad_tint="#fbe9e7",
    series=("#1d5b85", "#b35c00", "#22683b", "#7a3f8f", "#a1271e", "#4a6274"),
)
"""The light theme."""

DARK = Palette(
    page="#10161c",
    surface="#182028",
    raised="#222c36",
    text="#e3e9ef",
    muted="#9eadba",
    line="#2d3945",
    primary="#82bce8",
    on_primary="#0a1722",
    tint="#1e3344",
    good="#86cf9b",
    good_tint="#173022",
    warn="#f0bd6d",
    warn_tint="#36290f",
    bad="#f2a097",
    bad_tint="#3d1f1c",
    series=("#82bce8", "#f0a860", "#86cf9b", "#c79ad6", "#f2a097", "#9eb4c5"),
)
"""For a dark one."""

READ_ON = (
    *((words, behind) for words in ("text", "muted", "primary") for behind in ("page", "surface", "raised", "tint")),
    *((words, "surface") for words in ("good", "warn", "bad")),
    *((words, f"{words}_tint") for words in ("good", "warn", "bad")),
    *(("text", f"{behind}_tint") for behind in ("good", "warn", "bad")),
    ("on_primary", "primary"),
)
"""Which words stand on what."""


T = TypeVar("T")
LOOK_COOKIE = "discreet_look"
"""The cookie that remembers light or dark; without it the page follows the system."""

Kind = Literal["info", "good", "warn", "error"]
"""How grave a notice is."""

_ICONS: dict[Kind, str] = {"info": "info", "good": "check_circle", "warn": "warning_amber", "error": "error_outline"}
_SHEET = (Path(__file__).parent / "theme.css").read_text("utf-8")


def stylesheet() -> str:
    """The style sheet: the colours, light unless the page or the system says dark, and the rules."""
    light = f":root,body.body--light{{{LIGHT.css()}color-scheme:light}}"
    dark = f"body.body--dark{{{DARK.css()}color-scheme:dark}}"
    system = f"@media (prefers-color-scheme:dark){{body.d-system{{{DARK.css()}color-scheme:dark}}}}"
    return light + dark + system + _SHEET


def apply_look() -> ui.dark_mode:
    """Give the page its style sheet, and its shade, light or dark: the reader's choice, or else the system's."""
    ui.add_head_html(f"<style>{stylesheet()}</style>")
    chosen = ui.context.client.request.cookies.get(LOOK_COOKIE)
    return ui.dark_mode(value={"dark": True, "light": False}.get(chosen or ""))


# Words.


def heading(text: str, level: int = 2) -> ui.html:
    """A heading that is one also for a screen reader."""
    return ui.html(escape(text), sanitize=False, tag=f"h{level}").classes(f"d-h{level}")


def page_title(title: str, lead: str = "") -> None:
    """The title of the page, and a sentence about what one can do here."""
    words = f'<h1 class="d-h1">{escape(title)}</h1>'
    if lead:
        words += f'<p class="d-lead">{escape(lead)}</p>'
    ui.html(words, sanitize=False)


# Boxes.


@contextmanager
def section(title: str, hint: str = "") -> Iterator[Element]:
    """A part of the page with a heading; what is made inside goes into it."""
    with ui.element("section").classes("d-section") as box:
        name = f"{box.html_id}-name"
        words = f'<h2 class="d-h2" id="{name}">{escape(title)}</h2>'
        if hint:
            words += f'<div class="d-muted d-small">{escape(hint)}</div>'
        ui.html(words, sanitize=False)
        box.props(f'aria-labelledby="{name}"')
        yield box


def row(*, spread: bool = False) -> Element:
    """Things side by side that wrap where there is no room; ``spread`` puts them far apart."""
    return ui.element("div").classes("d-row d-spread" if spread else "d-row")


@contextmanager
def figures() -> Iterator[Element]:
    """A list of labelled figures."""
    with ui.element("dl").classes("d-figures") as box:
        yield box


def figure(label: str, value: str, note: str = "") -> tuple[ui.label, ui.label]:
    """One labelled figure inside `figures`; the labels of the value and of the note, to be changed later."""
    with ui.element("div").classes("d-figure"):
        ui.html(escape(label), sanitize=False, tag="dt")
        with ui.element("dd"):
            shown = ui.label(value)
        below = ui.label(note).classes("d-note")
    return shown, below


def bullets(texts: Iterable[str]) -> None:
    """A list of remarks; nothing where there is none."""
    items = "".join(f"<li>{escape(text)}</li>" for text in texts)
    if items:
        ui.html(items, sanitize=False, tag="ul").classes("d-notes d-small d-muted")


def notice(text: str, kind: Kind = "info") -> Element:
    """Something to know; a warning and an error interrupt a screen reader, the others wait."""
    role = "alert" if kind in ("warn", "error") else "status"
    with ui.element("div").classes(f"d-notice d-notice-{kind}").props(f'role="{role}"') as box:
        ui.icon(_ICONS[kind]).props('aria-hidden="true"')
        ui.label(text).style("white-space: pre-line; min-width: 0")
    return box


def empty(icon: str, text: str, hint: str = "") -> Element:
    """What stands where nothing is yet, and how to change that."""
    with ui.element("div").classes("d-empty") as box:
        ui.icon(icon).props('aria-hidden="true"')
        ui.label(text)
        if hint:
            ui.label(hint).classes("d-small")
    return box


def in_pages(listed: Sequence[T], draw: Callable[[T], object], what: str, at_once: int = 50) -> None:
    """Draw the first of a list, and a button for more; ``what`` names them. Each that is drawn takes memory."""
    box, place = ui.element("div").classes("contents"), 0

    def more() -> None:
        nonlocal place
        with box:
            for one in listed[place : place + at_once]:
                draw(one)
        place += at_once
        pressed.set_visibility(place < len(listed))

    pressed = button(f"More {what}", more, icon="expand_more", kind="plain")
    more()


def chip(text: str, on_click: Callable[[], object] | None = None, *, name: str = "") -> Element:
    """A small word in a frame; with ``on_click`` it is a button, called ``name`` where its text is not enough."""
    tag = "span" if on_click is None else "button"
    box = ui.html(f"<div>{escape(text)}</div>", sanitize=False, tag=tag).classes("d-chip")
    if on_click is not None:
        box.props('type="button"')
        box.on("click", lambda _: on_click())
    if name:
        box.props["aria-label"] = name
    return box


# Actions.


def button(
    text: str,
    on_click: Callable[..., object] | None = None,
    *,
    icon: str | None = None,
    kind: Literal["main", "plain", "danger", "icon"] = "main",
) -> ui.button:
    """A button: the main one of its place, a plain one, one that cannot be undone, or an icon that ``text`` names."""
    look = {"main": "unelevated", "plain": "outline", "danger": "unelevated color=negative", "icon": "flat round"}
    made = ui.button("" if kind == "icon" else text, on_click=on_click, icon=icon).props(f"no-caps {look[kind]}")
    if kind == "icon":
        made.props["aria-label"] = text
        with made:
            ui.tooltip(text)
    return made


def says_why(pressed: ui.button, words: str) -> ui.label:
    """Words that stand beside a button for as long as it cannot be pressed; they may be changed."""
    said = ui.label(words).classes("d-muted d-small")
    said.bind_visibility_from(pressed, "enabled", value=False)
    pressed.props["aria-describedby"] = said.html_id
    return said


@contextmanager
def busy(pressed: ui.button) -> Iterator[None]:
    """While inside, the button turns and takes no other press."""
    pressed.props('loading title="Wait until this is done"').disable()
    try:
        yield
    finally:
        pressed.props(remove="loading title").enable()
        come_back_to(pressed)


def download_button(text: str, name: str, media_type: str, make: Callable[[], bytes]) -> ui.button:
    """A plain button that saves what ``make`` makes, off the loop of events, as a file ``name``."""

    async def save() -> None:
        with busy(pressed):
            content = await run.io_bound(make)
        if content is not None:
            ui.download.content(content, name, media_type)

    pressed = button(text, save, icon="download", kind="plain")
    return pressed


async def confirm(title: str, text: str, yes: str, *, danger: bool = False) -> bool:
    """Ask before something is done; True where the reader pressed ``yes``."""
    with ui.dialog() as dialog, ui.card().classes("d-section"):
        name = heading(title)
        ui.label(text).style("white-space: pre-line")
        with row():
            button(yes, lambda: dialog.submit(True), kind="danger" if danger else "main")
            button("Cancel", lambda: dialog.submit(False), kind="plain").props("autofocus")
    dialog.props(f'aria-labelledby="{name.html_id}"')
    answer: Awaitable[object] = dialog
    try:
        return bool(await answer)
    finally:
        _remove(dialog)


async def shown_once(title: str, secret: str, text: str) -> bool:
    """Show a secret that cannot be shown again; True once the reader said that it is in a safe place."""
    with ui.dialog().props("persistent") as dialog, ui.card().classes("d-section"):
        name = heading(title)
        ui.label(text)
        ui.label(secret).classes("d-secret")
        with row():
            copy = button("Copy", icon="content_copy", kind="plain")
            copy.on("click", js_handler=f"() => navigator.clipboard.writeText({json.dumps(secret)})")
            button("I have it", lambda: dialog.submit(True))
    dialog.props(f'aria-labelledby="{name.html_id}"')
    answer: Awaitable[object] = dialog
    try:
        return bool(await answer)
    finally:
        _remove(dialog)


def _remove(dialog: ui.dialog) -> None:
    """Take a dialog away, unless its page is gone and took it along."""
    if not dialog.is_deleted:
        dialog.delete()


TABLE_STYLE = "table.tight th,table.tight td{white-space:nowrap;font-size:.88rem;padding:4px 14px 4px 0}"
"""The rules of a small table, for a page that has one."""


def quiet(words: str) -> ui.label:
    """Secondary text."""
    return ui.label(words).classes("d-muted d-small").style("overflow-wrap:anywhere")


def plain_table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """A small table of text; it scrolls where there is no room."""
    table_of([f"<th>{escape(head)}</th>" for head in heads], rows)


def table_of(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """The same with heads that are HTML already."""
    body = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows)
    content = f'<table class="d-table tight"><thead><tr>{"".join(heads)}</tr></thead><tbody>{body}</tbody></table>'
    ui.html(content, sanitize=False).classes("d-table-box").props('tabindex="0"')
