"""The Gaussian mechanism: integer noise with exactly the discrete Gaussian law.

Promise. If neighbouring inputs move the true answers by at most Δ in Euclidean length, one release of all of them
costs ρ of zero-concentrated differential privacy, or (ε, δ), whichever was asked for, for every Δ > 0, ρ > 0, ε > 0,
0 < δ < 1 and every power-of-two grid. Proof sheet: ``gaussian.md``.

>>> count = Gaussian(epsilon=1, delta=1e-6)
>>> count.loss, count.error(confidence=0.95)
(Approximate(ε=1, δ=1e-06), 8)
>>> Gaussian(rho=0.5).law.squared
Fraction(1, 1)

A shift of discrete Gaussian noise gives away an exact δ(ε), from which the least σ² is found. The curve is computed
from tails in balls and rounded up, so a calibrated σ² meets its (ε, δ) by proof and not by a rule of thumb; it holds
for ε above 1 too. Proof sheet: ``gaussian.md``.

>>> float(shift_delta(Fraction(4), 1, Fraction(1))) < 0.02
True

The least noise, threshold or count that suffices is where a condition on whole numbers turns true.

>>> turning_point(lambda n: n * n >= 50)
8
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from discreet.errors import InvalidType, InvalidValue, NoProvedPath
from discreet.exact.ball import Ball, exp_down, lower, sqrt_up, upper, working_precision
from discreet.exact.grid import holds_integers
from discreet.exact.rational import Number, integer, positive
from discreet.mechanisms.additive import AdditiveNoise
from discreet.noise.gaussian import DiscreteGaussian
from discreet.noise.law import Floats
from discreet.privacy import conversion
from discreet.privacy.loss import Approximate, Loss, ZeroConcentrated
from discreet.privacy.loss_distribution import LossDistribution
from discreet.privacy.sensitivity import Norm, Sensitivity

__all__ = ["Gaussian", "largest_rho", "least_squared_sigma", "shift_delta", "shift_losses", "turning_point"]


def turning_point(holds: Callable[[int], bool], start: int = 1, width: int = 1) -> int:
    """A k ≥ 1 where ``holds(k)`` but not ``holds(k - 1)``, near ``start``; 0 counts as not holding.

    It is the least k that holds where the condition turns true once. ``width`` is the first stride of the search.
    """
    high, stride = max(start, 1), width
    while not holds(high):
        high, stride = high + stride, 2 * stride
    low, stride = high - 1, width
    while low > 0 and holds(low):
        low, stride = max(low - stride, 0), 2 * stride
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


_RELATIVE_STEP = 16  # σ² is searched for on multiples of about 2^-16 of itself
_FIRST_WIDTH = 64
_MOST_ATOMS = 2**15
_LARGEST_POWER = Fraction(256)  # e^256 times what two laws share is all that a working precision can see
_REACH = 12  # deviations; e^(-12²/2) < 2^-103 of the noise lies further out


def shift_delta(squared_sigma: Fraction, moves: int, epsilon: Fraction) -> Fraction:
    """The least δ at ``epsilon`` for one answer that neighbours move by at most ``moves`` steps, rounded up."""
    law = DiscreteGaussian(variance_parameter=squared_sigma)
    middle = epsilon * squared_sigma / moves
    half = Fraction(moves, 2)
    with working_precision():
        # A tail such as e^-100000 would make rationals of as many digits; this much only raises δ.
        negligible = Ball(2) ** -400
        gained = upper(law.above(math.floor(middle - half) + 1) + negligible)
        shared = max(lower(law.above(math.floor(middle + half) + 1) - negligible), Fraction(0))
    return min(max(gained - exp_down(min(epsilon, _LARGEST_POWER)) * shared, Fraction(0)), Fraction(1))


@lru_cache(maxsize=256)
def least_squared_sigma(epsilon: Fraction, delta: Fraction, moves: int) -> Fraction:
    """The least σ² on a fine rational grid whose exact δ at ``epsilon`` is at most ``delta``."""
    guess = (moves * _continuous_sigma(float(epsilon), float(delta))) ** 2
    step = Fraction(2) ** (math.frexp(guess)[1] - _RELATIVE_STEP)

    def suffices(count: int) -> bool:
        return shift_delta(count * step, moves, epsilon) <= delta

    return step * turning_point(suffices, round(guess / step), _FIRST_WIDTH)


@lru_cache(maxsize=256)
def largest_rho(epsilon: Fraction, delta: Fraction) -> Fraction:
    """The largest ρ on a fine rational grid for which ρ-zCDP implies (ε, δ)."""
    spread = math.sqrt(-math.log(delta))
    # ρ + 2√(ρ ln(1/δ)) ≤ ε solved for ρ: a known bound to start from, and a little below the best one.
    guess = (float(epsilon) / (spread + math.sqrt(spread**2 + float(epsilon)))) ** 2
    step = Fraction(2) ** (math.frexp(guess)[1] - _RELATIVE_STEP)

    def fails(count: int) -> bool:
        return conversion.concentrated_epsilon(count * step, delta) > epsilon

    return step * (turning_point(fails, round(guess / step), _FIRST_WIDTH) - 1)


def shift_losses(law: DiscreteGaussian, moves: int) -> LossDistribution:
    """The distribution of the loss (m² - 2my)/2σ² over noise y; blocks of outcomes where there are too many to list."""
    reach = math.ceil(_REACH * law.sigma) + 1
    width = -(-(2 * reach + 1) // _MOST_ATOMS)
    starts = np.arange(-reach, reach + 1, width)
    # The first outcome of a block has its largest loss.
    losses = moves * (moves - 2.0 * starts) / float(2 * law.squared)
    masses = law.pmf(starts) if width == 1 else _block_masses(law, starts, width)
    beyond = float(law.tail(reach + 1)) + float(law.tail(int(starts[-1]) + width))
    infinite = beyond * (1 + 2.0**-40) + 2.0**-120  # the summand covers tails too small for a float
    return LossDistribution(losses + np.abs(losses) * 2.0**-50, masses, infinite)


def _block_masses(law: DiscreteGaussian, starts: np.ndarray, width: int) -> Floats:
    """P(start ≤ Y < start + width), by Taylor's formula around the middle of each block.

    A difference of two tails would lose the last ten bits. Odd terms cancel; the sixth is below 2^-58 of the rest.
    """
    middles = starts + (width - 1) / 2
    z = middles / law.sigma
    second = width * (width**2 - 1) / 12 / law.sigma**2
    fourth = width * (width**2 - 1) * (3 * width**2 - 7) / 240 / law.sigma**4
    terms = width + second * (z**2 - 1) / 2 + fourth * (z**4 - 6 * z**2 + 3) / 24
    peak = float(law.pmf(0))
    return np.asarray(peak * np.exp(-z * z / 2) * terms, dtype=np.float64)


def _continuous_sigma(epsilon: float, delta: float) -> float:
    """Where the search starts: σ of continuous noise for a shift of 1 (Balle and Wang 2018)."""
    from scipy.special import log_ndtr  # noqa: PLC0415  an import of a third of a second, for those who need it

    low, high = -20.0, 110.0  # log2 of σ
    for _ in range(60):
        middle = (low + high) / 2
        sigma = math.exp2(middle)
        gained = log_ndtr(1 / (2 * sigma) - epsilon * sigma)
        shared = log_ndtr(-1 / (2 * sigma) - epsilon * sigma)
        reached = math.exp(gained) * -math.expm1(min(epsilon + shared - gained, 0.0))
        low, high = (low, middle) if reached <= delta else (middle, high)
    return math.exp2(high)


_ROOT_SLACK = 1 + Fraction(1, 2**40)
_LARGEST_SQUARE = 2**200


def _declared_square(squared: int | None, root: Number | Sensitivity, *, integers: bool) -> int | None:
    """The square of the sensitivity of whole answers, where it was given."""
    if squared is None:
        return None
    if not integers:
        rule = "squared_sensitivity is for whole answers, whose squared moves are whole"
        raise InvalidValue(rule, squared, "pass integers=True, or sensitivity=")
    if root != 1:
        raise InvalidType("the sensitivity must be given once, as it is or squared", f"<{root} and {squared} squared>")
    return integer(squared, "squared_sensitivity", least=1, most=_LARGEST_SQUARE)


def _root_up(square: int) -> Number:
    root = math.isqrt(square)
    return root if root * root == square else sqrt_up(square)


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
        squared_sensitivity: int | None = None,
    ) -> None:
        """``dimension`` is the number of answers in one release; an (ε, δ) price is for one answer without it.

        ``squared_sensitivity`` is Δ² itself instead of Δ, for whole answers: √3 is no rational, and 3 is one.
        """
        if not isinstance(integers, bool):
            raise InvalidType("integers must be True or False", integers)
        self._squared_sensitivity = _declared_square(squared_sensitivity, sensitivity, integers=integers)
        root = sensitivity if self._squared_sensitivity is None else _root_up(self._squared_sensitivity)
        self._declare(root, Norm.L2, grid, dimension)
        self.integers = integers
        if integers and self.grid.exponent > 0:
            raise InvalidValue("whole answers need a grid of 1 or finer", grid, "leave integers=False to round them")
        self._price: Loss | None = None
        self._law = DiscreteGaussian(variance_parameter=self._calibrate(epsilon, delta, rho, sigma))

    def _calibrate(
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
            self._price = price = ZeroConcentrated(positive(rho, "rho"), self.neighbours)
            return self.squared_moves / (2 * price.rho)
        return self._calibrated_approximately(positive(epsilon or 0, "epsilon"), positive(delta or 0, "delta"))

    def _calibrated_approximately(self, epsilon: Fraction, delta: Fraction) -> Fraction:
        self._price = Approximate(epsilon, delta, self.neighbours)
        if self._is_single:
            return least_squared_sigma(epsilon, delta, self._moves)
        return self.squared_moves / (2 * largest_rho(epsilon, delta))

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
        if self._squared_sensitivity is not None:
            return self._squared_sensitivity
        # The float nearest to √3 squares to less than 3: a move of that length is not one of √2.
        return math.floor(self.sensitivity**2 * _ROOT_SLACK)

    @cached_property
    def squared_moves(self) -> int:
        """How far all answers can move together, in squared steps: a whole number, as each coordinate is one."""
        if self.integers:
            return max(self._whole_square, 1) << -2 * self.grid.exponent
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
        return ZeroConcentrated(self.squared_moves / (2 * self._law.squared), self.neighbours)

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
