"""Randomizers of bounded numbers whose mean is wanted: one bit each, the piecewise mechanism, and a mix of both.

One bit (Duchi, Jordan and Wainwright) is best for small ε. A number at the share u of the way from the lower to the
upper bound becomes a yes with probability u, and the yes or no goes through randomized response. With t = 2u - 1 and C
= (e^ε+1)/(e^ε-1) that is ±C with mean t and variance C² - t².

Promise. A report is 1 with probability q + u(p - q), p = e^ε/(e^ε+1), q = 1 - p, and 0 otherwise: pure ε for every
ε > 0 and all bounds. Proof sheet: ``mean.md``.

>>> DuchiMean(1, 0, 100)
DuchiMean(Pure(ε=1, replace-one), from 0 to 100)

The piecewise mechanism (Wang et al. 2019), here on whole numbers, is best for large ε. The bounds are divided into m
steps. A report is one of N = m + w whole numbers. A number k steps from the lower bound has a window of w reports, k,
k+1, …, k+w-1, and each report in it is e^ε times as likely as each one outside. The mean of a report is linear in k, so
that a shift and a scale make it unbiased. As published, w is m e^(-ε/2), here rounded.

Promise. With Z = we^ε + m, a report in the window has probability e^ε/Z and every other one 1/Z: pure ε for every
ε > 0, all bounds and all numbers of steps. Proof sheet: ``mean.md``.

>>> PiecewiseMean(1, 0, 100).window
15527

A coin between the two (Wang et al. 2019) is good for any ε.

Promise. Up to ε* ≈ 0.61 a report is that of `DuchiMean`. Above, it is that of `PiecewiseMean` with probability
1 - e^(-ε/2) and that of `DuchiMean` otherwise, each with the full ε, and it says which. The coin does not depend on the
number, so a report costs pure ε. Its variance above ε* is the same for every number, up to the effect of the steps, and
in the worst case below that of either mechanism. Proof sheet: ``mean.md``.

>>> HybridMean(1, 0, 100).share_of_bits, HybridMean("1/2", 0, 100).share_of_bits
(0.6065306597126334, 1.0)
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from discreet.errors import InvalidValue
from discreet.exact.ball import Ball, ball, floor_of, working_precision
from discreet.exact.grid import Integers
from discreet.exact.rational import Number, rational
from discreet.local.mean import MeanRandomizer, ReportSpread, SumOfNumbers, SumOfSigns, UnitMean, spread_of
from discreet.local.reports import Columns
from discreet.local.terms import ReportField, smallest_unsigned
from discreet.mechanisms.distribution import FiniteLaw
from discreet.mechanisms.randomized_response import Debias, Honesty
from discreet.noise.bernoulli import coins, threshold_of_exponential, threshold_of_odds
from discreet.noise.source import Stream
from discreet.noise.uniform import ThresholdAt, UniformInteger

__all__ = ["DuchiMean", "HybridMean", "PiecewiseMean"]


class DuchiMean(MeanRandomizer):
    """A bit that says yes the more often the larger the number is."""

    kind = "duchi"
    reports = 2

    @cached_property
    def honesty(self) -> Honesty:
        """How often the bit is reported as it is."""
        return Honesty.priced(self.epsilon)

    @property
    def field(self) -> ReportField:
        """How a report is written."""
        return ReportField("bit", "u1")

    def drawn(self, codes: Integers, stream: Stream) -> Integers:
        """A report for each position."""
        bits = UniformInteger(self.steps.count).draw(len(codes), stream) < codes
        return (bits ^ coins(len(codes), self.honesty.lie, stream)).astype(np.int64)

    def law(self, value: Any) -> FiniteLaw:
        """No and yes with their probabilities."""
        yes = self.chance_of_yes(self.position_of(value))
        return FiniteLaw((0, 1), (1 - yes, yes))

    def chance_of_yes(self, position: Number) -> Ball:
        """P(the bit is 1) for a number that many steps from the lower bound."""
        _, lie, gap = self.honesty.rates()
        return lie + gap * ball(rational(position) / self.steps.count)

    def variance_at(self, position: Number) -> Ball:
        """r(1-r)/(p-q)² where r is the chance of a yes; (C² - t²)/4 in the words above."""
        yes = self.chance_of_yes(position)
        return yes * (1 - yes) / self.honesty.rates()[2] ** 2

    def fourth_moment_at(self, position: Number) -> Ball:
        """r(1-r)(1 - 3r(1-r))/(p-q)⁴: the mean of (guess - truth)⁴."""
        yes = self.chance_of_yes(position)
        both = yes * (1 - yes)
        return both * (1 - 3 * both) / self.honesty.rates()[2] ** 4

    @cached_property
    def rates(self) -> Debias:
        """p, q and p - q as floats."""
        with working_precision():
            return Debias(*map(float, self.honesty.rates()))

    def reach(self, n: int, confidence: Fraction) -> float:
        """√(ln(2/β)/(2n))/(p-q), by Hoeffding's inequality."""
        return self.rates.hoeffding(n, confidence) / n

    def unit_mean(self, reports: Integers) -> SumOfSigns:
        """The estimate."""
        return SumOfSigns(int(reports.sum()), len(reports), self.rates)

    def furthest(self) -> Ball:
        """How far one report can be from the number, as a share of the distance of the bounds: p/(p-q)."""
        truth, _, gap = self.honesty.rates()
        return truth / gap


_MOST_LISTED = 2**17


class PiecewiseMean(MeanRandomizer):
    """A whole number, most likely from the window that belongs to the true one."""

    kind = "piecewise"

    @cached_property
    def window(self) -> int:
        """w, how many reports are likelier: m e^(-ε/2), rounded, and at least one."""
        steps, half = self.steps.count, self.epsilon / 2
        if half > steps.bit_length():  # m e^(-ε/2) < 1/2
            return 1
        return max(floor_of(lambda: steps * (-ball(half)).exp() + ball(Fraction(1, 2))), 1)

    @property
    def reports(self) -> int:
        """N = m + w."""
        return self.steps.count + self.window

    @property
    def field(self) -> ReportField:
        """How a report is written."""
        return ReportField("number", smallest_unsigned(self.reports))

    @property
    def _parameters(self) -> dict[str, int]:
        return {"window": self.window}

    def drawn(self, codes: Integers, stream: Stream) -> Integers:
        """A report for each position."""
        count = len(codes)
        outside = coins(count, self._leaving, stream)
        # Both are drawn for everybody, so that the time tells nothing about who left the window.
        near = codes + UniformInteger(self.window).draw(count, stream)
        far = UniformInteger(self.steps.count).draw(count, stream)
        far += np.where(far >= codes, self.window, 0)
        return np.where(outside, far, near)

    @cached_property
    def _leaving(self) -> ThresholdAt:
        """The probability m/Z of a report outside the window."""
        return threshold_of_odds(self.epsilon, Fraction(self.steps.count, self.window))

    def law(self, value: Any) -> FiniteLaw:
        """Every report with its probability, for few steps."""
        if self.reports > _MOST_LISTED:
            raise InvalidValue(f"the law is listed for at most {_MOST_LISTED} reports", self.reports)
        start = self.position_of(value)
        inside, outside = self._masses()
        end = start + self.window
        masses = tuple(inside if start <= report < end else outside for report in range(self.reports))
        return FiniteLaw(tuple(range(self.reports)), masses)

    def _masses(self) -> tuple[Ball, Ball]:
        """The probabilities of a report in the window, e^ε/Z, and of one outside, 1/Z."""
        shrunk = (-ball(self.epsilon)).exp()
        total = self.window + self.steps.count * shrunk
        return 1 / total, shrunk / total

    def line(self) -> tuple[Ball, Ball]:
        """The mean of a report for the position k is the first plus the second times k."""
        w, reports = self.window, self.reports
        inside, outside = self._masses()
        more = -inside * (-ball(self.epsilon)).expm1()  # of a report in the window over one outside
        return outside * (reports * (reports - 1) // 2) + more * (w * (w - 1) // 2), more * w

    def variance_at(self, position: Number) -> Ball:
        """The variance of the guess (report - shift)/(scale · m)."""
        return self.central_moment(2, position)

    def central_moment(self, power: int, position: Number) -> Ball:
        """The mean of (guess - truth)^power, from the sums of powers of all reports and of those in the window."""
        k, w = rational(position), self.window
        inside, outside = self._masses()
        more = -inside * (-ball(self.epsilon)).expm1()
        shift, scale = self.line()
        centre, total = shift + scale * ball(k), Ball(0)
        for r in range(power + 1):
            window = sum((math.comb(r, i) * k ** (r - i) * _sum_of_powers(i, w) for i in range(r + 1)), Fraction(0))
            raw = outside * _sum_of_powers(r, self.reports) + more * ball(window)
            total += math.comb(power, r) * (-centre) ** (power - r) * raw
        return total / (scale * self.steps.count) ** power

    def furthest(self) -> Ball:
        """How far one report can be from the number, as a share of the distance of the bounds."""
        shift, scale = self.line()
        return (self.reports - 1 - shift) / (scale * self.steps.count)

    @cached_property
    def spread(self) -> ReportSpread:
        """What intervals assume."""
        with working_precision(320):
            return spread_of(self.variance_at, lambda k: self.central_moment(4, k), self.furthest(), self.steps.count)

    def reach(self, n: int, confidence: Fraction) -> float:
        """As far as Bernstein's inequality or the central limit theorem with its error allows."""
        return self.spread.within(n, float(1 - confidence))

    def unit_mean(self, reports: Integers) -> SumOfNumbers:
        """The estimate."""
        return SumOfNumbers(self.mean_guess(reports), len(reports), self.spread)

    def mean_guess(self, reports: Integers) -> float:
        """The mean of the guesses that the reports are, as a share of the distance of the bounds."""
        with working_precision():
            shift, scale = self.line()
            mean = ball(Fraction(int(reports.sum(dtype=np.int64)), len(reports)))
            return float((mean - shift) / (scale * self.steps.count))


def _sum_of_powers(power: int, count: int) -> int:
    """0^power + 1^power + … + (count-1)^power, for powers up to 4."""
    n = count
    return [
        n,
        n * (n - 1) // 2,
        (n - 1) * n * (2 * n - 1) // 6,
        (n * (n - 1) // 2) ** 2,
        (n - 1) * n * (2 * n - 1) * (3 * n * n - 3 * n - 1) // 30,
    ][power]


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
    def field(self) -> ReportField:
        """How a report is written."""
        return ReportField("number_or_bit", smallest_unsigned(self.reports))

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
    def spread(self) -> ReportSpread:
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
