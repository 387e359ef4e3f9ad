"""The Gaussian mechanism: integer noise with exactly the discrete Gaussian law.

Promise. If neighbouring inputs move the true answers by at most Δ in Euclidean length, one release of all of them
costs ρ of zero-concentrated differential privacy, or (ε, δ), whichever was asked for, for every Δ > 0, ρ > 0, ε > 0,
0 < δ < 1 and every power-of-two grid. Proof sheet: ``gaussian.md``.

>>> count = Gaussian(epsilon=1, delta=1e-6)
>>> count.loss, count.error(confidence=0.95)
(Approximate(ε=1, δ=1e-06), 8)
>>> Gaussian(rho=0.5).law.squared
Fraction(1, 1)
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy.typing as npt

from discreet.errors import InvalidType, InvalidValue, NoProvedPath
from discreet.exact.arrays import holds_integers
from discreet.exact.ball import sqrt_up
from discreet.exact.rational import Number, integer, positive
from discreet.mechanisms.additive import AdditiveNoise
from discreet.mechanisms.gaussian_curve import largest_rho, least_squared_sigma, shift_losses
from discreet.noise.gaussian import DiscreteGaussian
from discreet.privacy.loss import Approximate, Loss, ZeroConcentrated
from discreet.privacy.loss_distribution import LossDistribution
from discreet.privacy.sensitivity import Norm, Sensitivity

__all__ = ["Gaussian"]

_ROOT_SLACK = 1 + Fraction(1, 2**40)


class Gaussian(AdditiveNoise):
    """Noise with P(k) proportional to e^(-k²/2σ²) on every answer, for a joint L2 sensitivity Δ.

    Give the price as ``epsilon`` and ``delta``, or as ``rho``, or give the noise itself as ``sigma``.
    """

    integers: bool
    """Whether every answer is a whole number, so that nothing is rounded; floats are then refused."""

    def __init__(
        self,
        epsilon: Number | None = None,
        delta: Number | None = None,
        sensitivity: Number | Sensitivity = 1,
        *,
        rho: Number | None = None,
        sigma: Number | None = None,
        grid: Number = 1,
        dimension: int | None = None,
        integers: bool = False,
    ) -> None:
        """``dimension`` is the number of answers in one release; an (ε, δ) price is for one answer without it."""
        self._declare(sensitivity, Norm.L2, grid, dimension)
        if not isinstance(integers, bool):
            raise InvalidType("integers must be True or False", integers)
        self.integers = integers
        if integers and self.grid.exponent > 0:
            raise InvalidValue("whole answers need a grid of 1 or finer", grid, "leave integers=False to round them")
        self._price: Loss | None = None
        self._law = DiscreteGaussian(variance_parameter=self._calibrated(epsilon, delta, rho, sigma))

    def _calibrated(
        self, epsilon: Number | None, delta: Number | None, rho: Number | None, sigma: Number | None
    ) -> Fraction:
        """σ² in steps for the one price that was given."""
        ways = [(epsilon, delta) != (None, None), rho is not None, sigma is not None]
        if sum(ways) != 1 or (epsilon is None) is not (delta is None):
            rule = "the price must be given in one way: epsilon and delta, or rho, or sigma"
            raise InvalidType(rule, f"<{sum(ways)} ways>" if sum(ways) != 1 else "<half of epsilon and delta>")
        if sigma is not None:
            return (positive(sigma, "sigma") / self.grid.step) ** 2
        if rho is not None:
            self._price = ZeroConcentrated(positive(rho, "rho"), self.neighbours)
            return self._squared_moves / (2 * positive(rho, "rho"))
        return self._calibrated_approximately(positive(epsilon or 0, "epsilon"), positive(delta or 0, "delta"))

    def _calibrated_approximately(self, epsilon: Fraction, delta: Fraction) -> Fraction:
        self._price = Approximate(epsilon, delta, self.neighbours)
        if self._is_single:
            return least_squared_sigma(epsilon, delta, self._moves)
        return self._squared_moves / (2 * largest_rho(epsilon, delta))

    @property
    def _is_single(self) -> bool:
        return (self.dimension or 1) == 1

    @property
    def _moves(self) -> int:
        """How many steps one answer can move."""
        if self.integers:
            return int(max(math.isqrt(self._whole_square), 1) / self.grid.step)
        return self.grid.steps_within(self.sensitivity)

    @property
    def _whole_square(self) -> int:
        """The largest squared length of a move of whole answers."""
        # The float nearest to √3 squares to less than 3: a move of that length is not one of √2.
        return math.floor(self.sensitivity**2 * _ROOT_SLACK)

    @cached_property
    def _squared_moves(self) -> int:
        """How far all answers can move together, in squared steps: a whole number, as each coordinate is one."""
        if self.integers:
            return int(max(self._whole_square, 1) / self.grid.step**2)
        if self._is_single:
            return self._moves**2
        # Each of k rounded answers moves by less than one step more than the truth did, so all of them by less than √k.
        reach = self.sensitivity / self.grid.step + sqrt_up(self.dimension or 1)
        return math.ceil(reach**2) - 1

    def __repr__(self) -> str:
        return f"Gaussian(sigma={self.sigma:.6g}, sensitivity={float(self.sensitivity):g}, grid={self.grid.step})"

    @property
    def law(self) -> DiscreteGaussian:
        """The noise on one coordinate, in steps."""
        return self._law

    @property
    def sigma(self) -> float:
        """σ in the units of the answer."""
        return self._law.sigma * float(self.grid.step)

    @property
    def loss(self) -> Loss:
        """The price that was asked for; zero-concentrated where the noise itself was given."""
        return self._price or self.concentrated_loss()

    def concentrated_loss(self) -> ZeroConcentrated:
        """The zero-concentrated loss Δ²/2σ² of the same noise, whatever the number of answers."""
        return ZeroConcentrated(self._squared_moves / (2 * self._law.squared), self.neighbours)

    def loss_distribution(self, answers: int = 1) -> LossDistribution:
        """The privacy-loss distribution of one answer, for numeric composition."""
        if integer(answers, "answers", least=1) > 1 or not self._is_single:
            rule = "the loss distribution is proved for one answer at a time"
            raise NoProvedPath(rule, max(answers, self.dimension or 1), "add concentrated_loss() instead")
        return replace(shift_losses(self._law, self._moves), neighbours=self.neighbours)

    def _check(self, array: npt.NDArray[Any]) -> None:
        if self.integers and not holds_integers(array):
            raise InvalidType("values must be integers where integers=True", f"<{array.dtype}>", "leave integers out")
        # The exact (ε, δ) curve is that of one answer; several need more noise for the same δ.
        if isinstance(self._price, Approximate) and self._is_single and array.size > 1:
            remedy = "pass dimension= for the number of answers, or a price rho="
            raise InvalidValue("this (ε, δ) price is for one answer", array.size, remedy)
        super()._check(array)
