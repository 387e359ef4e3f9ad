"""The Laplace mechanism: integer noise with exactly the discrete Laplace law.

Promise. If neighbouring inputs move the true answers by at most Δ in total, one release of all of them costs ε of
pure differential privacy, for every Δ > 0, ε > 0 and every power-of-two grid. Proof sheet: ``laplace.md``.

>>> count = Laplace(epsilon=1)
>>> count.loss, count.error(confidence=0.95)
(Pure(ε=1), 3)
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cached_property

import numpy as np

from discreet.exact.ball import ln_up
from discreet.exact.rational import Number, integer, positive
from discreet.mechanisms.additive import AdditiveNoise
from discreet.noise.laplace import DiscreteLaplace
from discreet.noise.law import open_probability
from discreet.privacy.loss import Pure
from discreet.privacy.loss_distribution import LossDistribution
from discreet.privacy.sensitivity import Norm, Sensitivity

__all__ = ["Laplace"]


_MOST_ATOMS = 2**16


class Laplace(AdditiveNoise):
    """Noise with P(k) proportional to e^(-|k|ε/Δ) on every answer, where Δ is the joint L1 sensitivity in steps."""

    def __init__(
        self,
        epsilon: Number,
        sensitivity: Number | Sensitivity = 1,
        *,
        grid: Number = 1,
        dimension: int | None = None,
    ) -> None:
        """Choose the price ``epsilon``; ``grid`` is the step of the answers, such as 0.25 or 2**-10."""
        self.epsilon = positive(epsilon, "epsilon")
        self._declare(sensitivity, Norm.L1, grid, dimension)
        in_steps = self.sensitivity / self.grid.step if self.grid.exponent else self.sensitivity
        # Each of k rounded answers can move by less than one step more than the truth did.
        self._moves = max(math.ceil(in_steps) + (self.dimension or 1) - 1, 1)
        self._law = DiscreteLaplace(self._moves / self.epsilon)

    def __repr__(self) -> str:
        return f"Laplace(epsilon={self.epsilon}, sensitivity={self.sensitivity}, grid={self.grid.step})"

    @property
    def law(self) -> DiscreteLaplace:
        """The noise on one coordinate, in steps."""
        return self._law

    @cached_property
    def loss(self) -> Pure:
        """Pure ε, whatever the number of answers."""
        return Pure(self.epsilon, self.neighbours)

    @property
    def scale(self) -> Fraction:
        """The scale of the noise in the units of the answer: Δ/ε, when Δ is a whole number of steps."""
        return self._law.scale * self.grid.step

    def union_bound(self, answers: int, confidence: Number = 0.95) -> float:
        """ln(k/β) Δ/ε: rounded up to the grid, no one of k answers is off by more but with probability β.

        The bound of the course texts, where noise is continuous and needs no rounding, with β = 1 - confidence.
        `error` gives the exact quantile, which is never larger than this bound rounded up to the grid.
        """
        failure = 1 - open_probability(confidence, "confidence")
        return float(ln_up(integer(answers, "answers", least=1) / failure) * self.scale)

    def loss_distribution(self, answers: int = 1) -> LossDistribution:
        """The privacy-loss distribution of one answer, exactly; of several, that of the worst pure-ε mechanism."""
        if max(integer(answers, "answers", least=1), self.dimension or 1) > 1 or self._moves >= _MOST_ATOMS:
            return LossDistribution.two_point(self.epsilon, neighbours=self.neighbours)
        moves, rate = self._moves, float(1 / self._law.scale)
        inside = np.arange(1, moves)
        losses = np.concatenate([[moves], moves - 2.0 * inside, [-moves]]) * rate
        masses = np.concatenate(
            [self._law.cdf(np.asarray([0])), self._law.pmf(inside), self._law.tail(np.asarray([moves]))]
        )
        return LossDistribution(losses + np.abs(losses) * 2.0**-50, masses, neighbours=self.neighbours)
