"""Tables: what is protected and for whom, and how a new table comes under protection.

Each has its facts and its policy in words, what is left of its budget, and who may ask up to which cap.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from nicegui import ui

from discreet.catalog.budget import Budget
from discreet.catalog.column import Column, number_text, write_literal
from discreet.catalog.table import Table
from discreet.console.layout import PageVisit
from discreet.console.periods import PERIOD_STYLE
from discreet.console.tables.growing import GrowthPanel, TableGrowth, read_growth
from discreet.console.tables.new import NewTableForm
from discreet.console.theme import (
    TABLE_STYLE,
    button,
    confirm,
    empty,
    heading,
    in_pages,
    notice,
    page_title,
    plain_table,
    quiet,
    row,
    section,
)
from discreet.console.widgets import UPLOAD_STYLE, stay_on
from discreet.curator.ledger.chain import AccountKind
from discreet.curator.ledger.units import balance
from discreet.errors import DiscreetError, InvalidValue
from discreet.reports.format import counted
from discreet.service.auth.roles import MemberRole, Principal
from discreet.service.operations import members as members_ops
from discreet.service.operations import protect as protect_ops

__all__ = ["KnownTables", "budget_words", "build", "column_rows", "no_table_hint", "table_words"]


_MOST_KEYS = 6
_NO_TABLE = {
    MemberRole.OWNER: "Protect one on the page Tables.",
    MemberRole.ANALYST: "It appears here once the owner has let you ask about a table.",
    MemberRole.AUDITOR: "It appears here once the owner has protected a table.",
}


def budget_words(budget: Budget | None) -> str:
    """A budget in letters; what has none may spend all of the table's.

    >>> budget_words(Budget("0.5", "1e-6")), budget_words(None)
    ('ε 0.5, δ 1e-6', 'all of the budget')
    """
    if budget is None:
        return "all of the budget"
    return f"ε {number_text(budget.epsilon)}" + (f", δ {number_text(budget.delta)}" if budget.delta else "")


def no_table_hint(principal: Principal) -> str:
    """What to do where a principal has no table."""
    return _NO_TABLE[principal.role]


def table_words(table: Table) -> str:
    """A table in a line."""
    columns = counted(len(table.columns), "column", "columns")
    if table.public:
        return f"public, {columns}"
    person = table.unit or ("the person behind a foreign key" if table.foreign_keys else "each row")
    asking = counted(len(table.analysts), "analyst", "analysts")
    person += "" if table.unit_per is None else f" and {table.unit_per.value}"
    return f"{budget_words(table.budget)}{_each(table) or ' in all'}, protects {person}, {columns}, {asking}"


def column_rows(table: Table) -> list[tuple[str, ...]]:
    """For every column its name, its type, and what is public about its values."""
    return [(one.name, one.type.value, _values(one), _more(one)) for one in table.columns]


def _values(column: Column) -> str:
    said = []
    if column.lower is not None and column.upper is not None:
        said.append(f"{write_literal(column.lower)} to {write_literal(column.upper)}")
    keys = column.listed
    if keys is not None:
        shown = ", ".join(write_literal(key) for key in keys[:_MOST_KEYS])
        said.append(shown + (f" and {len(keys) - _MOST_KEYS} more" if len(keys) > _MOST_KEYS else ""))
    if column.keys_from is not None:
        said.append(f"values of {column.keys_from}")
    return "; ".join(said)


def _more(column: Column) -> str:
    missing = "may be missing, as a group" if column.lists_missing else "may be missing"
    said = ([missing] if column.may_be_missing else []) + (["same for a person"] if column.constant_per_unit else [])
    if column.rows_per_key is not None:
        said.append(f"{column.rows_per_key} of a person in a group")
    return ", ".join(said)


T = TypeVar("T")
_AT_ONCE = 50


@dataclass(frozen=True)
class _KnownTables:
    """What the page knows at one moment."""

    holdings: list[protect_ops.Holding]
    analysts: list[str]
    growing: Mapping[str, TableGrowth]


class KnownTables:
    """The list of tables."""

    def __init__(self, visit: PageVisit) -> None:
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
            in_pages(known.holdings, lambda one: self._table(one, known), "tables", _AT_ONCE)

    def _known(self) -> _KnownTables:
        service, principal = self._visit.service, self._visit.principal
        everybody = members_ops.members(service, principal)
        analysts = [one.name for one in everybody if one.role is MemberRole.ANALYST and one.removed is None]
        holdings = protect_ops.holdings(service, principal)
        growing = {one.table.name: read_growth(self._visit, one.table) for one in holdings if one.table.time}
        return _KnownTables(holdings, analysts, growing)

    def _table(self, holding: protect_ops.Holding, known: _KnownTables) -> None:
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
                if table.name in known.growing:
                    GrowthPanel(self._visit, table, self.draw).draw(known.growing[table.name])
                self._analysts(holding, known.analysts)

    def _open(self, name: str, is_open: bool) -> None:
        self._opened = name if is_open else ""

    # Analysts -----------------------------------------------------------------------------------------------------

    def _analysts(self, holding: protect_ops.Holding, analysts: list[str]) -> None:
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
        service, principal = self._visit.service, self._visit.principal
        await self._done(lambda: protect_ops.allow(service, principal, table.name, analyst or "", _cap(epsilon, delta)))

    async def _disallow(self, table: Table, analyst: str) -> None:
        words = f"{analyst} may ask nothing more about {table.name}. What they spent stays counted."
        if not await confirm(f"Let {analyst} ask no more?", words, "Let them ask no more", danger=True):
            return
        service, principal = self._visit.service, self._visit.principal
        await self._done(lambda: protect_ops.disallow(service, principal, table.name, analyst))

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


def _promise(holding: protect_ops.Holding) -> None:
    table = holding.table
    counts = counted(table.rows_per_unit, "row of a person counts", "rows of a person count")
    rows = f"{counts}, {counted(table.most_groups, 'group', 'groups')} of theirs can show."
    quiet(f"Neighbours: {table.neighbours}. {rows}")
    ui.label(f"Granted {budget_words(table.budget)}{_each(table)}{_left(holding, None)}.")


def _each(table: Table) -> str:
    """How often a budget is granted."""
    return f" each {table.time.every.value}" if table.time is not None and table.is_by_period else ""


def _left(holding: protect_ops.Holding, analyst: str | None) -> str:
    """What is left of a grant, where the ledger knows it."""
    own = [one for one in holding.balances if one.analyst == analyst and one.kind is not AccountKind.UNIT]
    people = [one for one in holding.balances if one.kind is AccountKind.UNIT and analyst is None]
    said = [f", left {balance(one.left)}" for one in own if one.left is not None and one.period is None]
    people = [one for one in people if one.period is None]
    more = (f", and {balance(one.left)} for everything about its people" for one in people if one.left is not None)
    return "".join([*said, *more])


def _cap(epsilon: str, delta: str) -> Budget | None:
    """The cap that was typed; none where it is empty or says all."""
    stated, beside = (epsilon or "").strip(), (delta or "").strip()
    if stated.casefold() not in ("", "all"):
        return Budget(stated, beside or 0)
    if beside:
        raise InvalidValue("a cap with a δ must have an ε", beside, "state ε too, or leave both out")
    return None


_LEAD = "What is protected, who may ask about it and how much, and how a new table comes in."
_STYLE = """
.policy-line{display:flex;gap:12px;font-family:ui-monospace,Menlo,Consolas,"DejaVu Sans Mono",monospace;
font-size:.84rem;white-space:pre-wrap;overflow-wrap:anywhere;padding:1px 8px;border-left:3px solid transparent}
.policy-line .nr{color:var(--d-muted);min-width:1.6rem;text-align:right;user-select:none}
.policy-line.wrong{background:var(--d-bad-tint);border-left-color:var(--d-bad)}
.policy-said{color:var(--d-bad);font-size:.86rem;padding:0 8px 4px 3.4rem;overflow-wrap:anywhere}
.policy{border:1px solid var(--d-line);border-radius:8px;padding:8px 0;background:var(--d-surface);width:100%}
.column-form{display:grid;gap:8px 10px;align-items:center;width:100%;
grid-template-columns:repeat(auto-fill,minmax(min(100%,9.5rem),1fr));padding:10px 0;
border-bottom:1px solid var(--d-line)}
.form-grid{display:grid;gap:12px;width:100%;grid-template-columns:repeat(auto-fill,minmax(min(100%,14rem),1fr))}
"""


async def build(visit: PageVisit) -> None:
    """The page for an owner."""
    ui.add_css(UPLOAD_STYLE + TABLE_STYLE + PERIOD_STYLE + _STYLE)
    page_title("Tables", _LEAD)
    known = KnownTables(visit)
    await known.draw()
    NewTableForm(visit, known.draw).draw()
