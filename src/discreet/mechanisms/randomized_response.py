"""Randomized response: everybody answers a yes-or-no question, and lies often enough to deny any answer.

Promise. Each report is the truth with probability e^ε/(1+e^ε) and its opposite otherwise, independently for each
respondent. Replacing one respondent's answer costs pure ε, for every ε > 0, every predicate and every number of
respondents, with no trusted curator. Proof sheet: ``randomized_response.md``.

>>> survey = RandomizedResponse.coins()
>>> survey.loss, survey.estimate_mean([1, 1, 0, 1])
(Pure(ε=1.0987, replace-one), 1.0)
>>> survey.sample_size(standard_deviation=0.05)
300
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from discreet.errors import InvalidType, InvalidValue
from discreet.exact.arrays import exact_array
from discreet.exact.ball import lower, upper, working_precision
from discreet.exact.grid import Integers
from discreet.exact.rational import Number, integer, positive
from discreet.mechanisms.debias import MOST_REPORTS, Debias, hoeffding_size
from discreet.mechanisms.distribution import Distribution, FiniteLaw, ProductLaw
from discreet.mechanisms.honesty import Honesty
from discreet.mechanisms.measurement import Measurement
from discreet.noise.law import open_probability
from discreet.noise.source import SYSTEM, Source
from discreet.privacy.loss import Pure
from discreet.privacy.loss_distribution import LossDistribution

__all__ = ["RandomizedResponse"]

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
