"""With and without my record: the answers that a noisy count may give, side by side."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from discreet.exact.ball import exp_up
from discreet.mechanisms.laplace import Laplace
from discreet.understanding.given import Given

__all__ = ["TwoLaws"]

_WITHOUT = 100
_REACH = 4
"""How far the listed answers lie from the count, in scales of the noise."""
_MOST_STEPS = 30
"""At most this many answers are listed on either side."""


@dataclass(frozen=True)
class TwoLaws:
    """The law of a noisy count of people, when my record is not in the table and when it is."""

    without: int
    """The count without my record; with it, the count is one more."""
    answers: tuple[int, ...]
    """Answers near the count, rising, equally far apart."""
    chance_without: tuple[float, ...]
    """How likely each answer is without my record."""
    chance_with: tuple[float, ...]
    """How likely each answer is with my record."""
    factor: Fraction
    """e^ε rounded up: no answer is more than this many times likelier, or less likely, with my record than without."""

    @staticmethod
    def of(given: Given) -> TwoLaws:
        """The laws of the Laplace mechanism, which costs ε and needs no δ."""
        law = Laplace(given.epsilon).law
        reach = max(_REACH, math.ceil(_REACH / given.epsilon))
        step = -(-reach // _MOST_STEPS)
        answers = np.arange(_WITHOUT - step * (reach // step), _WITHOUT + reach + 2, step)
        return TwoLaws(
            _WITHOUT,
            tuple(map(int, answers)),
            tuple(map(float, law.pmf(answers - _WITHOUT))),
            tuple(map(float, law.pmf(answers - _WITHOUT - 1))),
            exp_up(given.epsilon),
        )
