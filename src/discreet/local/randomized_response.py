"""Randomized response as reports: of a yes-or-no question, or of one of several categories.

The binary one is the answer to a yes-or-no question, or its opposite.

Promise. A report is the truth with probability e^ε/(1+e^ε), or with a rational probability such as that of two coins
or of a die, and the other answer otherwise: pure ε for every ε > 0. The law, its proof and its sampling are those of
`RandomizedResponse`; here it has terms and reports.

>>> survey = BinaryResponse.coins()
>>> survey.loss, survey.estimator.sample_size(standard_deviation=0.05)
(Pure(ε=1.0987, replace-one), 300)

The generalised one is the answer itself, or another one.

Promise. A report is the true category with probability e^ε/(e^ε + k - 1) and one given other category with probability
1/(e^ε + k - 1): pure ε for every ε > 0 and every list of k ≥ 2 categories. The law, its proof and its sampling are
those of `CategoricalResponse`; here it has terms and reports. Best where k < 3e^ε + 2.

>>> party = GeneralizedResponse(1, ["red", "green", "blue"])
>>> party.loss, party.terms.bytes_each
(Pure(ε=1, replace-one), 1)
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable

import numpy as np

from discreet.errors import InvalidValue
from discreet.exact.ball import Ball
from discreet.exact.grid import Integers
from discreet.exact.rational import Number
from discreet.local.frequency import FrequencyOracle
from discreet.local.reports import Columns
from discreet.local.terms import ReportField, Terms, smallest_unsigned
from discreet.mechanisms.distribution import FiniteLaw
from discreet.mechanisms.k_randomized_response import CategoricalResponse
from discreet.mechanisms.randomized_response import RandomizedResponse
from discreet.noise.source import Stream

__all__ = ["BinaryResponse", "GeneralizedResponse"]


_NO_AND_YES = (False, True)


class BinaryResponse(FrequencyOracle):
    """One of two answers, the true one or the other."""

    kind = "rr"

    def __init__(self, epsilon: Number, categories: Iterable[Hashable] = _NO_AND_YES) -> None:
        """Choose the price of a report; the two answers are False and True unless they are named."""
        super().__init__(epsilon, categories)
        if len(self.categories) != 2:
            rule, remedy = "a binary question has two answers", "use GeneralizedResponse for more"
            raise InvalidValue(rule, len(self.categories), remedy)
        self.response = RandomizedResponse(self.epsilon)

    @classmethod
    def truth(cls, p: Number, categories: Iterable[Hashable] = _NO_AND_YES) -> BinaryResponse:
        """Truth with the rational probability ``p``, strictly between 1/2 and 1; costs ln(p/(1-p))."""
        response = RandomizedResponse.truth(p)
        found = cls(response.loss.epsilon, categories)
        found.response = response
        return found

    @classmethod
    def coins(cls, categories: Iterable[Hashable] = _NO_AND_YES) -> BinaryResponse:
        """Two coins: heads, tell the truth; tails, answer as the second coin says. Truth 3/4, loss ln 3."""
        return cls.truth("3/4", categories)

    @classmethod
    def die(cls, categories: Iterable[Hashable] = _NO_AND_YES) -> BinaryResponse:
        """One die: tell the truth on 1 to 4, the opposite on 5 and 6. Truth 2/3, loss ln 2."""
        return cls.truth("2/3", categories)

    @classmethod
    def _from_terms(cls, terms: Terms, categories: Iterable[Hashable]) -> BinaryResponse:
        given = dict(terms.parameters)
        return cls.truth(given["truth"], categories) if "truth" in given else cls(terms.epsilon, categories)

    @property
    def _layout(self) -> tuple[ReportField, ...]:
        return (ReportField("answer", "u1"),)

    @property
    def _parameters(self) -> dict[str, str | int]:
        truth = self.response.honesty.truth
        return {} if truth is None else {"truth": str(truth)}

    def rates(self) -> tuple[Ball, Ball, Ball]:
        """The truth, the lie and their difference."""
        return self.response.honesty.rates()

    def _draw(self, codes: Integers, stream: Stream) -> Columns:
        return {"answer": (codes ^ self.response.honesty.lies(codes.size, stream)).astype(np.uint8)}

    def law(self, value: Hashable) -> FiniteLaw:
        """0 and 1 with their probabilities."""
        law = self.response.distribution(self._code(value))
        return FiniteLaw((0, 1), (law.mass(0), law.mass(1)))

    def supports(self, columns: Columns) -> Integers:
        """How many reports give each answer."""
        return np.bincount(columns["answer"], minlength=2)

    def _are_possible(self, columns: Columns) -> bool:
        return int(columns["answer"].max(initial=0)) <= 1


_TOGETHER = 1 << 15  # people at a time, so that their numbers stay in the cache


class GeneralizedResponse(FrequencyOracle):
    """The position of one category, the true one or another."""

    kind = "grr"

    def __init__(self, epsilon: Number, categories: Iterable[Hashable]) -> None:
        """Choose the price of a report and name the categories."""
        super().__init__(epsilon, categories)
        self.response = CategoricalResponse(self.epsilon, self.categories.names)

    @classmethod
    def truth(cls, p: Number, categories: Iterable[Hashable]) -> GeneralizedResponse:
        """Truth with the rational probability ``p``, strictly between 1/k and 1; costs ln(p (k-1)/(1-p))."""
        response = CategoricalResponse.truth(p, categories)
        found = cls(response.loss.epsilon, categories)
        found.response = response
        return found

    @classmethod
    def _from_terms(cls, terms: Terms, categories: Iterable[Hashable]) -> GeneralizedResponse:
        given = dict(terms.parameters)
        return cls.truth(given["truth"], categories) if "truth" in given else cls(terms.epsilon, categories)

    @property
    def _layout(self) -> tuple[ReportField, ...]:
        return (ReportField("position", smallest_unsigned(len(self.categories))),)

    @property
    def _parameters(self) -> dict[str, str | int]:
        truth = self.response.honesty.truth
        return {} if truth is None else {"truth": str(truth)}

    def rates(self) -> tuple[Ball, Ball, Ball]:
        """e^ε/(e^ε + k - 1), 1/(e^ε + k - 1) and their difference."""
        return self.response.honesty.rates()

    def _draw(self, codes: Integers, stream: Stream) -> Columns:
        field = self._layout[0]
        reports = np.empty(len(codes), field.dtype)
        for start in range(0, len(codes), _TOGETHER):
            part = slice(start, start + _TOGETHER)
            reports[part] = self.response.respond(codes[part], stream)
        return {field.name: reports}

    def law(self, value: Hashable) -> FiniteLaw:
        """Each position with its probability."""
        names = self.categories.names
        law = self.response.distribution(names[self._code(value)])
        return FiniteLaw(tuple(range(len(names))), tuple(map(law.mass, names)))

    def supports(self, columns: Columns) -> Integers:
        """How many reports name each category."""
        return np.bincount(columns["position"], minlength=len(self.categories))

    def _are_possible(self, columns: Columns) -> bool:
        return int(columns["position"].max(initial=0)) < len(self.categories)
