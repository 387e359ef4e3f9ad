"""Randomized response: everybody answers a yes-or-no question, and lies often enough to deny any answer.

Promise. Each report is the truth with probability e^ε/(1+e^ε) and its opposite otherwise, independently for each
respondent. Replacing one respondent's answer costs pure ε, for every ε > 0, every predicate and every number of
respondents, with no trusted curator. Proof sheet: ``randomized_response.md``.

>>> survey = RandomizedResponse.coins()
>>> survey.loss, survey.estimate_mean([1, 1, 0, 1])
(Pure(ε=1.0987, replace-one), 1.0)
>>> survey.sample_size(standard_deviation=0.05)
300

A respondent tells the truth with probability e^ε/(e^ε + k - 1), or with a rational one, exactly. Whoever does not tell
the truth gives one of the other k - 1 answers, each equally likely. A lie is a lazy uniform below the probability of
lying, an irrational number that is read from balls as far as the draw needs.

>>> Honesty.telling("3/4").loss
Pure(ε=1.0987, replace-one)

Randomized reports lead back to the crowd: unbiased counts, their deviations, and intervals that cover as stated. Of n
respondents, those who have a property report it with one rate, the others with a smaller one. The number of reports is
then a sum of two binomial variables, so every statement here is about that law itself and not about a bell curve near
it. Everything here is post-processing: it reads reports, never the truth.

>>> halved = Debias(yes=0.75, no=0.25, gap=0.5)
>>> halved.estimate(60, 100)
70.0
>>> halved.interval(60, 100, Fraction(19, 20))
(53, 88)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri

from discreet.errors import InvalidType, InvalidValue
from discreet.exact.ball import BITS, Ball, ball, current_precision, ln_up, lower, round_up, upper, working_precision
from discreet.exact.binomial import Proportion
from discreet.exact.grid import Integers, exact_array
from discreet.exact.rational import Number, integer, positive, rational
from discreet.mechanisms.distribution import Distribution, FiniteLaw, ProductLaw
from discreet.mechanisms.measurement import Measurement
from discreet.noise.bernoulli import threshold_of, threshold_of_odds
from discreet.noise.law import open_probability
from discreet.noise.source import SYSTEM, Source, Stream
from discreet.noise.uniform import ThresholdAt, falls_below
from discreet.privacy.loss import Pure
from discreet.privacy.loss_distribution import LossDistribution
from discreet.privacy.neighbours import Neighbours

__all__ = ["MOST_REPORTS", "Debias", "Honesty", "RandomizedResponse", "hoeffding_size"]


class Honesty:
    """Truth with one probability, each of the other k - 1 answers with a smaller one."""

    def __init__(self, answers: int, epsilon: Fraction | None, truth: Fraction | None) -> None:
        """Use `priced` or `telling`."""
        self.answers = integer(answers, "answers", least=2, most=2**62)
        self.epsilon = epsilon
        self.truth = truth
        self.lie = _lie(epsilon, truth, Fraction(answers - 1))
        """The probability of another answer than the truth, as far as a draw needs it."""

    @classmethod
    def priced(cls, epsilon: Number, answers: int = 2) -> Honesty:
        """As honest as ``epsilon`` allows: truth with e^ε/(e^ε + k - 1), the best that k answers can do."""
        return cls(answers, positive(epsilon, "epsilon"), None)

    @classmethod
    def telling(cls, truth: Number, answers: int = 2) -> Honesty:
        """Truth with the rational probability ``truth``, which must be above that of every other answer."""
        rate = rational(truth, "truth")
        integer(answers, "answers", least=2)
        if not Fraction(1, answers) < rate < 1:
            rule = f"truth must lie strictly between 1/{answers} and 1"
            raise InvalidValue(rule, truth, "at 1 nothing is hidden, at the lower end nothing is said")
        return cls(answers, None, rate)

    @property
    def loss(self) -> Pure:
        """ε as it was asked for, or the logarithm of the odds between the truth and another answer, rounded up."""
        if self.truth is None:
            return Pure(self.epsilon or 0, Neighbours.REPLACE_ONE)
        least = round_up(ln_up(self.truth * (self.answers - 1) / (1 - self.truth)))
        return Pure(least, Neighbours.REPLACE_ONE)

    def rates(self) -> tuple[Ball, Ball, Ball]:
        """P(the truth is told), P(one given other answer), and their difference, without cancellation."""
        with working_precision(max(BITS, current_precision())):
            if self.truth is not None:
                other = (1 - self.truth) / (self.answers - 1)
                return ball(self.truth), ball(other), ball(self.truth - other)
            shrunk = (-ball(self.epsilon or 0)).exp()
            total = 1 + (self.answers - 1) * shrunk
            return 1 / total, shrunk / total, -(-ball(self.epsilon or 0)).expm1() / total

    def lies(self, count: int, stream: Stream) -> npt.NDArray[np.bool_]:
        """For each of ``count`` respondents, whether to give another answer than the truth."""
        return falls_below(stream.words(count), self.lie, stream)


def _lie(epsilon: Fraction | None, truth: Fraction | None, others: Fraction) -> ThresholdAt:
    """(k-1)/(e^ε + k-1), or one less the truth."""
    return threshold_of(1 - (truth or Fraction(0))) if epsilon is None else threshold_of_odds(epsilon, others)


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


Predicate = Callable[[Any], Any]


class RandomizedResponse(Measurement):
    """One bit per respondent, flipped with probability 1/(1+e^ε)."""

    def __init__(self, epsilon: Number) -> None:
        """Choose the price ``epsilon``; ``coins``, ``die`` and ``truth`` start from a probability instead."""
        self.honesty = Honesty.priced(epsilon)

    @classmethod
    def truth(cls, p: Number) -> RandomizedResponse:
        """Truth with the rational probability ``p``, strictly between 1/2 and 1; costs ln(p/(1-p))."""
        response = cls.__new__(cls)
        response.honesty = Honesty.telling(p)
        return response

    @classmethod
    def coins(cls) -> RandomizedResponse:
        """Two coins: heads, tell the truth; tails, answer as the second coin says. Truth 3/4, loss ln 3."""
        return cls.truth(Fraction(3, 4))

    @classmethod
    def die(cls) -> RandomizedResponse:
        """One die: tell the truth on 1 to 4, the opposite on 5 and 6. Truth 2/3, loss ln 2."""
        return cls.truth(Fraction(2, 3))

    def __repr__(self) -> str:
        if self.honesty.truth is not None:
            return f"RandomizedResponse.truth({str(self.honesty.truth)!r})"
        return f"RandomizedResponse(epsilon={self.honesty.epsilon})"

    @cached_property
    def loss(self) -> Pure:
        """Pure ε for one report of each respondent, under replace-one."""
        return self.honesty.loss

    def release(self, value: Any, predicate: Predicate | None = None, *, source: Source = SYSTEM) -> int | Integers:
        """A report of 0 or 1 for each answer, in the shape they came in; ``predicate`` turns records into answers."""
        bits = _bits(value, predicate)
        reports = self._reports(bits, 1, source)[0]
        return reports if bits.ndim else int(reports)

    def releases(self, value: Any, count: int, *, source: Source = SYSTEM) -> Integers:
        """``count`` independent releases, one in each row, each at the full price: for audits and studies."""
        return self._reports(_bits(value, None), count, source)

    def _reports(self, bits: Integers, count: int, source: Source) -> Integers:
        lies = self.honesty.lies(count * bits.size, source.open()).reshape(count, *bits.shape)
        reports: Integers = bits ^ lies
        return reports

    def distribution(self, value: Any, predicate: Predicate | None = None) -> Distribution:
        """The exact law of the report or, for several answers, of the reports side by side."""
        bits = _bits(value, predicate)
        truth, lie, _ = self.honesty.rates()
        of_no, of_yes = FiniteLaw((0, 1), (truth, lie)), FiniteLaw((0, 1), (lie, truth))
        laws = tuple(of_yes if bit else of_no for bit in bits.ravel())
        return ProductLaw(laws) if bits.ndim else laws[0]

    def loss_distribution(self) -> LossDistribution:
        """The privacy-loss distribution: ±ε."""
        return LossDistribution.two_point(self.loss.epsilon, neighbours=self.loss.neighbours)

    # What the reports say about the crowd.

    def estimate_sum(self, reports: npt.ArrayLike) -> float:
        """How many said yes in truth; unbiased, so it may fall below 0 or above the number of reports."""
        bits = _bits(reports, None)
        return self._debias.estimate(int(bits.sum()), bits.size)

    def estimate_mean(self, reports: npt.ArrayLike) -> float:
        """The share that said yes in truth; unbiased."""
        return self.estimate_sum(reports) / _at_least_one(_bits(reports, None)).size

    def interval(self, reports: npt.ArrayLike, confidence: Number = 0.95) -> tuple[float, float]:
        """The share among those who answered: covers the truth with at least this confidence, for any truth."""
        bits = _at_least_one(_bits(reports, None))
        low, high = self._debias.interval(int(bits.sum()), bits.size, open_probability(confidence, "confidence"))
        return low / bits.size, high / bits.size

    def population_interval(self, reports: npt.ArrayLike, confidence: Number = 0.95) -> tuple[float, float]:
        """The share in the population from which the respondents were drawn independently."""
        bits = _at_least_one(_bits(reports, None))
        wanted = open_probability(confidence, "confidence")
        return self._debias.population_interval(int(bits.sum()), bits.size, wanted)

    def standard_deviation(self, n: int) -> float:
        """e^(ε/2)/(e^ε - 1) · √n, the deviation of `estimate_sum` over ``n`` reports, whatever the truth."""
        return math.sqrt(integer(n, "n", least=0, most=MOST_REPORTS) * self._spread)

    def error(self, confidence: Number = 0.95, reports: int = 1) -> float:
        """How far `estimate_sum` over ``reports`` may be off: Hoeffding's √(n ln(2/β)/2) (e^ε+1)/(e^ε-1), at most."""
        n = integer(reports, "reports", least=1, most=MOST_REPORTS)
        return self._debias.error(n, open_probability(confidence, "confidence"))

    def sample_size(
        self,
        *,
        standard_deviation: Number | None = None,
        error: Number | None = None,
        confidence: Number = 0.95,
    ) -> int:
        """How many respondents `estimate_mean` needs: n(α, ε) = e^ε/((e^ε - 1)² α²), about 1/(αε)² for small ε.

        Halving α takes four times as many, and so does halving a small ε. With ``error`` instead, as many as make the
        mean that exact with this ``confidence``, by Hoeffding's bound.
        """
        if (standard_deviation is None) is (error is None):
            raise InvalidType("sample_size takes standard_deviation= or error=", "<both or neither>")
        if standard_deviation is not None:
            return math.ceil(self._spread / positive(standard_deviation, "standard_deviation") ** 2)
        with working_precision():
            gap = lower(self.honesty.rates()[2])
        return hoeffding_size(positive(error or 0, "error"), open_probability(confidence, "confidence"), gap)

    @cached_property
    def _spread(self) -> Fraction:
        """The variance of one debiased report, p(1-p)/(2p-1)²; exact for a rational p, else rounded up."""
        p = self.honesty.truth
        if p is not None:
            return p * (1 - p) / (2 * p - 1) ** 2
        with working_precision():
            truth, lie, gap = self.honesty.rates()
            return upper(truth * lie / gap**2)

    @cached_property
    def _debias(self) -> Debias:
        return Debias(*map(float, self.honesty.rates()))


def _bits(value: Any, predicate: Predicate | None) -> Integers:
    """Answers as zeros and ones. Nothing else is let through, because a 2 would be flipped into something else."""
    if predicate is not None:
        is_many = isinstance(value, Iterable) and not isinstance(value, (str, bytes, dict))
        value = [predicate(record) for record in value] if is_many else predicate(value)
    array = exact_array(value, "answers")
    if array.size == 0:
        return np.zeros(array.shape, np.int64)
    if array.dtype.kind not in "biu":
        remedy = "compare first, or pass a predicate"
        raise InvalidType("answers must be True and False, or 1 and 0", f"<{array.dtype}>", remedy)
    if not ((array == 0) | (array == 1)).all():
        raise InvalidValue("answers must be 0 or 1", "<another number>", "pass a predicate that says yes or no")
    return array.astype(np.int64)


def _at_least_one(bits: Integers) -> Integers:
    if bits.size == 0:
        raise InvalidValue("a share needs at least one report", "<none>")
    return bits
