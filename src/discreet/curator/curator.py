"""The curator: holds tables, answers questions about the crowd, and never lets a budget be passed.

One door: policy, price, charge, run, receipt. A question is planned without looking; its charge is durable before a row
is read; its noisy values are durable before anyone sees them; asked again, the stored values are served for free.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pyarrow as pa

from discreet.catalog.budget import Budget
from discreet.catalog.names import checked_text
from discreet.catalog.policy_file import read as read_policy
from discreet.catalog.policy_file import read_folder
from discreet.catalog.policy_file import write as write_policy
from discreet.catalog.table import Table
from discreet.curator.allowance import DELTA_UNITS
from discreet.curator.answer import Answer, notes_on_values
from discreet.curator.certificate import issue
from discreet.curator.charging import check_analyst, plans_of, prices_of
from discreet.curator.facts import batch_facts, facts_of
from discreet.curator.ledger import Account, Ledger, Receipt
from discreet.curator.made_up import MadeUpRows
from discreet.curator.notes import notes_of
from discreet.curator.planning import Planner
from discreet.curator.promises import (
    allowances_of,
    check_accounts,
    check_stored,
    check_unit,
    places_of,
    public_version,
)
from discreet.curator.public_rows import PublicRows
from discreet.curator.remaining import last_prices, questions_left
from discreet.curator.signing import Signer
from discreet.curator.stage import NOTE, Stage
from discreet.curator.stated import stated_policy
from discreet.curator.stored import restored, stored
from discreet.curator.suggested_bounds import SuggestedBounds, suggest_bounds
from discreet.curator.suggested_rows import SuggestedRows, suggest_rows_per_unit
from discreet.curator.touched import Touched, touched
from discreet.curator.verification import verify
from discreet.engines.duckdb import DuckDBEngine
from discreet.engines.ingest import ingest
from discreet.errors import InvalidValue, LedgerError
from discreet.exact.rational import Number
from discreet.noise.law import open_probability
from discreet.noise.source import SYSTEM, Source
from discreet.privacy.loss import Loss, Pure, ZeroConcentrated
from discreet.query.answered import answered
from discreet.query.measure import Measured, Run, measure
from discreet.query.output_names import labelled, shares_of
from discreet.query.plan import BlockPlan
from discreet.query.question import ExpectedError, Question, fingerprint_of
from discreet.query.sandbox import post_process

__all__ = ["Curator", "Explanation"]

_FINEST_EPSILON = Fraction(1, 1000)
Shown = tuple[pa.Table, dict[str, list[tuple[float, float] | None]]]
"""A table as people see it, and the intervals of its columns."""


_BATCH_DELTA = Fraction(1, 10**6)
"""Where the composed loss of a batch is stated."""


@dataclass(frozen=True)
class Explanation:
    """What a question would cost and how good its answer would be."""

    price: Pure | ZeroConcentrated | None
    """The price of the whole question."""
    affordable: bool
    """Whether it fits what is left."""
    groups: int | None
    """How many rows the noisy table has, before HAVING and LIMIT; None where only the answer can tell."""
    errors: tuple[ExpectedError, ...]
    """The expected error of each aggregate, under the name of the output that shows it."""
    shares: tuple[tuple[str, Pure | ZeroConcentrated], ...]
    """How the price is divided so that the errors together are least: what each share answers, and the share."""
    notes: tuple[str, ...]
    """What will be clamped, weighted or left out."""
    epsilon: Fraction | None = None
    """The ε that was named, or the least one for the wanted error."""


@dataclass(frozen=True)
class _Told:
    """What all answers of one charge have in common."""

    receipt: Receipt
    versions: Mapping[str, str]
    confidence: float
    is_new: bool
    raw: bool
    accounts: tuple[str, ...]
    batch: dict[str, Any]
    """What a batch cost as a whole, composed once for all its answers; empty for a single question."""


class Curator:
    """Tables, policies, a ledger and an engine, joined in one door."""

    def __init__(
        self, folder: str | os.PathLike[str], *, engine: DuckDBEngine | None = None, source: Source = SYSTEM
    ) -> None:
        """Open the curator in ``folder``, or start one there; a ledger that cannot be believed is not opened."""
        if not source.trusted:
            raise InvalidValue("a curator draws from the operating system alone", type(source).__name__)
        self.folder = Path(folder)
        self._policies = self.folder / "policies"
        self._policies.mkdir(parents=True, exist_ok=True)
        self.catalog = read_folder(self._policies)
        self.engine = engine if engine is not None else DuckDBEngine(self.folder)
        self._source = source
        self.ledger = self._opened_ledger()
        self._signer = Signer(self.folder)
        self._known_planner: Planner | None = None

    def _opened_ledger(self) -> Ledger:
        if not (self.folder / "ledger.db").exists() and not (self.folder / "ledger.witness").exists():
            if any(not table.public for table in self.catalog):
                rule = "protected tables must have the ledger of what was spent on them"
                raise LedgerError(rule, "<no ledger>", "put it back; a new one would grant every budget again")
            return Ledger.create(self.folder)
        ledger = Ledger(self.folder)  # says itself why it cannot be opened
        found = verify(self.folder)
        if not found.is_sound:
            ledger.close()
            raise LedgerError("the ledger must be sound", f"<{found.problems[0]}>", "see discreet ledger verify")
        for table in self.catalog:
            check_accounts(table, ledger.accounts())
        return ledger

    # The owner's part.

    def protect(
        self,
        source: Any,
        policy: Table | str | os.PathLike[str] | None = None,
        progress: Callable[[float], None] | None = None,
        *,
        unread: Callable[[Mapping[str, int]], None] | None = None,
        **stated: Any,
    ) -> Table:
        """Take in the rows of ``source`` under a policy: a `Table`, a policy file, or facts ``stated`` here.

        Facts are those of a policy file: ``table`` (the file's name if left out), ``unit``, ``budget``, ``columns``,
        ``rows_per_unit``, ``groups_per_unit``, ``neighbours``, ``analysts``, ``foreign_keys``, ``public``,
        ``description``. Names and types come from the source's schema, and nothing from its rows.

        A table that is protected already gets new data; its unit, its neighbours and its budgets stay as they were.
        ``unread`` is told, per column, how many values could not be read as its type: exact, for the owner alone.
        """
        table = self._policy(source, policy, stated)
        before = self.catalog.find(table.name)
        catalog = self.catalog.with_table(table)
        if before is not None:
            _check_promise(before, table)
            check_unit(table, self.catalog, catalog)
        check_accounts(table, self.ledger.accounts())
        ingest(self.engine, table, source, catalog=catalog, progress=progress, unread=unread)
        write_policy(table, self._policies / f"{_file_name(table)}.yaml")
        self.catalog = catalog
        self._open_accounts(table)
        return table

    @staticmethod
    def _policy(source: Any, policy: Table | str | os.PathLike[str] | None, stated: dict[str, Any]) -> Table:
        if policy is None:
            return stated_policy(source, **stated)
        if stated:
            rule = "a policy is passed whole or stated in words, not both"
            raise InvalidValue(rule, min(stated), "put it into the policy")
        return policy if isinstance(policy, Table) else read_policy(policy)

    def _open_accounts(self, table: Table) -> None:
        known = self.ledger.accounts()
        for name, allowance in allowances_of(table).items():
            if name not in known:
                self.ledger.open_account(name, allowance, places_of(table))

    # Asking.

    def explain(
        self,
        sql: str,
        epsilon: Number | None = None,
        *,
        within: float | None = None,
        confidence: float = 0.95,
        analyst: str | None = None,
    ) -> Explanation:
        """Price, shape and expected error of a question, by its price or by its error; reads no data and is free."""
        open_probability(confidence, "confidence")
        planner = self._planner
        named = planner.price(sql, epsilon, within, confidence)
        question = planner.question(sql, named)
        check_analyst([question], self.catalog, analyst)
        is_known = all(plan.rule is None for plan in question.plans)
        groups = sum(len(plan.groups or [()]) for plan in question.plans) if is_known else None
        versions = {table: self.engine.version(table) for table in sorted(question.tables)}
        affordable = self.ledger.affords(prices_of(plans_of([question]), self.catalog, analyst, versions))
        errors = labelled(question, question.errors(confidence))
        notes = notes_of(question, confidence)
        return Explanation(question.price, affordable, groups, errors, shares_of(question), notes, named)

    def ask(
        self,
        sql: str,
        epsilon: Number | None = None,
        *,
        within: float | None = None,
        confidence: float = 0.95,
        analyst: str | None = None,
        request: str | None = None,
        raw: bool = False,
    ) -> Answer:
        """The private answer. Give the price ``epsilon``, or the error ``within`` and let the price follow."""
        question = self._question(sql, epsilon, within, confidence)
        (answer,) = self._ask_together([sql], [question], confidence, analyst, request, raw)
        return answer

    def ask_all(
        self,
        queries: Sequence[str],
        epsilon: Number,
        *,
        confidence: float = 0.95,
        analyst: str | None = None,
        request: str | None = None,
        raw: bool = False,
    ) -> list[Answer]:
        """Private answers to a fixed batch of questions, planned together for one price, ``epsilon``.

        Questions over the same rows and groups are measured once, and those about people who cannot be the same do not
        share the price, so each answer is at least as good as one asked alone for its part of the price.
        """
        open_probability(confidence, "confidence")
        if not queries or isinstance(queries, str):
            raise InvalidValue("a batch is a list of questions", queries or "<none>")
        questions = self._planner.questions(list(queries), epsilon)
        return self._ask_together(list(queries), questions, confidence, analyst, request, raw)

    def _ask_together(
        self,
        texts: list[str],
        questions: list[Question],
        confidence: float,
        analyst: str | None,
        request: str | None,
        raw: bool,
    ) -> list[Answer]:
        """Charge once for everything that is measured, measure it once, and answer each question from it."""
        check_analyst(questions, self.catalog, analyst)
        if request is not None:
            checked_text(request, "a request id")
        plans = plans_of(questions)
        if not plans:
            return [self._public_answer(question, confidence) for question in questions]
        snapshot = self.engine.snapshot()
        check_stored(plans, snapshot)
        tables = sorted(frozenset[str]().union(*(question.tables for question in questions)))
        versions = {table: snapshot.version(table) for table in tables}
        prices = prices_of(plans, self.catalog, analyst, versions)
        public = {name: public_version(name, snapshot) for one in plans for name in one.block.rows.public}
        plan = fingerprint_of(plans, versions | public)
        if request is not None:
            self.ledger.charge(f"request:{request}", plan.encode(), {}, {"plan": plan})
        price = next(question.price for question in questions if question.price is not None)
        note = {"sql": "; ".join(texts), "analyst": analyst, "price": repr(price), "versions": versions}
        receipt = self.ledger.charge(f"plan:{plan}", plan.encode(), prices, note)
        is_new = receipt.answer is None
        if is_new:
            found = [self._measured(one, snapshot.run) for one in plans]
            receipt = self.ledger.settle(f"plan:{plan}", stored(found))
        measured = {id(one.plan): one for one in restored(receipt.answer or b"", plans)}
        batch = batch_facts(plans, _BATCH_DELTA) if len(questions) > 1 else {}
        told = _Told(receipt, versions, confidence, is_new, raw, tuple(prices), batch)
        return [
            self._answer(text, question, [measured[id(one)] for one in question.plans], told)
            if question.plans
            else self._public_answer(question, confidence)
            for text, question in zip(texts, questions, strict=True)
        ]

    def _measured(self, plan: BlockPlan, run: Run) -> Measured:
        """What a plan releases, measured on these rows; an audit, which watches a door of its own, does so here."""
        return measure(plan, run, self._source)

    def rehearse(
        self,
        sql: str,
        epsilon: Number | None = None,
        *,
        within: float | None = None,
        confidence: float = 0.95,
        analyst: str | None = None,
        rows: int = 1000,
        raw: bool = False,
    ) -> Answer:
        """The answer on ``rows`` made-up rows: same plan, price and shape, but free, and of nobody's data."""
        question = self._question(sql, epsilon, within, confidence)
        check_analyst([question], self.catalog, analyst)
        if question.price is None:
            return self._public_answer(question, confidence)
        with Stage(MadeUpRows(self.catalog, rows, PublicRows(self.catalog, self.engine))) as stage:
            measured = [measure(plan, stage.run, stage.source) for plan in question.plans]
        table, error = self._above(question, measured, confidence, raw)
        return Answer(table, error, confidence, question.price, False, (NOTE, *notes_of(question, confidence)), {})

    # Paid questions that help to write a policy.

    def suggest_bounds(
        self, table: str, column: str, epsilon: Number, *, analyst: str | None = None
    ) -> SuggestedBounds:
        """Round bounds that hold about 99 % of a column's values; one question, charged like any other."""
        return suggest_bounds(self, table, column, epsilon, analyst)

    def suggest_rows_per_unit(self, table: str, epsilon: Number, *, analyst: str | None = None) -> SuggestedRows:
        """The rows_per_unit that counts about 95 % of the people in full; one question, charged like any other."""
        return suggest_rows_per_unit(self, table, epsilon, analyst)

    def touched(self, table: str, epsilon: Number, *, analyst: str | None = None) -> Touched:
        """How many people and values rows_per_unit and the bounds touch; one question, charged like any other."""
        return touched(self, table, epsilon, analyst)

    def budget(self) -> dict[str, dict[str, Any]]:
        """Per account: what was granted, spent and left, and how many more questions like the last one that is.

        ``more`` is None while nothing was charged. ``delta_cap`` and its kin are there where δ was set aside for keys.
        """
        accounts = self.ledger.accounts()
        prices = last_prices(self.ledger, accounts)
        return {
            name: {
                "cap": account.allowance.loss(account.allowance.cap),
                "spent": account.allowance.loss(account.spent),
                "left": account.allowance.loss(account.left),
                "more": questions_left(account, prices.get(name)),
                **_delta_for_keys(account),
            }
            for name, account in accounts.items()
        }

    # Pricing.

    @property
    def _planner(self) -> Planner:
        if self._known_planner is None or self._known_planner.catalog is not self.catalog:
            self._known_planner = Planner(self.catalog, PublicRows(self.catalog, self.engine))
        return self._known_planner

    def _question(self, sql: str, epsilon: Number | None, within: float | None, confidence: float) -> Question:
        open_probability(confidence, "confidence")  # or it would be refused after the price was charged
        planner = self._planner
        return planner.question(sql, planner.price(sql, epsilon, within, confidence))

    # Answering.

    def _answer(self, sql: str, question: Question, measured: list[Measured], told: _Told) -> Answer:
        table, error = self._above(question, measured, told.confidence, told.raw)
        facts = facts_of(sql, question, told.receipt, told.versions, measured, self.catalog, self.ledger)
        facts |= told.batch
        notes = notes_of(question, told.confidence) + notes_on_values(table)
        left, entry = self._left(told.accounts), told.receipt.position
        certificate = issue(facts, self._signer)
        price, is_new = question.price, told.is_new
        return Answer(table, error, told.confidence, price, is_new, notes, certificate, left=left, entry=entry)

    def _left(self, names: Iterable[str]) -> dict[str, Loss]:
        accounts = self.ledger.accounts()
        return {name: accounts[name].allowance.loss(accounts[name].left) for name in names}

    def _above(self, question: Question, measured: list[Measured], confidence: float, raw: bool) -> Shown:
        """What people see, computed from the noisy integers."""
        return answered(question.split, measured, self._planner.public(question), confidence, raw)

    def _public_answer(self, question: Question, confidence: float) -> Answer:
        table = post_process(question.split.above, self._planner.public(question))
        return Answer(table, {}, confidence, None, False, (), {})


def _delta_for_keys(account: Account) -> dict[str, Fraction]:
    cap, spent = account.allowance.delta_cap, account.delta_spent
    named = {"delta_cap": cap, "delta_spent": spent, "delta_left": cap - spent}
    return {name: Fraction(units, DELTA_UNITS) for name, units in named.items()} if cap else {}


def _stated(value: object) -> str:
    if not isinstance(value, Budget):
        return str(value)
    return repr(value.loss) + (f" and {value.delta_for_keys} for keys" if value.delta_for_keys else "")


def _check_promise(before: Table, after: Table) -> None:
    """What was promised and granted once is not changed by taking in data again."""
    for name in ("name", "public", "unit", "neighbours", "budget"):
        if getattr(before, name) != getattr(after, name):
            was, got = (_stated(getattr(table, name)) for table in (before, after))
            raise InvalidValue(
                f"{before.name}: {name} must stay as it was, {was}", got, "keep it, or use another table name"
            )
    for who, cap in before.analysts.items():
        if after.analysts.get(who, cap) != cap:
            raise InvalidValue(f"{before.name}: the cap of {who} must stay as it was", str(after.analysts[who]))


def _file_name(table: Table) -> str:
    """A file of the policies' own folder, whatever the table is called."""
    return quote(table.name, safe="").replace(".", "%2E")
