"""Linear forms of noisy integers: what COUNT and SUM are, and how far their noise can carry them.

The reach of one narrow noise is exact. For others it is a bound that is never too small:

- Laplace. X discrete Laplace of scale b, spread evenly over its cell, has tails no heavier than a Laplace variable of
  scale b + 1, because its hazard is at least 1 - e^(-1/b) ≥ 1/(b + 1). Sums of symmetric unimodal variables keep that
  order (Birnbaum), and spreading moved each by at most half a step. A sum of Laplace variables of different scales
  βᵢ has the tail Σ wᵢ e^(-t/βᵢ) with wᵢ = Π βᵢ²/(βᵢ² - βⱼ²); scales that are too close are moved apart, upwards.
- Gaussian. The sum of independent discrete Gaussians is no wider than a normal variable with one step more per part;
  for scales below 16 steps, where that is not clear, the bound for every subgaussian variable is used.

For S = Σ cᵢXᵢ, with any numbers c and several laws at once, there is a bound as well.

Claim. |S| is at most `reach` with probability c, at least, for every form of discrete Laplace and Gaussian noises.

Proof, by Chernoff. |S| passes t with probability at most 2e^(-st) E e^(sS), for every s > 0, which is 1 - c for
t = (L + ln E e^(sS)) / s, with L = ln(2 / (1 - c)). A Laplace noise of scale b adds -ln(1 - (bcᵢs)²) to ln E e^(sS), at
most, where bcᵢs < 1, and a Gaussian noise (σcᵢs)² / 2 (see `sums_over_groups`). So every s gives a reach that is never
too small; at 95 % the best is at most about two fifths too wide.

Proof, by Fourier's inversion. Let Z be normal with deviation τ, independent of S, T = S + Z and φ(u) the
characteristic function of S, which is a product of known ones, real and even. With uₖ = (k + ½) · 2π/P,

    G(t) = Σₖ φ(uₖ) e^(-τ²uₖ²/2) sin(uₖt) / (π(k + ½)) = E w(t + T),

where w is the square wave that is ½ on (0, P), -½ on (-P, 0) and has the period 2P. It differs from half the sign only
beyond P, so P(|T| > t) is at most 1 - 2G(t) + 2 P(|T| > P - t), and P is chosen by Chernoff's bound so that the last
term is small. Where |S| > t, Z takes T back below t - 3τ with probability Q(3) at most, so
P(|S| > t) ≤ P(|T| > t - 3τ) / (1 - Q(3)). With τ a fiftieth of the deviation of S this is a few hundredths too wide.
The sum is cut where e^(-τ²u²/2) is below 10^-10, and read at a grid of t by one fast Fourier transform.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
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

__all__ = ["LinearForm", "Noise", "Terms", "reach"]


Noise = DiscreteLaplace | DiscreteGaussian
Floats = npt.NDArray[np.float64]

_APART = 1.01
_FINE = 2.0**10
"""From this scale on, the bounds are within a thousandth of the exact reach, and much faster to find."""
_WIDE = 16.0


@dataclass(frozen=True)
class LinearForm:
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


Terms = Sequence[tuple[Noise, Floats]]
"""Noises of one law each, and what they are multiplied by."""

_ROUGHLY = 1 + 1e-9
"""More than all that floating point may lose."""
_SMOOTHING, _STEPS_BACK = 0.02, 3.0
_FAR = 6.8  # where e^(-x²/2) is below 10^-10
_RAREST = 1e-8
"""A Fourier transform in floating point says nothing about what is rarer."""
_MOST_FACTORS = 256
_GRID = 4096
_SPEEDS = np.concatenate([np.geomspace(1e-5, 0.9, 300), 1 - np.geomspace(0.09, 1e-4, 60)])
"""Fractions of the largest s for which Laplace noise has an exponential moment."""
_ONE = LinearForm((Fraction(1),))


def reach(terms: Terms, confidence: float) -> float:
    """How far the noises carry their form, at this confidence: never less than the truth."""
    alike = [(noise, *np.unique(np.abs(factors[factors != 0]), return_counts=True)) for noise, factors in terms]
    alike = [each for each in alike if len(each[1])]
    if not alike:
        return 0.0
    largest = max(float(sizes[-1]) for _, sizes, _ in alike)
    if not math.isfinite(largest):
        return math.inf
    form = tuple((noise, _round(sizes / largest), tuple(counts.tolist())) for noise, sizes, counts in alike)
    return largest * _ROUGHLY * _linear_reach(form, confidence)


def _round(sizes: Floats) -> tuple[float, ...]:
    """The sizes with as many digits as matter, so that forms that are alike are looked at once."""
    return tuple(float(f"{size:.11e}") for size in sizes.tolist())


_Alike = tuple[tuple[Noise, tuple[float, ...], tuple[int, ...]], ...]
"""Per law: different factors, and how often each stands."""


@lru_cache(maxsize=4096)
def _linear_reach(form: _Alike, confidence: float) -> float:
    if len(form) == 1 and form[0][2] == (1,):
        return form[0][1][0] * _ONE.reach(form[0][0], confidence)
    bound = _chernoff(form, 1 - confidence)
    if 1 - confidence < _RAREST or sum(len(sizes) for _, sizes, _ in form) > _MOST_FACTORS:
        return bound
    return min(bound, _invert(form, 1 - confidence))


def _chernoff(form: _Alike, missing: float) -> float:
    """The reach by Chernoff's bound, at the best of many s."""
    length = math.log(2 / missing)
    squares, scales, counts = 0.0, [np.zeros(0)], [np.zeros(0)]
    for noise, sizes, times in form:
        if isinstance(noise, DiscreteLaplace):
            scales.append(float(noise.scale) * np.asarray(sizes))
            counts.append(np.asarray(times, np.float64))
        else:
            squares += float(noise.squared) * float(np.dot(np.square(sizes), times))
    widest = max(float(each.max(initial=0.0)) for each in scales)
    if not widest:
        return math.sqrt(2 * length * squares)
    s = _SPEEDS / widest
    growth = -np.log1p(-np.square(np.outer(s, np.concatenate(scales)))) @ np.concatenate(counts) + squares * s**2 / 2
    return float(np.min((length + growth) / s))


def _invert(form: _Alike, missing: float) -> float:
    """The reach by Fourier's inversion, in steps of a fiftieth of the deviation or less."""
    variance = sum(
        noise.variance * size * size * count
        for noise, sizes, counts in form
        for size, count in zip(sizes, counts, strict=True)
    )
    smoothing = _SMOOTHING * math.sqrt(variance)
    if not smoothing:  # the noise is zero but for a chance that doubles cannot tell from none
        return _chernoff(form, missing)
    # Both S and Z pass their share of the period rarely, so T does.
    rare = 1e-4 * missing
    period = _chernoff(form, rare) + _chernoff(form, missing) + 8 * smoothing
    points = math.ceil(_FAR / smoothing * period / (2 * math.pi))
    size = max(_GRID, 1 << points.bit_length())
    k: Floats = np.arange(points, dtype=np.float64) + 0.5
    u: Floats = k * np.float64(2 * math.pi / period)
    weights = np.zeros(size)
    weights[:points] = np.exp(_logarithm(form, u) - (smoothing * u) ** 2 / 2) / (math.pi * k)
    covered = 2 * size * (_turn(size) * np.fft.ifft(weights)).imag
    wanted = missing * (1 - _beyond(_STEPS_BACK)) - 2 * (rare + 2 * _beyond(8.0)) - 1e-10
    is_enough = (1 - covered <= wanted)[: size // 2]
    first = int(np.argmax(is_enough)) if is_enough.any() else size
    return first * period / size + _STEPS_BACK * smoothing


@lru_cache(maxsize=8)
def _turn(size: int) -> npt.NDArray[np.complex128]:
    """Half a step of frequency further, for every t."""
    return np.asarray(np.exp(1j * math.pi * np.arange(size) / size))


def _beyond(deviations: float) -> float:
    """The probability that a normal variable is this far above its mean."""
    return math.erfc(deviations / math.sqrt(2)) / 2


def _logarithm(form: _Alike, u: Floats) -> Floats:
    """The logarithm of the characteristic function of S."""
    total = np.zeros(len(u))
    for noise, sizes, counts in form:
        for size, count in zip(sizes, counts, strict=True):
            of_one = (
                _of_laplace(noise, size * u) if isinstance(noise, DiscreteLaplace) else _of_gaussian(noise, size * u)
            )
            total += count * of_one
    return total


def _of_laplace(noise: DiscreteLaplace, u: Floats) -> Floats:
    """ln((cosh(1/b) - 1) / (cosh(1/b) - cos u)), written without a difference of what is nearly equal."""
    half = math.sinh(1 / (2 * float(noise.scale)))
    return -np.log1p((np.sin(u / 2) / half) ** 2)


def _of_gaussian(noise: DiscreteGaussian, u: Floats) -> Floats:
    """The law's own series where it is narrow; else Poisson's sum, which is short where the first is long."""
    variance = float(noise.squared)
    u = np.remainder(u + math.pi, 2 * math.pi) - math.pi
    steps = np.arange(-8, 9)
    if variance < 1:
        weights = np.exp(-(steps**2) / (2 * variance))
        values = np.cos(np.outer(u, steps)) @ weights / weights.sum()
    else:
        turns = 2 * math.pi * steps[6:11]
        values = np.exp(-variance * (u[:, None] + turns) ** 2 / 2).sum(axis=1) / np.exp(-variance * turns**2 / 2).sum()
    return np.asarray(np.log(np.maximum(values, 1e-300)), np.float64)
