"""The budget of a table whose periods have budgets of their own: people first, then the periods, one by one."""

from __future__ import annotations

from collections.abc import Sequence

from nicegui import ui

from discreet.catalog.table import Table
from discreet.console import theme
from discreet.console.layout import PageVisit
from discreet.console.periods import draw_strip
from discreet.curator.ledger.chain import AccountKind
from discreet.curator.ledger.units import amount, balance
from discreet.reports.format import counted
from discreet.service.operations.periods import PeriodBalance
from discreet.service.operations.tables import Balance

__all__ = ["draw_period_budgets", "people_words"]


_HEADS = ("period", "granted", "spent", "left")


def draw_period_budgets(
    visit: PageVisit, table: Table, balances: Sequence[Balance], periods: Sequence[PeriodBalance]
) -> None:
    """Draw what is left: of people over all periods, and of each period."""
    people = [one for one in balances if one.kind is AccountKind.UNIT and one.period is None]
    every = "period" if table.time is None else table.time.every.value
    who = "a row" if table.unit is None else f"a person and {every}"
    if people:
        hint = f"What one person of {table.name} may lose over all periods together."
        with theme.section("People", hint), theme.figures():
            for one in people:
                theme.figure("A person, so far", amount(one.spent), people_words(one))
    whose = "you" if visit.principal.analyst is not None else "all together"
    hint = f"Each {every} has a budget of its own, for {who}. What is left of one stays as it is when new ones come."
    with theme.section(f"What is left for {whose}", hint):
        draw_strip(periods, table.name)
        closed = [one for one in periods if one.state == "closed"]
        if not closed:
            theme.empty("hourglass_empty", f"No {every} is closed yet.", "Questions read closed periods alone.")
    if closed:
        with theme.section("Period by period"), ui.expansion(counted(len(closed), "closed period", "closed periods")):
            theme.plain_table(_HEADS, [_row(one) for one in reversed(closed)])


def people_words(one: Balance) -> str:
    """What a person may lose in all."""
    return "counted without a cap" if one.left is None else f"{balance(one.left)} left of {balance(one.limit)}"


def _row(one: PeriodBalance) -> tuple[str, ...]:
    if one.cap is None or one.spent is None or one.left is None:
        return one.name, "", "", ""
    return one.name, balance(one.cap), amount(one.spent), balance(one.left)
