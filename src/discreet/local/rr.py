"""Binary randomized response: the answer to a yes-or-no question, or its opposite.

Promise. A report is the truth with probability e^ε/(1+e^ε), or with a rational probability such as that of two coins
or of a die, and the other answer otherwise: pure ε for every ε > 0. The law, its proof and its sampling are those of
`RandomizedResponse`; here it has terms and reports.

>>> survey = BinaryResponse.coins()
>>> survey.loss, survey.estimator.sample_size(standard_deviation=0.05)
(Pure(ε=1.0987, replace-one), 300)
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable

import numpy as np

from discreet.errors import InvalidValue
from discreet.exact.ball import Ball
from discreet.exact.grid import Integers
from discreet.exact.rational import Number
from discreet.local.frequency import FrequencyOracle
from discreet.local.layout import Field
from discreet.local.terms import Terms
from discreet.local.upload import Columns
from discreet.mechanisms.distribution import FiniteLaw
from discreet.mechanisms.randomized_response import RandomizedResponse
from discreet.noise.source import Stream

__all__ = ["BinaryResponse"]

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
    def _layout(self) -> tuple[Field, ...]:
        return (Field("answer", "u1"),)

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
