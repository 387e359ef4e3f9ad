"""How often a respondent tells the truth: with probability e^ε/(e^ε + k - 1), or with a rational one, exactly.

Whoever does not tell the truth gives one of the other k - 1 answers, each equally likely. A lie is a lazy uniform below
the probability of lying, an irrational number that is read from balls as far as the draw needs.

>>> Honesty.telling("3/4").loss
Pure(ε=1.0987, replace-one)
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import numpy.typing as npt

from discreet.errors import InvalidValue
from discreet.exact.ball import BITS, Ball, ball, current_precision, ln_up, round_up, working_precision
from discreet.exact.rational import Number, integer, positive, rational
from discreet.noise.bernoulli import threshold_of, threshold_of_odds
from discreet.noise.lazy import ThresholdAt, falls_below
from discreet.noise.source import Stream
from discreet.privacy.loss import Pure
from discreet.privacy.neighbours import Neighbours

__all__ = ["Honesty"]


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
