"""The tables that are protected: their facts, what is left of their budgets, and who may ask up to which cap."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from nicegui import ui

from discreet.anonymize.figures import counted
from discreet.catalog.budget import Budget
from discreet.catalog.table import Table
from discreet.console.look import button, confirm, empty, heading, in_pages, notice, row, section
from discreet.console.quiet_words import plain_table, quiet
from discreet.console.staying_focused import stay_on
from discreet.console.tables_words import budget_words, column_rows, table_words
from discreet.console.visit import Visit
from discreet.curator.amount import balance
from discreet.errors import DiscreetError, InvalidValue
from discreet.service import joining, owning
from discreet.service.role import Role

__all__ = ["KnownTables"]

T = TypeVar("T")
_AT_ONCE = 50


@dataclass(frozen=True)
class _Known:
    """What the page knows at one moment."""

    holdings: list[owning.Holding]
    analysts: list[str]


class KnownTables:
    """The list of tables."""

    def __init__(self, visit: Visit) -> None:
        self._visit = visit
        self._opened = ""
        self._choices: dict[str, ui.select] = {}  # per table, where an analyst is chosen
        with ui.element("div").classes("w-full"):
            self._place = ui.element("div").classes("w-full flex flex-col gap-5")

    async def draw(self) -> None:
        """The list, as it is now."""
        known = await asyncio.to_thread(self._known)
        self._place.clear()
        self._choices.clear()
        with self._place, section("Protected tables"):
            self._said = ui.element("div").classes("w-full empty:hidden")
            if not known.holdings:
                empty("table_chart", "No table yet", "Bring one below.")
            in_pages(known.holdings, lambda one: self._table(one, known.analysts), "tables", _AT_ONCE)

    def _known(self) -> _Known:
        house, visitor = self._visit.house, self._visit.visitor
        everybody = joining.members(house, visitor)
        analysts = [one.name for one in everybody if one.role is Role.ANALYST and one.removed is None]
        return _Known(owning.holdings(house, visitor), analysts)

    def _table(self, holding: owning.Holding, analysts: list[str]) -> None:
        table = holding.table
        folded = ui.expansion(
            table.name, caption=table_words(table), icon="table_chart", value=table.name == self._opened
        )
        folded.classes("w-full q-card").on_value_change(lambda event: self._open(table.name, bool(event.value)))
        with folded, ui.column().classes("w-full gap-3"):
            if table.description:
                ui.label(table.description)
            plain_table(["column", "type", "public values", ""], column_rows(table))
            if holding.is_stale:
                notice("It must be taken in again: the table that its people are found through was.", "warn")
            if not table.public:
                _promise(holding)
                self._analysts(holding, analysts)

    def _open(self, name: str, is_open: bool) -> None:
        self._opened = name if is_open else ""

    # Analysts -----------------------------------------------------------------------------------------------------

    def _analysts(self, holding: owning.Holding, analysts: list[str]) -> None:
        table = holding.table
        heading("Who may ask", 3)
        if not table.analysts:
            quiet("Nobody yet, but owners.")
        for name, cap in sorted(table.analysts.items()):
            with row(spread=True):
                ui.label(f"{name}: {budget_words(cap)}{_left(holding, name)}")
                words = f"Let {name} ask no more about {table.name}"
                button(words, lambda name=name: self._disallow(table, name), icon="block", kind="icon")
        if analysts:
            self._allowing(table, analysts)
        else:
            quiet("Add analysts on the page People, then say here how much each may spend.")

    def _allowing(self, table: Table, analysts: list[str]) -> None:
        with row():
            who = ui.select(analysts, label=f"Analyst for {table.name}", with_input=True)
            who.props("outlined dense").classes("w-52 max-w-full")
            self._choices[table.name] = who
            epsilon = ui.input("Cap ε, or all").props("outlined dense").classes("w-28")
            delta = ui.input("Cap δ").props("outlined dense").classes("w-28")
            allow = button(
                "Allow", lambda: self._allow(table, who.value, epsilon.value, delta.value), icon="how_to_reg"
            )
        for control, name in ((epsilon, "Cap ε for"), (delta, "Cap δ for"), (allow, "Allow to ask about")):
            control.props["aria-label"] = f"{name} {table.name}"
        quiet("Who may ask already gets the new cap. Without ε they may spend all of the budget; what was spent stays.")

    async def _allow(self, table: Table, analyst: str | None, epsilon: str, delta: str) -> None:
        house, visitor = self._visit.house, self._visit.visitor
        await self._done(lambda: owning.allow(house, visitor, table.name, analyst or "", _cap(epsilon, delta)))

    async def _disallow(self, table: Table, analyst: str) -> None:
        words = f"{analyst} may ask nothing more about {table.name}. What they spent stays counted."
        if not await confirm(f"Let {analyst} ask no more?", words, "Let them ask no more", danger=True):
            return
        house, visitor = self._visit.house, self._visit.visitor
        await self._done(lambda: owning.disallow(house, visitor, table.name, analyst))

    async def _done(self, operation: Callable[[], T]) -> None:
        """Do something beside the event loop and draw anew; a refusal is said on the page."""
        try:
            await asyncio.to_thread(operation)
            await self.draw()
            if self._opened in self._choices:
                stay_on(self._choices[self._opened])
        except DiscreetError as refusal:
            self._said.clear()
            with self._said:
                notice(str(refusal), "error")
            ui.run_javascript(f"getHtmlElement({self._said.id}).scrollIntoView({{block: 'center'}})")


def _promise(holding: owning.Holding) -> None:
    table = holding.table
    counts = counted(table.rows_per_unit, "row of a person counts", "rows of a person count")
    rows = f"{counts}, {counted(table.most_groups, 'group', 'groups')} of theirs can show."
    quiet(f"Neighbours: {table.neighbours}. {rows}")
    ui.label(f"Granted {budget_words(table.budget)}{_left(holding, None)}.")


def _left(holding: owning.Holding, analyst: str | None) -> str:
    """What is left of a grant, where the ledger knows it."""
    return next((f", left {balance(one.left)}" for one in holding.balances if one.analyst == analyst), "")


def _cap(epsilon: str, delta: str) -> Budget | None:
    """The cap that was typed; none where it is empty or says all."""
    stated, beside = (epsilon or "").strip(), (delta or "").strip()
    if stated.casefold() not in ("", "all"):
        return Budget(stated, beside or 0)
    if beside:
        raise InvalidValue("a cap with a δ must have an ε", beside, "state ε too, or leave both out")
    return None
