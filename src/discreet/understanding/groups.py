"""What is promised to several people together, such as a family, or to one person with several records."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from discreet.errors import InvalidValue
from discreet.exact.ball import exp_up
from discreet.privacy.loss import Approximate
from discreet.understanding.given import Given
from discreet.understanding.guessing import best_accuracy

__all__ = ["Group", "groups"]

_SIZES = (1, 2, 4, 10)


@dataclass(frozen=True)
class Group:
    """The promise to a group."""

    size: int
    """How many people, or records of one person."""
    epsilon: Fraction
    """ε times the size."""
    delta: Fraction
    """δ (e^(kε) - 1)/(e^ε - 1), rounded up."""
    factor: Fraction
    """e to that ε, rounded up."""
    accuracy: Fraction
    """How often the best guess whether the group's records were used is right at even odds, rounded up."""


def groups(given: Given) -> tuple[Group, ...]:
    """A few sizes, and the reader's own."""
    return tuple(_group(given, size) for size in sorted({*_SIZES, given.group}))


def _group(given: Given, size: int) -> Group:
    try:
        loss = given.loss.group(size)
    except InvalidValue:  # the δ of the group reaches 1: nothing is promised to it
        return Group(size, size * given.epsilon, Fraction(1), exp_up(size * given.epsilon), Fraction(1))
    delta = loss.delta if isinstance(loss, Approximate) else Fraction(0)
    return Group(size, loss.epsilon, delta, exp_up(loss.epsilon), best_accuracy(loss))
