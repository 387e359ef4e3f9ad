"""What can be believed about me after an answer, for whoever knows every other record.

Without δ, every answer moves the odds of two neighbouring tables by at most e^ε: two values of my record where they
differ in one record (replace-one), my record there or not where one has a record more (add-remove-one). There two
values of my record are two steps apart, one record out and one in, and the odds move by at most e^2ε, as for a group of
two people. A histogram with Laplace noise reaches that.

With δ above 0 some answers may move them by any factor. What then holds is this. Let P and Q be the laws of the answer
for two neighbours, and B the answers with P > c e^ε Q, for some c > 1. The promise gives
P(B) ≤ e^ε Q(B) + δ ≤ P(B)/c + δ, so P(B) ≤ δ c/(c - 1). By the same argument Q(B') ≤ δ c/(c - 1) for the answers B'
with Q > c e^ε P, and so P(B') ≤ Q(B')/(c e^ε) ≤ δ e^-ε/(c - 1). So whichever is true, the odds move by more than c e^ε
with a probability of at most δ (c + e^-ε)/(c - 1). Here c is 11/10, which makes that δ (11 + 10 e^-ε).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import partial

from discreet.exact.ball import exp_up, ln_up
from discreet.privacy.beliefs import posterior_range
from discreet.privacy.loss import Pure
from discreet.privacy.odds import pure_factor
from discreet.understanding.given import Given

__all__ = ["Belief", "Believing"]

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
        moved = partial(_moved, None if exception >= 1 else loss)
        listed = sorted({*_PRIORS, given.prior})
        spread = [Fraction(part, _CHART) for part in range(_CHART + 1)]
        return Believing(
            None if exception >= 1 else pure_factor(loss),
            min(exception, Fraction(1)),
            tuple(map(moved, listed)),
            tuple(map(moved, spread)),
        )


def _moved(loss: Pure | None, before: Fraction) -> Belief:
    return Belief(before, Fraction(0), Fraction(1)) if loss is None else Belief(before, *posterior_range(before, loss))
