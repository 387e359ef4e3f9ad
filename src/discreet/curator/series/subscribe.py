"""Beginning a series: its terms, its plan, what it costs, and the charge."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from discreet.catalog.period import MOST_PERIODS, Period
from discreet.catalog.table import Table
from discreet.curator.charge import Versions, check_analyst, find_account, list_prices
from discreet.curator.fuse import check_suspended
from discreet.curator.ledger.checkpoint import check_trusted
from discreet.curator.ledger.units import LedgerPrice
from discreet.curator.planner import price_epsilon, price_part
from discreet.curator.prepare import find_accounts
from discreet.curator.question_terms import choose
from discreet.curator.series.explanation import SeriesExplanation
from discreet.curator.series.plan import SeriesPlan, keep_own, plan_series
from discreet.curator.series.records import STOP, name_series, name_step
from discreet.curator.series.terms import SeriesTerms, list_periods
from discreet.errors import InvalidType, InvalidValue, QueryRefused
from discreet.exact.rational import Number, integer, positive, rational
from discreet.query.answer.answer import label_columns
from discreet.query.parse.parser import parse
from discreet.query.run.fingerprint import write_recorded

if TYPE_CHECKING:
    from discreet.curator.curator import Curator

__all__ = ["WantedSeries", "begin", "explain_series"]


@dataclass(frozen=True)
class WantedSeries:
    """What somebody wants to subscribe to."""

    sql: str
    """The question."""
    epsilon: Number | None
    """The ε to pay: once where units are people, else for each period."""
    part: Number | None
    """The part of the budget to pay instead."""
    periods: int
    """How many periods."""
    rows_per_unit: int | None
    """How many rows of a person count in all of them; those of the policy where none is named."""
    since: str | None
    """The first period; the next one to close where none is named."""
    readers: Sequence[str]
    """Which analysts may read it."""
    analyst: str | None
    """Who subscribes."""

    def __post_init__(self) -> None:
        if not isinstance(self.sql, str):
            raise InvalidType("a question must be text", self.sql)
        if (self.epsilon is None) == (self.part is None):
            rule = "a series is given a price or a part of the budget"
            raise InvalidValue(rule, "<none or both>", 'pass epsilon= or part="1/4"')
        if self.part is not None and not 0 < rational(self.part, "part") <= 1:
            raise InvalidValue("part must be above 0 and at most 1", self.part, 'write part="1/4"')
        integer(self.periods, "periods", least=1)
        if self.periods > MOST_PERIODS:
            raise InvalidValue(f"a series has at most {MOST_PERIODS:,} periods", self.periods)
        if isinstance(self.readers, str):
            raise InvalidType("readers must be a list of names", self.readers, 'write readers=["ann"]')


def begin(curator: Curator, wanted: WantedSeries) -> SeriesTerms:
    """Charge a series and store its terms; the same one again is the one that began."""
    plan = _chosen(curator, wanted)
    terms, ledger = plan.terms, curator.ledger
    check_trusted(ledger.folder)
    check_suspended(ledger, terms.analyst, [terms.table])
    name, prices = name_series(terms.id), _prices(curator, plan)
    if ledger.known(name_step(terms.id, STOP)) is not None:
        rule = "a series that was stopped does not go on"
        raise InvalidValue(rule, terms.id, "subscribe to another number of periods; nothing is refunded")
    if ledger.known(name) is None:
        note: dict[str, Any] = {"sql": terms.sql, "analyst": terms.analyst, "price": write_recorded(terms.price)}
        note |= {"series": terms.id, "periods": len(terms.periods), "terms": terms.text.decode()}
        ledger.charge(name, terms.digest, prices, note)
    ledger.settle(name, terms.text)
    return terms


def explain_series(curator: Curator, wanted: WantedSeries, confidence: float) -> SeriesExplanation:
    """Price, expected errors and quota of a series; nothing is charged."""
    plan = _chosen(curator, wanted)
    terms, question = plan.terms, plan.question
    prices, listing = _prices(curator, plan), plan.over(terms.periods[:1]).listing
    return SeriesExplanation(
        price=terms.price,
        is_once=terms.is_once,
        affordable=not terms.is_once or curator.ledger.affords(prices),
        accounts=tuple(prices) or (find_account(curator.catalog.table(terms.table)),),
        first=terms.periods[0].name,
        periods=len(terms.periods),
        rows_per_unit=terms.policy.rows_per_unit,
        groups=None if listing is None else len(listing),
        errors=tuple(label_columns(question, question.errors(confidence))),
        at_limit=None if plan.at_limit is None else float(plan.at_limit.law.error(confidence)),
        notes=plan.notes(confidence),
    )


def _chosen(curator: Curator, wanted: WantedSeries) -> SeriesPlan:
    """The plan of a series at its price; of the ways in which a part can be paid, the best that fits."""
    curator.refresh()
    table = _table(curator, wanted)
    policy, periods = _policy(table, wanted), _periods(curator, table, wanted)
    budgets = [one for one in (table.budget, table.analysts.get(wanted.analyst or "")) if one is not None]
    if wanted.part is not None:
        prices, delta = price_part(budgets, rational(wanted.part, "part"))
    else:
        price, delta = price_epsilon(budgets, positive(wanted.epsilon or 0, "epsilon"))
        prices = [price]
    domain, who = curator.catalog.unit_domain(table.name) or "", (tuple(sorted(set(wanted.readers))), wanted.analyst)
    plans = []
    for one in prices:
        own = Fraction(0) if not policy.is_by_period else delta
        plan = plan_series(SeriesTerms(wanted.sql, policy, domain, periods, one, own, *who), curator.catalog)
        plans.append(replace(plan, terms=plan.terms.with_laws(plan.laws)))
    by_question = {id(plan.question): plan for plan in plans}
    check_analyst([plan.question for plan in plans], curator.catalog, wanted.analyst)
    taken = choose(
        [plan.question for plan in plans],
        is_known=lambda one: curator.ledger.known(name_series(by_question[id(one)].terms.id)) is not None,
        affords=lambda one: not policy.is_by_period and curator.ledger.affords(_prices(curator, by_question[id(one)])),
    )
    return by_question[id(taken)]


def _table(curator: Curator, wanted: WantedSeries) -> Table:
    """The one table that a series reads, where its rows stay as they are."""
    if not curator.engine.capabilities.takes_rows:
        rule = "a series is not offered where rows stay on a server, because somebody could change them"
        raise QueryRefused(rule, "", "ask about each period once it is closed")
    named = {".".join(part.name for part in node.parts) for node in _tables(wanted.sql)}
    found = [table for name in sorted(named) if (table := curator.catalog.named(name)) is not None]
    growing = [table for table in found if table.time is not None]
    if not growing:
        rule = "a series is about a table that grows by periods"
        raise QueryRefused(rule, "", "state time: in its policy; a table that is taken in whole is asked with ask")
    if len(found) > 1:
        raise QueryRefused("a series reads one table, once", "", "leave out joins, and join what was released yourself")
    for reader in wanted.readers:
        if reader not in growing[0].analysts:
            rule = f"{growing[0].name}: who reads a series must be named in the policy"
            raise InvalidValue(rule, reader, "let them ask first; no budget is needed to read")
    return growing[0]


def _tables(sql: str) -> list[Any]:
    from sqlglot import exp  # noqa: PLC0415

    return list(parse(sql, "duckdb").find_all(exp.Table))


def _policy(table: Table, wanted: WantedSeries) -> Table:
    """The policy as it stays for the series, with its quota."""
    policy = keep_own(table)
    if wanted.rows_per_unit is None:
        return policy
    if table.unit is None and wanted.rows_per_unit != 1:
        rule = f"{table.name}: every row is a person of its own, so there is no quota"
        raise InvalidValue(rule, wanted.rows_per_unit, "leave out rows_per_unit")
    return replace(policy, rows_per_unit=wanted.rows_per_unit)


def _periods(curator: Curator, table: Table, wanted: WantedSeries) -> tuple[Period, ...]:
    """The periods of the series, in order; the first is the next to close, or one that was named."""
    if table.time is None:
        raise AssertionError("a series is about a table that grows")
    closed = curator.ledger.closes(table.name)
    last = Period(closed[-1].name, closed[-1].start, closed[-1].end) if closed else None
    first = table.time.after(last).name if wanted.since is None else table.time.named(wanted.since).name
    return list_periods(table, first, wanted.periods)


def _prices(curator: Curator, plan: SeriesPlan) -> dict[str, LedgerPrice]:
    """What each account pays on the first day."""
    terms, catalog = plan.terms, curator.catalog
    if not terms.is_once:
        return {}  # they are charged when a period closes
    whole = [replace(plan.plan, loss=terms.price)]
    versions = Versions({terms.table: ""}, {})
    known = find_accounts(curator.ledger, catalog, terms.analyst, whole, versions)
    return list_prices(whole, catalog, terms.analyst, versions, known)
