"""What taking part may cost me: a bad event that was rare without my record stays rare with it."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from discreet.privacy.odds import possible_probabilities
from discreet.understanding.given import Given

__all__ = ["BadEvent", "Costs"]

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
