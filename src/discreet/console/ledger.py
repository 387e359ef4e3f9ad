"""Ledger: every release, a check of all of them, and the certificates.

Who is suspended because a question failed stands there, too, and owners lift it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import date

from nicegui import run, ui

from discreet.console import theme
from discreet.console.ask.answer import show_certificate
from discreet.console.budget import OWNER
from discreet.console.layout import PageVisit
from discreet.curator.suspensions import LONGEST_REASON, Suspension
from discreet.errors import DiscreetError, InvalidValue
from discreet.service.auth.roles import READERS, MemberRole
from discreet.service.operations import ledger as ledger_ops
from discreet.service.operations import oversight as oversight_ops
from discreet.service.operations import tables as tables_ops
from discreet.service.operations.ledger import KINDS, QUESTION, Checked, Record, Sought
from discreet.service.state import ServiceState

__all__ = [
    "build",
    "checked_words",
    "day",
    "draw_suspended",
    "record_head",
    "record_numbers",
    "sought",
    "suspension_words",
]


_HEAD = 16


def record_head(record: Record, prices: Sequence[str]) -> str:
    """When, who and for how much, in a line."""
    when = record.time[:19].replace("T", " ") + " UTC"
    if record.kind != QUESTION:
        return f"{when} · {record.kind}"
    cost = " and ".join(prices) or "free"
    return f"{when} · {record.analyst or OWNER} · {cost}"


def record_numbers(record: Record) -> str:
    """The number of a record, and that of its answer, which the receipt and the certificate name."""
    answered = "" if record.answered is None else f", answer № {record.answered}"
    return f"№ {record.position}{answered}"


def checked_words(found: Checked) -> str:
    """The result of a check."""
    if not found.is_sound:
        return "The ledger cannot be believed: " + "; ".join(found.problems) + "."
    return (
        f"Sound: {found.entries:,} records, each of which follows from the one before it; the balances are what they "
        f"say, and nothing was cut off. The last one has the hash {found.head[:_HEAD]}…"
    )


def sought(text: str, analyst: str | None, table: str | None, kind: str | None, since: str, until: str) -> Sought:
    """What the filters ask for."""
    who = "" if analyst == OWNER else analyst
    return Sought(who, table, kind, text.strip(), day(since, "the first day"), day(until, "the last day"))


def day(text: str, name: str) -> date | None:
    """A day as a date field writes it; None where nothing is written."""
    if not text.strip():
        return None
    try:
        return date.fromisoformat(text.strip())
    except ValueError:
        raise InvalidValue(f"{name} must be a date", text, "2026-01-31, for example") from None


_HINT = (
    "A question of theirs failed after rows could have been read. Why it did stands in owner.log, in the curator's "
    "folder. Lift it when you know that no row decided it."
)


def suspension_words(one: Suspension) -> str:
    """Who cannot ask, where and since when, in a line."""
    when = one.time[:19].replace("T", " ") + " UTC"
    return f"{one.analyst or OWNER} at {', '.join(one.tables)}, since record № {one.record} of {when}"


async def draw_suspended(visit: PageVisit) -> None:
    """List who is suspended; nothing is drawn where nobody is."""
    box = ui.element("div").classes("w-full")
    await _fill(box, visit)


async def _fill(box: ui.element, visit: PageVisit) -> None:
    found = await run.io_bound(oversight_ops.suspensions, visit.service, visit.principal)
    box.clear()
    if found:
        with box, theme.section("Suspended", _HINT):
            theme.in_pages(found, lambda one: _draw(box, visit, one), "suspensions", 20)


def _draw(box: ui.element, visit: PageVisit, one: Suspension) -> None:
    theme.notice(suspension_words(one), "warn")
    ui.label(one.sql).classes("d-code")
    if visit.principal.role is not MemberRole.OWNER:
        return
    because = ui.input("What was found and done").props(f"outlined dense maxlength={LONGEST_REASON}").classes("w-full")
    refusal = ui.label().classes("d-bad d-small").props('role="alert"')

    async def lift() -> None:
        try:
            await run.io_bound(oversight_ops.lift, visit.service, visit.principal, one.record, because.value or "")
        except DiscreetError as refused:
            refusal.set_text(str(refused))
            return
        await _fill(box, visit)

    with theme.row():
        theme.button(f"Let {one.analyst or OWNER} ask again", lift, icon="lock_open", kind="plain")


_LEAD_OF_READERS = "Every release, every budget and every permission, in an order that nobody can change."
_LEAD_OF_ANALYSTS = (
    "Your own questions, in an order that nobody can change. Those of others do not show here, nor yours there."
)
_AT_ONCE = 50


async def build(visit: PageVisit) -> None:
    """The page."""
    reads_all = visit.principal.role in READERS
    theme.page_title("Ledger", _LEAD_OF_READERS if reads_all else _LEAD_OF_ANALYSTS)
    ui.add_css(_STYLE)
    await _LedgerPage(visit, reads_all).draw()


class _LedgerPage:
    """One reader's page."""

    def __init__(self, visit: PageVisit, reads_all: bool) -> None:
        self._visit = visit
        self._reads_all = reads_all
        self._sought = Sought()
        self._turn = 0

    async def draw(self) -> None:
        """Who is suspended, the check, the filters and the records."""
        if self._reads_all:
            await draw_suspended(self._visit)
            with theme.section("Can it be believed?", "All of it is replayed from the first record on."):
                with theme.row():
                    self._verify = theme.button("Verify the ledger", self._check, icon="verified_user", kind="plain")
                self._checked = ui.element("div").classes("w-full")
        with theme.section("Records"):
            await self._draw_filters()
            self._refusal = ui.label().classes("d-bad d-small").props('role="alert"')
            self._count = ui.label().classes("d-muted d-small").props('role="status"')
            self._list = ui.element("ol").classes("ledger-list")
            self._older = theme.button("Older records", self._more, icon="expand_more", kind="plain")
        await self._show()

    async def _check(self) -> None:
        with theme.busy(self._verify):
            found = await run.io_bound(ledger_ops.verify, self._visit.service, self._visit.principal)
        self._checked.clear()
        if found is not None:
            with self._checked:
                theme.notice(checked_words(found), "good" if found.is_sound else "error")

    # Filters.

    async def _draw_filters(self) -> None:
        service, principal = self._visit.service, self._visit.principal
        askers = await run.io_bound(_askers, service) if self._reads_all else []
        tables = await run.io_bound(tables_ops.tables, service, principal) or []
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
        with theme.busy(self._older):
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
        found = ledger_ops.entries(self._visit.service, self._visit.principal, wanted, _AT_ONCE + 1)
        return list(zip(found, ledger_ops.price_words(self._visit.service, found), strict=True))

    def _draw_record(self, record: Record, prices: list[str]) -> None:
        with ui.element("li"), ui.element("div").classes("ledger-record"):
            with ui.element("div").classes("ledger-said"):
                ui.label(record_head(record, prices)).classes("d-small d-muted")
                ui.label(record.text or record.kind).classes("d-code" if record.kind == QUESTION else "")
            with ui.element("div").classes("ledger-side"):
                ui.label(record_numbers(record)).classes("d-small d-muted")
                if record.answered is not None:
                    entry = record.answered
                    made = theme.button("Certificate", lambda: self._open(entry), icon="verified", kind="icon")
                    made.props["aria-label"] = f"Certificate of № {record.position}"

    async def _open(self, entry: int) -> None:
        paper = await run.io_bound(ledger_ops.certificate, self._visit.service, self._visit.principal, entry)
        if paper is not None:
            show_certificate(paper.certificate, paper)


def _askers(service: ServiceState) -> list[str]:
    """Everybody who may have asked: whom a policy names, who is or was a member, and the owner."""
    named = {name for table in service.curator.catalog for name in table.analysts}
    return sorted(named | {one.name for one in service.members.all() if one.role is MemberRole.ANALYST} | {OWNER})


_STYLE = """
.ledger-filters{display:grid;grid-template-columns:repeat(auto-fill,minmax(11rem,1fr));gap:10px;width:100%}
.ledger-list{list-style:none;margin:0;padding:0;width:100%}
.ledger-record{display:flex;justify-content:space-between;gap:12px;padding:10px 0;border-top:1px solid var(--d-line)}
.ledger-said{min-width:0}.ledger-said .d-code,.ledger-said>div{overflow-wrap:anywhere}
.ledger-side{display:flex;align-items:center;gap:6px;white-space:nowrap}
@media (max-width:640px){.ledger-record{flex-direction:column;gap:2px}.ledger-side{min-height:32px}}
"""
