"""Means of bounded numbers from private reports: what the randomizers of numbers share.

Each report is an unbiased guess of its sender's number, so the mean of the reports is an unbiased guess of the mean.
Proof sheet: ``mean.md``.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from discreet.errors import InvalidType, OutOfReach
from discreet.exact.ball import Ball, working_precision
from discreet.exact.grid import Integers
from discreet.exact.rational import Number, integer, positive
from discreet.local.layout import Field
from discreet.local.randomizer import Estimator, Randomizer
from discreet.local.steps import Steps
from discreet.local.terms import Bounds, Terms
from discreet.local.unit_mean import UnitMean
from discreet.local.upload import Columns
from discreet.mechanisms.debias import MOST_REPORTS
from discreet.noise.law import open_probability
from discreet.noise.source import Stream

__all__ = ["MeanEstimate", "MeanEstimator", "MeanRandomizer"]

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
    def field(self) -> Field:
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
