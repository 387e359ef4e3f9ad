"""The numbers that a reader asks about, checked."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from discreet.errors import InvalidValue
from discreet.exact.rational import Number, integer, positive, probability
from discreet.privacy.loss import Approximate, Pure

__all__ = ["Given"]

_LEAST_EPSILON = Fraction(1, 10**6)
_MOST_EPSILON = 1000
_MOST_FOR_A_GROUP = 10_000
_MOST_PEOPLE = 10**15


@dataclass(frozen=True)
class Given:
    """An ε and whom it is about."""

    epsilon: Fraction
    """The loss of one release to one person."""
    delta: Fraction
    """The probability that the promise does not cover."""
    group: int
    """How many people belong together, such as a family."""
    prior: Fraction
    """What somebody thinks about a person before the answer, as a probability."""
    n: int
    """How many people are in the table."""

    @staticmethod
    def of(epsilon: Number, delta: Number, group: int, prior: Number, n: int) -> Given:
        """The numbers, or a refusal that says which of them is wrong."""
        given = Given(
            _epsilon(epsilon),
            _delta(delta),
            integer(group, "group", least=1),
            _prior(prior),
            integer(n, "n", least=1, most=_MOST_PEOPLE),
        )
        if given.group * given.epsilon > _MOST_FOR_A_GROUP:
            rule = f"group times epsilon must be at most {_MOST_FOR_A_GROUP:,}"
            raise InvalidValue(rule, group, "no promise is left long before that")
        return given

    @property
    def loss(self) -> Pure | Approximate:
        """The promise to one person."""
        return Approximate(self.epsilon, self.delta) if self.delta else Pure(self.epsilon)


def _epsilon(given: Number) -> Fraction:
    epsilon = positive(given, "epsilon")
    if not _LEAST_EPSILON <= epsilon <= _MOST_EPSILON:
        remedy = "0.1 to 5 is usual, and neither noise nor words change beyond these ends"
        raise InvalidValue(f"epsilon must lie from 1e-6 to {_MOST_EPSILON:,} to be explained", given, remedy)
    return epsilon


def _delta(given: Number) -> Fraction:
    delta = probability(given, "delta")
    if delta == 1:
        raise InvalidValue("delta must be below 1", given, "1 promises nothing; 1e-6 is usual")
    return delta


def _prior(given: Number) -> Fraction:
    prior = probability(given, "prior")
    if prior in (0, 1):
        raise InvalidValue("prior must lie strictly between 0 and 1", given, "who is certain learns nothing; try 0.1")
    return prior
