"""Questions on their way to the charge: what somebody asked for, and how it is planned for one version of the data."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from discreet.catalog.catalog import Catalog
from discreet.curator.allowance import Price
from discreet.curator.bound_requests import question_of
from discreet.curator.charging import account_of, plans_of, prices_of
from discreet.curator.fuse import Wanted
from discreet.curator.kept_names import own_plan
from discreet.curator.ledger import Ledger
from discreet.curator.planning import Planner
from discreet.curator.promises import check_answerable, check_runnable, check_stored
from discreet.exact.rational import Number
from discreet.query.fingerprint import fingerprint_of, text_of
from discreet.query.plan import BlockPlan
from discreet.query.question import Question

__all__ = ["Asked", "Prepared", "named_plan", "own_accounts", "prepared"]


@dataclass(frozen=True)
class Asked:
    """What somebody wants to know, before it is planned."""

    texts: list[str]
    """The questions, in SQL."""
    planned: Callable[[Planner], list[Question]]
    """Plans them, for whatever data and policies."""
    price: tuple[Number | None, Number | None]
    """A price, or the error that was asked for instead."""
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
        return question_of(self.texts, *self.price, self.confidence)


@dataclass(frozen=True)
class Prepared:
    """Questions as they are planned for one version of the data."""

    planner: Planner
    """Who planned them; its snapshot is what they are run on."""
    questions: list[Question]
    """One for each text."""
    plans: list[BlockPlan]
    """What is measured for them, each once."""
    versions: Mapping[str, str]
    """Of the protected tables."""
    public: Mapping[str, str]
    """Versions of the public tables that plans were made with."""
    prices: Mapping[str, Price]
    """What each account pays."""
    plan: str
    """What the ledger calls the plans on these versions."""
    is_shared: bool
    """Whether it calls them so for all analysts."""
    is_kept: bool = False
    """Whether it is for data, or an answer, that is kept for a request; else it must be the newest."""

    def wanted(self, asked: Asked, request: str | None) -> Wanted:
        """The same as it is charged, under the id that the ledger has for the request."""
        price = next(question.price for question in self.questions if question.price is not None)
        note: dict[str, Any] = {"sql": "; ".join(asked.texts), "analyst": asked.analyst, "price": text_of(price)}
        note |= {"versions": dict(self.versions)} | ({"public": dict(self.public)} if self.public else {})
        versions = {**self.versions, **self.public}
        check = partial(check_runnable, self.plans, self.planner.snapshot)
        return Wanted(self.plan, self.prices, note, versions, asked.question, request, check)


def prepared(planner: Planner, questions: list[Question], asked: Asked, ledger: Ledger, *, shared: bool) -> Prepared:
    """Plans that mean the same on these rows as everywhere, and what they cost."""
    plans, snapshot = plans_of(questions), planner.snapshot
    check_stored(plans, planner.catalog, snapshot)
    check_answerable(plans, snapshot)
    tables = sorted(frozenset[str]().union(*(question.tables for question in questions)))
    versions = {table: snapshot.version(table) for table in tables}
    accounts = own_accounts(ledger, planner.catalog, asked.analyst, versions)
    prices = prices_of(plans, planner.catalog, asked.analyst, versions, accounts)
    public = {name: snapshot.version(name) for one in plans for name in sorted(one.block.rows.public)}
    plan = named_plan({**versions, **public}, plans, asked.analyst, shared=shared)
    return Prepared(planner, questions, plans, versions, public, prices, plan, shared)


def own_accounts(ledger: Ledger, catalog: Catalog, analyst: str | None, tables: Iterable[str]) -> Collection[str]:
    """The accounts of an analyst at these tables, as far as there are any."""
    if analyst is None:
        return ()
    return ledger.accounts([account_of(catalog.table(name), analyst) for name in tables])


def named_plan(versions: Mapping[str, str], plans: list[BlockPlan], analyst: str | None, *, shared: bool) -> str:
    """What the ledger calls the answer to these plans on these versions of the data, for this analyst."""
    return own_plan(fingerprint_of(plans, versions), analyst, shared=shared)
