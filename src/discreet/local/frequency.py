"""Frequency oracles: randomizers whose reports each support some categories, so that a crowd can be counted.

A report supports the category of its sender with probability p and any other given category with probability q < p.
If C of n reports support a category, (C/n - q)/(p - q) is an unbiased estimate of its share f, with variance
q(1-q)/(n(p-q)²) + f(1-p-q)/(n(p-q)). Proof sheet: ``frequency.md``.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Hashable, Iterable
from functools import cached_property
from typing import Any

from discreet.errors import InvalidType
from discreet.exact.ball import Ball, lower, working_precision
from discreet.exact.grid import Integers
from discreet.exact.rational import Number, integer, positive, probability
from discreet.local.estimates import Estimates
from discreet.local.randomizer import Estimator, Randomizer
from discreet.local.reports import Columns
from discreet.local.terms import Categories, ReportField, Terms
from discreet.mechanisms.randomized_response import MOST_REPORTS, Debias, hoeffding_size
from discreet.noise.law import open_probability

__all__ = ["FrequencyEstimator", "FrequencyOracle"]


class FrequencyOracle(Randomizer[Estimates]):
    """A randomizer of categories."""

    def __init__(self, epsilon: Number, categories: Iterable[Hashable]) -> None:
        """Choose the price of a report and name the categories."""
        self.epsilon = positive(epsilon, "epsilon")
        self.categories = Categories.named(categories)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.loss!r}, {len(self.categories)} categories)"

    @classmethod
    def from_terms(cls, terms: Terms) -> FrequencyOracle:
        """The randomizer that has these terms."""
        if isinstance(terms.domain, tuple):
            found = cls._from_terms(terms, terms.domain)
            terms.check_same(found.terms)
            return found
        raise InvalidType(f"{cls.kind} needs categories", "<bounds of a number>")

    @classmethod
    def _from_terms(cls, terms: Terms, categories: Iterable[Hashable]) -> FrequencyOracle:
        """The randomizer, before it is compared with the terms."""
        return cls(terms.epsilon, categories)

    @cached_property
    def terms(self) -> Terms:
        """What device and server must agree on."""
        return Terms(self.kind, self.epsilon, self.categories.names, self._layout, tuple(self._parameters.items()))

    @property
    @abstractmethod
    def _layout(self) -> tuple[ReportField, ...]:
        """How a report is written."""

    @property
    def _parameters(self) -> dict[str, str | int]:
        """What must agree beside ε and the categories."""
        return {}

    @abstractmethod
    def rates(self) -> tuple[Ball, Ball, Ball]:
        """p, q and p - q without cancellation, at the working precision."""

    @abstractmethod
    def supports(self, columns: Columns) -> Integers:
        """How many of the reports support each category."""

    def _codes(self, values: Any) -> Integers:
        return self.categories.positions(values)

    def _code(self, value: Any) -> int:
        return int(self.categories.positions([value])[0])

    @cached_property
    def estimator(self) -> FrequencyEstimator:
        """What reads the reports."""
        return FrequencyEstimator(self)

    @cached_property
    def debias(self) -> Debias:
        """p, q and p - q as floats."""
        with working_precision():
            return Debias(*map(float, self.rates()))


class FrequencyEstimator(Estimator[Estimates]):
    """Counts of support, corrected for those that chance gave."""

    randomizer: FrequencyOracle

    def _estimate(self, columns: Columns, n: int) -> Estimates:
        oracle = self.randomizer
        return Estimates(oracle.categories.names, oracle.supports(columns), n, oracle.debias)

    def variance(self, n: int, share: Number = 0) -> float:
        """The variance of one estimated share over ``n`` reports, where the true share is ``share``."""
        size = integer(n, "n", least=1, most=MOST_REPORTS)
        return (self.randomizer.debias.deviation(size, float(probability(share, "share"))) / size) ** 2

    def standard_deviation(self, n: int, share: Number = 0) -> float:
        """The standard deviation of one estimated share over ``n`` reports."""
        return math.sqrt(self.variance(n, share))

    def error(self, n: int, confidence: Number = 0.95) -> float:
        """How far one estimated share may be off, by Hoeffding's bound, whatever the truth."""
        size = integer(n, "n", least=1, most=MOST_REPORTS)
        return self.randomizer.debias.error(size, open_probability(confidence, "confidence")) / size

    def sample_size(
        self,
        *,
        standard_deviation: Number | None = None,
        error: Number | None = None,
        confidence: Number = 0.95,
    ) -> int:
        """How many answers make one share this exact, whatever the truth.

        By the ``standard_deviation`` of the estimate, or by an ``error`` that is exceeded with probability at most
        1 - ``confidence`` (Hoeffding).
        """
        if (standard_deviation is None) is (error is None):
            raise InvalidType("sample_size takes standard_deviation= or error=", "<both or neither>")
        if standard_deviation is not None:
            worst = max(self.variance(1, share) for share in (0, 1))
            return math.ceil(worst / float(positive(standard_deviation, "standard_deviation")) ** 2)
        with working_precision():
            gap = lower(self.randomizer.rates()[2])
        return hoeffding_size(positive(error or 0, "error"), open_probability(confidence, "confidence"), gap)
