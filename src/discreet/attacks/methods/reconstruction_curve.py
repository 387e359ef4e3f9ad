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
from discreet.attacks.methods.subset_queries import random_subsets
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


def _hits(people: int, questions: int, noises: Sequence[float], chance: Chance) -> list[int]:
    """For every amount of noise how many bits are right, all from the same people and subsets."""
    queries = random_subsets(questions, people, chance)
    equations = NormalEquations(queries)
    bits = chance.integers(0, 2, people)
    exact = queries.times(bits.astype(np.float64))
    noisy = (exact + chance.normal(0, noise * math.sqrt(people), questions) for noise in noises)
    return [int(((equations.solve(answers) > 0.5) == bits).sum()) for answers in noisy]
