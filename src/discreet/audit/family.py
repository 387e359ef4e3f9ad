"""Families of events: each gives scores to the outcomes, and an event is "the score is at least, or at most, so much".

A family sees how often each outcome was drawn in the learning half and nothing of the other half, which alone is used
to prove anything. So a family may try as many scores as it likes: that costs time and never confidence. The score of an
outcome must follow from the outcome itself and from the learning draws: not from its place in the list, nor from
outcomes that `Outcomes.learned` does not mark. They are listed so that a score can be given to them as well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from discreet.audit.outcomes import Outcomes

__all__ = ["Counts", "Family", "Floats", "Learning", "Score"]

Counts = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Learning:
    """What the learning half of the draws shows."""

    outcomes: Outcomes
    """Every different outcome, of both halves and both inputs."""
    first: Counts
    """How often each outcome was drawn for the first input."""
    second: Counts
    """How often each outcome was drawn for the second input."""


@dataclass(frozen=True)
class Score:
    """A number for every outcome; high or low ones may speak for one of the two inputs."""

    values: Floats
    """One number per outcome, in the order of the outcomes; NaN where there is none, which no event then holds."""
    words: str
    """What the number is, such as "the answer" or "the sum of the answers"."""
    phrase: Callable[[npt.NDArray[np.bool_]], str] | None = None
    """The event in words, from the outcomes that it holds; without it "``words`` ≥ threshold"."""


class Family(Protocol):
    """One way of looking at outcomes."""

    @property
    def name(self) -> str:
        """How a report calls it."""

    def scores(self, learning: Learning) -> Iterable[Score]:
        """Scores to try, learned from nothing but this half of the draws."""
