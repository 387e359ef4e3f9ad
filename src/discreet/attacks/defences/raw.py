"""Exact answers to every question."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from discreet.attacks.defence import Defence
from discreet.attacks.parts import Part
from discreet.attacks.people import People
from discreet.attacks.question import Question
from discreet.attacks.view import Counts, View
from discreet.noise.experiment import Chance

__all__ = ["ExactView", "RawStatistics"]


class RawStatistics(Defence):
    """No names are shown, and every statistic is answered as it is."""

    name = "exact answers"
    says = "No row is shown, but every count is answered exactly."

    def defend(self, people: People, everybody: People, chance: Chance) -> View:
        """Every count, exact."""
        return ExactView(people)


class ExactView(View):
    """Counts as they are."""

    def __init__(self, people: People) -> None:
        self.people = people
        self.rows = people.size

    def _counts(self, questions: Sequence[Question]) -> list[Counts]:
        return [question.counts(self.people).astype(np.float64) for question in questions]

    def _greatest(self, groups: Sequence[Part]) -> Counts:
        return np.array([self._one_greatest(group) for group in groups])

    def _one_greatest(self, group: Part) -> float:
        return float(self.people.secret.codes[group.codes(self.people) == 1].max(initial=-1))
