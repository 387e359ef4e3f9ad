"""Report noisy max: add integer noise to every score, say which one came out largest.

Promise. If neighbouring inputs move every integer score by at most Δ, the position of the largest score after
discrete Laplace noise of scale 2Δ/ε costs ε of pure differential privacy, for every ε > 0, every integer Δ ≥ 1, any
number of scores, and ties that go to the lowest position. For ``monotone`` scores the scale Δ/ε costs the same.
Proof sheet: ``noisy_max.md``.

>>> visits = NoisyMax(1, monotone=True)
>>> print(visits.distribution([12, 9, 11]))
0  0.8083
2  0.1688
1  0.0229
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from discreet.errors import InvalidType, InvalidValue
from discreet.exact.ball import BITS, Ball, ball, working_precision
from discreet.exact.grid import Integers, exact_array, holds_integers
from discreet.exact.rational import Number
from discreet.mechanisms.distribution import FiniteLaw, Many
from discreet.mechanisms.gaussian import turning_point
from discreet.mechanisms.random_privacy import SampledBound
from discreet.mechanisms.selection import ScoresByName, Selection
from discreet.noise.laplace import DiscreteLaplace
from discreet.noise.law import is_at_least, open_probability
from discreet.noise.source import SYSTEM, Source
from discreet.privacy.sensitivity import Sensitivity

__all__ = ["NoisyMax"]


_MOST_TERMS = 2**20


class NoisyMax(Selection):
    """The position of the largest noisy score; the lowest position where several are largest."""

    def __init__(
        self,
        epsilon: Number,
        sensitivity: Number | Sensitivity | SampledBound = 1,
        monotone: bool = False,
        *,
        candidates: Iterable[Hashable] | None = None,
    ) -> None:
        """Choose the price ``epsilon``; ``candidates`` are names for the positions, if they have names."""
        super().__init__(epsilon, candidates, sensitivity=sensitivity, monotone=monotone)
        if self.sensitivity.denominator != 1:
            rule = "sensitivity must be a whole number, since the scores are"
            raise InvalidValue(rule, self.sensitivity, "round it down: integers that move by less than 3/2 move by 1")
        self._law = DiscreteLaplace(1 / self.factor)

    @property
    def law(self) -> DiscreteLaplace:
        """The noise on each score."""
        return self._law

    def release(self, value: ScoresByName, *, source: Source = SYSTEM) -> Any:
        """The candidate whose noisy score is largest."""
        return self.releases(value, 1, source=source)[0]

    def releases(self, value: ScoresByName, count: int, *, source: Source = SYSTEM) -> Many:
        """``count`` independent choices for these scores, each at the full price: for audits and studies."""
        names, scores = self._whole(value)
        noise = self._law.draw(count * len(scores), source.open()).reshape(count, len(scores))
        return Many(names, np.argmax(scores + noise, axis=1))

    def distribution(self, value: ScoresByName) -> FiniteLaw:
        """The exact law of the choice, summed over the winner's noisy score; what is cut off is inside the balls."""
        names, scores = self._whole(value)
        centres = [int(score) for score in scores]
        with working_precision(2 * BITS):
            return FiniteLaw(tuple(names), tuple(_wins(self._law, centres)))

    def error(self, confidence: Number = 0.95, candidates_count: int | None = None) -> int:
        """How far the choice may fall behind the best score, with this confidence, whatever the scores are.

        A union bound over the candidates, each with the exact law of the difference of two draws of the noise.
        """
        wanted = open_probability(confidence, "confidence")
        rivals = self._count(candidates_count) - 1

        def is_rare(gap: int) -> bool:
            return is_at_least(lambda: 1 - rivals * self._overtakes(gap), wanted)

        return turning_point(is_rare) - 1

    def _overtakes(self, gap: int) -> Ball:
        """P(Y - Y' ≥ gap) for two draws of the noise and gap ≥ 0."""
        r = (-ball(self.factor)).exp()
        start = gap + (1 + r**2) / (1 - r**2)
        return ((1 - r) / (1 + r)) ** 2 * r**gap * (start / (1 - r) + r / (1 - r) ** 2)

    def _whole(self, scores: ScoresByName) -> tuple[Sequence[Hashable], Integers]:
        names, _ = self._named(scores)
        array = exact_array([scores[n] for n in names] if isinstance(scores, Mapping) else scores, "scores")
        if not holds_integers(array):
            remedy = "count in steps of a grid, or use Exponential, which takes any scores"
            raise InvalidType("scores must be integers", f"<{array.dtype}>", remedy)
        return names, array.astype(np.int64)


def _wins(law: DiscreteLaplace, scores: list[int]) -> list[Ball]:
    """P(position i wins) for each i: Σ_v P(score i lands on v) · P(earlier ones below v) · P(later ones at most v)."""
    reach = int(law.scale * BITS) + 1
    low, high = min(scores) - reach, max(scores) + reach
    if (high - low) * len(scores) > _MOST_TERMS:
        rule = f"the law is summed over at most {_MOST_TERMS} terms"
        raise InvalidValue(rule, (high - low) * len(scores), "release has no such limit")
    offsets = range(low - 1 - max(scores), high - min(scores) + 1)
    at_most = {d: law.below(d) for d in offsets}
    exactly = {d: law.mass(d) for d in offsets}
    found = [_rest(law, scores, k, low, high) for k in range(len(scores))]
    for v in range(low, high + 1):
        rivals = _products([at_most[v - 1 - s] for s in scores], [at_most[v - s] for s in scores])
        for k, beaten in enumerate(rivals):
            found[k] += exactly[v - scores[k]] * beaten
    return found


def _products(before: list[Ball], at_most: list[Ball]) -> list[Ball]:
    """For each k the product of ``before`` left of k and of ``at_most`` right of k."""
    rights = [Ball(1)]
    for p in reversed(at_most[1:]):
        rights.append(rights[-1] * p)
    found, left = [], Ball(1)
    for p, right in zip(before, reversed(rights), strict=True):
        found.append(left * right)
        left *= p
    return found


def _rest(law: DiscreteLaplace, scores: list[int], k: int, low: int, high: int) -> Ball:
    """A ball around P(position k wins with a noisy score outside [low, high])."""
    others = (law.below(low - 1 - score) for j, score in enumerate(scores) if j != k)
    under = law.below(low - 1 - scores[k])
    for p in others:
        under *= p
    most = under + law.above(high + 1 - scores[k])
    return Ball(0).union(most)
