"""The exponential mechanism: choose from any finite list, by any score, better ones exponentially more often.

Promise. If neighbouring inputs move the score of every candidate by at most Δ, one choice with probabilities
proportional to e^(ε·score/2Δ) costs ε of pure differential privacy, for every ε > 0, Δ > 0 and every finite list. If
neighbours also move all scores in the same direction (``monotone``), e^(ε·score/Δ) costs the same. Proof sheet:
``exponential.md``.

>>> nationality = Exponential(1, ["Chinese", "Indian", "American", "Greek"])
>>> print(nationality.distribution([30, 24, 20, 0]))
Chinese   0.9465
Indian    0.04712
American  0.006377
Greek     2.895e-07
>>> round(nationality.utility_bound(confidence=0.95), 1)
8.8
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from discreet.errors import InvalidValue
from discreet.exact.ball import BITS, ln_up, working_precision
from discreet.exact.grid import Integers
from discreet.exact.rational import Number, integer
from discreet.mechanisms.distribution import FiniteLaw, Many
from discreet.mechanisms.random_privacy import RandomDP
from discreet.mechanisms.selection import ScoresByName, Selection
from discreet.noise.law import open_probability
from discreet.noise.race import GumbelChoice, ScoreLike, Scores
from discreet.noise.source import SYSTEM, Source, Stream
from discreet.privacy.loss import ZeroConcentrated

__all__ = ["Exponential", "run_races", "worst_shortfall"]


class Exponential(Selection):
    """One candidate, with probability proportional to e^(factor · score)."""

    def release(self, value: ScoresByName, *, source: Source = SYSTEM) -> Any:
        """The candidate that was chosen for these scores."""
        return self.releases(value, 1, source=source)[0]

    def releases(self, value: ScoresByName, count: int, *, source: Source = SYSTEM) -> Many:
        """``count`` independent choices for these scores, each at the full price: for audits and studies."""
        names, scores = self._named(value)
        return Many(names, self.pick(scores, integer(count, "count", least=0), source.open()))

    def pick(self, scores: ScoreLike | Scores, count: int, stream: Stream) -> Integers:
        """The positions of ``count`` independent winners among these scores."""
        return run_races(scores, self.factor, 1, count, stream)[:, 0]

    def distribution(self, value: ScoresByName) -> FiniteLaw:
        """The exact law of the choice for these scores."""
        names, scores = self._named(value)
        law = GumbelChoice(scores, self.factor)
        with working_precision(2 * BITS):
            return FiniteLaw(tuple(names), tuple(law.mass(k) for k in range(len(names))))

    def error(self, confidence: Number = 0.95, candidates_count: int | None = None) -> float:
        """How far the choice may fall behind the best score, with this confidence, whatever the scores are.

        This is exact for the worst scores: one best candidate, and all others this far behind it.
        """
        failure = 1 - open_probability(confidence, "confidence")
        return worst_shortfall(self.factor, self._count(candidates_count), failure)

    def utility_bound(self, confidence: Number = 0.95, candidates_count: int | None = None, optimal: int = 1) -> float:
        """2Δ/ε · (ln(|R|/|R_opt|) + t): the choice falls behind by this much with probability at most e^-t.

        The bound of the course texts, where ``optimal`` candidates share the best score and e^-t = 1 - confidence.
        For one optimal candidate `error` is never larger; it does not know of others.
        """
        failure = 1 - open_probability(confidence, "confidence")
        count = self._count(candidates_count)
        if integer(optimal, "optimal", least=1) > count:
            raise InvalidValue(f"optimal must be at most the number of candidates, {count}", optimal)
        return float(ln_up(Fraction(count, optimal) / failure) / self.factor)

    def concentrated_loss(self) -> ZeroConcentrated | RandomDP:
        """The same release under zero-concentrated privacy: ρ = ε²/8, a quarter of what pure ε alone implies."""
        return self._priced(ZeroConcentrated(self.epsilon**2 / 8, self.neighbours))


def run_races(scores: ScoreLike | Scores, factor: Fraction, picks: int, count: int, stream: Stream) -> Integers:
    """The first ``picks`` positions of ``count`` races with weights e^(factor · score), one race a row, best first."""
    law = GumbelChoice(scores, factor)
    return law.podium(picks, stream)[np.newaxis] if count == 1 else law.podiums(count, picks, stream)


def worst_shortfall(factor: Fraction, count: int, failure: Fraction) -> float:
    """The least s such that a candidate s or more behind is chosen with at most this probability, at any scores."""
    odds = (count - 1) * (1 - failure) / failure
    return float(ln_up(odds) / factor) if odds > 1 else 0.0
