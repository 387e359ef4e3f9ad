"""Audit trail: who signed in, and who changed what, and a check of all of it."""

from __future__ import annotations

from nicegui import run, ui

from discreet.console import theme
from discreet.console.layout import PageVisit
from discreet.service.audit_trail import TrailCheck, TrailEvent, event_words
from discreet.service.operations import oversight as oversight_ops

__all__ = ["build", "trail_words"]


_LEAD = "Who signed in, and who changed tokens, members, policies and tables, in an order that nobody can change."
_AT_ONCE = 50
_HEAD = 16


async def build(visit: PageVisit) -> None:
    """The page for owners and auditors."""
    theme.page_title("Audit trail", _LEAD)
    ui.add_css(_STYLE)
    await _TrailPage(visit).draw()


def trail_words(found: TrailCheck) -> str:
    """The result of a check."""
    if not found.is_sound:
        return "The audit trail cannot be believed: " + "; ".join(found.problems) + "."
    return (
        f"Sound: {found.events:,} events, each of which follows from the one before it, and as many as the ledger has "
        f"seen. The last one has the hash {found.head.hex()[:_HEAD]}…"
    )


class _TrailPage:
    """One reader's page."""

    def __init__(self, visit: PageVisit) -> None:
        self._visit = visit
        self._before: int | None = None
        self._shown = 0
        self._turn = 0

    async def draw(self) -> None:
        """The check, the filters and the events."""
        with theme.section("Can it be believed?", "All of it is replayed, and compared with what the ledger has seen."):
            with theme.row():
                self._verify = theme.button("Verify the trail", self._check, icon="verified_user", kind="plain")
            self._checked = ui.element("div").classes("w-full")
        with theme.section("Events"):
            with theme.row():
                self._kind = ui.input("Kind", on_change=self._show).props("outlined dense clearable debounce=250")
                self._by = ui.input("By", on_change=self._show).props("outlined dense clearable debounce=250")
            self._count = ui.label().classes("d-muted d-small").props('role="status"')
            self._list = ui.element("ol").classes("trail-list")
            self._older = theme.button("Older events", self._more, icon="expand_more", kind="plain")
        await self._show()

    async def _check(self) -> None:
        with theme.busy(self._verify):
            found = await run.io_bound(oversight_ops.check_events, self._visit.service, self._visit.principal)
        self._checked.clear()
        if found is not None:
            with self._checked:
                theme.notice(trail_words(found), "good" if found.is_sound else "error")

    async def _show(self) -> None:
        """The newest of what is wanted."""
        self._turn += 1
        self._before = None
        await self._load(self._turn, is_first=True)

    async def _more(self) -> None:
        """Those before what is shown."""
        with theme.busy(self._older):
            await self._load(self._turn, is_first=False)

    async def _load(self, turn: int, *, is_first: bool) -> None:
        found = await run.io_bound(self._read) or []
        if turn != self._turn:  # the reader wants something else by now
            return
        if is_first:
            self._list.clear()
            self._shown = 0
        shown = found[:_AT_ONCE]
        with self._list:
            for event in shown:
                _draw(event)
        self._shown += len(shown)
        self._older.set_visibility(len(found) > _AT_ONCE)
        if shown:
            self._before = shown[-1].position
        more = ", and older ones" if len(found) > _AT_ONCE else ""
        self._count.set_text(f"{self._shown:,} shown{more}." if self._shown else "Nothing is found.")

    def _read(self) -> list[TrailEvent]:
        kind, by = (self._kind.value or "").strip() or None, (self._by.value or "").strip() or None
        return oversight_ops.events(self._visit.service, self._visit.principal, _AT_ONCE + 1, self._before, kind, by)


def _draw(event: TrailEvent) -> None:
    with ui.element("li").classes("trail-event"):
        ui.label(f"№ {event.position} · {event.time[:19].replace('T', ' ')} UTC").classes("d-small d-muted")
        ui.label(event_words(event))


_STYLE = """
.trail-list{list-style:none;margin:0;padding:0;width:100%}
.trail-event{padding:8px 0;border-top:1px solid var(--d-line);overflow-wrap:anywhere}
"""
