"""The steps of a series: what is released of it when a period closes.

A step is drawn, stored under its own request, and seen when it is stored. A crash before that draws again, and nobody
saw the first; after it, the stored one is served. Two processes may draw at once: the first that stores counts. What
is missing is caught up by whoever closes next, or opens the curator.

A failed step says one bit that no price was paid for, as a failed question does, and ends in the same way: the period
is not released, nobody draws it again, and who subscribed is suspended at the table until the owner looks.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from discreet.catalog.period import Period
from discreet.curator.fuse import MOST_RUNS, check_suspended
from discreet.curator.ledger.ledger import Ledger
from discreet.curator.preconditions import check_runnable
from discreet.curator.prepare import AskedQuestion
from discreet.curator.question_terms import QuestionTerms
from discreet.curator.series.book import BegunSeries, Outcome, is_stopped, list_series, list_steps, name_step
from discreet.curator.series.plan import SeriesPlan, plan_series
from discreet.curator.series.release import measure_period
from discreet.curator.series.terms import SeriesTerms
from discreet.engines.engine import tell
from discreet.errors import BudgetExceeded, DiscreetError, EngineFailure, EngineUnavailable, StoreError
from discreet.noise.source import fresh_id
from discreet.query.plan.sensitivity import AggregationPlan
from discreet.query.question import PlannedQuestion

if TYPE_CHECKING:
    from discreet.curator.curator import Curator
    from discreet.curator.planner import Planner

__all__ = ["check_laws", "find_plan", "step_all"]


def step_all(curator: Curator) -> None:
    """Release what is missing of every series; one that cannot go on holds up no other, and no close."""
    if not any(table.time is not None for table in curator.catalog):
        return
    try:
        for series in list_series(curator.ledger):
            _catch_up(curator, series)
    except DiscreetError as failure:
        tell(curator.engine.snapshot().owner_log, failure)


def _catch_up(curator: Curator, series: BegunSeries) -> None:
    due = [] if is_stopped(curator.ledger, series.terms) else _list_due(curator, series)
    for period in due:
        try:
            _step(curator, find_plan(curator, series.terms), period)
        except DiscreetError as failure:
            tell(curator.engine.snapshot().owner_log, failure)


def _step(curator: Curator, plan: SeriesPlan, period: Period) -> None:
    if not plan.is_complete(period, curator.engine.snapshot()):
        _settle(curator.ledger, plan.terms, period, Outcome.INCOMPLETE)
    elif plan.terms.is_once:
        _release(curator, plan, period)
    else:
        _ask(curator, plan, period)


def _settle(
    ledger: Ledger, terms: SeriesTerms, period: Period, outcome: Outcome, answer: bytes = b"", request: str = ""
) -> None:
    """Store what became of a period, where nothing was drawn for it here."""
    name, note = name_step(terms.id, period.name), {"series": terms.id, "period": period.name, "analyst": terms.analyst}
    ledger.charge(name, terms.digest, {}, note | {"outcome": outcome.name} | ({"answer": request} if request else {}))
    ledger.settle(name, answer)


def _list_due(curator: Curator, series: BegunSeries) -> list[Period]:
    """The periods that are closed, and of which nothing became yet."""
    closed = {one.name for one in curator.ledger.closes(series.terms.table)}
    done = {one.period for one in list_steps(curator.ledger, series)}
    return [one for one in series.terms.periods if one.name in closed and one.name not in done]


def find_plan(curator: Curator, terms: SeriesTerms) -> SeriesPlan:
    """The plan of a series that began; one that this version would lay out otherwise is not released."""
    plan = plan_series(terms, curator.catalog)
    check_laws(plan)
    return plan


def check_laws(plan: SeriesPlan) -> None:
    """Refuse a plan that is not the one that was charged."""
    known = plan.question.plans[0].block.rows.privacy
    if plan.laws != plan.terms.laws or known is None or known.unit != plan.terms.domain:
        rule = f"the series {plan.terms.id} must have the bounds and the noise that it began with"
        raise StoreError(rule, None, "go on with the version of discreet that began it")


# One mechanism over all periods.


def _release(curator: Curator, plan: SeriesPlan, period: Period) -> None:
    """Draw and store one period of a series that was paid for."""
    ledger, terms, snapshot = curator.ledger, plan.terms, curator.engine.snapshot()
    check_suspended(ledger, terms.analyst, [terms.table])
    step = plan.at(period, snapshot)
    check_runnable([step], snapshot)
    name, run = name_step(terms.id, period.name), fresh_id()
    with ledger.present(run):
        if not _is_open(ledger, terms, name, period, run):
            return
        found = _measured(curator, plan, step, name, run)
        if found is not None:
            ledger.settle(name, found)


def _is_open(ledger: Ledger, terms: SeriesTerms, name: str, period: Period, run: str) -> bool:
    """Begin a step, or go on with one that a killed process began; too many killed runs are a failure."""
    note = {"series": terms.id, "period": period.name, "analyst": terms.analyst}
    receipt = ledger.charge(name, terms.digest, {}, note, run)
    if receipt.is_new or receipt.end is not None:
        return receipt.end is None
    killed, told = ledger.killed_runs(name)
    if len(killed) >= MOST_RUNS:
        ledger.fail(name, terms.analyst, [terms.table])
        return False
    again = ledger.rerun(name, run, terms.analyst, told)
    return again is not None and again.end is None


def _measured(curator: Curator, plan: SeriesPlan, step: AggregationPlan, name: str, run: str) -> bytes | None:
    """What is released; None where nothing was read yet, or where the run failed."""
    terms, snapshot = plan.terms, curator.engine.snapshot()
    if plan.at_limit is None:
        raise AssertionError("a series that is paid once counts the people at the limit")
    try:
        return measure_period(step, plan.at_limit, snapshot.run, curator.source)
    except EngineUnavailable:
        curator.ledger.stop(name, run)  # another comes later
    except Exception as failure:  # of what is computed from exact values
        tell(snapshot.owner_log, failure)
        curator.ledger.fail(name, terms.analyst, [terms.table])
    return None


# A question of its own for every period.


def _ask(curator: Curator, plan: SeriesPlan, period: Period) -> None:
    """Ask about one period at its price, and store what was answered as what the series says about it."""
    try:
        found = curator.ask_planned(_question(plan, period))
    except BudgetExceeded:
        return _settle(curator.ledger, plan.terms, period, Outcome.UNPAID)
    except EngineFailure:
        return _settle(curator.ledger, plan.terms, period, Outcome.FAILED)
    return _settle(curator.ledger, plan.terms, period, Outcome.RELEASED, found.answer or b"", found.request)


def _question(plan: SeriesPlan, period: Period) -> AskedQuestion:
    """The question of one period, at the price of the series."""
    terms = plan.terms

    def planned(planner: Planner) -> list[PlannedQuestion]:
        return [replace(plan.question, plans=(plan.at(period, planner.snapshot),))]

    return AskedQuestion([terms.sql], planned, QuestionTerms(epsilon=1), 0.95, terms.analyst, None, False)
