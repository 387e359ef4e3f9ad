"""Exact answers, except where a history of all answers says that one more would disclose something."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from discreet.attacks.defence import Defence
from discreet.attacks.defences.count_auditor import CountAuditor
from discreet.attacks.defences.max_auditor import MaxAuditor
from discreet.attacks.defences.raw import ExactView
from discreet.attacks.parts import Part
from discreet.attacks.people import Codes, People
from discreet.attacks.question import Question
from discreet.attacks.view import Counts, View
from discreet.noise.experiment import Chance

__all__ = ["AuditedView", "QueryAuditing"]


class QueryAuditing(Defence):
    """An auditor keeps all answers, and refuses a question that would make something certain about one person.

    Counts and greatest values are audited apart from each other; to audit them together is harder still.
    """

    def __init__(self, *, is_simulatable: bool = False) -> None:
        """Say whether greatest values are refused without looking at them."""
        self.is_simulatable = is_simulatable
        self.name = "auditor that does not look" if is_simulatable else "query auditing"
        how = "without looking at the answer" if is_simulatable else "after looking at the answer"
        self.says = f"Answers are exact, and an auditor refuses what would disclose something, {how}."

    def defend(self, people: People, everybody: People, chance: Chance) -> View:
        """Exact answers under audit."""
        return AuditedView(people, self.is_simulatable)


class AuditedView(ExactView):
    """Counts and greatest values as they are, where the auditors allow it."""

    def __init__(self, people: People, is_simulatable: bool) -> None:
        super().__init__(people)
        self.count_auditor = CountAuditor(people.size, len(people.secret.values))
        self.max_auditor = MaxAuditor(people.size, len(people.secret.values), is_simulatable)

    def _counts(self, questions: Sequence[Question]) -> list[Counts]:
        return [self._count(question) for question in questions]

    def _count(self, question: Question) -> Counts:
        supposed, kind_of = question.supposed(self.people)
        unsure = _unsure(supposed, question.cells)
        allowed = unsure == 0
        for cell in np.flatnonzero(unsure > 1):
            allowed[cell] = self.count_auditor.allows(supposed == cell, kind_of)
        return np.where(allowed, question.counts(self.people), np.nan)

    def _one_greatest(self, group: Part) -> float:
        greatest = super()._one_greatest(group)
        members = np.flatnonzero(group.codes(self.people) == 1)
        return greatest if self.max_auditor.allows(members, int(greatest)) else np.nan


def _unsure(supposed: Codes, cells: int) -> Codes:
    """For every cell how many people are in it with some secrets and not with others."""
    varied = np.sort(supposed[(supposed != supposed[:, :1]).any(axis=1)], axis=1)
    is_new = np.diff(varied, axis=1, prepend=-1) != 0
    return np.bincount(varied[is_new], minlength=cells)
