"""Budget: what is spent, by whom and when, what is left, and what typical questions would still cost."""

from __future__ import annotations

from html import escape

from nicegui import run, ui

from discreet.catalog.table import Table
from discreet.console import look
from discreet.console.budget_story import (
    left_words,
    questions_words,
    shares,
    size_of,
    spending_chart,
    spending_words,
)
from discreet.console.charts import Chart
from discreet.console.tables_words import no_table_hint
from discreet.console.visit import Visit
from discreet.curator.amount import amount, balance
from discreet.errors import DiscreetError, InvalidValue
from discreet.privacy.loss import Pure
from discreet.privacy.shown import shown
from discreet.service import telling
from discreet.service.role import READERS, Role
from discreet.service.telling import Balance, Spent
from discreet.service.typical import Typical, typical_questions

__all__ = ["build"]

_LEAD = (
    "Every answer takes something from the privacy of the people in a table. This is what was granted and what is left."
)
_WITHIN = "50"
_MOST_PEOPLE = 200


async def build(visit: Visit) -> None:
    """The page."""
    look.page_title("Budget", _LEAD)
    ui.add_css(_STYLE)
    tables = [one for one in await run.io_bound(telling.tables, visit.house, visit.visitor) or [] if not one.public]
    if not tables:
        look.empty("account_balance_wallet", "There is no budget that you may see", no_table_hint(visit.visitor))
        return
    await _Page(visit, tables).draw()


class _Page:
    """One reader's page."""

    def __init__(self, visit: Visit, tables: list[Table]) -> None:
        self._visit = visit
        self._tables = [one.name for one in tables]
        self._reads_all = visit.visitor.role in READERS

    async def draw(self) -> None:
        """A choice of tables, and what is known about one."""
        with look.row():
            self._table = ui.select(self._tables, value=self._tables[0], label="Table", on_change=self._show)
            self._table.props("outlined dense").classes("w-64 max-w-full")
            look.button("Refresh", self._show, icon="refresh", kind="icon")
        self._known = ui.element("div").classes("budget-parts")
        await self._show()

    async def _show(self) -> None:
        house, visitor, name = self._visit.house, self._visit.visitor, str(self._table.value)
        balances = await run.io_bound(telling.budget, house, visitor) or []
        spent = await run.io_bound(telling.spending, house, visitor, name) or []
        if name != self._table.value:  # another table was chosen meanwhile
            return
        self._known.clear()
        with self._known:
            self._draw(name, [one for one in balances if one.table == name], spent)

    def _draw(self, name: str, balances: list[Balance], spent: list[Spent]) -> None:
        whole = next((one for one in balances if one.analyst is None), None)
        if whole is None:
            look.empty("account_balance_wallet", f"Nothing was granted for {name} yet.")
            return
        caps = [one for one in balances if one.analyst is not None]
        with look.section("What is left"):
            self._figures(whole, caps)
        with look.section("When it was spent"):
            granted = whole if self._reads_all or not caps else caps[0]
            Chart(spending_chart(spent, granted.cap), spending_words(spent, granted, is_own=not self._reads_all))
        if self._reads_all:
            with look.section("By whom", "What each one's questions added to the loss of the worst-off person."):
                _people(whole, caps, spent)
        if self._visit.visitor.role is not Role.AUDITOR:
            with look.section("What typical questions would still cost", "Nothing is spent by looking."):
                _TypicalCosts(self._visit, name).draw()

    def _figures(self, whole: Balance, caps: list[Balance]) -> None:
        with look.figures():
            if not self._reads_all:
                for one in caps:
                    look.figure("Left for you", balance(one.left), f"of {balance(one.cap)}")
                    look.figure("You spent", amount(one.spent), questions_words(one.more))
            look.figure("Left for all together", balance(whole.left), f"of {balance(whole.cap)}")
            look.figure("Spent by all", amount(whole.spent), questions_words(whole.more))
            if whole.delta_left is not None and whole.delta_cap is not None:
                figures = f"{float(whole.delta_left):.3g}", f"of {float(whole.delta_cap):.3g}"
                look.figure("δ left for groups that nobody listed", *figures)
        for one in [whole] if self._reads_all or not caps else [*caps, whole]:
            _bar(one)


def _bar(one: Balance) -> None:
    """How much of an account is gone, as a bar with words."""
    cap = size_of(one.cap)
    share = min(size_of(one.spent) / cap, 1.0) if cap else 1.0
    whose = "all together" if one.analyst is None else one.analyst
    with ui.element("div").classes("w-full"):
        bar = ui.element("div").classes("d-bar").props('role="img"')
        bar.props["aria-label"] = f"{whose}: {100 * share:.0f} % spent"
        with bar:
            ui.element("div").style(f"width:{100 * share:.2f}%;background:var(--d-series-1)")
        ui.label(f"{whose}: {100 * share:.0f} % spent, {left_words(one)} left").classes("d-muted d-small")


def _people(whole: Balance, caps: list[Balance], spent: list[Spent]) -> None:
    added, capped = dict(shares(spent)), {str(one.analyst): one for one in caps}
    names = [*added, *(name for name in capped if name not in added)]
    if not names:
        look.empty("group", "Nobody has asked anything yet.")
        return
    rows = []
    for name in names:
        own = capped.get(name)
        took = amount(added[name]) if name in added else "nothing"
        cells = [took, "no cap of their own" if own is None else left_words(own)]
        cells.append("" if own is None else questions_words(own.more))
        rows.append((name, *cells))
    rest = len(rows) - _MOST_PEOPLE
    if rest > 0:
        rows[_MOST_PEOPLE:] = [(f"and {rest:,} more, who added less", "", "", "")]
    _table(("who", "added", "left", "in questions"), rows, f"Who spent what on {whole.table}")


def _table(heads: tuple[str, ...], rows: list[tuple[str, ...]], title: str) -> None:
    head = "".join(f'<th scope="col">{escape(one)}</th>' for one in heads)
    body = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows)
    content = f'<table class="d-table" aria-label="{escape(title)}"><thead><tr>{head}</tr></thead><tbody>{body}</tbody>'
    ui.html(f"{content}</table>", sanitize=False).classes("d-table-box")


class _TypicalCosts:
    """Prices for an error that the reader names."""

    def __init__(self, visit: Visit, table: str) -> None:
        self._visit, self._name = visit, table

    def draw(self) -> None:
        """A field for the error, and the prices."""
        self._within = ui.input("A count may be off by", value=_WITHIN, on_change=self._show)
        self._within.props('outlined dense debounce=400 inputmode="decimal"').classes("w-56 max-w-full")
        self._costs = ui.element("div").classes("w-full")
        ui.timer(0, self._show, once=True)

    async def _show(self) -> None:
        wanted = self._within.value
        try:
            within = _number(str(wanted or ""))
            found = await run.io_bound(typical_questions, self._visit.house, self._visit.visitor, self._name, within)
        except DiscreetError as refusal:
            self._costs.clear()
            with self._costs:
                look.notice(str(refusal), "warn")
            return
        if wanted != self._within.value:  # another error was typed meanwhile
            return
        self._costs.clear()
        with self._costs:
            for one in found or []:
                _cost(one)


def _number(text: str) -> float:
    try:
        return float(text.replace(",", "").strip())
    except ValueError:
        raise InvalidValue("the wanted error must be a number", text, "10, for example") from None


def _cost(one: Typical) -> None:
    error = "its error depends on the answer" if one.within is None else f"within ±{one.within:g}, 95 times of 100"
    more = f"{one.more:,} more times" if one.more else "not any more"
    with ui.element("div").classes("budget-cost"):
        with ui.element("div"):
            ui.label(one.title).classes("d-h3")
            ui.label(one.sql).classes("d-code d-small d-muted")
        with ui.element("div").classes("budget-price"):
            ui.label(_price(one)).classes("d-h3")
            ui.label(f"{error}; {more}").classes("d-small d-muted")


def _price(one: Typical) -> str:
    """The ε to ask with, and what that takes where the budget counts something else."""
    asked = f"ε {shown(one.epsilon)} each"
    return asked if isinstance(one.price, Pure) else f"{asked}, {amount(one.price)} of the budget"


_STYLE = """
.budget-parts{display:flex;flex-direction:column;gap:20px;width:100%}
.budget-cost{display:flex;justify-content:space-between;gap:6px 24px;flex-wrap:wrap;padding:10px 0;
border-bottom:1px solid var(--d-line)}
.budget-cost:last-child{border-bottom:none}
.budget-cost .d-code{overflow-wrap:anywhere}
.budget-price{text-align:right}
@media (max-width:640px){.budget-price{text-align:left}}
"""
