"""What a shift of discrete Gaussian noise gives away: its exact δ(ε), its loss distribution, and the least σ² for both.

The curve is computed from tails in balls and rounded up, so a calibrated σ² meets its (ε, δ) by proof and not by a
rule of thumb; it holds for ε above 1 too. Proof sheet: ``gaussian.md``.

>>> float(shift_delta(Fraction(4), 1, Fraction(1))) < 0.02
True
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

import numpy as np

from discreet.exact.ball import Ball, exp_down, lower, upper, working_precision
from discreet.mechanisms.turning_point import turning_point
from discreet.noise.gaussian import DiscreteGaussian
from discreet.noise.law import Floats
from discreet.privacy import curve
from discreet.privacy.loss_distribution import LossDistribution

__all__ = ["largest_rho", "least_squared_sigma", "shift_delta", "shift_losses"]

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
        return curve.concentrated_epsilon(count * step, delta) > epsilon

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
