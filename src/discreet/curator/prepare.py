"""Questions on their way to the charge: what somebody asked for, and how it is planned for one version of the data.

A request that meets another plan than it was tied to: new data, or another policy, came before it was answered.

What was charged is answered: on the rows and by the plan that were charged for while these are kept, or by a plan for
the data of today that costs no more on any account. Why that is sound, and what is kept how long: ``plan.md``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

from discreet.catalog.catalog import Catalog
from discreet.curator.charge import (
    Versions,
    find_account,
    find_unit_account,
    list_budget_periods,
    list_plans,
    list_prices,
)
from discreet.curator.fuse import Fuse, PlannedCharge
from discreet.curator.ledger.chain import plan_key
from discreet.curator.ledger.ledger import Account, Ledger, Receipt
from discreet.curator.ledger.requests import BoundRequest, bind, bind_request, find_question
from discreet.curator.ledger.unanswered import covers
from discreet.curator.ledger.units import LedgerPrice
from discreet.curator.planner import Planner
from discreet.curator.preconditions import (
    check_runnable,
    check_stored,
    check_translatable,
    find_versions,
    use_stored_columns,
)
from discreet.curator.question_terms import QuestionTerms
from discreet.engines.engine import TableStore
from discreet.errors import DiscreetError, EngineFailure, RequestConflict
from discreet.query.divide import join_pieces
from discreet.query.parse.clock import AsOf
from discreet.query.plan.sensitivity import AggregationPlan
from discreet.query.question import PlannedQuestion
from discreet.query.run.fingerprint import compute_fingerprint, write_recorded

__all__ = ["AskedQuestion", "Prepared", "Unanswered", "bind_divided", "find_prices", "name_plan", "prepare_question"]


@dataclass(frozen=True)
class AskedQuestion:
    """What somebody wants to know, before it is planned."""

    texts: list[str]
    """The questions, in SQL."""
    planned: Callable[[Planner], list[PlannedQuestion]]
    """Plans them, for whatever data and policies."""
    terms: QuestionTerms
    """A price, an error or a part of the budget, and the moment that it is about."""
    confidence: float
    """At which error bars are stated."""
    analyst: str | None
    """Who asks; None for whoever names no analyst."""
    request: str | None
    """The id that stands for it; None where there is none."""
    raw: bool
    """Whether noisy values are shown as they are."""

    @property
    def question(self) -> str:
        """The same for the same texts at the same price."""
        return find_question(self.texts, self.terms.in_words(), self.confidence, self.as_of)

    def for_period(self, planner: Planner, piece: PlannedQuestion) -> AskedQuestion:
        """The same for one of the periods that it is divided into; this planner planned it already."""
        period = piece.period
        request = None if self.request is None else f"{self.request}/{period}"

        def planned(other: Planner) -> list[PlannedQuestion]:
            return [piece if other is planner else _keep_pieces(self, self.planned(other)[0], [period])[0]]

        return replace(self, planned=planned, request=request)

    @property
    def as_of(self) -> str | None:
        """The moment that it is about, in words."""
        return None if self.terms.as_of is None else str(AsOf.of(self.terms.as_of))


@dataclass(frozen=True)
class Prepared:
    """Questions as they are planned for one version of the data."""

    planner: Planner
    """Who planned them; its snapshot is what they are run on."""
    questions: list[PlannedQuestion]
    """One for each text."""
    plans: list[AggregationPlan]
    """What is measured for them, each once."""
    versions: Mapping[str, str]
    """Of the protected tables."""
    public: Mapping[str, str]
    """Versions of the public tables that plans were made with."""
    prices: Mapping[str, LedgerPrice]
    """What each account pays."""
    plan: str
    """What the ledger calls the plans on these versions."""
    is_shared: bool
    """Whether it calls them so for all analysts."""
    is_kept: bool = False
    """Whether it is for data, or an answer, that is kept for a request; else it must be the newest."""

    @cached_property
    def runnable(self) -> list[AggregationPlan]:
        """The plans for rows as they are kept, which are tried before the charge and run after it."""
        return [use_stored_columns(plan, self.planner.snapshot) for plan in self.plans]

    def wanted(self, asked: AskedQuestion, request: str | None) -> PlannedCharge:
        """The same as it is charged, under the id that the ledger has for the request."""
        price = next(question.price for question in self.questions if question.price is not None)
        note: dict[str, Any] = {"sql": "; ".join(asked.texts), "analyst": asked.analyst, "price": write_recorded(price)}
        note |= {} if asked.as_of is None else {"as_of": asked.as_of}
        note |= {"versions": dict(self.versions)} | ({"public": dict(self.public)} if self.public else {})
        versions = {**self.versions, **self.public}
        check = partial(check_runnable, self.runnable, self.planner.snapshot)
        return PlannedCharge(self.plan, self.prices, note, versions, asked.question, request, check)


def bind_divided(
    ledger: Ledger, asked: AskedQuestion, question: PlannedQuestion, check: Callable[[PlannedQuestion], None], own: str
) -> PlannedQuestion:
    """A divided question in the periods that its request stands for; a new request is tied to those of today.

    Else one id would stand for a question in each period, and asked again it would be charged for periods that closed
    since. ``check`` refuses what cannot be paid before the id is tied; ``own`` is what the ledger calls the request.
    """
    known = bind_request(ledger, own)
    if known is None:
        check(question)
        periods = {f"{name}@{one.period}": "" for one in question.pieces for name in sorted(one.tables)}
        bind(ledger, own, 0, f"divided {asked.question}", 0, periods, asked.question)
        return question
    if known.question != asked.question:
        raise RequestConflict("a request id must stand for one question", asked.request, "use a new id")
    pieces = _keep_pieces(asked, question, [name.partition("@")[2] for name in known.versions])
    found = question if len(pieces) == len(question.pieces) else join_pieces(pieces)
    check(found)
    return found


def _keep_pieces(asked: AskedQuestion, question: PlannedQuestion, periods: Sequence[str]) -> list[PlannedQuestion]:
    """What a divided question asks about these periods."""
    pieces = {one.period: one for one in question.pieces}
    if not pieces.keys() >= set(periods):
        rule = "a request is asked again about the periods that it stands for"
        raise RequestConflict(rule, asked.request, "use a new id, or name the days instead of CURRENT_DATE")
    return [pieces[one] for one in pieces if one in periods]


def prepare_question(
    planner: Planner, questions: list[PlannedQuestion], asked: AskedQuestion, ledger: Ledger, *, shared: bool
) -> Prepared:
    """Plans that mean the same on these rows as everywhere, and what they cost."""
    plans, snapshot = list_plans(questions), planner.snapshot
    check_stored(plans, planner.catalog, snapshot)
    check_translatable(plans, snapshot)
    tables = sorted(frozenset[str]().union(*(question.tables for question in questions)))
    versions = find_versions(tables, plans, snapshot)
    prices = find_prices(ledger, planner.catalog, asked.analyst, plans, versions)
    public = {name: snapshot.version(name) for one in plans for name in sorted(one.block.rows.public)}
    plan = name_plan({**versions.tables, **public}, plans, asked.analyst, shared=shared)
    return Prepared(planner, questions, plans, versions.tables, public, prices, plan, shared)


def find_prices(
    ledger: Ledger, catalog: Catalog, analyst: str | None, plans: Sequence[AggregationPlan], versions: Versions
) -> dict[str, LedgerPrice]:
    """What each account pays for some plans."""
    accounts = find_accounts(ledger, catalog, analyst, plans, versions)
    return list_prices(plans, catalog, analyst, versions, accounts)


def find_accounts(
    ledger: Ledger, catalog: Catalog, analyst: str | None, plans: Iterable[AggregationPlan], versions: Versions
) -> dict[str, Account]:
    """The accounts of these tables, of an analyst at them, and of their people, as far as there are any."""
    names = set[str]()
    for name in versions.tables:
        table, domain, person = catalog.table(name), catalog.unit_domain(name), catalog.person_domain(name)
        for period in list_budget_periods(plans, table):
            names |= {find_account(table, who, period) for who in (None, analyst)}
            names |= set() if domain is None else {find_unit_account(domain, period)}
        names |= set() if person is None or table.unit_per is None else {find_unit_account(person)}
    return ledger.accounts(sorted(names))


def name_plan(versions: Mapping[str, str], plans: list[AggregationPlan], analyst: str | None, *, shared: bool) -> str:
    """What the ledger calls the answer to these plans on these versions of the data, for this analyst."""
    return plan_key(compute_fingerprint(plans, versions), analyst, shared=shared)


class Unanswered:
    """One question that is asked under an id which stands for another plan of it."""

    def __init__(
        self,
        ledger: Ledger,
        engine: TableStore,
        asked: AskedQuestion,
        prepare: Callable[[Planner], Prepared],
        kept: ExitStack,
    ) -> None:
        """Of a ledger and an engine; what is opened for it stays so until ``kept`` ends."""
        self._ledger, self._engine, self._kept = ledger, engine, kept
        self._asked, self._prepare = asked, prepare

    def as_bound(self, known: BoundRequest, ready: Prepared, catalog: Catalog) -> Prepared:
        """What the request stands for, given what it would be planned as today."""
        versions = {**ready.public, **known.versions}  # records of before tell nothing of public tables
        is_same = name_plan(versions, ready.plans, self._asked.analyst, shared=ready.is_shared) == known.plan
        if not is_same and self._asked.question != known.question:
            raise self._conflict("a request id must stand for one question", "use a new id")
        if known.receipt is None:  # nothing was charged, or it was returned
            return ready
        if known.receipt.end is None:
            return self._as_charged(known, known.receipt, ready, catalog)
        if known.receipt.end == "failure":
            raise EngineFailure
        if is_same:
            told = {name: known.versions[name] for name in ready.versions}
            return replace(ready, plan=known.plan, versions=told, is_kept=True)
        raise self._conflict("an answer is shown again under the policy that it was given under", "use a new id")

    def _as_charged(self, known: BoundRequest, receipt: Receipt, ready: Prepared, catalog: Catalog) -> Prepared:
        """The rows and the plan that were charged for, while they are kept; or another plan for the same charge."""
        found = [ready]
        earlier = self._engine.kept(known.versions)
        if earlier is not None:
            self._kept.callback(self._engine.store.forget_unused)
            self._kept.callback(earlier.close)
            with suppress(DiscreetError):  # policies may be others by now, and not those of these rows
                found.append(replace(self._prepare(Planner(catalog, earlier)), is_kept=True))
        same = [one for one in found if one.plan == known.plan]
        if same:
            return same[0]
        with Fuse(self._ledger, ready.planner.snapshot, self._asked.analyst, list(ready.versions)) as fuse:
            payable = [one.wanted(self._asked, None) for one in found if covers(known.prices, one.prices)]
            fuse.replan(receipt.request, payable)
        rule = "the data that the request was charged for must be kept, or the question cost no more than it did"
        raise self._conflict(rule, "ask under a new id")

    def _conflict(self, rule: str, remedy: str) -> RequestConflict:
        return RequestConflict(rule, self._asked.request, remedy)
