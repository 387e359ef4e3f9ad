"""The mean of bounded numbers by the piecewise mechanism (Wang et al. 2019), on whole numbers: the best for large ε.

The bounds are divided into m steps. A report is one of N = m + w whole numbers. A number k steps from the lower bound
has a window of w reports, k, k+1, …, k+w-1, and each report in it is e^ε times as likely as each one outside. The mean
of a report is linear in k, so that a shift and a scale make it unbiased. As published, w is m e^(-ε/2), here rounded.

Promise. With Z = we^ε + m, a report in the window has probability e^ε/Z and every other one 1/Z: pure ε for every
ε > 0, all bounds and all numbers of steps. Proof sheet: ``mean.md``.

>>> PiecewiseMean(1, 0, 100).window
15527
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
from discreet.local.layout import Field, smallest_unsigned
from discreet.local.mean import MeanRandomizer
from discreet.local.unit_mean import Spread, SumOfNumbers, spread_of
from discreet.mechanisms.distribution import FiniteLaw
from discreet.noise.bernoulli import threshold_of_odds
from discreet.noise.bytewise import coins
from discreet.noise.lazy import ThresholdAt
from discreet.noise.source import Stream
from discreet.noise.uniform import UniformInteger

__all__ = ["PiecewiseMean"]

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
    def field(self) -> Field:
        """How a report is written."""
        return Field("number", smallest_unsigned(self.reports))

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
    def spread(self) -> Spread:
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
