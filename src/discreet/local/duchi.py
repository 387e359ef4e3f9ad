"""The mean of bounded numbers from one bit each (Duchi, Jordan and Wainwright): the best for small ε.

A number at the share u of the way from the lower to the upper bound becomes a yes with probability u, and the yes or no
goes through randomized response. With t = 2u - 1 and C = (e^ε+1)/(e^ε-1) that is ±C with mean t and variance C² - t².

Promise. A report is 1 with probability q + u(p - q), p = e^ε/(e^ε+1), q = 1 - p, and 0 otherwise: pure ε for every
ε > 0 and all bounds. Proof sheet: ``mean.md``.

>>> DuchiMean(1, 0, 100)
DuchiMean(Pure(ε=1, replace-one), from 0 to 100)
"""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from discreet.exact.ball import Ball, ball, working_precision
from discreet.exact.grid import Integers
from discreet.exact.rational import Number, rational
from discreet.local.layout import Field
from discreet.local.mean import MeanRandomizer
from discreet.local.unit_mean import SumOfSigns
from discreet.mechanisms.debias import Debias
from discreet.mechanisms.distribution import FiniteLaw
from discreet.mechanisms.honesty import Honesty
from discreet.noise.bytewise import coins
from discreet.noise.source import Stream
from discreet.noise.uniform import UniformInteger

__all__ = ["DuchiMean"]


class DuchiMean(MeanRandomizer):
    """A bit that says yes the more often the larger the number is."""

    kind = "duchi"
    reports = 2

    @cached_property
    def honesty(self) -> Honesty:
        """How often the bit is reported as it is."""
        return Honesty.priced(self.epsilon)

    @property
    def field(self) -> Field:
        """How a report is written."""
        return Field("bit", "u1")

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
