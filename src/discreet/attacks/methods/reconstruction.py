"""Rebuild everybody's secret bit from answers about many subsets of people (Dinur and Nissim).

>>> import numpy as np
>>> from discreet.noise.experiment import experiment
>>> chance = experiment(1)
>>> people = chance.integers(0, 2, 50)
>>> queries = chance.integers(0, 2, (400, 50))
>>> noisy = queries @ people + chance.uniform(-1, 1, 400)
>>> found = reconstruct(queries, noisy)
>>> int((found.bits == people).sum())
50

The attack asks how many people in random halves of the table have the secret, and solves for everybody at once. As the
noise grows, nearly all bits are rebuilt below √n, and next to none beyond: with m = cn random subsets and noise of
deviation σ = s√n, least squares gets Φ(√(c − 1)/4s) of the bits right: the same curve in s for every n. So an owner
must add noise of the order √n to each answer, or answer fewer than n questions.

The curves of it, and of members traced against attributes, are what every owner should have seen.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from discreet.attacks.attack import Attack, Counts, Goal, Guesses, Knowledge, View
from discreet.attacks.methods.queries import Floats, finite_floats
from discreet.attacks.methods.solvers import (
    NormalEquations,
    SubsetQueries,
    boxed_least_squares,
    expected_accuracy,
    least_greatest_error,
    least_squares,
    least_total_error,
    random_subsets,
    shrunken_least_squares,
    within_bound,
)
from discreet.attacks.methods.tracing import tracing_chart, tracing_curve
from discreet.attacks.people import Codes
from discreet.attacks.queries import AnyOf, Side, TableQuery
from discreet.errors import InvalidValue
from discreet.exact.binomial import Proportion
from discreet.noise.experiment import Chance, experiment
from discreet.reports.document import Document, LineChart, Paragraph, Section, Series
from discreet.reports.html import document_html

__all__ = [
    "Method",
    "PhasePoint",
    "Rebuilt",
    "Reconstruction",
    "curves_page",
    "phase_change",
    "phase_chart",
    "reconstruct",
]


Method = Literal["least squares", "box", "linear program", "greatest error", "within bound"]
"""How to fit people to answers."""

_FITS = {
    "least squares": least_squares,
    "box": boxed_least_squares,
    "linear program": least_total_error,
    "greatest error": least_greatest_error,
}


@dataclass(frozen=True, eq=False)
class Rebuilt:
    """What was found about everybody."""

    bits: npt.NDArray[np.bool_]
    """Whether every person has the secret."""
    fractions: Floats
    """The numbers that were rounded to the bits."""
    residual: float
    """The standard deviation of the answers from what the fractions give; about the noise of one answer."""


def reconstruct(queries: Any, answers: npt.ArrayLike, method: Method = "box", bound: float | None = None) -> Rebuilt:
    """The people that fit the answers.

    ``queries`` is a matrix of zeros and ones, dense or sparse, with a row for each question and a column for each
    person. ``method`` is "least squares", "box" (the same, with everybody between 0 and 1), "linear program" (the least
    total error, which withstands answers that are wildly wrong), "greatest error" (the least of it), or "within bound"
    (any people who fit every answer within ``bound``).
    """
    asked = queries if isinstance(queries, SubsetQueries) else SubsetQueries(queries)
    given = _checked_answers(asked, answers)
    fractions = _fit(asked, given, method, bound)
    spare = max(asked.questions - asked.people, 1)
    residual = float(np.sqrt(np.square(given - asked.times(fractions)).sum() / spare))
    return Rebuilt(fractions > 0.5, fractions, residual)


def _fit(asked: SubsetQueries, given: Floats, method: str, bound: float | None) -> Floats:
    if method == "within bound":
        if bound is None or not (np.isfinite(bound) and bound >= 0):
            raise InvalidValue("bound must be a number that is not negative", bound)
        return within_bound(asked, given, bound)
    if method not in _FITS:
        raise InvalidValue(f"method must be one of {', '.join([*_FITS, 'within bound'])}", method)
    return _FITS[method](asked, given)


def _checked_answers(asked: SubsetQueries, answers: npt.ArrayLike) -> Floats:
    given = finite_floats(answers, "answers", "leave out the queries that were refused")
    if given.shape != (asked.questions,):
        raise InvalidValue(f"answers must be one for each of the {asked.questions} queries", f"<shape {given.shape}>")
    if asked.questions < asked.people:
        rule = f"queries must be at least as many as the {asked.people} people"
        raise InvalidValue(rule, asked.questions, "with fewer, many tables fit equally well")
    return given


_QUESTIONS_PER_PERSON = 4
_MODULUS = 2**31 - 1


class Reconstruction(Attack):
    """Four questions a person, each about a random half of everybody; no question is about a small group."""

    name = "reconstruction"
    needs = "A number for every person that questions can compute with; each question is about half of all people."
    claims = "The people who fit all answers best have the secret."
    goal = Goal.BIT
    has_controls = False  # its equations need to know who is in the table
    most_people = 100

    def guess(self, views: Sequence[View], known: Knowledge, chance: Chance) -> Guesses:
        """Solve for everybody, and claim what the targets are."""
        people = len(next(iter(known.quasi.values())).codes)
        secret = AnyOf(known.secret, known.values, tuple(int(place) for place in np.flatnonzero(known.marked)))
        drawn = chance.integers(1, _MODULUS, (_QUESTIONS_PER_PERSON * people, 2))
        sides = [Side(int(multiplier), int(offset)) for multiplier, offset in drawn]
        answers = views[0].counts([TableQuery(by=(side, secret)) for side in sides])
        halves, yes = _equations([side.codes_of(np.arange(people)) for side in sides], answers)
        if not len(yes):
            return Guesses(np.full(len(known.targets), -1), "No question was answered.")
        share = float(np.clip(yes.sum() / halves.sum(), 1 / people, 1 - 1 / people))
        found = shrunken_least_squares(SubsetQueries(halves), yes, share)[known.targets]
        if not 0 < (found > 0.5).sum() < len(found):
            return Guesses(np.full(len(found), -1), "The answers do not tell people apart.", found)
        return Guesses((found > 0.5).astype(np.int64), scores=found)


def _equations(sides: Sequence[Codes], answers: Sequence[Counts]) -> tuple[Codes, Floats]:
    """For every half that was answered who is in it, and how many of them have the secret.

    Every half gives two equations: how many have the secret, and how many are left over when those without it are taken
    away. Where there is noise, the two are noisy on their own.
    """
    both = np.stack([(codes == half).astype(np.int64) for codes in sides for half in (0, 1)])
    no, yes = np.concatenate([answer.reshape(2, 2) for answer in answers]).T
    rows, values = np.concatenate([both, both]), np.concatenate([yes, both.sum(axis=1) - no])
    answered = np.isfinite(values)
    return rows[answered], values[answered]


_MOST_PEOPLE = 5000


@dataclass(frozen=True)
class PhasePoint:
    """One amount of noise."""

    noise: float
    """The standard deviation of the noise on every answer, over √n."""
    right: Proportion
    """The bits that were rebuilt, of all."""
    expected: float
    """The closed form."""


def phase_change(
    people: int = 1000,
    noises: Sequence[float] = (0.05, 0.1, 0.15, 0.25, 0.35, 0.5, 0.7, 1.0, 1.5, 2.0, 4.0, 8.0),
    questions_per_person: int = 8,
    *,
    repeats: int = 1,
    seed: int = 0,
) -> tuple[PhasePoint, ...]:
    """Rebuild random bits by least squares at every amount of noise, given as parts of √n; repeats are added up."""
    if not 2 <= people <= _MOST_PEOPLE:
        raise InvalidValue(f"people must be from 2 to {_MOST_PEOPLE}", people)
    if questions_per_person < 2:
        raise InvalidValue("there must be at least two questions for each person", questions_per_person)
    if repeats < 1:
        raise InvalidValue("repeats must be at least 1", repeats)
    if not all(math.isfinite(noise) and noise >= 0 for noise in noises):
        raise InvalidValue("noises must be numbers that are not negative", list(noises))
    questions, chance = questions_per_person * people, experiment(seed)
    hits = np.sum([_hits(people, questions, noises, chance) for _ in range(repeats)], axis=0)
    return tuple(
        PhasePoint(
            noise, Proportion(int(right), repeats * people), expected_accuracy(people, questions, noise * people**0.5)
        )
        for noise, right in zip(noises, hits, strict=True)
    )


def phase_chart(curves: Mapping[int, Sequence[PhasePoint]]) -> LineChart:
    """The curves of several numbers of people over one axis, beside the closed form."""
    if not curves:
        raise InvalidValue("there must be at least one curve", 0)
    measured = [
        Series(
            f"{people:,} people",
            [(point.noise, point.right.rate) for point in points],
            band=[point.right.interval() for point in points],
            marks=True,
        )
        for people, points in curves.items()
    ]
    last = list(curves.values())[-1]
    closed = Series("closed form", [(point.noise, point.expected) for point in last])
    return LineChart(
        [*measured, closed],
        title="Bits rebuilt from noisy counts of random subsets",
        x_label="noise of one answer, in parts of √n",
        y_label="bits that are right",
        log_x=True,
        reference=0.5,
        reference_label="a coin",
        y_holds=(0.5, 1.0),
    )


def _hits(people: int, questions: int, noises: Sequence[float], chance: Chance) -> list[int]:
    """For every amount of noise how many bits are right, all from the same people and subsets."""
    queries = random_subsets(questions, people, chance)
    equations = NormalEquations(queries)
    bits = chance.integers(0, 2, people)
    exact = queries.times(bits.astype(np.float64))
    noisy = (exact + chance.normal(0, noise * math.sqrt(people), questions) for noise in noises)
    return [int(((equations.solve(answers) > 0.5) == bits).sum()) for answers in noisy]


_REBUILT = (
    "Eight questions for each person, each about a random half of all people, are answered with noise, and least "
    "squares solves for everybody. While the noise is small beside √n, nearly every bit is right, however large n is. "
    "An owner who wants to answer more than n questions must add noise of the order √n to each. Bands hold at 95 %."
)
_TRACED = (
    "The means of d attributes of n people are published. Who has a person's attributes can tell whether the person is "
    "among them as soon as there are more attributes than people. Bands hold at 95 %."
)


def curves_page(repeats: int = 5, seed: int = 0) -> str:
    """Both curves on a page, measured anew in some ten seconds."""
    phases = {people: phase_change(people, repeats=repeats, seed=seed) for people in (100, 300, 1000)}
    traces = {
        people: tracing_curve(
            people, [people * part // 10 for part in (3, 10, 30, 100, 300)], repeats=repeats, seed=seed
        )
        for people in (50, 150)
    }
    sections = [
        Section("Everybody from noisy counts", [Paragraph(_REBUILT), phase_chart(phases)]),
        Section("Somebody in published means", [Paragraph(_TRACED), tracing_chart(traces)]),
    ]
    return document_html(Document("Reconstruction and tracing", sections))
