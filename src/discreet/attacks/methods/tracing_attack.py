"""Find out who is in the table from small tables of it: every column, and every two columns.

Every table has one cell that fits the person. How many people are in it, beside how many were to be expected from
people who are known not to be in the table, speaks for the person's presence or against it, and the tables add up.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from discreet.attacks.attack import Attack, Goal, Guesses, Knowledge
from discreet.attacks.methods.count_likelihood import log_odds_of_member
from discreet.attacks.methods.cross_tables import crossed
from discreet.attacks.methods.floats import Floats
from discreet.attacks.parts import Value
from discreet.attacks.people import Codes, People
from discreet.attacks.question import Question
from discreet.attacks.view import Counts, View
from discreet.noise.experiment import Chance

__all__ = ["Tracing"]

_ACCUSED = 0.05
_BY_COLUMNS = 100
"""How many people's worth of evidence the product of the columns' shares counts as."""
_LEAST_STRANGERS = 2


class Tracing(Attack):
    """Tables of every column and of every two columns, and strangers to compare with."""

    name = "tracing"
    needs = "All columns of a person, and of some people who are known not to be in the table."
    claims = "Whoever fits the tables better than 19 of 20 strangers is in the table."
    goal = Goal.MEMBERSHIP
    most_people = 200

    def guess(self, views: Sequence[View], known: Knowledge, chance: Chance) -> Guesses:
        """Score everybody, and set the threshold by the strangers."""
        targets, strangers = known.profiles, known.outsiders
        if targets is None or strangers is None or strangers.size < _LEAST_STRANGERS:
            return _nothing(known, "There are no strangers to compare with.")
        columns = [Value(name, coded.values) for name, coded in targets.columns.items()]
        questions = [Question(by=parts) for count in (1, 2) for parts in crossed(columns, count)]
        answers = views[0].counts(questions)
        if all(np.isnan(answer).all() for answer in answers):
            return _nothing(known, "No table was answered.")
        tables = [_Compared(*asked, views[0].rows, strangers) for asked in zip(questions, answers, strict=True)]
        ordinary = np.sort(np.sum([table.scores(strangers, own=1) for table in tables], axis=0))
        threshold = ordinary[-1 - math.floor(_ACCUSED * strangers.size)]
        scores = np.asarray(np.sum([table.scores(targets) for table in tables], axis=0))
        return Guesses((scores > threshold).astype(np.int64), scores=scores)


def _nothing(known: Knowledge, note: str) -> Guesses:
    return Guesses(np.full(len(known.targets), -1), note)


@dataclass(frozen=True, eq=False)
class _Compared:
    """One table beside what strangers make one expect."""

    question: Question
    """What was asked."""
    answer: Counts
    """The counts of the table."""
    rows: int
    """How many people are in it."""
    strangers: People
    """People who are not."""

    def scores(self, people: People, own: int = 0) -> Floats:
        """For everybody the odds of being in the table; ``own`` is 1 where the people are the strangers themselves.

        What is expected of a stranger's cell must not come from the stranger: nobody else has that advantage.
        """
        found = self.answer[self.question.codes(people)]
        expected = self._expected([part.codes(people) for part in self.question.by], own)
        told = np.isfinite(found)
        odds = np.zeros(people.size)
        if told.any():
            odds[told] = log_odds_of_member(found[told], expected[told], self._noise)
        return odds

    @cached_property
    def _noise(self) -> float:
        """The deviation of the answers beyond what chance explains, in the table and among the strangers."""
        cells = np.unravel_index(np.arange(self.question.cells), [part.size for part in self.question.by])
        expected = self._expected(cells, 0)
        told = np.isfinite(self.answer)
        off = np.square(self.answer - expected)[told].mean()
        explained = expected[told].mean() * (1 + self.rows / self.strangers.size)
        return math.sqrt(max(float(off - explained), 0.0))

    def _expected(self, places: Sequence[Codes], own: int) -> Floats:
        """How many people are to be expected in the cells with these codes, one array for each part.

        The strangers of the cell itself are few, so the product of its columns' shares counts as some more.
        """
        others = self.strangers.size - own
        shares = np.ones(len(places[0]))
        for part, codes in zip(self.question.by, places, strict=True):
            times = np.bincount(part.codes(self.strangers), minlength=part.size) - own
            shares *= (times[codes] + 0.5) / (others + 0.5 * part.size)
        cells = np.ravel_multi_index(tuple(places), [part.size for part in self.question.by])
        seen = self.question.counts(self.strangers)[cells] - own
        return np.asarray(self.rows * (seen + _BY_COLUMNS * shares) / (others + _BY_COLUMNS))
