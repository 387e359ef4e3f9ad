"""Find out who is in a table, from published averages (Homer and others 2008, and after) or from small tables of it.

*From averages.* Published are the means of d attributes, each 0 or 1, over n people. The outsider has a person's
attributes and the shares of the attributes in the population. A member pulls every mean by 1/n towards its own
attributes: no single mean shows it, but all of them together do.

Claim. Let attribute j have share p_j, with 0 < p_j < 1, independently of all others, and let v_j = p_j(1 − p_j). The
statistic T(y) = Σ (y_j − p_j)(q_j − p_j)/v_j of published means q has, over the choice of all people, mean 0 and
variance d/n for somebody who is no member, and mean d/n for a member. So the two are √(d/n) deviations apart.

Proof. For an outsider y and q are independent, both with mean p; each term has mean 0 and variance
v_j · (v_j/n)/v_j² = 1/n. A member has q_j = y_j/n + (a part that is independent of y), so each term has mean
E(y_j − p_j)²/(n v_j) = 1/n. □

>>> import numpy as np
>>> trace([0.6, 0.2], [0.5, 0.4], [[1, 0], [0, 1]]).round(6).tolist()
[0.533333, -0.7]

*From tables* of every column and of every two columns. Every table has one cell that fits the person. How many people
are in it, beside how many were to be expected from people who are known not to be in the table, speaks for the person's
presence or against it, and the tables add up.

*Power*, measured on people and in closed form. Members and others are s = √(d/n) deviations apart for d attributes and
n people, and nearly normal where d is large. So of a threshold that wrongly accuses a share α, members pass with
probability Φ(s − z), where z is the 1 − α quantile of the normal law, and a random member scores above a random
outsider with probability Φ(s/√2).

Noise on every mean, of deviation r times that of one person's attribute, leaves s = √(d/n)/√(1 + n r²): the variance of
a term for an outsider grows from 1/n to 1/n + r².

*One cell.* What does its count say about whether a certain person is in it? Let others fall into the cell as a Poisson
law with mean λ says, and let the answer be the count and Gaussian noise. If the person is a member, the count is one
more than that of the others. So the odds are

    Σ_k Poisson(k − 1; λ) φ((a − k)/τ)  :  Σ_k Poisson(k; λ) φ((a − k)/τ),

which for exact answers is a : λ. An empty cell rules the person out, and a count of one where hardly anybody is
expected all but proves the person.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np
import numpy.typing as npt
from scipy.special import logsumexp, ndtr, ndtri
from scipy.stats import poisson, rankdata

from discreet.attacks.attack import Attack, Counts, Goal, Guesses, Knowledge, View
from discreet.attacks.methods.queries import Floats, finite_floats, floats
from discreet.attacks.methods.tabulations import crossed
from discreet.attacks.people import Codes, People
from discreet.attacks.queries import TableQuery, Value
from discreet.errors import InvalidValue
from discreet.exact.binomial import Proportion
from discreet.noise.experiment import Chance, experiment
from discreet.reports.document import LineChart, Series

__all__ = [
    "Tracing",
    "TracingMethod",
    "TracingPoint",
    "above_threshold",
    "area_under_curve",
    "expected_area",
    "expected_power",
    "log_odds_of_member",
    "separation",
    "trace",
    "tracing_chart",
    "tracing_curve",
]


TracingMethod = Literal["inner product", "homer", "likelihood"]
"""How a person is compared with the means."""
_LEAST_SHARE = 1e-6


def trace(
    means: npt.ArrayLike, reference: npt.ArrayLike, profiles: npt.ArrayLike, method: TracingMethod = "inner product"
) -> Floats:
    """For every profile how much it looks like a member's; compare with the scores of people who are none.

    ``means`` are the published ones, exact or noisy, ``reference`` the shares in the population, and ``profiles`` has a
    row of zeros and ones for every person. ``method`` is "inner product" (the statistic T above), "homer" (how much
    closer to the means than to the reference), or "likelihood" (the ratio of likelihoods).

    A score says nothing alone. Where the people differ from the reference in more than chance, everybody like them
    scores high, so a threshold must come from people of the same kind who are known not to be members.
    """
    q, p, y = _checked(means, reference, profiles)
    if method == "inner product":
        return np.asarray((y - p) @ ((q - p) / (p * (1 - p))))
    if method == "homer":
        return np.asarray((np.abs(y - p) - np.abs(y - q)).sum(axis=1))
    if method == "likelihood":
        likely = np.clip(q, _LEAST_SHARE, 1 - _LEAST_SHARE)
        return np.asarray(y @ np.log(likely / p) + (1 - y) @ np.log((1 - likely) / (1 - p)))
    raise InvalidValue("method must be inner product, homer or likelihood", method)


def _checked(means: npt.ArrayLike, reference: npt.ArrayLike, profiles: npt.ArrayLike) -> tuple[Floats, Floats, Floats]:
    q = finite_floats(means, "means", "leave out what was refused")
    p, y = floats(reference, "shares of the reference"), floats(profiles, "profiles")
    if q.ndim != 1 or q.shape != p.shape or y.ndim != 2 or y.shape[1] != q.size or not q.size:
        rule = "means and reference must have a number for each attribute, and profiles a row for each person"
        raise InvalidValue(rule, f"<shapes {q.shape}, {p.shape}, {y.shape}>")
    if not ((p > 0) & (p < 1)).all():
        remedy = "leave out attributes that nobody or everybody has"
        raise InvalidValue("shares of the reference must lie strictly between 0 and 1", "<others>", remedy)
    if not np.isin(y, (0, 1)).all():
        raise InvalidValue("profiles must hold zeros and ones", "<other numbers>")
    return q, p, y


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


def tracing_chart(curves: Mapping[int, Sequence[TracingPoint]]) -> LineChart:
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
    return LineChart(
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


_LEAST_NOISE = 0.1
_LONGEST_ODDS = 20.0


def log_odds_of_member(answers: Floats, expected: Floats, noise: float) -> Floats:
    """The logarithm of the odds for every answer, of ``expected`` others and noise of this deviation, within ±20."""
    most = float(expected.max())
    counts = np.arange(math.ceil(most + 10 * math.sqrt(most)) + 20)
    misfit = np.square((answers[:, None] - counts) / max(noise, _LEAST_NOISE)) / 2
    without = logsumexp(poisson.logpmf(counts, expected[:, None]) - misfit, axis=1)
    within = logsumexp(poisson.logpmf(counts - 1, expected[:, None]) - misfit, axis=1)
    return np.asarray(np.clip(within - without, -_LONGEST_ODDS, _LONGEST_ODDS))


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
        questions = [TableQuery(by=parts) for count in (1, 2) for parts in crossed(columns, count)]
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

    question: TableQuery
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
        answered = np.isfinite(found)
        odds = np.zeros(people.size)
        if answered.any():
            odds[answered] = log_odds_of_member(found[answered], expected[answered], self._noise)
        return odds

    @cached_property
    def _noise(self) -> float:
        """The deviation of the answers beyond what chance explains, in the table and among the strangers."""
        cells = np.unravel_index(np.arange(self.question.cells), [part.size for part in self.question.by])
        expected = self._expected(cells, 0)
        answered = np.isfinite(self.answer)
        off = np.square(self.answer - expected)[answered].mean()
        explained = expected[answered].mean() * (1 + self.rows / self.strangers.size)
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
