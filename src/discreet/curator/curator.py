"""The curator: holds tables, answers questions about the crowd, and never lets a budget be passed.

One door: policy, price, charge, run, receipt. A question is planned without looking; its charge is durable before a row
is read; its noisy values are durable before anyone sees them; asked again, the stored values are served for free.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from threading import Lock
from typing import Any

from discreet.catalog.budget import Budget
from discreet.catalog.catalog import Catalog
from discreet.catalog.policy_file import read as read_policy
from discreet.catalog.table import Table
from discreet.curator.analysts import allow, disallow, kept_analysts
from discreet.curator.answer import Answer, notes_on_values
from discreet.curator.certificate import issue
from discreet.curator.charging import check_analyst, plans_of, prices_of
from discreet.curator.explanation import Explanation
from discreet.curator.facts import batch_facts, facts_of
from discreet.curator.kept_names import checked_request, own_plan, own_request
from discreet.curator.ledger import Ledger, Receipt, has_ledger
from discreet.curator.made_up import MadeUpRows
from discreet.curator.notes import notes_of
from discreet.curator.planning import Planner
from discreet.curator.policies import Policies
from discreet.curator.promises import (
    allowances_of,
    as_stored,
    check_accounts,
    check_answerable,
    check_granted,
    check_promise,
    check_stored,
    check_unit,
    places_of,
)
from discreet.curator.public_rows import PublicRows
from discreet.curator.publications import Publication, publications_in, record_publication
from discreet.curator.remaining import LastPrices, balance_of
from discreet.curator.signing import Signer
from discreet.curator.stage import NOTE, Stage
from discreet.curator.stated import stated_policy
from discreet.curator.stored import restored, stored
from discreet.curator.suggested_bounds import SuggestedBounds, suggest_bounds
from discreet.curator.suggested_rows import SuggestedRows, suggest_rows_per_unit
from discreet.curator.touched import Touched, touched
from discreet.curator.verification import verify
from discreet.engines.engine import Engine, Place
from discreet.engines.opening import opened
from discreet.errors import DiscreetError, InvalidValue, LedgerError, StoreError
from discreet.exact.rational import Number
from discreet.noise.law import open_probability
from discreet.noise.source import SYSTEM, Source
from discreet.privacy.loss import Loss
from discreet.query.answered import answered
from discreet.query.measure import Measured, Run, measure
from discreet.query.output_names import labelled, shares_of
from discreet.query.plan import BlockPlan
from discreet.query.question import Question, fingerprint_of
from discreet.query.sandbox import post_process

__all__ = ["Curator", "Explanation"]

_BATCH_DELTA = Fraction(1, 10**6)
"""Where the composed loss of a batch is stated."""


@dataclass(frozen=True)
class _Told:
    """What all answers of one charge have in common."""

    planner: Planner
    receipt: Receipt
    versions: Mapping[str, str]
    confidence: float
    is_new: bool
    raw: bool
    accounts: tuple[str, ...]
    batch: dict[str, Any]
    """What a batch cost as a whole, composed once for all its answers; empty for a single question."""


class Curator:
    """Tables, policies, a ledger and an engine, joined in one door. Any number of threads may use one at once."""

    def __init__(
        self,
        folder: str | os.PathLike[str],
        *,
        engine: Place | None = None,
        rows: str | None = None,
        source: Source = SYSTEM,
        shared_answers: bool = True,
        offers: bool = True,
    ) -> None:
        """Open the curator in ``folder``, or start one there; a ledger that cannot be believed is not opened.

        Rows are in the folder, unless ``rows`` names the server that holds them: ``postgresql://USER@HOST/DATABASE``,
        ``sc://HOST:PORT`` for Spark Connect, or ``spark``. That is said once; the folder remembers it.

        With ``shared_answers`` a question that any analyst asked before is free for all. Without, each analyst pays
        for their own and gets noise of their own, request ids are each analyst's own, and no answer, price, charge or
        refusal tells whether another asked the same. What remains is what all of them share: the balance of the table
        moves, and by how much one's own question moves it depends on the people whom others asked about; records
        have running numbers, so that one sees that something was recorded in between; and a text that was planned
        before, by anybody, is planned a little faster.

        With ``offers`` notes name the paid questions that help to write a policy; a service has none of these.
        """
        if not source.trusted:
            raise InvalidValue("a curator draws from the operating system alone", type(source).__name__)
        self.folder = Path(folder)
        self.shared_answers = shared_answers
        self._offers = offers
        self._policies = Policies(self.folder)
        self._rereading = Lock()
        self._stamp = self._policies.stamp()  # before the files are read: what changes meanwhile is read again
        self.catalog = self._policies.read()
        self.engine = engine if engine is not None else opened(self.folder, rows)
        self._source = source
        self.ledger = self._opened_ledger()
        self._last_prices = LastPrices(self.ledger)
        self._signer = Signer(self.folder)
        self._known_planner: Planner | None = None

    def _opened_ledger(self) -> Ledger:
        if not has_ledger(self.folder):
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
        self._reread()
        before, catalog = self.catalog.find(table.name), self._checked(table)
        self.engine.take_in(table, source, catalog=catalog, progress=progress, unread=unread)
        with self.changing_policies():
            table = kept_analysts(before, self.catalog.find(table.name), table)
            self._checked(table)
            self._open_accounts(table)
            self.write_policy(table)
        return table

    def check(self, table: Table) -> None:
        """Refuse a policy that `protect` would refuse, whatever the rows are."""
        self._reread()
        self._checked(table)

    def _checked(self, table: Table) -> Catalog:
        """The catalog with this table; refused where that would change what was promised or granted."""
        before, catalog = self.catalog.find(table.name), self.catalog.with_table(table)
        if before is not None:
            check_promise(before, table)
            check_unit(table, self.catalog, catalog)
        accounts = self.ledger.accounts()
        check_accounts(table, accounts)
        check_granted(table, accounts)
        return catalog

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

    def allow(self, table: str, analyst: str, cap: Budget | None = None, *, by: str | None = None) -> Table:
        """Let ``analyst`` ask about a table, up to a ``cap`` of their own or with the whole budget; ``by`` whom.

        Who may ask already gets the cap instead of the one they had, which must not be below what they spent. That
        stays counted, also when they were not allowed in between. (Somebody whom a policy lists without a cap has an
        account from the first call on; before that, their questions count in the table's account alone.)
        """
        return allow(self, table, analyst, cap, by)

    def disallow(self, table: str, analyst: str, *, by: str | None = None) -> Table:
        """Let ``analyst`` ask no more about a table."""
        return disallow(self, table, analyst, by)

    def record_publication(
        self, *, name: str, approved_by: str, sha256: str, statement: Mapping[str, Any]
    ) -> Publication:
        """Write down that a table was published without differential privacy: an infinite loss, approved by name."""
        return record_publication(self.ledger, name, approved_by, sha256, statement)

    def publications(self) -> list[Publication]:
        """What was published without differential privacy, from the first on."""
        return publications_in(self.ledger)

    # Policies on disk.

    def refresh(self) -> None:
        """See what other processes changed about policies; free where nothing changed.

        A policy that cannot be read, or does not fit the ledger, stops every question until the owner mends it.
        """
        try:
            self._reread()
        except (DiscreetError, OSError):
            remedy = "the owner finds the reason when the curator is opened again"
            raise StoreError("the policies must be readable and fit the ledger", None, remedy) from None

    def _reread(self) -> None:
        if self._policies.stamp() == self._stamp:
            return
        with self._rereading:
            stamp = self._policies.stamp()
            if stamp == self._stamp:
                return  # another thread read them while this one waited
            accounts, catalog = self.ledger.accounts(), self._policies.read()
            for table in catalog:
                check_accounts(table, accounts)
            self.catalog, self._stamp = catalog, stamp

    @contextmanager
    def changing_policies(self) -> Iterator[None]:
        """Be the only one who changes policies, from how they are now."""
        with self._policies.changing():
            self._reread()
            yield

    def write_policy(self, table: Table) -> None:
        """Make this the policy of a table; only for who is `changing_policies`, and checked what it changes."""
        self._policies.write(table)
        self._reread()

    # Asking.

    def explain(
        self,
        sql: str,
        epsilon: Number | None = None,
        *,
        within: Number | None = None,
        confidence: Number = 0.95,
        analyst: str | None = None,
    ) -> Explanation:
        """Price, shape and expected error of a question, by its price or by its error; reads no data and is free."""
        confidence = _as_float(confidence)
        planner = self._planner
        named = planner.price(sql, epsilon, within, confidence)
        question = planner.question(sql, named)
        check_analyst([question], planner.catalog, analyst)
        is_listed = all(plan.rule is None for plan in question.plans)
        groups = sum(len(plan.groups or [()]) for plan in question.plans) if is_listed else None
        versions = {table: self.engine.version(table) for table in sorted(question.tables)}
        plans = plans_of([question])
        check_stored(plans, planner.catalog, self.engine)
        check_answerable(plans, self.engine)
        prices = prices_of(plans, planner.catalog, analyst, versions, self.ledger.accounts())
        is_known = bool(plans) and self._is_known(self._own_plan(plans, versions, self.engine, analyst))
        affordable = is_known or self.ledger.affords(prices)
        errors = labelled(question, question.errors(confidence))
        notes = notes_of(question, confidence, offers=self._offers)
        shares, accounts = shares_of(question), tuple(prices)
        return Explanation(question.price, affordable, groups, errors, shares, notes, named, accounts, is_known)

    def _own_plan(self, plans: list[BlockPlan], versions: Mapping[str, str], store: Engine, analyst: str | None) -> str:
        """What the ledger calls the answer to these plans on the data as it is, for this analyst."""
        public = {name: store.version(name) for one in plans for name in one.block.rows.public}
        return own_plan(fingerprint_of(plans, {**versions, **public}), analyst, shared=self.shared_answers)

    def _is_known(self, plan: str) -> bool:
        found = self.ledger.look_up(f"plan:{plan}", plan.encode())
        return found is not None and found.answer is not None

    def ask(
        self,
        sql: str,
        epsilon: Number | None = None,
        *,
        within: Number | None = None,
        confidence: Number = 0.95,
        analyst: str | None = None,
        request: str | None = None,
        raw: bool = False,
        hold: Callable[[], object] | None = None,
    ) -> Answer:
        """The private answer. Give the price ``epsilon``, or the error ``within`` and let the price follow.

        ``hold`` is called once rows were read, also where that failed, before anything is written down about them: how
        long it took shows in the order of records and in balances, unless a service waits there.
        """
        confidence, planner = _as_float(confidence), self._planner
        question = _question(planner, sql, epsilon, within, confidence)
        (answer,) = self._ask_together(planner, [sql], [question], confidence, analyst, request, raw, hold)
        return answer

    def ask_all(
        self,
        queries: Sequence[str],
        epsilon: Number,
        *,
        confidence: Number = 0.95,
        analyst: str | None = None,
        request: str | None = None,
        raw: bool = False,
    ) -> list[Answer]:
        """Private answers to a fixed batch of questions, planned together for one price, ``epsilon``.

        Questions over the same rows and groups are measured once, and those about people who cannot be the same do not
        share the price, so each answer is at least as good as one asked alone for its part of the price.
        """
        confidence, planner = _as_float(confidence), self._planner
        texts = [] if isinstance(queries, str) else list(queries)
        if not texts:
            raise InvalidValue("a batch is a list of questions", queries or "<none>")
        questions = planner.questions(texts, epsilon)
        return self._ask_together(planner, texts, questions, confidence, analyst, request, raw)

    def _ask_together(
        self,
        planner: Planner,
        texts: list[str],
        questions: list[Question],
        confidence: float,
        analyst: str | None,
        request: str | None,
        raw: bool,
        hold: Callable[[], object] | None = None,
    ) -> list[Answer]:
        """Charge once for everything that is measured, measure it once, and answer each question from it."""
        check_analyst(questions, planner.catalog, analyst)
        if request is not None:
            checked_request(request)
        plans = plans_of(questions)
        if not plans:
            return [_public_answer(planner, question, confidence) for question in questions]
        snapshot = self.engine.snapshot()
        check_stored(plans, planner.catalog, snapshot)
        check_answerable(plans, snapshot)
        tables = sorted(frozenset[str]().union(*(question.tables for question in questions)))
        versions = {table: snapshot.version(table) for table in tables}
        prices = prices_of(plans, planner.catalog, analyst, versions, self.ledger.accounts())
        plan = self._own_plan(plans, versions, snapshot, analyst)
        if request is not None:
            own = own_request(request, analyst, shared=self.shared_answers)
            self.ledger.charge(f"request:{own}", plan.encode(), {}, {"plan": plan})
        price = next(question.price for question in questions if question.price is not None)
        note = {"sql": "; ".join(texts), "analyst": analyst, "price": repr(price), "versions": versions}
        receipt = self.ledger.charge(f"plan:{plan}", plan.encode(), prices, note)
        is_new = receipt.answer is None
        if is_new:
            found = self._all_measured([as_stored(one, snapshot) for one in plans], snapshot.run, hold)
            receipt = self.ledger.settle(f"plan:{plan}", stored(found))
        measured = {id(one.plan): one for one in restored(receipt.answer or b"", plans)}
        batch = batch_facts(plans, _BATCH_DELTA) if len(questions) > 1 else {}
        told = _Told(planner, receipt, versions, confidence, is_new, raw, tuple(prices), batch)
        return [
            self._answer(text, question, [measured[id(one)] for one in question.plans], told)
            if question.plans
            else _public_answer(planner, question, confidence)
            for text, question in zip(texts, questions, strict=True)
        ]

    def _all_measured(self, plans: Sequence[BlockPlan], run: Run, hold: Callable[[], object] | None) -> list[Measured]:
        try:
            return [self._measured(one, run) for one in plans]
        finally:
            if hold is not None:
                hold()

    def _measured(self, plan: BlockPlan, run: Run) -> Measured:
        """What a plan releases, measured on these rows; an audit, which watches a door of its own, does so here."""
        return measure(plan, run, self._source)

    def rehearse(
        self,
        sql: str,
        epsilon: Number | None = None,
        *,
        within: Number | None = None,
        confidence: Number = 0.95,
        analyst: str | None = None,
        rows: int = 1000,
        raw: bool = False,
    ) -> Answer:
        """The answer on ``rows`` made-up rows: same plan, price and shape, but free, and of nobody's data."""
        confidence, planner = _as_float(confidence), self._planner
        question = _question(planner, sql, epsilon, within, confidence)
        check_analyst([question], planner.catalog, analyst)
        if question.price is None:
            return _public_answer(planner, question, confidence)
        with Stage(MadeUpRows(planner.catalog, rows, PublicRows(planner.catalog, self.engine))) as stage:
            measured = [measure(stage.prepared(plan), stage.run, stage.source) for plan in question.plans]
        table, error = answered(question.split, measured, planner.public(question), confidence, raw)
        notes = (NOTE, *notes_of(question, confidence, offers=self._offers))
        return Answer(table, error, confidence, question.price, False, notes, {})

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
        prices = self._last_prices.now()
        return {name: balance_of(account, prices.get(name)) for name, account in accounts.items()}

    # Pricing.

    @property
    def _planner(self) -> Planner:
        """The planner of the policies as they are now; a question keeps to one, whatever changes meanwhile."""
        catalog, known = self.catalog, self._known_planner
        if known is None or known.catalog is not catalog:
            at_rest = self.engine.capabilities.pinned_snapshots
            known = self._known_planner = Planner(catalog, PublicRows(catalog, self.engine), at_rest=at_rest)
        return known

    # Answering.

    def _answer(self, sql: str, question: Question, measured: list[Measured], told: _Told) -> Answer:
        planner = told.planner
        table, error = answered(question.split, measured, planner.public(question), told.confidence, told.raw)
        facts = facts_of(sql, question, told.receipt, told.versions, measured, planner.catalog, self.ledger)
        facts |= told.batch
        notes = notes_of(question, told.confidence, offers=self._offers) + notes_on_values(table)
        left, entry = self._left(told.accounts), told.receipt.position
        certificate = issue(facts, self._signer)
        price, is_new = question.price, told.is_new
        return Answer(table, error, told.confidence, price, is_new, notes, certificate, left=left, entry=entry)

    def _left(self, names: Iterable[str]) -> dict[str, Loss]:
        accounts = self.ledger.accounts()
        return {name: accounts[name].allowance.loss(accounts[name].left) for name in names}


def _question(planner: Planner, sql: str, epsilon: Number | None, within: Number | None, confidence: float) -> Question:
    return planner.question(sql, planner.price(sql, epsilon, within, confidence))


def _as_float(confidence: Number) -> float:
    """The confidence that error bars are computed at, refused before a price is charged where there is none."""
    found = float(open_probability(confidence, "confidence"))
    if not 0 < found < 1:
        raise InvalidValue("confidence must be a float strictly between 0 and 1", confidence)
    return found


def _public_answer(planner: Planner, question: Question, confidence: float) -> Answer:
    table = post_process(question.split.above, planner.public(question))
    return Answer(table, {}, confidence, None, False, (), {})
