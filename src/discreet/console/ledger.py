"""Ledger: every release, a check of all of them, and the certificates."""

from __future__ import annotations

from dataclasses import replace

from nicegui import run, ui

from discreet.console import look
from discreet.console.ask_certificate import show_certificate
from discreet.console.budget_story import OWNER
from discreet.console.ledger_words import checked_words, record_head, record_numbers, sought
from discreet.console.suspended import draw_suspended
from discreet.console.visit import Visit
from discreet.errors import DiscreetError
from discreet.service import books, telling
from discreet.service.books import Sought
from discreet.service.house import House
from discreet.service.records import KINDS, QUESTION, Record
from discreet.service.role import READERS, Role

__all__ = ["build"]

_LEAD_OF_READERS = "Every release, every budget and every permission, in an order that nobody can change."
_LEAD_OF_ANALYSTS = (
    "Your own questions, in an order that nobody can change. Those of others do not show here, nor yours there."
)
_AT_ONCE = 50


async def build(visit: Visit) -> None:
    """The page."""
    reads_all = visit.visitor.role in READERS
    look.page_title("Ledger", _LEAD_OF_READERS if reads_all else _LEAD_OF_ANALYSTS)
    ui.add_css(_STYLE)
    await _Page(visit, reads_all).draw()


class _Page:
    """One reader's page."""

    def __init__(self, visit: Visit, reads_all: bool) -> None:
        self._visit = visit
        self._reads_all = reads_all
        self._sought = Sought()
        self._turn = 0

    async def draw(self) -> None:
        """Who is suspended, the check, the filters and the records."""
        if self._reads_all:
            await draw_suspended(self._visit)
            with look.section("Can it be believed?", "All of it is replayed from the first record on."):
                with look.row():
                    self._verify = look.button("Verify the ledger", self._check, icon="verified_user", kind="plain")
                self._checked = ui.element("div").classes("w-full")
        with look.section("Records"):
            await self._draw_filters()
            self._refusal = ui.label().classes("d-bad d-small").props('role="alert"')
            self._count = ui.label().classes("d-muted d-small").props('role="status"')
            self._list = ui.element("ol").classes("ledger-list")
            self._older = look.button("Older records", self._more, icon="expand_more", kind="plain")
        await self._show()

    async def _check(self) -> None:
        with look.busy(self._verify):
            found = await run.io_bound(books.verify, self._visit.house, self._visit.visitor)
        self._checked.clear()
        if found is not None:
            with self._checked:
                look.notice(checked_words(found), "good" if found.is_sound else "error")

    # Filters.

    async def _draw_filters(self) -> None:
        house, visitor = self._visit.house, self._visit.visitor
        askers = await run.io_bound(_askers, house) if self._reads_all else []
        tables = await run.io_bound(telling.tables, house, visitor) or []
        with ui.element("div").classes("ledger-filters"):
            self._text = ui.input("Text", on_change=self._show).props("outlined dense clearable debounce=250")
            self._table = self._choice("Table", sorted({one.name for one in tables if not one.public}))
            self._analyst = self._choice("Analyst", askers or [])
            self._kind = self._choice("Kind", list(KINDS))
            self._since = ui.input("From", on_change=self._show).props("outlined dense type=date stack-label")
            self._until = ui.input("To", on_change=self._show).props("outlined dense type=date stack-label")
        for choice in (self._analyst, self._kind):
            choice.set_visibility(self._reads_all)

    def _choice(self, label: str, options: list[str]) -> ui.select:
        made = ui.select(options, label=label, clearable=True, on_change=self._show)
        return made.props("outlined dense options-dense")

    # Records.

    async def _show(self) -> None:
        """The newest of what is wanted."""
        try:
            self._sought = sought(
                self._text.value or "",
                self._analyst.value,
                self._table.value,
                self._kind.value,
                self._since.value or "",
                self._until.value or "",
            )
        except DiscreetError as refusal:
            self._refusal.set_text(str(refusal))
            return
        self._refusal.set_text("")
        self._turn += 1
        await self._load(self._turn, is_first=True)

    async def _more(self) -> None:
        """Those before what is shown."""
        with look.busy(self._older):
            await self._load(self._turn, is_first=False)

    async def _load(self, turn: int, *, is_first: bool) -> None:
        found = await run.io_bound(self._read, self._sought) or []
        if turn != self._turn:  # the reader wants something else by now
            return
        if is_first:
            self._list.clear()
            self._shown = 0
        shown = found[:_AT_ONCE]
        with self._list:
            for record, prices in shown:
                self._draw_record(record, prices)
        self._shown += len(shown)
        self._older.set_visibility(len(found) > _AT_ONCE)
        if shown:
            self._sought = replace(self._sought, before=shown[-1][0].position)
        more = ", and older ones" if len(found) > _AT_ONCE else ""
        self._count.set_text(f"{self._shown:,} shown{more}." if self._shown else "Nothing is found.")

    def _read(self, wanted: Sought) -> list[tuple[Record, list[str]]]:
        found = books.entries(self._visit.house, self._visit.visitor, wanted, _AT_ONCE + 1)
        return list(zip(found, books.price_words(self._visit.house, found), strict=True))

    def _draw_record(self, record: Record, prices: list[str]) -> None:
        with ui.element("li"), ui.element("div").classes("ledger-record"):
            with ui.element("div").classes("ledger-said"):
                ui.label(record_head(record, prices)).classes("d-small d-muted")
                ui.label(record.text or record.kind).classes("d-code" if record.kind == QUESTION else "")
            with ui.element("div").classes("ledger-side"):
                ui.label(record_numbers(record)).classes("d-small d-muted")
                if record.answered is not None:
                    entry = record.answered
                    made = look.button("Certificate", lambda: self._open(entry), icon="verified", kind="icon")
                    made.props["aria-label"] = f"Certificate of № {record.position}"

    async def _open(self, entry: int) -> None:
        paper = await run.io_bound(books.certificate, self._visit.house, self._visit.visitor, entry)
        if paper is not None:
            show_certificate(paper.certificate, paper)


def _askers(house: House) -> list[str]:
    """Everybody who may have asked: whom a policy names, who is or was a member, and the owner."""
    named = {name for table in house.curator.catalog for name in table.analysts}
    return sorted(named | {one.name for one in house.members.all() if one.role is Role.ANALYST} | {OWNER})


_STYLE = """
.ledger-filters{display:grid;grid-template-columns:repeat(auto-fill,minmax(11rem,1fr));gap:10px;width:100%}
.ledger-list{list-style:none;margin:0;padding:0;width:100%}
.ledger-record{display:flex;justify-content:space-between;gap:12px;padding:10px 0;border-top:1px solid var(--d-line)}
.ledger-said{min-width:0}.ledger-said .d-code,.ledger-said>div{overflow-wrap:anywhere}
.ledger-side{display:flex;align-items:center;gap:6px;white-space:nowrap}
@media (max-width:640px){.ledger-record{flex-direction:column;gap:2px}.ledger-side{min-height:32px}}
"""
