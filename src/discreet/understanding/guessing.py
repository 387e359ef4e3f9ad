"""How well anybody can tell whether my record was used."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from discreet.privacy.error_region import ErrorRegion
from discreet.privacy.loss import Loss
from discreet.understanding.given import Given

__all__ = ["Detection", "Guessing", "best_accuracy"]

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
