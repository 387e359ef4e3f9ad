"""Permute-and-flip: the price of the exponential mechanism, and never a worse choice.

Promise. If neighbouring inputs move the score of every candidate by at most Δ, one choice costs ε of pure
differential privacy, for every ε > 0, Δ > 0 and every finite list; the factor of two for monotone scores comes back as
it does for the exponential mechanism. For every list of scores the score of the choice is stochastically at least
that of the exponential mechanism at the same ε. Proof sheet: ``permute_and_flip.md``.

>>> eyes = PermuteAndFlip(1, ["red", "blue", "green", "brown", "purple"])
>>> print(eyes.distribution({"red": 0, "blue": 4, "green": 3, "brown": 9, "purple": 0}))
brown   0.9253
blue    0.04007
green   0.02404
red     0.005295
purple  0.005295
"""

from __future__ import annotations

import math
from typing import Any

from discreet.errors import InvalidValue
from discreet.exact.ball import BITS, working_precision
from discreet.exact.rational import Number
from discreet.mechanisms.distribution import FiniteLaw, Many
from discreet.mechanisms.selection import ScoresByName, Selection
from discreet.noise.law import open_probability
from discreet.noise.race import ExponentialChoice
from discreet.noise.source import SYSTEM, Source

__all__ = ["PermuteAndFlip"]


_HALVINGS = 200
_MOST_LISTED = 2**11


class PermuteAndFlip(Selection):
    """In random order, flip a coin with P(heads) = e^(factor · (score - best)) for each; the first heads wins."""

    def release(self, value: ScoresByName, *, source: Source = SYSTEM) -> Any:
        """The candidate that was chosen for these scores."""
        return self.releases(value, 1, source=source)[0]

    def releases(self, value: ScoresByName, count: int, *, source: Source = SYSTEM) -> Many:
        """``count`` independent choices for these scores, each at the full price: for audits and studies."""
        names, scores = self._named(value)
        return Many(names, ExponentialChoice(scores, self.factor).sample(count, source))

    def distribution(self, value: ScoresByName) -> FiniteLaw:
        """The exact law of the choice for these scores, in time quadratic in the number of candidates."""
        names, scores = self._named(value)
        if len(names) > _MOST_LISTED:
            rule = f"the law is listed for at most {_MOST_LISTED} candidates"
            raise InvalidValue(rule, len(names), "release has no such limit")
        law = ExponentialChoice(scores, self.factor)
        with working_precision(2 * BITS):
            return FiniteLaw(tuple(names), tuple(law.mass(k) for k in range(len(names))))

    def error(self, confidence: Number = 0.95, candidates_count: int | None = None) -> float:
        """How far the choice may fall behind the best score, with this confidence, whatever the scores are.

        This is exact for the worst scores: one best candidate, and all others this far behind it.
        """
        wanted = float(open_probability(confidence, "confidence"))
        count = self._count(candidates_count)
        low, high = 0.0, 1.0
        while _best_wins(high, count) < wanted:
            low, high = high, 2 * high
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            low, high = (low, middle) if _best_wins(middle, count) >= wanted else (middle, high)
        return high / float(self.factor) if _best_wins(0.0, count) < wanted else 0.0


def _best_wins(gap: float, count: int) -> float:
    """P(the best wins) when all others are e^-gap times as likely to show heads: ∫₀¹ (1 - bu)^(n-1) du."""
    b = math.exp(-gap)
    if b == 1.0:
        return 1 / count
    return -math.expm1(count * math.log1p(-b)) / (count * b) if b > 0 else 1.0
