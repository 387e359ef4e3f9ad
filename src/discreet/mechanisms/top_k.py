"""The k best, in order: one race, and the first k over the line.

Promise. If neighbouring inputs move the score of every candidate by at most Δ, naming k winners in order, each drawn
from those left with probability proportional to e^(ε·score/2kΔ), costs ε of pure differential privacy in total, for
every ε > 0, Δ > 0 and 1 ≤ k ≤ the number of candidates; for ``monotone`` scores e^(ε·score/kΔ) costs the same. Proof
sheet: ``top_k.md``.

>>> best = TopK(1, 2, ["ants", "bees", "cats"])
>>> print(best.distribution([9, 5, 20]))
('cats', 'ants')  0.6723
('cats', 'bees')  0.2473
('ants', 'cats')  0.05744
('bees', 'cats')  0.02033
('ants', 'bees')  0.001351
('bees', 'ants')  0.001299
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from itertools import permutations
from typing import Any

from discreet.errors import InvalidValue
from discreet.exact.ball import BITS, Ball, ball, working_precision
from discreet.exact.grid import Integers
from discreet.exact.rational import Number, integer
from discreet.mechanisms.distribution import FiniteLaw, Many
from discreet.mechanisms.exponential import run_races, worst_shortfall
from discreet.mechanisms.random_privacy import RandomDP, SampledBound
from discreet.mechanisms.selection import ScoresByName, Selection
from discreet.noise.law import open_probability
from discreet.noise.race import ScoreLike, Scores
from discreet.noise.source import SYSTEM, Source, Stream
from discreet.privacy.loss import ZeroConcentrated
from discreet.privacy.sensitivity import Sensitivity

__all__ = ["TopK"]


_MOST_ORDERS = 2**14


class TopK(Selection):
    """k different candidates, best first: k exponential mechanisms of ε/k each, every winner taken off the list."""

    def __init__(
        self,
        epsilon: Number,
        k: int,
        candidates: Iterable[Hashable] | None = None,
        *,
        sensitivity: Number | Sensitivity | SampledBound = 1,
        monotone: bool = False,
    ) -> None:
        """Choose the price ``epsilon`` of all ``k`` winners together."""
        self.picks = integer(k, "k", least=1)
        super().__init__(epsilon, candidates, sensitivity=sensitivity, monotone=monotone)
        if self.candidates is not None:
            self._check_enough(len(self.candidates))

    def release(self, value: ScoresByName, *, source: Source = SYSTEM) -> tuple[Any, ...]:
        """The winners, best first."""
        winners: tuple[Any, ...] = self.releases(value, 1, source=source)[0]
        return winners

    def releases(self, value: ScoresByName, count: int, *, source: Source = SYSTEM) -> Many:
        """``count`` independent lists of winners, each at the full price: for audits and studies."""
        names, scores = self._named(value)
        races = self.pick(scores, count, source.open())
        return Many.of_rows(races, lambda race: tuple(names[k] for k in race))

    def pick(self, scores: ScoreLike | Scores, count: int, stream: Stream) -> Integers:
        """The positions of the winners among these scores, best first, of ``count`` independent races in a row each."""
        self._check_enough(len(scores))
        return run_races(scores, self.factor, self.picks, count, stream)

    def distribution(self, value: ScoresByName) -> FiniteLaw:
        """The exact law of the ordered winners (Plackett and Luce), for short lists."""
        names, scores = self._named(value)
        self._check_enough(len(names))
        if min(self.picks, len(names) - 1) > _MOST_ORDERS or math.perm(len(names), self.picks) > _MOST_ORDERS:
            rule = f"the law is listed for at most {_MOST_ORDERS} orders"
            raise InvalidValue(rule, f"<{self.picks} of {len(names)}>", "release has no such limit")
        orders = list(permutations(range(len(names)), self.picks))
        with working_precision(2 * BITS):
            weights = self._weights(scores)
            masses = tuple(_in_order(weights, order) for order in orders)
        return FiniteLaw(tuple(tuple(names[k] for k in order) for order in orders), masses)

    def error(self, confidence: Number = 0.95, candidates_count: int | None = None) -> float:
        """How far each winner may fall behind the true one of its place, all of them together, whatever the scores.

        The exact bound of one pick at a k-th of the failure probability: a union bound over the picks.
        """
        failure = 1 - open_probability(confidence, "confidence")
        return worst_shortfall(self.factor, self._count(candidates_count), failure / self.picks)

    def concentrated_loss(self) -> ZeroConcentrated | RandomDP:
        """The same release under zero-concentrated privacy: k picks of (ε/k)²/8 each."""
        return self._priced(ZeroConcentrated(self.epsilon**2 / (8 * self.picks), self.neighbours))

    def _weights(self, scores: Scores) -> list[Ball]:
        return [(-ball(self.factor * scores.gap(k))).exp() for k in range(len(scores))]

    def _check_enough(self, candidates: int) -> None:
        if self.picks > candidates:
            raise InvalidValue(f"k must be at most the number of candidates, {candidates}", self.picks)


def _in_order(weights: list[Ball], order: tuple[int, ...]) -> Ball:
    """The probability that these win in this order."""
    left = set(range(len(weights)))
    product = Ball(1)
    for k in order:
        product *= weights[k] / sum((weights[j] for j in left), Ball(0))
        left.remove(k)
    return product
