"""How well members are told from others, measured on people and in closed form.

Members and others are s = √(d/n) deviations apart for d attributes and n people, and nearly normal where d is large. So
of a threshold that wrongly accuses a share α, members pass with probability Φ(s − z), where z is the 1 − α quantile of
the normal law, and a random member scores above a random outsider with probability Φ(s/√2).

Noise on every mean, of deviation r times that of one person's attribute, leaves s = √(d/n)/√(1 + n r²): the variance of
a term for an outsider grows from 1/n to 1/n + r².
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr, ndtri
from scipy.stats import rankdata

from discreet.attacks.methods.floats import Floats, floats
from discreet.attacks.methods.tracing import TracingMethod, trace
from discreet.errors import InvalidValue
from discreet.evidence.proportion import Proportion
from discreet.noise.experiment import Chance, experiment
from discreet.pages.line_chart import Series, line_chart

__all__ = [
    "TracingPoint",
    "above_threshold",
    "area_under_curve",
    "expected_area",
    "expected_power",
    "separation",
    "tracing_chart",
    "tracing_curve",
]

_SHARES = (0.1, 0.9)
_CONTROLS = 2000


def separation(attributes: int, people: int, noise: float = 0.0) -> float:
    """By how many deviations members and others differ; ``noise`` is in deviations of one person's attribute."""
    if attributes < 1 or people < 1:
        raise InvalidValue("attributes and people must be at least 1", (attributes, people))
    return math.sqrt(attributes / people / (1 + people * noise**2))


def expected_power(attributes: int, people: int, alpha: float = 0.05, noise: float = 0.0) -> float:
    """Φ(s − z): the share of members who are traced where a share ``alpha`` of others is wrongly accused."""
    _check_alpha(alpha)
    return float(ndtr(separation(attributes, people, noise) - ndtri(1 - alpha)))


def expected_area(attributes: int, people: int, noise: float = 0.0) -> float:
    """Φ(s/√2): how often a member scores above somebody who is none."""
    return float(ndtr(separation(attributes, people, noise) / math.sqrt(2)))


def area_under_curve(members: npt.ArrayLike, others: npt.ArrayLike) -> float:
    """How often a member scores above somebody who is none, over all pairs; ties count half."""
    inside, outside = _scores(members), _scores(others)
    ranks = rankdata(np.concatenate([inside, outside]))[: len(inside)].sum()
    return float((ranks - len(inside) * (len(inside) + 1) / 2) / (len(inside) * len(outside)))


def above_threshold(scores: npt.ArrayLike, controls: npt.ArrayLike, alpha: float = 0.05) -> Proportion:
    """How many score above all but a share ``alpha`` of people who are known not to be members."""
    _check_alpha(alpha)
    known = np.sort(_scores(controls))
    threshold = known[len(known) - 1 - math.floor(alpha * len(known))]
    return Proportion(int((_scores(scores) > threshold).sum()), len(_scores(scores)))


@dataclass(frozen=True)
class TracingPoint:
    """One number of attributes."""

    attributes: int
    """How many means were published."""
    people: int
    """Of how many people."""
    power: Proportion
    """Members who were traced, at a threshold that accuses one in twenty controls."""
    accused: Proportion
    """Others who were traced at the same threshold."""
    area: float
    """How often a member scored above somebody who is none."""
    expected: float
    """The closed form of the power."""


def tracing_curve(
    people: int = 100,
    attributes: Sequence[int] = (10, 30, 100, 300, 1000, 3000, 10_000),
    *,
    method: TracingMethod = "inner product",
    noise: float = 0.0,
    repeats: int = 1,
    seed: int = 0,
) -> tuple[TracingPoint, ...]:
    """Trace members, beside as many others, at every number of attributes; the threshold comes from 2,000 controls.

    Repeats, each with people of its own, are added up.
    """
    if repeats < 1:
        raise InvalidValue("repeats must be at least 1", repeats)
    chance = experiment(seed)
    return tuple(
        _together([_point(people, count, method, noise, chance) for _ in range(repeats)]) for count in attributes
    )


def tracing_chart(curves: Mapping[int, Sequence[TracingPoint]]) -> str:
    """The curves of several numbers of people over d/n, beside the closed form."""
    if not curves:
        raise InvalidValue("there must be at least one curve", 0)
    measured = [
        Series(
            f"means of {people:,} people",
            [(point.attributes / point.people, point.power.rate) for point in points],
            band=[point.power.interval() for point in points],
            marks=True,
        )
        for people, points in curves.items()
    ]
    every = sorted(
        {(point.attributes / point.people, point.expected) for points in curves.values() for point in points}
    )
    return line_chart(
        [*measured, Series("closed form", every)],
        title="Members traced in published means, where one in twenty others is wrongly accused",
        x_label="attributes for each person in the mean, d/n",
        y_label="members traced",
        log_x=True,
        reference=0.05,
        reference_label="wrongly accused",
        y_holds=(0.0, 1.0),
    )


def _point(people: int, attributes: int, method: TracingMethod, noise: float, chance: Chance) -> TracingPoint:
    expected = expected_power(attributes, people, noise=noise)
    shares = chance.uniform(*_SHARES, attributes)
    members, others, controls = (
        (chance.random((count, attributes), np.float32) < shares).astype(np.int8)
        for count in (people, people, _CONTROLS)
    )
    clouded = noise * np.sqrt(shares * (1 - shares)) * chance.normal(size=attributes)
    means = members.mean(axis=0) + clouded
    scores = [trace(means, shares, group, method) for group in (members, others, controls)]
    inside, outside = (above_threshold(found, scores[2]) for found in scores[:2])
    return TracingPoint(attributes, people, inside, outside, area_under_curve(scores[0], scores[1]), expected)


def _together(points: Sequence[TracingPoint]) -> TracingPoint:
    return replace(
        points[0],
        power=_sum([point.power for point in points]),
        accused=_sum([point.accused for point in points]),
        area=float(np.mean([point.area for point in points])),
    )


def _sum(parts: Sequence[Proportion]) -> Proportion:
    return Proportion(sum(part.hits for part in parts), sum(part.trials for part in parts))


def _scores(values: npt.ArrayLike) -> Floats:
    found = floats(values, "scores")
    if found.ndim != 1 or not found.size or np.isnan(found).any():
        raise InvalidValue("scores must be a list of numbers, at least one", f"<shape {found.shape}>")
    return found


def _check_alpha(alpha: float) -> None:
    if not 0 < alpha < 1:
        raise InvalidValue("alpha must lie strictly between 0 and 1", alpha)
