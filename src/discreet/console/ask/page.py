"""Ask: a question and what it would cost, its answer, what is public about the tables, and what was asked before.

A newcomer finds questions that are made from what is public about a table.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from nicegui import run, ui

from discreet.catalog.column import ColumnType
from discreet.catalog.table import Table
from discreet.console.ask.answer import AnswerBox, History, refused_words, too_dear
from discreet.console.ask.editor import Editor, SchemaPanel, quoted_name, written
from discreet.console.ask.price import PriceControls
from discreet.console.layout import PageVisit, failure_words
from discreet.console.tables.page import no_table_hint
from discreet.console.theme import busy, button, chip, empty, notice, page_title, says_why, section
from discreet.console.widgets import Latest
from discreet.curator.explanation import Explanation
from discreet.curator.ledger.units import amount
from discreet.errors import DiscreetError, QueryRefused
from discreet.noise.source import fresh_id
from discreet.service.jobs.jobs import AskRequest, Job
from discreet.service.operations import ask as ask_ops
from discreet.service.operations import tables as tables_ops

__all__ = ["build", "examples"]


def examples(table: Table) -> Iterator[tuple[str, str]]:
    """Titles and questions: how many, how many in each group, an average, and over time."""
    source = written(table.name)
    yield "How many rows?", f"SELECT COUNT(*) AS n\nFROM {source}"
    grouped = next((one for one in table.columns if one.keys is not None), None)
    measured = next((one for one in table.columns if one.type.is_numeric and one.bounds is not None), None)
    dated = next((one for one in table.columns if one.type is ColumnType.DATE and one.bounds is not None), None)
    if grouped is not None:
        by = quoted_name(grouped.name)
        yield f"How many for each {grouped.name}?", f"SELECT {by}, COUNT(*) AS n\nFROM {source}\nGROUP BY {by}"
    if measured is not None:
        of = quoted_name(measured.name)
        yield f"What is the average {measured.name}?", f"SELECT AVG({of}) AS mean_{measured.name}\nFROM {source}"
    if dated is not None:
        day = quoted_name(dated.name)
        sql = (
            f"SELECT date_trunc('month', {day}) AS month, COUNT(*) AS n\nFROM {source}\nGROUP BY month\nORDER BY month"
        )
        yield "How many in each month?", sql


_STYLE = (Path(__file__).parent / "page.css").read_text("utf-8")
_PAUSE = 0.25
_NO_QUESTION = "Write a question first."
"""Seconds without typing after which a question is priced."""
_LEAD = "Every answer carries noise that hides each person. You see its price and its error before you pay."
_LOOKS = (0.02, 0.05, 0.1, 0.2, 0.4)
"""Seconds between looks at a question that is being answered; the last one goes on."""


async def build(visit: PageVisit) -> None:
    """Fill the page."""
    page_title("Ask", _LEAD)
    tables = tables_ops.tables(visit.service, visit.principal)
    if not tables:
        empty("table_chart", "There is no table that you may ask about", no_table_hint(visit.principal))
        return
    ui.add_css(_STYLE)
    await _Ask(visit, tables).start()


@dataclass(frozen=True)
class _Priced:
    """A question and what came of pricing it."""

    text: str
    ask_request: AskRequest | None
    outcome: Explanation | DiscreetError | None
    balances: list[tables_ops.Balance]


class _Ask:
    """The page of one principal: its parts, and what happens between them."""

    def __init__(self, visit: PageVisit, tables: list[Table]) -> None:
        self._visit = visit
        self._latest = Latest()
        self._explained: Explanation | None = None
        self._explained_ask_request: AskRequest | None = None
        self._intent: tuple[AskRequest, str] | None = None
        with ui.element("div").classes("d-ask"):
            with ui.element("div").classes("d-ask-main"):
                self._question(tables)
                self._answer = AnswerBox()
            with ui.element("div").classes("d-ask-side"):
                with section("What you may name"):
                    self._schema = SchemaPanel(tables, self._editor.insert, self._explain)
                with section("Asked before"):
                    self._history = History(visit, self._see_again, self._use)

    def _question(self, tables: list[Table]) -> None:
        with section("Your question"):
            self._editor = Editor(tables, self._visit.principal.name, self._changed, self._ask)
            ui.label("Ctrl+Enter asks. Ctrl+Space completes a name.").classes("d-muted d-small").props("id=ask-keys")
            self._said = ui.element("div").classes("w-full").props('aria-live="polite"')
            self._price = PriceControls(self._changed)
            self._button = button("Ask", self._ask, icon="send")
            self._why = says_why(self._button, "Looking what it costs …")
            self._button.disable()

    async def start(self) -> None:
        """Draw what depends on the past."""
        await self._explain()
        await self._history.refresh()

    # Pricing.

    async def _changed(self) -> None:
        await self._latest.run(self._priced, self._show, _PAUSE)

    async def _explain(self) -> None:
        await self._latest.run(self._priced, self._show)

    async def _priced(self) -> _Priced:
        """What the question as it stands now would cost, or why it is refused."""
        text, ask_request = self._editor.text, None
        outcome: Explanation | DiscreetError | None = None
        try:
            ask_request = self._price.ask_request(text)
            outcome = await self._found(ask_request)
        except DiscreetError as fault:
            outcome = fault
        balances = await run.io_bound(tables_ops.budget, self._visit.service, self._visit.principal) or []
        return _Priced(text, ask_request, outcome, [one for one in balances if self._pays(one, outcome)])

    async def _found(self, ask_request: AskRequest) -> Explanation | None:
        if not ask_request.sql.strip():
            return None
        self._visit.service.limits.request(self._visit.principal)
        return await run.io_bound(ask_ops.explain, self._visit.service, self._visit.principal, ask_request)

    def _pays(self, one: tables_ops.Balance, outcome: Explanation | DiscreetError | None) -> bool:
        """Whether an account would pay; while there is no question that could be, those of the picked table."""
        if isinstance(outcome, Explanation):
            return one.account in outcome.accounts
        return one.table == self._schema.picked.name and one.analyst in (None, self._visit.principal.analyst)

    def _show(self, priced: _Priced) -> None:
        outcome = priced.outcome
        refused = outcome if isinstance(outcome, DiscreetError) else None
        self._explained = outcome if isinstance(outcome, Explanation) else None
        self._explained_ask_request = priced.ask_request
        self._price.show(self._explained, priced.balances)
        place = refused_words(priced.text, refused) if isinstance(refused, QueryRefused) else None
        self._editor.underline(place, "" if refused is None else refused.rule)
        self._said.clear()
        with self._said:
            if outcome is None:
                self._suggest()
            elif refused is not None:
                notice(_sentence(refused), "warn")
            elif self._explained is not None and not self._explained.affordable:
                notice(too_dear(priced.balances), "warn")
        self._offer()

    def _offer(self) -> None:
        """Say on the button what pressing it costs."""
        found = self._explained
        self._why.set_text("The question is refused as it stands." if self._editor.text.strip() else _NO_QUESTION)
        self._button.set_enabled(found is not None)
        price = None if found is None else found.due
        self._button.set_text("Ask" if found is None else "Ask, free" if price is None else f"Ask for {amount(price)}")

    def _suggest(self) -> None:
        with ui.element("div").classes("d-row"):
            ui.label("Type a question, or start with:").classes("d-muted")
            for title, sql in examples(self._schema.picked):
                chip(title, partial(self._write, sql))

    def _write(self, sql: str) -> None:
        self._editor.text = sql

    # Asking.

    async def _ask(self) -> None:
        found = await self._agreed()
        if found is None or found.epsilon is None or not self._button.enabled:
            return
        ask_request = AskRequest(self._editor.text, epsilon=found.epsilon)
        if self._intent is None or self._intent[0] != ask_request:
            self._intent = ask_request, fresh_id()
        self._answer.wait()
        self._why.set_text("The question is being answered.")
        with busy(self._button):
            try:
                await self._answered(*self._intent)
            except DiscreetError as fault:
                self._answer.refuse(_sentence(fault))
        await self._history.refresh()
        await self._explain()

    async def _agreed(self) -> Explanation | None:
        """What the button offered, where that is what the question as it stands now costs; or None, and it says so."""
        offered = self._explained
        if offered is None or self._is_priced():
            return offered
        await self._explain()
        found = self._explained
        return found if found is not None and found.due == offered.due else None

    def _is_priced(self) -> bool:
        with suppress(DiscreetError):
            return self._price.ask_request(self._editor.text) == self._explained_ask_request
        return False

    async def _answered(self, ask_request: AskRequest, request: str) -> None:
        service, principal = self._visit.service, self._visit.principal
        service.limits.request(principal)
        job = await run.io_bound(ask_ops.start, service, principal, ask_request, request)
        for look in itertools.count():
            if job is None or not job.is_unfinished:
                break
            if look == len(_LOOKS):
                await self._history.refresh()  # it takes long: show where it will be found
            await asyncio.sleep(_LOOKS[min(look, len(_LOOKS) - 1)])
            job = await run.io_bound(ask_ops.job, service, principal, request)
        if job is not None:
            await self._see(job)
            self._intent = None  # asked again, it is a request of its own, and free

    async def _see(self, job: Job) -> None:
        """Show the answer of a question that was asked before."""
        try:
            kept = await run.io_bound(ask_ops.answer, self._visit.service, self._visit.principal, job.request)
        except DiscreetError as fault:
            self._answer.refuse(_sentence(fault))
        else:
            if kept is not None:
                self._answer.show(kept.answer, kept.job.ask_request.sql)

    async def _see_again(self, job: Job) -> None:
        await self._see(job)
        self._answer.reveal()

    def _use(self, job: Job) -> None:
        self._editor.text = job.ask_request.sql
        self._editor.focus()


def _sentence(fault: DiscreetError) -> str:
    words = failure_words(fault)
    return words[:1].upper() + words[1:] + ("" if words.endswith(("?", ".")) else ".")
