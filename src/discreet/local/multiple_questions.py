"""Several questions to one person: everybody answers one of them, or everybody answers all of them more noisily.

Splitting ε among d questions multiplies the variance by about d² where ε is small. Drawing one question per person
leaves every answer as it is and asks a d-th of the people, which multiplies it by d. So drawing is better unless ε is
so large that there is little noise either way. Proof sheet: ``multiple_questions.md``.

>>> from discreet.local.randomized_response import BinaryResponse
>>> from discreet.local.mean_mechanisms import HybridMean
>>> health = Several(1, {"smokes": BinaryResponse, "age": lambda epsilon: HybridMean(epsilon, 0, 120)})
>>> health.loss, health.randomizers["age"].loss
(Pure(ε=1, replace-one), Pure(ε=1, replace-one))
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from discreet.errors import InvalidType, InvalidValue
from discreet.exact.rational import Number, positive
from discreet.local.randomizer import Randomizer
from discreet.local.reports import Reports
from discreet.local.terms import is_many
from discreet.noise.source import SYSTEM, Source
from discreet.noise.uniform import UniformInteger
from discreet.privacy.loss import Pure
from discreet.privacy.neighbours import Neighbours

__all__ = ["DRAW", "SPLIT", "Several"]


DRAW = "draw"
"""Everybody answers one question, drawn for her at random, at the full price."""
SPLIT = "split"
"""Everybody answers all questions, each at an equal part of the price."""


class Several:
    """Named questions, and how one person's ε is spent on them."""

    def __init__(
        self, epsilon: Number, questions: Mapping[str, Callable[[Fraction], Randomizer[Any]]], how: str = DRAW
    ) -> None:
        """``questions`` says for each name how a randomizer is made from its ε; ``how`` is DRAW or SPLIT."""
        if not _is_mapping(questions) or not questions:
            raise InvalidType("questions must say for each name how its randomizer is made", "<others>")
        if how not in (DRAW, SPLIT):
            raise InvalidValue(f"how must be {DRAW!r} or {SPLIT!r}", how)
        self.epsilon = positive(epsilon, "epsilon")
        self.how = how
        each = self.epsilon / len(questions) if how == SPLIT else self.epsilon
        self.randomizers = {name: make(each) for name, make in questions.items()}
        """The randomizer of each question."""
        self._check_prices(each)

    def _check_prices(self, each: Fraction) -> None:
        for name, randomizer in self.randomizers.items():
            if not _costs_at_most(randomizer, each):
                rule = "each question must make a randomizer that costs what it is given"
                raise InvalidValue(rule, name, "lambda epsilon: HybridMean(epsilon, 0, 120), for example")

    def __repr__(self) -> str:
        return f"Several({self.loss!r}, {len(self.randomizers)} questions, {self.how!r})"

    @property
    def loss(self) -> Pure:
        """What all reports of one person cost together."""
        return Pure(self.epsilon, Neighbours.REPLACE_ONE)

    def privatize(self, answers: Mapping[str, Any], *, source: Source = SYSTEM) -> dict[str, Reports]:
        """The reports about each question: ``answers`` has for each the answers of the same people in the same order.

        All answers are checked before anything is drawn. Reports about different questions are to be kept apart.
        """
        columns = self._columns(answers)
        people = len(next(iter(columns.values())))
        if self.how == SPLIT:
            return {name: self.randomizers[name].privatize(column, source=source) for name, column in columns.items()}
        asked = UniformInteger(len(columns)).draw(people, source.open())
        return {
            name: self.randomizers[name].privatize(_some(column, asked == place), source=source)
            for place, (name, column) in enumerate(columns.items())
        }

    def estimate(self, reports: Mapping[str, Reports]) -> dict[str, Any]:
        """What the reports say about each question, as its own estimator says it.

        Where questions were drawn, those who reported on one are a random part of all: for all of them, as for the
        population they come from, read `population_interval` and `population_intervals`.
        """
        self._check_names(reports, "reports")
        return {name: randomizer.estimate(reports[name]) for name, randomizer in self.randomizers.items()}

    def _check_names(self, found: Any, what: str) -> None:
        if not _is_mapping(found) or set(found) != set(self.randomizers):
            raise InvalidValue(f"there must be {what} on {', '.join(self.randomizers)}", "<others>")

    def _columns(self, answers: Mapping[str, Any]) -> dict[str, Any]:
        self._check_names(answers, "answers")
        columns = {name: _list(answers[name]) for name in self.randomizers}
        if len({len(column) for column in columns.values()}) > 1:
            raise InvalidValue("everybody must answer every question", "<lists of different lengths>")
        for name, column in columns.items():
            self.randomizers[name]._codes(column)  # so that a wrong answer is refused before the first draw
        return columns


def _is_mapping(found: Any) -> bool:
    return isinstance(found, Mapping)


def _costs_at_most(randomizer: Any, epsilon: Fraction) -> bool:
    return isinstance(randomizer, Randomizer) and randomizer.loss.epsilon <= epsilon


def _list(column: Any) -> Any:
    return column if is_many(column) else [column]


def _some(column: Any, asked: np.ndarray[Any, np.dtype[np.bool_]]) -> Any:
    """The answers of those who were asked, none of them changed on the way."""
    if isinstance(column, np.ndarray):
        return column[asked]
    return [column[place] for place in np.flatnonzero(asked).tolist()]
