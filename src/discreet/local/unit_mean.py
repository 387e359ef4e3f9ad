"""A mean of private reports as a share of the way between two bounds, with an interval that covers as stated.

Two kinds of reports: signs, whose sum is nearly binomial, and numbers within a known distance of the truth and with a
known variance. Intervals are about the mean of those who reported, whatever they hold, or about that of a population
from which they were drawn independently. Proof sheet: ``mean.md``.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from statistics import NormalDist

from discreet.evidence.proportion import Proportion
from discreet.exact.ball import Ball, lower, upper
from discreet.mechanisms.debias import Debias

__all__ = ["Spread", "SumOfNumbers", "SumOfSigns", "UnitMean", "spread_of"]

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
class Spread:
    """What is known about one unbiased report of a number from 0 to 1, whatever the number is."""

    least: float
    """Its variance is at least this."""
    most: float
    """Its variance is at most this."""
    furthest: float
    """It is never further from the number than this."""
    third: float = math.inf
    """The mean of its cubed distance from the number is at most this, and at most ``furthest · most`` in any case."""

    def of_drawn_people(self) -> Spread:
        """The same about the mean of a population: numbers from 0 to 1 have a variance of 1/4 at most."""
        return Spread(self.least, self.most + 0.25, self.furthest)

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
    spread: Spread
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
) -> Spread:
    """The spread of a guess whose variance and fourth moment are even polynomials in t, of degree 2 and 4.

    t goes from -1 to 1 while the position goes from 0 to ``steps``. By Cauchy and Schwarz E|X|³ ≤ √(E X² · E X⁴).
    """
    places = [steps * share for share in (Fraction(1, 2), Fraction(3, 4), Fraction(1))]  # t² is 0, 1/4 and 1
    ends = [variance(place) for place in places]
    least, most = min(float(lower(end)) for end in ends), max(float(upper(end)) for end in ends)
    third = math.sqrt(most * _largest(*(float(upper(fourth(place))) for place in places))) * (1 + _SLACK)
    return Spread(max(least, 0.0), most, float(upper(furthest)), third)


def _largest(start: float, quarter: float, end: float) -> float:
    """The largest value on [0, 1] of the parabola through these values at 0, 1/4 and 1."""
    linear = (16 * (quarter - start) - (end - start)) / 3
    square = end - start - linear
    if square < 0 < linear < -2 * square:
        return start - linear**2 / (4 * square)
    return max(start, end)


def _within_unit(share: float) -> float:
    return min(max(share, 0.0), 1.0)
