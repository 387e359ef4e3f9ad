"""Means of bounded numbers from private reports: what the randomizers of numbers share.

Each report is an unbiased guess of its sender's number, so the mean of the reports is an unbiased guess of the mean.
Proof sheet: ``mean.md``.

An estimate is a share of the way between two bounds, with an interval that covers as stated. There are two kinds of
reports: signs, whose sum is nearly binomial, and numbers within a known distance of the truth and with a known
variance. Intervals are about the mean of those who reported, whatever they hold, or about that of a population from
which they were drawn independently. Proof sheet: ``mean.md``.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from statistics import NormalDist
from typing import Any

import numpy as np

from discreet.errors import InvalidType, OutOfReach
from discreet.exact.ball import Ball, lower, upper, working_precision
from discreet.exact.binomial import Proportion
from discreet.exact.grid import Integers
from discreet.exact.rational import Number, integer, positive
from discreet.local.domains import Steps
from discreet.local.randomizer import Estimator, Randomizer
from discreet.local.reports import Columns
from discreet.local.terms import Bounds, ReportField, Terms
from discreet.mechanisms.randomized_response import MOST_REPORTS, Debias
from discreet.noise.law import open_probability
from discreet.noise.source import Stream

__all__ = [
    "MeanEstimate",
    "MeanEstimator",
    "MeanRandomizer",
    "ReportSpread",
    "SumOfNumbers",
    "SumOfSigns",
    "UnitMean",
    "spread_of",
]


_SLACK = 1e-9  # relative; for the floats
_LYAPUNOV = 0.56
"""The constant of Berry and Esseen for summands that differ (Shevtsova 2010)."""


class UnitMean(ABC):
    """An unbiased estimate of a mean of numbers from 0 to 1."""

    n: int
    """How many reports there were."""

    @property
    @abstractmethod
    def value(self) -> float:
        """The estimate, which may leave the interval from 0 to 1."""

    @property
    @abstractmethod
    def deviation(self) -> float:
        """Its standard deviation at most, whatever the numbers are."""

    @abstractmethod
    def interval(self, confidence: Fraction) -> tuple[float, float]:
        """Both ends, within 0 to 1; together they hold with at least this confidence."""

    @abstractmethod
    def population_interval(self, confidence: Fraction) -> tuple[float, float]:
        """The same for the mean of a population from which the people were drawn independently."""


@dataclass(frozen=True)
class SumOfSigns(UnitMean):
    """``plus`` of ``n`` signs are a plus, each with a probability from ``rates.no`` to ``rates.yes``."""

    plus: int
    """How many are a plus."""
    n: int
    """How many there are."""
    rates: Debias
    """How often a sign is a plus for the number 1, and for the number 0."""

    @property
    def value(self) -> float:
        """The estimate."""
        return self.rates.estimate(self.plus, self.n) / self.n

    @property
    def deviation(self) -> float:
        """√(p(1-p)/n)/(p-q) with the p nearest to one half."""
        nearest = min(max(0.5, self.rates.no), self.rates.yes)
        return math.sqrt(nearest * (1 - nearest) / self.n) / self.rates.gap

    def interval(self, confidence: Fraction) -> tuple[float, float]:
        """The bounds of Clopper and Pearson, at least a whole count away, where Hoeffding's comparison holds."""
        failure = float(1 - confidence) / 2
        seen = Proportion(self.plus, self.n)
        low = min(seen.lower(failure) * (1 - _SLACK), (self.plus - 1) / self.n)
        high = max(1 - (1 - seen.upper(failure)) * (1 - _SLACK), (self.plus + 1) / self.n)
        return _within_unit(self._share(low)), _within_unit(self._share(high))

    def population_interval(self, confidence: Fraction) -> tuple[float, float]:
        """The same ends: signs of people who were drawn are binomial themselves."""
        return self.interval(confidence)

    def _share(self, rate: float) -> float:
        return (rate - self.rates.no) / self.rates.gap


@dataclass(frozen=True)
class ReportSpread:
    """What is known about one unbiased report of a number from 0 to 1, whatever the number is."""

    least: float
    """Its variance is at least this."""
    most: float
    """Its variance is at most this."""
    furthest: float
    """It is never further from the number than this."""
    third: float = math.inf
    """The mean of its cubed distance from the number is at most this, and at most ``furthest · most`` in any case."""

    def of_drawn_people(self) -> ReportSpread:
        """The same about the mean of a population: numbers from 0 to 1 have a variance of 1/4 at most."""
        return ReportSpread(self.least, self.most + 0.25, self.furthest)

    def within(self, n: int, failure: float) -> float:
        """A mean of ``n`` reports is further off with probability ``failure`` at most."""
        return min(self._bernstein(n, failure), self._normal(n, failure)) * (1 + _SLACK)

    def _bernstein(self, n: int, failure: float) -> float:
        log = math.log(2 / failure)
        linear = log * self.furthest / (3 * n)
        return linear + math.sqrt(linear**2 + 2 * self.most * log / n)

    def _normal(self, n: int, failure: float) -> float:
        """The normal quantile at what is left of ``failure`` after the error of the central limit theorem."""
        if self.least <= 0:  # too small for a float
            return math.inf
        third = min(self.third, self.furthest * self.most)
        error = _LYAPUNOV * third / (self.least**1.5 * math.sqrt(n))
        left = failure / 2 - error
        if left <= 0:
            return math.inf
        return -NormalDist().inv_cdf(left) * math.sqrt(self.most / n)


@dataclass(frozen=True)
class SumOfNumbers(UnitMean):
    """The mean of ``n`` unbiased numbers of a known spread."""

    mean: float
    """The mean of the reports."""
    n: int
    """How many there are."""
    spread: ReportSpread
    """What is known about one of them."""

    @property
    def value(self) -> float:
        """The estimate."""
        return self.mean

    @property
    def deviation(self) -> float:
        """The largest that the spread allows."""
        return math.sqrt(self.spread.most / self.n)

    def interval(self, confidence: Fraction) -> tuple[float, float]:
        """As far as Bernstein's inequality or the central limit theorem with its error allows, whichever is less."""
        return self._ends(self.spread.within(self.n, float(1 - confidence)))

    def population_interval(self, confidence: Fraction) -> tuple[float, float]:
        """The same with the spread of the numbers on top."""
        return self._ends(self.spread.of_drawn_people().within(self.n, float(1 - confidence)))

    def _ends(self, reach: float) -> tuple[float, float]:
        return _within_unit(self.mean - reach), _within_unit(self.mean + reach)


def spread_of(
    variance: Callable[[Fraction], Ball], fourth: Callable[[Fraction], Ball], furthest: Ball, steps: int
) -> ReportSpread:
    """The spread of a guess whose variance and fourth moment are even polynomials in t, of degree 2 and 4.

    t goes from -1 to 1 while the position goes from 0 to ``steps``. By Cauchy and Schwarz E|X|³ ≤ √(E X² · E X⁴).
    """
    places = [steps * share for share in (Fraction(1, 2), Fraction(3, 4), Fraction(1))]  # t² is 0, 1/4 and 1
    ends = [variance(place) for place in places]
    least, most = min(float(lower(end)) for end in ends), max(float(upper(end)) for end in ends)
    third = math.sqrt(most * _largest(*(float(upper(fourth(place))) for place in places))) * (1 + _SLACK)
    return ReportSpread(max(least, 0.0), most, float(upper(furthest)), third)


def _largest(start: float, quarter: float, end: float) -> float:
    """The largest value on [0, 1] of the parabola through these values at 0, 1/4 and 1."""
    linear = (16 * (quarter - start) - (end - start)) / 3
    square = end - start - linear
    if square < 0 < linear < -2 * square:
        return start - linear**2 / (4 * square)
    return max(start, end)


def _within_unit(share: float) -> float:
    return min(max(share, 0.0), 1.0)


_TOGETHER = 1 << 16  # reports drawn at a time, so that they stay in the cache


@dataclass(frozen=True, eq=False)
class MeanEstimate:
    """The estimated mean of bounded numbers."""

    steps: Steps
    """Where the numbers lie."""
    unit: UnitMean
    """The estimate as a share of the way between the bounds."""

    @property
    def n(self) -> int:
        """How many reports there were."""
        return self.unit.n

    @property
    def mean(self) -> float:
        """The mean; unbiased for the numbers as they were put on steps, so it may leave the bounds."""
        return self.steps.value_of(self.unit.value)

    @property
    def sum(self) -> float:
        """The sum of all numbers."""
        return self.mean * self.n

    @property
    def deviation(self) -> float:
        """The standard deviation of the mean at most, whatever the numbers are."""
        return self.unit.deviation * float(self.steps.width)

    def interval(self, confidence: Number = 0.95) -> tuple[float, float]:
        """The mean of those who reported, with at least this confidence whatever their numbers are.

        Rounding to steps is part of it.
        """
        return self._ends(self.unit.interval(open_probability(confidence, "confidence")))

    def population_interval(self, confidence: Number = 0.95) -> tuple[float, float]:
        """The mean of the population that they were drawn from independently."""
        return self._ends(self.unit.population_interval(open_probability(confidence, "confidence")))

    def _ends(self, shares: tuple[float, float]) -> tuple[float, float]:
        low, high = shares
        moved = self.steps.rounding
        return self.steps.value_of(max(low - moved, 0.0)), self.steps.value_of(min(high + moved, 1.0))

    def __str__(self) -> str:
        low, high = self.interval()
        return f"mean {self.mean:.6g}, {low:.6g} to {high:.6g} with confidence 0.95, from {self.n:,} reports"


class MeanRandomizer(Randomizer[MeanEstimate]):
    """A randomizer of numbers between two bounds."""

    def __init__(self, epsilon: Number, lower: Number, upper: Number, *, steps: int | None = None) -> None:
        """Choose the price of a report and the bounds; ``steps`` is into how many steps they are divided."""
        self.epsilon = positive(epsilon, "epsilon")
        self.steps = Steps.between(lower, upper, steps)

    def __repr__(self) -> str:
        bounds = self.steps.bounds
        return f"{type(self).__name__}({self.loss!r}, from {float(bounds.lower):g} to {float(bounds.upper):g})"

    @classmethod
    def from_terms(cls, terms: Terms) -> MeanRandomizer:
        """The randomizer that has these terms."""
        if not isinstance(terms.domain, Bounds):
            raise InvalidType(f"{cls.kind} needs the bounds of a number", "<categories>")
        count = integer(terms.parameter("steps"), "steps")
        found = cls(terms.epsilon, terms.domain.lower, terms.domain.upper, steps=count)
        terms.check_same(found.terms)
        return found

    @cached_property
    def terms(self) -> Terms:
        """What device and server must agree on."""
        given = {"steps": self.steps.count, **self._parameters}
        return Terms(self.kind, self.epsilon, self.steps.bounds, (self.field,), tuple(given.items()))

    @property
    @abstractmethod
    def field(self) -> ReportField:
        """How a report is written: one number."""

    @property
    def _parameters(self) -> dict[str, int]:
        """What must agree beside ε, the bounds and the steps."""
        return {}

    @property
    @abstractmethod
    def reports(self) -> int:
        """How many different reports there are: 0, 1, …"""

    @abstractmethod
    def variance_at(self, position: Number) -> Ball:
        """The variance of one report as a guess of the share position/steps of the way between the bounds."""

    @abstractmethod
    def reach(self, n: int, confidence: Fraction) -> float:
        """How far a mean of ``n`` reports may be off, as a share of the distance of the bounds."""

    @abstractmethod
    def unit_mean(self, reports: Integers) -> UnitMean:
        """The estimate from one report or more."""

    @abstractmethod
    def drawn(self, codes: Integers, stream: Stream) -> Integers:
        """A report for each position."""

    def _codes(self, values: Any) -> Integers:
        return self.steps.positions(values)

    def position_of(self, value: Any) -> int:
        """How many steps a value lies from the lower bound."""
        return int(self.steps.positions([value])[0])

    def _draw(self, codes: Integers, stream: Stream) -> Columns:
        found = np.empty(len(codes), self.field.dtype)
        for start in range(0, len(codes), _TOGETHER):
            part = slice(start, start + _TOGETHER)
            found[part] = self.drawn(codes[part], stream)
        return {self.field.name: found}

    def _are_possible(self, columns: Columns) -> bool:
        return int(columns[self.field.name].max(initial=0)) < self.reports

    @cached_property
    def estimator(self) -> MeanEstimator:
        """What reads the reports."""
        return MeanEstimator(self)


class MeanEstimator(Estimator[MeanEstimate]):
    """The mean of unbiased reports."""

    randomizer: MeanRandomizer

    def _estimate(self, columns: Columns, n: int) -> MeanEstimate:
        reports = columns[self.randomizer.field.name]
        return MeanEstimate(self.randomizer.steps, self.randomizer.unit_mean(reports))

    def variance(self, n: int, value: Number) -> float:
        """The variance of the estimated mean over ``n`` reports, where everybody holds ``value``."""
        size = integer(n, "n", least=1, most=MOST_REPORTS)
        with working_precision():
            one = float(self.randomizer.variance_at(self.randomizer.position_of(value)))
        return one * float(self.randomizer.steps.width) ** 2 / size

    def error(self, n: int, confidence: Number = 0.95) -> float:
        """How far the mean over ``n`` reports may be off, rounding to steps included, whatever the numbers are."""
        size = integer(n, "n", least=1, most=MOST_REPORTS)
        return self._error(size, open_probability(confidence, "confidence"))

    def _error(self, n: int, confidence: Fraction) -> float:
        steps = self.randomizer.steps
        return (self.randomizer.reach(n, confidence) + steps.rounding) * float(steps.width)

    def sample_size(self, *, error: Number, confidence: Number = 0.95) -> int:
        """How many answers make the mean this exact with this confidence, whatever the numbers are."""
        wanted, sure = float(positive(error, "error")), open_probability(confidence, "confidence")
        low, high = 0, 1
        while self._error(high, sure) > wanted:
            low, high = high, 2 * high
            if high > MOST_REPORTS:
                raise OutOfReach("the error must be above half a step", error, "divide the bounds into more steps")
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if self._error(middle, sure) <= wanted else (middle, high)
        return high
