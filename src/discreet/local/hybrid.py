"""The mean of bounded numbers by a coin between the piecewise mechanism and one bit (Wang et al. 2019): good for any ε.

Promise. Up to ε* ≈ 0.61 a report is that of `DuchiMean`. Above, it is that of `PiecewiseMean` with probability
1 - e^(-ε/2) and that of `DuchiMean` otherwise, each with the full ε, and it says which. The coin does not depend on the
number, so a report costs pure ε. Its variance above ε* is the same for every number, up to the effect of the steps, and
in the worst case below that of either mechanism. Proof sheet: ``mean.md``.

>>> HybridMean(1, 0, 100).share_of_bits, HybridMean("1/2", 0, 100).share_of_bits
(0.6065306597126334, 1.0)
"""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from discreet.exact.ball import Ball, ball, working_precision
from discreet.exact.grid import Integers
from discreet.exact.rational import Number
from discreet.local.duchi import DuchiMean
from discreet.local.layout import Field, smallest_unsigned
from discreet.local.mean import MeanRandomizer
from discreet.local.piecewise import PiecewiseMean
from discreet.local.unit_mean import Spread, SumOfNumbers, UnitMean, spread_of
from discreet.local.upload import Columns
from discreet.mechanisms.distribution import FiniteLaw
from discreet.noise.bernoulli import threshold_of_exponential
from discreet.noise.bytewise import coins
from discreet.noise.lazy import ThresholdAt
from discreet.noise.source import Stream

__all__ = ["HybridMean"]

_TURN = Fraction("0.6093")  # between the mechanisms; any value keeps the promise, this one is the best to four digits


class HybridMean(MeanRandomizer):
    """A number of the piecewise mechanism or, after all of them, a bit."""

    kind = "hybrid"

    @cached_property
    def numbers(self) -> PiecewiseMean:
        """What is reported on heads."""
        bounds = self.steps.bounds
        return PiecewiseMean(self.epsilon, bounds.lower, bounds.upper, steps=self.steps.count)

    @cached_property
    def bits(self) -> DuchiMean:
        """What is reported on tails."""
        bounds = self.steps.bounds
        return DuchiMean(self.epsilon, bounds.lower, bounds.upper, steps=self.steps.count)

    @property
    def share_of_bits(self) -> float:
        """How often a bit is reported."""
        with working_precision():
            return float(self._tails())

    def _exponent(self) -> Fraction:
        return Fraction(0) if self.epsilon <= _TURN else self.epsilon / 2

    @cached_property
    def _tossing(self) -> ThresholdAt:
        return threshold_of_exponential(self._exponent())

    def _tails(self) -> Ball:
        return (-ball(self._exponent())).exp()

    @property
    def reports(self) -> int:
        """All reports of both."""
        return self.numbers.reports + self.bits.reports

    @property
    def field(self) -> Field:
        """How a report is written."""
        return Field("number_or_bit", smallest_unsigned(self.reports))

    @property
    def _parameters(self) -> dict[str, int]:
        return {"window": self.numbers.window}

    def drawn(self, codes: Integers, stream: Stream) -> Integers:
        """A report for each position."""
        tails = coins(len(codes), self._tossing, stream)
        numbers = self.numbers.drawn(codes, stream)
        bits = self.numbers.reports + self.bits.drawn(codes, stream)
        return np.where(tails, bits, numbers)

    def law(self, value: Any) -> FiniteLaw:
        """Every report that is ever sent with its probability, for few steps."""
        tails = self._tails()
        bits = tuple(tails * mass for mass in self.bits.law(value).masses)
        if not self._exponent():
            return FiniteLaw(tuple(range(self.numbers.reports, self.reports)), bits)
        numbers = tuple((1 - tails) * mass for mass in self.numbers.law(value).masses)
        return FiniteLaw(tuple(range(self.reports)), numbers + bits)

    def _are_possible(self, columns: Columns) -> bool:
        least = self.numbers.reports if not self._exponent() else 0
        return super()._are_possible(columns) and int(columns[self.field.name].min(initial=least)) >= least

    def variance_at(self, position: Number) -> Ball:
        """The mean of both variances: both guesses have the same mean."""
        tails = self._tails()
        return tails * self.bits.variance_at(position) + (1 - tails) * self.numbers.variance_at(position)

    def fourth_moment_at(self, position: Number) -> Ball:
        """The mean of both."""
        tails = self._tails()
        return tails * self.bits.fourth_moment_at(position) + (1 - tails) * self.numbers.central_moment(4, position)

    @cached_property
    def spread(self) -> Spread:
        """What intervals assume."""
        with working_precision(320):
            furthest = max(self.bits.furthest(), self.numbers.furthest(), key=float)
            return spread_of(self.variance_at, self.fourth_moment_at, furthest, self.steps.count)

    def reach(self, n: int, confidence: Fraction) -> float:
        """As far as Bernstein's inequality or the central limit theorem with its error allows."""
        if not self._exponent():
            return self.bits.reach(n, confidence)
        return self.spread.within(n, float(1 - confidence))

    def unit_mean(self, reports: Integers) -> UnitMean:
        """Numbers and bits are guesses of the same mean, and each counts as often as it was sent."""
        if not self._exponent():
            return self.bits.unit_mean(reports - self.numbers.reports)
        is_bit = reports >= self.numbers.reports
        numbers, bits = reports[~is_bit], reports[is_bit] - self.numbers.reports
        total = 0.0
        if len(numbers):
            total += len(numbers) * self.numbers.mean_guess(numbers)
        if len(bits):
            total += len(bits) * self.bits.unit_mean(bits).value
        return SumOfNumbers(total / len(reports), len(reports), self.spread)
