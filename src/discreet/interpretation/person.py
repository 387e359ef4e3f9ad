"""What a promise means for me: what can be believed about me, who can tell that I took part, and what it may cost me.

The first is for whoever knows every other record. Without δ, every answer moves the odds of two neighbouring tables by
at most e^ε: two values of my record where they differ in one record (replace-one), my record there or not where one has
a record more (add-remove-one). There two values of my record are two steps apart, one record out and one in, and the
odds move by at most e^2ε, as for a group of two people. A histogram with Laplace noise reaches that.

With δ above 0 some answers may move them by any factor. What then holds is this. Let P and Q be the laws of the answer
for two neighbours, and B the answers with P > c e^ε Q, for some c > 1. The promise gives
P(B) ≤ e^ε Q(B) + δ ≤ P(B)/c + δ, so P(B) ≤ δ c/(c - 1). By the same argument Q(B') ≤ δ c/(c - 1) for the answers B'
with Q > c e^ε P, and so P(B') ≤ Q(B')/(c e^ε) ≤ δ e^-ε/(c - 1). So whichever is true, the odds move by more than c e^ε
with a probability of at most δ (c + e^-ε)/(c - 1). Here c is 11/10, which makes that δ (11 + 10 e^-ε).

A bad event that was rare without my record stays rare with it. But a mechanism that publishes every record in the clear
with probability δ keeps the promise. Several people together, such as a family, or one person with several records, are
promised less.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import partial

from discreet.errors import InvalidValue
from discreet.exact.ball import ball, exp_up, ln_up, upper, working_precision
from discreet.interpretation.given import Given
from discreet.privacy.hypothesis_tests import ErrorRegion, possible_probabilities, pure_factor
from discreet.privacy.loss import Approximate, Loss, Pure
from discreet.privacy.meaning import posterior_range

__all__ = [
    "BadEvent",
    "Belief",
    "Believing",
    "Costs",
    "Detection",
    "Exposure",
    "Group",
    "Guessing",
    "best_accuracy",
    "groups",
]


_PRIORS = (Fraction(1, 100), Fraction(1, 10), Fraction(1, 2))
_LEEWAY = Fraction(11, 10)
_CHART = 40


@dataclass(frozen=True)
class Belief:
    """A belief before the answer, and the range in which it is afterwards."""

    before: Fraction
    """The probability before."""
    low: Fraction
    """The least afterwards, rounded down."""
    high: Fraction
    """The most afterwards, rounded up."""


@dataclass(frozen=True)
class Believing:
    """How far answers move beliefs about my record."""

    factor: Fraction | None
    """The most by which an answer multiplies or divides the odds, rounded up; None where δ leaves no limit."""
    exception: Fraction
    """The probability of answers that move them further, at most; 0 where δ is 0."""
    beliefs: tuple[Belief, ...]
    """The ranges for a few beliefs and the reader's own."""
    curve: tuple[Belief, ...]
    """The ranges for beliefs from 0 to 1."""

    @staticmethod
    def of(given: Given) -> Believing:
        """The ranges; with δ above 0 a slightly larger factor, but for answers with a small probability."""
        loss, exception = Pure(given.epsilon), Fraction(0)
        if given.delta:
            loss = Pure(given.epsilon + ln_up(_LEEWAY))
            exception = given.delta * (_LEEWAY + exp_up(-given.epsilon)) / (_LEEWAY - 1)
        moved = partial(_move, None if exception >= 1 else loss)
        listed = sorted({*_PRIORS, given.prior})
        spread = [Fraction(part, _CHART) for part in range(_CHART + 1)]
        return Believing(
            None if exception >= 1 else pure_factor(loss),
            min(exception, Fraction(1)),
            tuple(map(moved, listed)),
            tuple(map(moved, spread)),
        )


def _move(loss: Pure | None, before: Fraction) -> Belief:
    return Belief(before, Fraction(0), Fraction(1)) if loss is None else Belief(before, *posterior_range(before, loss))


_FALSE_ALARMS = (Fraction(1, 100), Fraction(5, 100), Fraction(10, 100))


@dataclass(frozen=True)
class Detection:
    """How often the use of a record is seen by a test that is rarely wrong the other way."""

    false_alarms: Fraction
    """How often the test says "used" of a record that was not."""
    caught: Fraction
    """How often it says "used" of one that was, at most; rounded up."""


@dataclass(frozen=True)
class Guessing:
    """What the promise leaves to every test, whoever makes it, whatever they know and however long they compute."""

    accuracy: Fraction
    """How often the best guess is right where used and not used are equally likely: (e^ε + δ)/(1 + e^ε), rounded up."""
    detections: tuple[Detection, ...]
    """The best tests at a few rates of false alarms."""
    corners: tuple[tuple[Fraction, Fraction], ...]
    """Rates of false alarms and of misses that no test beats, rounded down; lines between them are the limit."""

    @staticmethod
    def of(given: Given) -> Guessing:
        """The limits of an (ε, δ) loss, all of them reached by some mechanism."""
        region = ErrorRegion(given.loss)
        both = region.least_error_sum() / 2
        return Guessing(
            best_accuracy(given.loss),
            tuple(Detection(rate, 1 - region.least_false_negative(rate)) for rate in _FALSE_ALARMS),
            ((Fraction(0), 1 - given.delta), (both, both), (1 - given.delta, Fraction(0))),
        )


def best_accuracy(loss: Loss) -> Fraction:
    """How often the best guess at even odds is right, rounded up: one minus the mean of the two errors."""
    return 1 - ErrorRegion(loss).least_error_sum() / 2


_CHANCES = (Fraction(1, 1000), Fraction(1, 100), Fraction(1, 10), Fraction(1, 2))
_STAKE = 10_000


@dataclass(frozen=True)
class BadEvent:
    """The chance of something bad that follows from the answer, such as a higher premium."""

    without_me: Fraction
    """Its probability when my record is not used."""
    low: Fraction
    """The least with my record, rounded down."""
    high: Fraction
    """The most with my record, rounded up."""


@dataclass(frozen=True)
class Costs:
    """Bad events with and without my record, and what they cost on average."""

    stake: int
    """What the bad event costs."""
    events: tuple[BadEvent, ...]
    """Events of a few probabilities."""

    @staticmethod
    def of(given: Given) -> Costs:
        """The ranges that the definition leaves, all of them reached by some mechanism."""
        return Costs(
            _STAKE, tuple(BadEvent(chance, *possible_probabilities(chance, given.loss)) for chance in _CHANCES)
        )


_RARE = Fraction(1, 100)


@dataclass(frozen=True)
class Exposure:
    """The records that the worst mechanism within δ would publish."""

    expected: Fraction
    """How many of the n records, on average: nδ."""
    any: Fraction
    """The probability that it publishes at least one: 1 - (1 - δ)^n, rounded up."""

    @property
    def is_rare(self) -> bool:
        """Whether so few records are published that δ can be called small for n people."""
        return self.expected <= _RARE

    @staticmethod
    def of(given: Given) -> Exposure:
        """For n people."""
        with working_precision():
            some = upper(-(given.n * ball(-given.delta).log1p()).expm1())
        return Exposure(given.n * given.delta, min(some, Fraction(1)))


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
