"""A table that grows, as its owner looks after it: its periods, rows to append, and closing the next one."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from nicegui import events, ui

from discreet.catalog.table import Table
from discreet.console.layout import PageVisit
from discreet.console.periods import draw_strip
from discreet.console.theme import Kind, button, confirm, heading, notice, quiet, row
from discreet.console.widgets import one_line_upload
from discreet.errors import DiscreetError
from discreet.reports.format import counted
from discreet.service.operations import periods as periods_ops
from discreet.service.operations.periods import PeriodBalance, RowsTaken
from discreet.service.operations.uploads import ENDINGS
from discreet.service.state import ServiceState

__all__ = ["GrowthPanel", "TableGrowth", "appended_words", "read_growth", "set_aside_words"]


_REASONS = {
    "late": "too late for their period",
    "before": "from before the first period",
    "after": "from after the last period that there can be",
    "no date": "without a date",
    "no person": "without a person",
    "missing": "without a value that must not be missing",
}


@dataclass(frozen=True)
class TableGrowth:
    """What an owner may know of how a table grows."""

    periods: list[PeriodBalance]
    """From the first to the one that is open now."""
    set_aside: Mapping[str, int]
    """How many rows of all appends were set aside for each reason."""


def read_growth(visit: PageVisit, table: Table) -> TableGrowth:
    """What is known at one moment."""
    given = visit.service, visit.principal, table.name
    return TableGrowth(periods_ops.periods(*given), periods_ops.count_set_aside(*given))


def set_aside_words(set_aside: Mapping[str, int]) -> str:
    """How many rows were set aside, and why.

    >>> set_aside_words({"late": 1200, "no person": 1})
    '1,201 rows were set aside: 1,200 too late for their period, 1 without a person.'
    """
    found = [f"{count:,} {_REASONS.get(reason, reason)}" for reason, count in set_aside.items() if count]
    total = counted(sum(set_aside.values()), "row was", "rows were")
    return f"{total} set aside: {', '.join(found)}." if found else "No row was set aside."


def appended_words(found: RowsTaken) -> str:
    """What became of the rows of an append."""
    done = found.appended
    if done.is_repeated:
        return f"These rows were appended as {done.id} before; nothing was done."
    return f"{counted(done.rows, 'row was', 'rows were')} taken as {done.id}. {set_aside_words(done.set_aside)}"


class GrowthPanel:
    """The part of a table's box that is about its periods."""

    def __init__(self, visit: PageVisit, table: Table, after: Callable[[], Awaitable[None]]) -> None:
        """Of a table; the page is drawn ``after`` a period was closed."""
        self._visit, self._table, self._after = visit, table, after
        self._said: list[tuple[str, Kind]] = []

    def draw(self, growth: TableGrowth) -> None:
        """The periods, and what can be done."""
        heading("Periods", 3)
        draw_strip(growth.periods, self._table.name)
        self._words()
        waiting = [one for one in growth.periods if one.state != "closed"]
        largest = self._service.settings.largest_upload
        with row():
            self._id = ui.input("Id of the rows, or the file's name").props("outlined dense").classes("w-64 max-w-full")
            self._id.props["aria-label"] = f"Id of the rows to append to {self._table.name}"
            label, endings = f"Append rows to {self._table.name}", ",".join([*ENDINGS, ".gz"])
            one_line_upload(label, endings, largest, self._uploaded, lambda: self._refuse("This file is no table."))
            if waiting:
                button(f"Close {waiting[0].name}", lambda: self._close(waiting[:1]), icon="lock_clock", kind="plain")
            due = [one for one in waiting if one.state == "due"]
            if len(due) > 1:
                button(f"Close all {len(due)} that are due", lambda: self._close(due), kind="plain")
        self._so_far = quiet(_so_far(growth.set_aside))

    @property
    def _service(self) -> ServiceState:
        return self._visit.service

    @ui.refreshable_method
    def _words(self) -> None:
        for words, kind in self._said:
            notice(words, kind)

    def _refuse(self, words: str) -> None:
        self._said = [(words, "error")]
        self._words.refresh()

    async def _uploaded(self, event: events.UploadEventArguments) -> None:
        named = (self._id.value or "").strip() or event.file.name
        given = self._service, self._visit.principal, self._table.name
        try:
            with periods_ops.receiving(*given, event.file.name, named) as sent:
                async for part in event.file.iterate():
                    await asyncio.to_thread(sent.add, part)
                kept = await asyncio.to_thread(sent.whole)
            found = await asyncio.to_thread(periods_ops.append, *given, kept, named)
        except DiscreetError as refusal:
            self._refuse(str(refusal))
            return
        finally:
            if isinstance(event.sender, ui.upload):
                event.sender.reset()
        done = found.appended
        kind: Kind = "info" if done.is_repeated else "warn" if done.set_aside or found.unread else "good"
        self._so_far.set_text(_so_far(await asyncio.to_thread(periods_ops.count_set_aside, *given)))
        self._said = [(appended_words(found), kind), *((words, "warn") for words in found.unread_words)]
        self._words.refresh()

    async def _close(self, periods: list[PeriodBalance]) -> None:
        """Close some periods, of which the owner is told what that means."""
        given, last = (self._service, self._visit.principal, self._table.name), periods[-1]
        named = last.name if len(periods) == 1 else f"{periods[0].name} to {last.name}"
        set_aside = await asyncio.to_thread(periods_ops.count_set_aside, *given)
        words = [f"No more rows are taken for {named}, and questions can be asked about it. This is for good."]
        if last.state == "open":
            words.append(f"It is open until {last.end:%Y-%m-%d}: what comes for it later is set aside.")
        is_agreed = await confirm(
            f"Close {named}?", "\n".join([*words, _so_far(set_aside)]), f"Close {named} for good", danger=True
        )
        if not is_agreed:
            return
        try:
            await asyncio.to_thread(periods_ops.close, *given, last.name)
        except DiscreetError as refusal:
            self._refuse(str(refusal))
            return
        await self._after()


def _so_far(set_aside: Mapping[str, int]) -> str:
    return f"So far: {set_aside_words(set_aside)} Only owners see this."
