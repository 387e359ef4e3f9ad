"""How many bits are rebuilt as the noise grows: nearly all below √n, next to none beyond.

With m = cn random subsets and noise of deviation σ = s√n, least squares gets Φ(√(c − 1)/4s) of the bits right: the same
curve in s for every n. So an owner must add noise of the order √n to each answer, or answer fewer than n questions.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from discreet.attacks.methods.least_squares import NormalEquations, expected_accuracy
from discreet.attacks.methods.subset_queries import Floats, random_subsets
from discreet.attacks.people import Codes
from discreet.errors import InvalidValue
from discreet.evidence.proportion import Proportion
from discreet.noise.experiment import Chance, experiment
from discreet.pages.line_chart import Series, line_chart

__all__ = ["PhasePoint", "phase_change", "phase_chart"]

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
    seed: int = 0,
) -> tuple[PhasePoint, ...]:
    """Rebuild random bits by least squares at every amount of noise, given as parts of √n."""
    if not 2 <= people <= _MOST_PEOPLE:
        raise InvalidValue(f"people must be from 2 to {_MOST_PEOPLE}", people)
    if questions_per_person < 2:
        raise InvalidValue("there must be at least two questions for each person", questions_per_person)
    chance = experiment(seed)
    queries = random_subsets(questions_per_person * people, people, chance)
    equations = NormalEquations(queries)
    bits = chance.integers(0, 2, people)
    exact = queries.times(bits.astype(np.float64))
    return tuple(_point(equations, bits, exact + _noise(chance, exact, noise, people), noise) for noise in noises)


def phase_chart(curves: Mapping[int, Sequence[PhasePoint]]) -> str:
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
    return line_chart(
        [*measured, closed],
        title="Bits rebuilt from noisy counts of random subsets",
        x_label="noise of one answer, in parts of √n",
        y_label="bits that are right",
        log_x=True,
        reference=0.5,
        reference_label="a coin",
        y_holds=(0.5, 1.0),
    )


def _noise(chance: Chance, exact: Floats, noise: float, people: int) -> Floats:
    if not (math.isfinite(noise) and noise >= 0):
        raise InvalidValue("noise must be a number that is not negative", noise)
    return chance.normal(0, noise * math.sqrt(people), len(exact))


def _point(equations: NormalEquations, bits: Codes, answers: Floats, noise: float) -> PhasePoint:
    people, questions = equations.queries.people, equations.queries.questions
    right = int(((equations.solve(answers) > 0.5) == bits).sum())
    return PhasePoint(noise, Proportion(right, people), expected_accuracy(people, questions, noise * math.sqrt(people)))
