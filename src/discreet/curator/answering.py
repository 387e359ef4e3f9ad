"""Answering: a question is charged once, measured once, and answered from what is stored.

The part of a curator that every question passes, whoever asks it: planned for one snapshot, charged durably before a
row is read, stored durably before anybody sees it. A question about a table that grows is asked once for each period.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

from discreet.catalog.catalog import Catalog
from discreet.curator.advice.histogram import Offers
from discreet.curator.answers.answer import Answer, notes_on_values
from discreet.curator.answers.stored import decode_noisy, encode_noisy
from discreet.curator.certificates.certificate import issue
from discreet.curator.certificates.contents import batch_facts, state_facts
from discreet.curator.charge import check_analyst, list_plans
from discreet.curator.fuse import Fuse, Moved
from discreet.curator.ledger.chain import check_request, request_key
from discreet.curator.ledger.ledger import Ledger, Receipt
from discreet.curator.ledger.open import OpenedLedger
from discreet.curator.ledger.requests import bind_request
from discreet.curator.notes import notes_on_moved_cells, notes_on_new_periods, write_notes
from discreet.curator.planner import Planner
from discreet.curator.prepare import AskedQuestion, Prepared, Unanswered, bind_divided, prepare_question
from discreet.curator.pricing import Pricing
from discreet.engines.engine import TableStore
from discreet.errors import StoreError
from discreet.noise.source import Source
from discreet.privacy.loss import Loss
from discreet.query.answer.answer import compute_answer
from discreet.query.answer.notes import note_on_lost_bars
from discreet.query.answer.sandbox import post_process
from discreet.query.divide import join_measured
from discreet.query.plan.sensitivity import AggregationPlan
from discreet.query.question import PlannedQuestion
from discreet.query.run.measure import Measured, Run, measure

__all__ = ["AnsweringCurator", "answer_publicly"]


_TRIES = 10
"""How often a question is planned again because newer data came before it was charged."""
_BATCH_DELTA = Fraction(1, 10**6)
"""Where the composed loss of a batch is stated."""


@dataclass(frozen=True)
class _Settled:
    """Questions that were charged and measured, now or before."""

    ready: Prepared
    receipt: Receipt
    is_new: bool
    """Whether rows were read for them now."""
    measured: Mapping[int, Measured]
    """What was released, by the identities of the plans."""

    def of(self, question: PlannedQuestion) -> list[Measured]:
        """What answers the blocks of a question."""
        return [self.measured[id(plan)] for plan in question.plans]


@dataclass(frozen=True)
class _AnswerContext:
    """What all answers of one charge have in common."""

    planner: Planner
    settled: Sequence[_Settled]
    """What was charged: at once, or for each of several periods."""
    asked: AskedQuestion
    batch: dict[str, Any]
    """What a batch cost as a whole, composed once for all its answers; empty for a single question."""

    @property
    def receipt(self) -> Receipt:
        """That of the last charge."""
        return max((one.receipt for one in self.settled), key=lambda receipt: receipt.position or 0)

    @property
    def versions(self) -> dict[str, str]:
        """Of the tables that were read."""
        return {name: version for one in self.settled for name, version in one.ready.versions.items()}

    @property
    def accounts(self) -> list[str]:
        """Who paid."""
        return list(dict.fromkeys(name for one in self.settled for name in one.ready.prices))


class AnsweringCurator:
    """What a curator needs to answer questions, and how it does."""

    ledger: Ledger
    """What was charged and released."""
    engine: TableStore
    """Where the rows are."""
    opened: OpenedLedger
    """The ledger with what signs its answers."""
    catalog: Catalog
    """The policies as they are now."""
    shared_answers: bool
    """Whether a question that any analyst asked before is free for all."""
    offers: Offers
    """How notes name the paid questions that help to write a policy."""
    _source: Source

    @property
    def _planner(self) -> Planner:
        """The planner of the policies and rows as they are now."""
        raise NotImplementedError

    def _pricing(self, planner: Planner, analyst: str | None) -> Pricing:
        return Pricing(self.ledger, planner, analyst, shared=self.shared_answers)

    def ask_planned(self, asked: AskedQuestion) -> Receipt:
        """What is stored of a planned question, which is charged and measured where it was not before."""
        for _ in range(_TRIES):
            planner = self._planner
            with suppress(Moved):
                ready = self._prepared(planner, asked)
                return self._asked_once(ready, asked, None).receipt
        raise StoreError("data must stay for as long as a question is charged", None, "it is asked again later")

    def _ask_together(self, asked: AskedQuestion, hold: Callable[[], object] | None = None) -> list[Answer]:
        """Charge once for everything that is measured, measure it once, and answer each question from it."""
        for _ in range(_TRIES):
            planner = self._planner
            questions = asked.planned(planner)
            check_analyst(questions, planner.catalog, asked.analyst)
            if asked.request is not None:
                check_request(asked.request)
            if not list_plans(questions):
                return [answer_publicly(planner, question, asked.confidence) for question in questions]
            with suppress(Moved):
                if questions[0].pieces:
                    return [self._ask_divided(planner, asked, questions[0], hold)]
                return self._answer_all(self._asked_once(self._prepared(planner, asked, questions), asked, hold), asked)
        raise StoreError("data must stay for as long as a question is charged", None, "ask again with the same id")

    def _ask_divided(
        self, planner: Planner, asked: AskedQuestion, question: PlannedQuestion, hold: Callable[[], object] | None
    ) -> Answer:
        """Ask once for each period; nothing is charged where not all of them can be paid."""
        check = self._pricing(planner, asked.analyst).check_affordable
        if asked.request is None:
            check(question)
        else:
            own = request_key(asked.request, asked.analyst, shared=self.shared_answers)
            question = bind_divided(self.ledger, asked, question, check, own)
        settled = []
        for piece in question.pieces:
            one = asked.for_period(planner, piece)
            settled.append(self._asked_once(self._prepared(planner, one, [piece]), one, hold))
        measured = join_measured(question, [one.of(one.ready.questions[0]) for one in settled])
        return self._answer(asked.texts[0], question, measured, _AnswerContext(planner, settled, asked, {}))

    def _prepared(
        self, planner: Planner, asked: AskedQuestion, questions: list[PlannedQuestion] | None = None
    ) -> Prepared:
        """Questions as they are planned for some data, and what they cost."""
        planned = asked.planned(planner) if questions is None else questions
        return prepare_question(planner, planned, asked, self.ledger, shared=self.shared_answers)

    def _asked_once(self, ready: Prepared, asked: AskedQuestion, hold: Callable[[], object] | None) -> _Settled:
        """Measure as planned, or as the request was charged before; `Moved` where it must be planned again."""
        own = asked.request and request_key(asked.request, asked.analyst, shared=self.shared_answers)
        known = None if own is None else bind_request(self.ledger, own)
        with ExitStack() as kept:
            if known is not None and known.plan != ready.plan:
                prepare = partial(self._prepared, asked=asked)
                ready = Unanswered(self.ledger, self.engine, asked, prepare, kept).as_bound(known, ready, self.catalog)
            tables = list(ready.versions)
            fuse = kept.enter_context(Fuse(self.ledger, ready.planner.snapshot, asked.analyst, tables))
            with self.engine.store.charging():
                if not ready.is_kept and self.engine.snapshot() is not ready.planner.snapshot:
                    raise Moved  # newer data came while it was planned
                receipt = fuse.charged(ready.wanted(asked, own), known)
            return self._settled(ready, receipt, fuse, hold)

    def _settled(self, ready: Prepared, receipt: Receipt, fuse: Fuse, hold: Callable[[], object] | None) -> _Settled:
        """Measure what is not stored yet."""
        plans, is_new = ready.plans, receipt.answer is None
        if is_new:
            receipt = fuse.settled(
                receipt, lambda run: encode_noisy([self._measured(one, run) for one in ready.runnable]), hold
            )
            self.opened.grown(receipt.position or 0)
        measured = {id(one.plan): one for one in decode_noisy(receipt.answer or b"", plans)}
        return _Settled(ready, receipt, is_new, measured)

    def _answer_all(self, settled: _Settled, asked: AskedQuestion) -> list[Answer]:
        """Answer each question from what was measured."""
        ready = settled.ready
        batch = batch_facts(ready.plans, _BATCH_DELTA) if len(ready.questions) > 1 else {}
        told = _AnswerContext(ready.planner, [settled], asked, batch)
        return [
            self._answer(text, question, settled.of(question), told)
            if question.plans
            else answer_publicly(ready.planner, question, asked.confidence)
            for text, question in zip(asked.texts, ready.questions, strict=True)
        ]

    def _measured(self, plan: AggregationPlan, run: Run) -> Measured:
        """What a plan releases, measured on these rows; an audit that watches a curator does so here."""
        return measure(plan, run, self._source)

    def _answer(self, sql: str, question: PlannedQuestion, measured: list[Measured], told: _AnswerContext) -> Answer:
        planner, asked, receipt = told.planner, told.asked, told.receipt
        confidence = asked.confidence
        table, error = compute_answer(question.split, measured, planner.public(question), confidence, asked.raw)
        receipts = [one.receipt for one in told.settled]
        facts = state_facts(sql, question, receipts, told.versions, measured, planner.catalog, self.ledger)
        facts |= told.batch | ({} if asked.as_of is None else {"as_of": asked.as_of})
        clock = [] if asked.as_of is None else [f"CURRENT_DATE is {asked.as_of}, as it was asked."]
        new = [one.ready.questions[0] for one in told.settled if one.is_new]
        about = (*write_notes(question, confidence, offers=self.offers), *notes_on_new_periods(question, new))
        notes = (*clock, *about, *notes_on_values(table))
        notes += tuple(note_on_lost_bars(question, error))
        if not asked.raw:
            notes += notes_on_moved_cells(question, measured, confidence)
        certificate = issue(facts, self.opened.signer)
        is_new = any(one.is_new for one in told.settled)
        return Answer(
            table,
            error,
            confidence,
            question.price,
            is_new,
            notes,
            certificate,
            left=self._left(told.accounts),
            entry=receipt.position,
        )

    def _left(self, names: Collection[str]) -> dict[str, Loss]:
        accounts = self.ledger.accounts(names)
        return {name: accounts[name].left for name in names if not accounts[name].allowance.is_counted}


def answer_publicly(planner: Planner, question: PlannedQuestion, confidence: float) -> Answer:
    """The answer to a question about public tables alone."""
    table = post_process(question.split.above, planner.public(question))
    return Answer(table, {}, confidence, None, False, (), {})
