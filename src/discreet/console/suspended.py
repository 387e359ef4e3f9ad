"""Who is suspended because a question failed: a part of the ledger's page, where owners lift it."""

from __future__ import annotations

from nicegui import run, ui

from discreet.console import look
from discreet.console.budget_story import OWNER
from discreet.console.visit import Visit
from discreet.curator.suspensions import LONGEST_REASON, Suspension
from discreet.errors import DiscreetError
from discreet.service import suspending
from discreet.service.role import Role

__all__ = ["draw_suspended", "suspension_words"]

_HINT = (
    "A question of theirs failed after rows could have been read. Why it did stands in owner.log, in the curator's "
    "folder. Lift it when you know that no row decided it."
)


def suspension_words(one: Suspension) -> str:
    """Who cannot ask, where and since when, in a line."""
    when = one.time[:19].replace("T", " ") + " UTC"
    return f"{one.analyst or OWNER} at {', '.join(one.tables)}, since record № {one.record} of {when}"


async def draw_suspended(visit: Visit) -> None:
    """List who is suspended; nothing is drawn where nobody is."""
    box = ui.element("div").classes("w-full")
    await _fill(box, visit)


async def _fill(box: ui.element, visit: Visit) -> None:
    found = await run.io_bound(suspending.suspensions, visit.house, visit.visitor)
    box.clear()
    if found:
        with box, look.section("Suspended", _HINT):
            look.in_pages(found, lambda one: _draw(box, visit, one), "suspensions", 20)


def _draw(box: ui.element, visit: Visit, one: Suspension) -> None:
    look.notice(suspension_words(one), "warn")
    ui.label(one.sql).classes("d-code")
    if visit.visitor.role is not Role.OWNER:
        return
    because = ui.input("What was found and done").props(f"outlined dense maxlength={LONGEST_REASON}").classes("w-full")
    refusal = ui.label().classes("d-bad d-small").props('role="alert"')

    async def lift() -> None:
        try:
            await run.io_bound(suspending.lift, visit.house, visit.visitor, one.record, because.value or "")
        except DiscreetError as refused:
            refusal.set_text(str(refused))
            return
        await _fill(box, visit)

    with look.row():
        look.button(f"Let {one.analyst or OWNER} ask again", lift, icon="lock_open", kind="plain")
