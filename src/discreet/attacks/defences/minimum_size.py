"""Exact answers, but only about enough people: two readings of "large query sets".

Neither looks at what was answered before, so two answers about large groups that differ in one person pass both.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from discreet.attacks.defence import Defence
from discreet.attacks.defences.raw import ExactView
from discreet.attacks.parts import Part
from discreet.attacks.people import People
from discreet.attacks.question import Question
from discreet.attacks.view import Counts, View
from discreet.exact.rational import integer
from discreet.noise.experiment import Chance

__all__ = ["LargeGroups", "LargeGroupsView", "MinimumSize", "MinimumSizeView"]


class MinimumSize(Defence):
    """A cell that counts fewer people than the least number is not shown: what statistical offices do."""

    def __init__(self, least: int = 10) -> None:
        """Name the smallest count that is shown."""
        self.least = integer(least, "the least number of people", least=1)
        self.name = f"minimum size {self.least}"
        self.says = f"Every count is answered exactly, except those below {self.least}."

    def defend(self, people: People, everybody: People, chance: Chance) -> View:
        """Exact counts of large cells."""
        return MinimumSizeView(people, self.least)


class MinimumSizeView(ExactView):
    """Counts as they are, where they are large."""

    def __init__(self, people: People, least: int) -> None:
        super().__init__(people)
        self.least = least

    def _counts(self, questions: Sequence[Question]) -> list[Counts]:
        return [np.where(counts < self.least, np.nan, counts) for counts in super()._counts(questions)]

    def _one_greatest(self, group: Part) -> float:
        return super()._one_greatest(group) if _members(group, self.people) >= self.least else np.nan


class LargeGroups(Defence):
    """A question is answered where it is about enough people, and leaves enough people out.

    A question is about everybody who would be counted with one secret or another, so the number does not depend on
    anybody's secret. The second half of the rule is there because a count of all but one person is a count of one.
    """

    def __init__(self, least: int = 10) -> None:
        """Name the smallest group, and the smallest rest."""
        self.least = integer(least, "the least number of people", least=1)
        self.name = f"large groups, {self.least} to n − {self.least}"
        self.says = f"Counts are exact, and about {self.least} people at least and all but {self.least} at most."

    def defend(self, people: People, everybody: People, chance: Chance) -> View:
        """Exact counts in groups that are neither small nor nearly everybody."""
        return LargeGroupsView(people, self.least)


class LargeGroupsView(ExactView):
    """Counts as they are, in large groups with a large rest."""

    def __init__(self, people: People, least: int) -> None:
        super().__init__(people)
        self.least = least

    def _counts(self, questions: Sequence[Question]) -> list[Counts]:
        exact = super()._counts(questions)
        return [
            np.where(self._is_allowed(question.concerned(self.people)), counts, np.nan)
            for question, counts in zip(questions, exact, strict=True)
        ]

    def _one_greatest(self, group: Part) -> float:
        return super()._one_greatest(group) if self._is_allowed(_members(group, self.people)) else np.nan

    def _is_allowed(self, size: npt.NDArray[np.int64] | int) -> npt.NDArray[np.bool_]:
        return (np.asarray(size) >= self.least) & (np.asarray(size) <= self.rows - self.least)


def _members(group: Part, people: People) -> int:
    return int((group.codes(people) == 1).sum())
