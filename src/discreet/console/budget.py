"""Budget: what is spent, by whom and when, what is left, and what typical questions would still cost."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from html import escape
from typing import Any

from nicegui import run, ui

from discreet.catalog.table import Table
from discreet.console import theme
from discreet.console.charts import Chart, ChartAxis, ChartLine, line_chart
from discreet.console.layout import PageVisit
from discreet.console.period_budgets import draw_period_budgets
from discreet.console.periods import PERIOD_STYLE
from discreet.console.tables.page import no_table_hint
from discreet.curator.ledger.chain import AccountKind
from discreet.curator.ledger.units import amount, as_json, balance
from discreet.errors import DiscreetError, InvalidValue
from discreet.privacy.format import shown
from discreet.privacy.loss import Loss, Pure, ZeroConcentrated
from discreet.service.auth.roles import READERS, MemberRole
from discreet.service.operations import periods as periods_ops
from discreet.service.operations import tables as tables_ops
from discreet.service.operations.tables import Balance, SpentQuestion, Typical, typical_questions

__all__ = ["OWNER", "build", "left_words", "questions_words", "shares", "spending_chart", "spending_words"]


OWNER = "the owner"
"""What the ledger calls nobody: questions without an analyst."""
_MOST_LINES = 5
_MOST_POINTS = 400


def shares(spent: Sequence[SpentQuestion]) -> list[tuple[str, Pure | ZeroConcentrated]]:
    """Who raised the loss of the worst-off person by how much, the largest first; together it is all of it."""
    found: dict[str, Any] = {}
    for one in spent:
        name = one.analyst or OWNER
        found[name] = found[name] + one.step if name in found else one.step
    return sorted(found.items(), key=lambda pair: -size_of(pair[1]))


def size_of(loss: Loss) -> float:
    """How much it is, in its own unit."""
    return float(as_json(loss)["amount"])


def spending_chart(spent: Sequence[SpentQuestion], cap: Loss, now: datetime | None = None) -> dict[str, Any]:
    """What was spent over time in steps, all together and by those who spent most, up to what was granted."""
    end = (now or datetime.now(UTC)).isoformat(timespec="seconds")
    names = [name for name, _ in shares(spent)]
    lines = [
        _line("all together" if len(names) > 1 else "spent", [(one.time, size_of(one.total)) for one in spent], end)
    ]
    if len(names) > 1:
        for place, name in enumerate(names[:_MOST_LINES], 2):
            lines.append(_line(name, _running(spent, name), end, place))
    unit = as_json(cap)["unit"]
    return line_chart(lines, ChartAxis("", is_time=True), ChartAxis(unit, 0, size_of(cap)), level=size_of(cap))


def _running(spent: Sequence[SpentQuestion], name: str) -> list[tuple[str, float]]:
    found, total = [], 0.0
    for one in spent:
        if (one.analyst or OWNER) == name:
            total += size_of(one.step)
            found.append((one.time, total))
    return found


def _line(name: str, points: list[tuple[str, float]], end: str, colour: int = 1) -> ChartLine:
    """A line from nothing, one step for each question, to now."""
    start = [(points[0][0], 0.0)] if points else []
    rest = [(end, points[-1][1])] if points else []
    dash = "solid" if colour == 1 else ("dashed", "dotted")[colour % 2]
    return ChartLine(name, [*start, *_thin(points), *rest], colour, dash, area=colour == 1, step=True)


def _thin(points: list[tuple[str, float]]) -> list[tuple[str, float]]:
    """So many of the points as a chart can show, with the last of them."""
    apart = -(-len(points) // _MOST_POINTS) or 1
    return points[(len(points) - 1) % apart :: apart]


def spending_words(spent: Sequence[SpentQuestion], granted: Balance, *, is_own: bool) -> str:
    """How many questions took how much, and when the last one was."""
    if not spent:
        return f"No {'question of yours' if is_own else 'question'} has taken anything from {granted.table} yet."
    one, many = ("One of your questions", "of your questions") if is_own else ("One question", "questions")
    count = one if len(spent) == 1 else f"{len(spent):,} {many}"
    last = spent[-1].time[:16].replace("T", " ")
    return (
        f"{count} took {amount(spent[-1].total)} from the people in {granted.table}, of {balance(granted.limit)} that "
        f"may be taken. The last was on {last} UTC."
    )


def left_words(one: Balance) -> str:
    """What is left, in a few words."""
    return "no cap" if one.left is None else f"{balance(one.left)} of {balance(one.limit)}"


def questions_words(more: int | None) -> str:
    """What is left in questions."""
    if more is None:
        return ""
    return f"about {more:,} more like the last one" if more else "none like the last one"


_LEAD = (
    "Every answer takes something from the privacy of the people in a table. This is what was granted and what is left."
)
_WITHIN = "50"
_MOST_PEOPLE = 200


async def build(visit: PageVisit) -> None:
    """The page."""
    theme.page_title("Budget", _LEAD)
    ui.add_css(PERIOD_STYLE + _STYLE)
    tables = [
        one for one in await run.io_bound(tables_ops.tables, visit.service, visit.principal) or [] if not one.public
    ]
    if not tables:
        theme.empty("account_balance_wallet", "There is no budget that you may see", no_table_hint(visit.principal))
        return
    await _BudgetPage(visit, tables).draw()


class _BudgetPage:
    """One reader's page."""

    def __init__(self, visit: PageVisit, tables: list[Table]) -> None:
        self._visit = visit
        self._tables = {one.name: one for one in tables}
        self._reads_all = visit.principal.role in READERS

    async def draw(self) -> None:
        """A choice of tables, and what is known about one."""
        with theme.row():
            self._table = ui.select(
                list(self._tables), value=next(iter(self._tables)), label="Table", on_change=self._show
            )
            self._table.props("outlined dense").classes("w-64 max-w-full")
            theme.button("Refresh", self._show, icon="refresh", kind="icon")
        self._known = ui.element("div").classes("budget-parts")
        await self._show()

    async def _show(self) -> None:
        service, principal, name = self._visit.service, self._visit.principal, str(self._table.value)
        balances = await run.io_bound(tables_ops.budget, service, principal) or []
        own, spent, periods = [one for one in balances if one.table == name], [], []
        if self._tables[name].time is not None:
            periods = await run.io_bound(periods_ops.periods, service, principal, name) or []
        if not self._tables[name].is_by_period:
            spent = await run.io_bound(tables_ops.spending, service, principal, name) or []
        if name != self._table.value:  # another table was chosen meanwhile
            return
        self._known.clear()
        with self._known:
            if self._tables[name].is_by_period:
                draw_period_budgets(self._visit, self._tables[name], own, periods)
            else:
                self._draw(name, own, spent)

    def _draw(self, name: str, balances: list[Balance], spent: list[SpentQuestion]) -> None:
        whole = next((one for one in balances if one.kind is AccountKind.TABLE), None)
        if whole is None:
            theme.empty("account_balance_wallet", f"Nothing was granted for {name} yet.")
            return
        caps = [one for one in balances if one.analyst is not None]
        with theme.section("What is left"):
            self._figures(whole, caps, [one for one in balances if one.kind is AccountKind.UNIT])
        with theme.section("When it was spent"):
            granted = whole if self._reads_all or not caps else caps[0]
            Chart(spending_chart(spent, granted.limit), spending_words(spent, granted, is_own=not self._reads_all))
        if self._reads_all:
            with theme.section("By whom", "What each one's questions added to the loss of the worst-off person."):
                _people(whole, caps, spent)
        if self._visit.principal.role is not MemberRole.AUDITOR:
            with theme.section("What typical questions would still cost", "Nothing is spent by looking."):
                _TypicalCosts(self._visit, name).draw()

    def _figures(self, whole: Balance, caps: list[Balance], people: list[Balance]) -> None:
        with theme.figures():
            if not self._reads_all:
                for one in caps:
                    theme.figure("Left for you", *_left_of(one))
                    theme.figure("You spent", amount(one.spent), questions_words(one.more))
            for one in people:
                left, whole_words = _left_of(one)
                theme.figure("Left for its people", left, f"{whole_words}, over all tables that are about them")
            theme.figure("Left for all together", *_left_of(whole))
            theme.figure("Spent by all", amount(whole.spent), questions_words(whole.more))
            if whole.delta_left is not None and whole.delta_cap is not None:
                figures = f"{float(whole.delta_left):.3g}", f"of {float(whole.delta_cap):.3g}"
                theme.figure("δ left for groups that nobody listed", *figures)
        for one in [*people, *([whole] if self._reads_all or not caps else [*caps, whole])]:
            _bar(one)


def _left_of(one: Balance) -> tuple[str, str]:
    """What is left, and of what."""
    return ("no cap", "counted") if one.left is None else (balance(one.left), f"of {balance(one.limit)}")


def _bar(one: Balance) -> None:
    """How much of an account is gone, as a bar with words."""
    cap = size_of(one.limit)
    share = min(size_of(one.spent) / cap, 1.0) if cap else 1.0
    whose = "its people" if one.kind is AccountKind.UNIT else "all together" if one.analyst is None else one.analyst
    with ui.element("div").classes("w-full"):
        bar = ui.element("div").classes("d-bar").props('role="img"')
        bar.props["aria-label"] = f"{whose}: {100 * share:.0f} % spent"
        with bar:
            ui.element("div").style(f"width:{100 * share:.2f}%;background:var(--d-series-1)")
        ui.label(f"{whose}: {100 * share:.0f} % spent, {left_words(one)} left").classes("d-muted d-small")


def _people(whole: Balance, caps: list[Balance], spent: list[SpentQuestion]) -> None:
    added, capped = dict(shares(spent)), {str(one.analyst): one for one in caps}
    names = [*added, *(name for name in capped if name not in added)]
    if not names:
        theme.empty("group", "Nobody has asked anything yet.")
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

    def __init__(self, visit: PageVisit, table: str) -> None:
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
            found = await run.io_bound(
                typical_questions, self._visit.service, self._visit.principal, self._name, within
            )
        except DiscreetError as refusal:
            self._costs.clear()
            with self._costs:
                theme.notice(str(refusal), "warn")
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
