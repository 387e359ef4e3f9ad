"""Linear forms of noisy integers: what COUNT and SUM are, and how far their noise can carry them.

The reach of one narrow noise is exact. For others it is a bound that is never too small:

- Laplace. X discrete Laplace of scale b, spread evenly over its cell, has tails no heavier than a Laplace variable of
  scale b + 1, because its hazard is at least 1 - e^(-1/b) ≥ 1/(b + 1). Sums of symmetric unimodal variables keep that
  order (Birnbaum), and spreading moved each by at most half a step. A sum of Laplace variables of different scales
  βᵢ has the tail Σ wᵢ e^(-t/βᵢ) with wᵢ = Π βᵢ²/(βᵢ² - βⱼ²); scales that are too close are moved apart, upwards.
- Gaussian. The sum of independent discrete Gaussians is no wider than a normal variable with one step more per part;
  for scales below 16 steps, where that is not clear, the bound for every subgaussian variable is used.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from discreet.exact.grid import Integers
from discreet.noise.gaussian import DiscreteGaussian
from discreet.noise.laplace import DiscreteLaplace
from discreet.noise.law import open_probability

__all__ = ["Form", "Noise"]

Noise = DiscreteLaplace | DiscreteGaussian
Floats = npt.NDArray[np.float64]

_APART = 1.01
_FINE = 2.0**10
"""From this scale on, the bounds are within a thousandth of the exact reach, and much faster to find."""
_WIDE = 16.0


@dataclass(frozen=True)
class Form:
    """A sum of a part's integers, each times a number."""

    factors: tuple[Fraction, ...]

    def value(self, sums: list[Integers]) -> Floats:
        """The form of these integers, for every group."""
        terms = [float(factor) * each for factor, each in zip(self.factors, sums, strict=True) if factor]
        return np.asarray(sum(terms, np.zeros(len(sums[0]))), np.float64)

    def reach(self, noise: Noise, confidence: float) -> float:
        """How far the noise carries the form, at this confidence: never less than the truth."""
        return _reach(tuple(sorted(abs(factor) for factor in self.factors if factor)), noise, confidence)


@lru_cache(maxsize=1024)  # an exact quantile takes a while, and every column of a block asks for it
def _reach(factors: tuple[Fraction, ...], noise: Noise, confidence: float) -> float:
    if not factors:
        return 0.0
    if len(factors) == 1 and noise.variance < _FINE**2:
        return float(factors[0] * noise.error(open_probability(confidence, "confidence")))
    sizes = [float(factor) for factor in factors]
    if isinstance(noise, DiscreteLaplace):
        return _laplace_reach([size * (float(noise.scale) + 1) for size in sizes], confidence) + sum(sizes) / 2
    return _gaussian_reach(sizes, float(noise.squared), confidence)


def _laplace_reach(scales: list[float], confidence: float) -> float:
    apart = [scales[0]]
    for scale in scales[1:]:
        apart.append(max(scale, apart[-1] * _APART))
    weights = [math.prod(a * a / (a * a - b * b) for b in apart if b != a) for a in apart]

    def tail(distance: float) -> float:
        return sum(w * math.exp(-distance / a) for w, a in zip(weights, apart, strict=True))

    low, high = 0.0, apart[-1]
    while tail(high) > 1 - confidence:
        low, high = high, 2 * high
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if tail(middle) > 1 - confidence else (low, middle)
    return high


def _gaussian_reach(sizes: list[float], variance: float, confidence: float) -> float:
    squares = sum(size * size for size in sizes)
    if variance < _WIDE**2:
        return math.sqrt(2 * math.log(2 / (1 - confidence)) * squares * variance)
    return NormalDist().inv_cdf((1 + confidence) / 2) * math.sqrt(squares * (variance + 1)) + sum(sizes) / 2
