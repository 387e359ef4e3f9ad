"""How many answers it takes until an attacker may know: the same ε, again and again.

Adding up says that m answers cost mε and mδ. The worst mechanism is known as well (Kairouz, Oh, Viswanath 2015): with
probability δ each answer tells all, and else it tells the truth with probability e^ε/(1 + e^ε). The best guess then
follows the majority. For odd m = 2j + 1 the majority is right with probability I_p(j + 1, j + 1), the regularised
incomplete beta function at p = e^ε/(1 + e^ε); an even number of answers is no better than one less. No mechanism of
that loss does worse, also where each question is chosen after seeing the answers before.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from scipy.special import betainc

from discreet.accounting.calibration import most
from discreet.understanding.given import Given
from discreet.understanding.guessing import best_accuracy

__all__ = ["Repeated", "Repetition", "worst_accuracy"]

_TARGETS = (Fraction(3, 4), Fraction(9, 10), Fraction(99, 100))
_SLACK = 1e-6
"""More than the error of the incomplete beta function in floats, so that a count is never too high by it."""
_MOST = 2**62
_DIGITS = 3
_CHART = 24
_CERTAIN = 1000


@dataclass(frozen=True)
class Repetition:
    """How many answers of this loss it takes until the best guess at even odds may be this good."""

    accuracy: Fraction
    """How often the guess is right."""
    by_adding: int
    """The number of answers at which the sum of the losses no longer rules it out."""
    at_worst: int
    """The number of answers with which the worst mechanism reaches it, rounded down to three digits."""


@dataclass(frozen=True)
class Repeated:
    """Many answers of the same loss."""

    repetitions: tuple[Repetition, ...]
    """A few targets."""
    curve: tuple[tuple[int, Fraction, float], ...]
    """Numbers of answers, with the accuracy that adding up allows and the one that the worst mechanism reaches."""

    @staticmethod
    def of(given: Given) -> Repeated:
        """The two counts at each target, and a curve up to the last of them."""
        found = tuple(_repetition(given, target) for target in _TARGETS)
        last = max(found[-1].at_worst, 10)
        numbers = sorted({max(1, round(last ** (part / _CHART))) for part in range(_CHART + 1)})
        return Repeated(found, tuple((m, _allowed(given, m), worst_accuracy(given, m)) for m in numbers))


def worst_accuracy(given: Given, count: int) -> float:
    """How often the best guess is right after ``count`` answers of the worst mechanism."""
    half = float((count - 1) // 2 + 1)
    lie = 1 / (1 + math.exp(min(float(given.epsilon), 700)))  # nobody can tell e^700 from more
    wrong = float(betainc(half, half, lie))
    return 1 - wrong * math.exp(count * math.log1p(-float(given.delta)))


def _allowed(given: Given, count: int) -> Fraction:
    """What adding up allows: all there is, where nothing is promised or its factor is too long to write."""
    if count * given.epsilon > _CERTAIN or count * given.delta >= 1:
        return Fraction(1)
    return best_accuracy(count * given.loss)


def _repetition(given: Given, target: Fraction) -> Repetition:
    return Repetition(
        target,
        _first(lambda m: _allowed(given, m) >= target),
        _rounded_down(_first(lambda m: worst_accuracy(given, m) >= target - _SLACK)),
    )


def _first(reached: Callable[[int], bool]) -> int:
    return most(lambda count: not reached(count), _MOST) + 1


def _rounded_down(count: int) -> int:
    unit: int = 10 ** max(0, len(str(count)) - _DIGITS)
    return count // unit * unit
