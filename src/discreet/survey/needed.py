"""About how many answers make an interval as short as it is wanted, whatever the answers are.

For shares, and for means of single bits, that is (z/error)² times the largest variance of one report, z being the
normal quantile: the exact intervals are a little longer where answers are few. For means of numbers it is the bound
that their intervals are made of.
"""

from __future__ import annotations

import math
from fractions import Fraction
from statistics import NormalDist
from typing import Any

from discreet.errors import InvalidType
from discreet.exact.ball import upper, working_precision
from discreet.local.duchi import DuchiMean
from discreet.local.frequency import FrequencyOracle
from discreet.local.hybrid import HybridMean
from discreet.local.piecewise import PiecewiseMean
from discreet.local.randomizer import Randomizer
from discreet.local.unit_mean import Spread

__all__ = ["answers_needed"]


def answers_needed(randomizer: Randomizer[Any], within: Fraction, confidence: Fraction) -> int:
    """About how many answers leave an error of ``within``.

    For categories ``within`` is about a share; for numbers, about a share of the distance between the bounds.
    """
    if isinstance(randomizer, FrequencyOracle):
        return randomizer.estimator.sample_size(standard_deviation=_deviation(within, confidence))
    if isinstance(randomizer, DuchiMean):
        with working_precision():
            most = upper(1 / (4 * randomizer.honesty.rates()[2] ** 2))
        return math.ceil(most / _deviation(within, confidence) ** 2)
    if isinstance(randomizer, (HybridMean, PiecewiseMean)):
        return _by_spread(randomizer.spread, float(within), float(1 - confidence))
    raise InvalidType("this randomizer has no bound on its error", randomizer.kind)


def _deviation(within: Fraction, confidence: Fraction) -> Fraction:
    """The standard deviation that leaves this error."""
    return within / Fraction(-NormalDist().inv_cdf(float(1 - confidence) / 2))


def _by_spread(spread: Spread, within: float, failure: float) -> int:
    """Doubling, then halving: more answers never make the bound worse."""
    high = 1
    while spread.within(high, failure) > within:
        high *= 2
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if spread.within(middle, failure) <= within else (middle, high)
    return high
