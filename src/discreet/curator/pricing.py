"""What a question would cost and how good its answer would be, and which noise pays a part of the budget best.

All of it follows from the text, the policies and the ledger. No row is read, and nothing is charged.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from discreet.curator.advice.histogram import Offers
from discreet.curator.charge import check_analyst, list_plans
from discreet.curator.explanation import Explanation
from discreet.curator.fuse import check_suspended, open_attempt
from discreet.curator.ledger.ledger import Ledger, Receipt
from discreet.curator.ledger.units import LedgerPrice
from discreet.curator.notes import notes_on_new_periods, write_notes
from discreet.curator.planner import Planner
from discreet.curator.preconditions import check_stored, check_translatable, find_versions
from discreet.curator.prepare import find_prices, name_plan
from discreet.curator.question_terms import QuestionTerms, choose
from discreet.query.answer.answer import find_shares, label_columns
from discreet.query.question import PlannedQuestion

__all__ = ["Pricing"]


class Pricing:
    """The prices of questions by one analyst, or by whoever names none, in the terms of a ledger."""

    def __init__(self, ledger: Ledger, planner: Planner, analyst: str | None, *, shared: bool) -> None:
        """For questions that this planner plans; ``shared`` is whether an answer to one analyst is free for all."""
        self._ledger, self._planner = ledger, planner
        self._analyst, self._shared = analyst, shared

    def explain(self, sql: str, terms: QuestionTerms, confidence: float, offers: Offers) -> Explanation:
        """Price, shape and expected error of a question."""
        epsilon = terms.price(self._planner, sql, confidence)
        options = replace(terms, epsilon=epsilon, within=None) if epsilon is not None else terms
        questions = options.plan(self._planner, sql, confidence, self._analyst)
        check_analyst(questions, self._planner.catalog, self._analyst)
        found = {id(one): self._explain(one, confidence, offers) for one in questions}
        told = found[id(self.choose(questions))]
        if terms.part is None:
            return replace(told, epsilon=epsilon)
        return replace(told, options=tuple(one.option for one in found.values() if one.price is not None))

    def _explain(self, question: PlannedQuestion, confidence: float, offers: Offers) -> Explanation:
        is_listed = all(plan.rule is None for plan in question.plans)
        groups = sum(len(plan.groups) for plan in question.plans) if is_listed else None
        plans, snapshot = list_plans(question.asked), self._planner.snapshot
        check_suspended(self._ledger, self._analyst, question.tables)
        check_stored(plans, self._planner.catalog, snapshot)
        check_translatable(plans, snapshot)
        new = self._new(question) if plans else []
        is_known = bool(plans) and not new
        prices = [self._prices(one) for one in new or question.asked]
        affordable = is_known or self._ledger.affords(*prices)
        errors = label_columns(question, question.errors(confidence))
        notes = (*write_notes(question, confidence, offers=offers), *notes_on_new_periods(question, new))
        shares, accounts = find_shares(question), tuple(dict.fromkeys(name for each in prices for name in each))
        found = Explanation(question.price, affordable, groups, errors, shares, notes, None, accounts, is_known)
        return replace(found, as_of=question.split.clock)

    def choose(self, questions: Sequence[PlannedQuestion]) -> PlannedQuestion:
        """Of the ways in which a part of the budget can be paid, the one that was, or the best that fits."""
        return choose(
            questions,
            is_known=lambda question: all(self._known(one) is not None for one in question.asked),
            affords=lambda question: self._ledger.affords(*map(self._prices, self._new(question))),
        )

    def check_affordable(self, question: PlannedQuestion) -> None:
        """Refuse a divided question of which not all periods that are new can be paid; nothing is charged yet."""
        self._ledger.check_affordable([self._prices(one) for one in self._new(question)])

    def _new(self, question: PlannedQuestion) -> list[PlannedQuestion]:
        """What of a question has no answer yet."""
        return [one for one in question.asked if not self._is_answered(one)]

    def _is_answered(self, question: PlannedQuestion) -> bool:
        known = self._known(question)
        return known is not None and known.answer is not None

    def _known(self, question: PlannedQuestion) -> Receipt | None:
        """What the ledger knows of a question on the rows as they are."""
        plans, snapshot = list_plans([question]), self._planner.snapshot
        versions = find_versions(question.tables, plans, snapshot).tables
        public = {name: snapshot.version(name) for one in plans for name in one.block.rows.public}
        name = name_plan({**versions, **public}, plans, self._analyst, shared=self._shared)
        _, found = open_attempt(self._ledger, name)
        return found

    def _prices(self, question: PlannedQuestion) -> dict[str, LedgerPrice]:
        """What each account would pay for a question."""
        plans = list_plans([question])
        versions = find_versions(question.tables, plans, self._planner.snapshot)
        return find_prices(self._ledger, self._planner.catalog, self._analyst, plans, versions)
