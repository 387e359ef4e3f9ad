"""What the visitor asked before, newest first: see an answer again, or put its question back into the editor."""

from __future__ import annotations

from collections.abc import Callable

from nicegui import run, ui

from discreet.console.ask_words import when
from discreet.console.look import button, empty
from discreet.console.visit import Visit
from discreet.curator.amount import amount
from discreet.service import asking
from discreet.service.requests import Job, State

__all__ = ["History"]

_PAGE = 20
_SOON = 2.0
_STATES = {State.ACCEPTED: "being answered", State.REFUSED: "not answered", State.ANSWERED: ""}


class History:
    """The visitor's questions."""

    def __init__(self, visit: Visit, on_see: Callable[[Job], object], on_use: Callable[[Job], object]) -> None:
        """``on_see`` shows the answer of one, ``on_use`` puts its question into the editor."""
        self._visit = visit
        self._on_see, self._on_use = on_see, on_use
        self._most = _PAGE
        self._box = ui.element("div").classes("d-history")
        self._soon = ui.timer(_SOON, self.refresh, active=False)

    async def refresh(self) -> None:
        """Read the latest."""
        found = await run.io_bound(asking.answers, self._visit.house, self._visit.visitor, self._most + 1)
        self._soon.active = any(job.is_unfinished for job in found or [])
        self._box.clear()
        with self._box:
            self._list(found or [])

    def _list(self, jobs: list[Job]) -> None:
        if not jobs:
            empty("history", "Nothing asked yet", "What you ask is kept here, for you alone.")
            return
        with ui.element("ol"):
            for job in jobs[: self._most]:
                self._one(job)
        if len(jobs) > self._most:
            button("Show more", self._more, kind="plain")

    async def _more(self) -> None:
        self._most += _PAGE
        await self.refresh()

    def _one(self, job: Job) -> None:
        line = " ".join(job.wish.sql.split())
        facts = [when(job.made), _STATES[job.state], "" if job.state is State.REFUSED else _price(job)]
        with ui.element("li"):
            with ui.element("button").props('type="button"').classes("d-asked").on("click", lambda: self._on_see(job)):
                ui.label(line).classes("d-code d-clip")
                ui.label(" · ".join(filter(None, facts))).classes("d-muted d-small")
            button("Put this question into the editor", lambda: self._on_use(job), icon="edit", kind="icon")


def _price(job: Job) -> str:
    return "free" if job.price is None else amount(job.price)
