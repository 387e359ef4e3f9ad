"""What somebody wants to pay: ε, the ε of an error, or a part of the budget with the noise that is better for it.

Under an (ε, δ) budget a part p can be paid in two ways: with Laplace noise for p·ε, while everything so far was pure,
or with Gaussian noise for p·ρ. Both are planned, and the one with the smaller predicted error is taken among those that
fit. What was asked before in one of the two ways is free, so that way comes first. All of this follows from the text,
the policies and the ledger, and from no row.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from discreet.curator.planner import Planner
from discreet.errors import InvalidValue
from discreet.exact.rational import Number, positive, rational
from discreet.privacy.loss import Pure, ZeroConcentrated
from discreet.query.parse.clock import AsOf, AsOfStated
from discreet.query.question import ExpectedError, PlannedQuestion

__all__ = ["NoiseOption", "QuestionTerms", "choose", "noise_name"]


@dataclass(frozen=True)
class QuestionTerms:
    """One of the three: a price, an error, or a part of the budget; and the moment that the question is about."""

    epsilon: Number | None = None
    """The ε to pay."""
    within: Number | None = None
    """The error that counts and sums may have, whose price follows."""
    part: Number | None = None
    """The part of the budget to pay, such as 1/4."""
    as_of: AsOfStated | None = None
    """The day or moment that CURRENT_DATE means."""

    def __post_init__(self) -> None:
        if sum(one is not None for one in (self.epsilon, self.within, self.part)) != 1:
            rule = "a question is given a price, an error, or a part of the budget"
            raise InvalidValue(rule, "<several or none>", 'pass epsilon=, within= or part="1/4"')
        if self.part is not None and not 0 < rational(self.part, "part") <= 1:
            raise InvalidValue("part must be above 0 and at most 1", self.part, 'write part="1/4"')

    def price(self, planner: Planner, sql: str, confidence: float) -> Fraction | None:
        """The ε that was named, or the least one for the wanted error; None where a part is paid."""
        if self.part is not None:
            return None
        return self._at(planner).price(sql, self.epsilon, self.within, confidence)

    def _at(self, planner: Planner) -> Planner:
        return planner.at(None if self.as_of is None else AsOf.of(self.as_of))

    def plan(self, planner: Planner, sql: str, confidence: float, analyst: str | None) -> list[PlannedQuestion]:
        """The question, planned in every way in which it can be paid so."""
        at = self._at(planner)
        if self.part is not None:
            return at.part_questions(sql, rational(self.part, "part"), analyst)
        return [at.question(sql, at.price(sql, self.epsilon, self.within, confidence))]

    def in_words(self) -> tuple[str | None, str | None, str | None]:
        """A price, an error and a part as exact texts, by which the same question is known again."""
        epsilon = None if self.epsilon is None else str(positive(self.epsilon, "epsilon"))
        within = None if self.within is None else str(positive(self.within, "the wanted error"))
        return epsilon, within, None if self.part is None else str(rational(self.part, "part"))


@dataclass(frozen=True)
class NoiseOption:
    """A way in which a part of the budget can be paid."""

    noise: str
    """The noise that it draws."""
    price: Pure | ZeroConcentrated
    """What it takes from the budget."""
    errors: tuple[ExpectedError, ...]
    """What errors are expected."""
    affordable: bool
    """Whether it fits what is left, or is free."""


def noise_name(price: Pure | ZeroConcentrated | None) -> str:
    """The noise that a price pays for."""
    return "Laplace" if isinstance(price, Pure) else "Gaussian"


def choose(
    options: Sequence[PlannedQuestion],
    is_known: Callable[[PlannedQuestion], bool],
    affords: Callable[[PlannedQuestion], bool],
) -> PlannedQuestion:
    """The option that was charged before; else the best of those that fit; else the best, which is then refused."""
    if len(options) == 1:
        return options[0]
    known = [one for one in options if is_known(one)]
    return min(known or [one for one in options if affords(one)] or options, key=_log_error)


def _log_error(question: PlannedQuestion) -> float:
    """The logarithms of the expected errors, added up: less is better, in whatever units columns are."""
    errors = [one.within for one in question.errors() if one.within]
    chosen: list[Fraction] = []
    for plan in question.plans:
        chosen += [choice.epsilon for choice in plan.choices]
        chosen += [] if plan.top is None else [plan.top.epsilon]
    return sum(map(math.log, errors)) - sum(math.log(epsilon) for epsilon in chosen)
