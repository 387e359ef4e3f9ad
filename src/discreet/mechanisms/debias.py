"""From randomized reports back to the crowd: unbiased counts, their deviations, and intervals that cover as stated.

Of n respondents, those who have a property report it with one rate, the others with a smaller one. The number of
reports is then a sum of two binomial variables, so every statement here is about that law itself and not about a bell
curve near it. Everything here is post-processing: it reads reports, never the truth.

>>> halved = Debias(yes=0.75, no=0.25, gap=0.5)
>>> halved.estimate(60, 100)
70.0
>>> halved.interval(60, 100, Fraction(19, 20))
(53, 88)
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri

from discreet.errors import InvalidValue
from discreet.evidence.proportion import Proportion
from discreet.exact.ball import ln_up

__all__ = ["MOST_REPORTS", "Debias", "hoeffding_size"]

MOST_REPORTS = 2**62
"""No survey is larger, and a float holds the error of one that is as large."""

_FLOAT_SLACK = 1e-9  # relative; the binomial tails below are good to about 1e-11
_REACH = 12  # deviations of a binomial variable beyond which less than 1e-30 is left


@dataclass(frozen=True)
class Debias:
    """Reports with rate ``yes`` from those who have a property and ``no`` from those who do not."""

    yes: float
    """How often someone with the property reports it."""
    no: float
    """How often someone without it reports it all the same."""
    gap: float
    """yes - no, given apart because the difference of two floats would lose its digits."""

    def estimate(self, reported: int, n: int) -> float:
        """How many of ``n`` have the property, on average right: (C - n·no)/(yes - no)."""
        return (reported - n * self.no) / self.gap

    def deviation(self, n: int, share: float = 0.0) -> float:
        """The standard deviation of `estimate` when ``share`` of the respondents have the property."""
        spread = share * self.yes * (1 - self.yes) + (1 - share) * self.no * (1 - self.no)
        return math.sqrt(n * spread) / self.gap

    def hoeffding(self, n: int, confidence: Fraction) -> float:
        """√(n ln(2/β)/2)/(yes - no): `estimate` is further off with probability at most β = 1 - confidence."""
        return math.sqrt(n * float(ln_up(2 / (1 - confidence))) / 2) / self.gap

    def error(self, n: int, confidence: Fraction) -> float:
        """Hoeffding's bound, or the furthest that an estimate can be off at all where that is less."""
        return min(self.hoeffding(n, confidence), n * max(self.yes, 1 - self.no) / self.gap)

    def interval(self, reported: int, n: int, confidence: Fraction) -> tuple[int, int]:
        """How many of these ``n`` have the property: all numbers that a two-sided exact test does not reject."""
        failure = float(1 - confidence) / 2 * (1 - _FLOAT_SLACK)
        middle = self.estimate(reported, n)
        reach = -float(ndtri(failure)) * self.deviation(n, min(max(middle / n, 0.0), 1.0))
        low = _first(lambda k: self._tail(reported, n, k) > failure, n, middle - reach)
        high = n - _first(lambda k: self._head(reported, n, n - k) > failure, n, n - middle - reach)
        return min(low, high), max(low, high)

    def _tail(self, reported: int, n: int, holders: int) -> float:
        """P(at least ``reported`` reports) when ``holders`` of ``n`` have the property."""
        return _sum_reaches(reported, (holders, self.yes), (n - holders, self.no))

    def _head(self, reported: int, n: int, holders: int) -> float:
        return _sum_reaches(n - reported, (n - holders, 1 - self.no), (holders, 1 - self.yes))

    def population_interval(self, reported: int, n: int, confidence: Fraction) -> tuple[float, float]:
        """The share of the population that the ``n`` were drawn from independently (Clopper and Pearson 1934)."""
        failure, seen = float(1 - confidence) / 2, Proportion(reported, n)
        return self._share(seen.lower(failure) - _FLOAT_SLACK), self._share(seen.upper(failure) + _FLOAT_SLACK)

    def _share(self, rate: float) -> float:
        return min(max((rate - self.no) / self.gap, 0.0), 1.0)


def hoeffding_size(error: Fraction, confidence: Fraction, gap: Fraction) -> int:
    """The least n for which Hoeffding's bound on a mean is at most ``error``: ln(2/β) / (2 error² gap²), rounded up."""
    if error <= 0:
        raise InvalidValue("error must be positive", float(error))
    return math.ceil(ln_up(2 / (1 - confidence)) / (2 * error**2 * gap**2))


def _first(holds: Callable[[int], bool], most: int, near: float) -> int:
    """The least k in 0..most where a condition that turns true once turns true; ``most`` where it never does.

    The search starts ``near`` and widens, because every look costs a sum; where it starts changes nothing else.
    """
    low, high = 0, most
    probe, step = max(min(math.floor(near), most - 1), 0), 1
    while low <= probe < high:
        low, high, probe = (low, probe, probe - step) if holds(probe) else (probe + 1, high, probe + step)
        step *= 2
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle + 1, high)
    return low


def _sum_reaches(target: int, first: tuple[int, float], second: tuple[int, float]) -> float:
    """P(A + B ≥ target) for independent binomial variables A and B."""
    (start, weights), (low, others) = _probabilities(*first), _probabilities(*second)
    tails = np.append(np.cumsum(others[::-1])[::-1], 0.0)  # P(B ≥ low), P(B ≥ low + 1), …, 0
    wanted = target - np.arange(start, start + len(weights)) - low
    return float(np.sum(weights * tails[np.clip(wanted, 0, len(others))]))


def _probabilities(n: int, p: float) -> tuple[int, npt.NDArray[np.float64]]:
    """The least k of a window that holds all of Bin(n, p) but 1e-30, and the probabilities from there on.

    From the likeliest k outwards each is its neighbour times a ratio, so an error of 2^-53 is made once per step.
    """
    centre = min(math.floor((n + 1) * p), n)
    if not 0 < p < 1:
        return centre, np.ones(1)
    reach = math.ceil(_REACH * math.sqrt(n * p * (1 - p))) + 12 * _REACH
    up, down = np.arange(centre, min(centre + reach, n)), np.arange(centre, max(centre - reach, 0), -1)
    odds = p / (1 - p)
    rising = np.cumprod((n - up) / (up + 1) * odds)
    falling = np.cumprod(down / (n - down + 1) / odds)
    weights = np.concatenate([falling[::-1], [1.0], rising])
    return centre - len(falling), weights / weights.sum()
