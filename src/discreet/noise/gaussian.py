"""The discrete Gaussian law: P(X = k) proportional to e^(-k²/2σ²) on all integers, drawn exactly.

Drawing follows Canonne, Kamath and Steinke (2020): propose a discrete Laplace Y of a scale t near σ and accept it
with probability proportional to e^-(|Y| - σ²/t)²/2σ², here by comparing -ln V with the exponent within a proved
error. How many proposals were rejected is independent of the value that was accepted.

Probabilities are sums of e^(-k²/2σ²). Up to σ = 512 they are added term by term in balls; above it the
Euler-Maclaurin formula gives them with a remainder below 1e-3 σ^-6 of the total mass.

>>> DiscreteGaussian(1).pmf(np.array([-1, 0, 1])).round(4).tolist()
[0.242, 0.3989, 0.242]
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cached_property

import numpy as np
from scipy.special import erfc

from discreet.exact.ball import BITS, Ball, ball, sqrt_down, working_precision
from discreet.exact.grid import Integers
from discreet.exact.rational import Number, positive
from discreet.noise import host
from discreet.noise.inversion import CHUNK, ScaledExponential
from discreet.noise.law import Floats, SymmetricLaw, Whole, whole_numbers
from discreet.noise.lazy import LazyUniform
from discreet.noise.source import Stream

__all__ = ["DiscreteGaussian"]

_TERM_BY_TERM = 512**2
_PREFIX_MASK = np.int64(2**63 - 1)
_LEAST_WORD = 2.0**41
_RADIUS = 2.0**-40 + 2.0**-42  # what the unread bits can change, and every rounding together
_WORST_HE6 = 27  # E|He₆(Z)| ≤ √6! < 27 for a standard normal Z, by Cauchy-Schwarz


class DiscreteGaussian(SymmetricLaw):
    """Gaussian noise on the integers; the parameter σ is close to its standard deviation once σ ≥ 1."""

    def __init__(self, sigma: Number | None = None, *, variance_parameter: Fraction | None = None) -> None:
        """Give σ, or σ² exactly as ``variance_parameter``."""
        squared = positive(sigma, "sigma") ** 2 if sigma is not None else variance_parameter
        self.squared = positive(squared or 0, "sigma squared")
        self.sigma = math.sqrt(self.squared)
        scale = max(Fraction(round(8 * sqrt_down(self.squared)), 8), Fraction(1, 8))
        self._centre = self.squared / scale
        # The likeliest proposal is accepted always: its exponent is subtracted from every other.
        self._least_exponent = (round(self._centre) - self._centre) ** 2 / (2 * self.squared)
        self._proposal = ScaledExponential(scale, lambda: (2 / (1 + (-1 / ball(scale)).exp())).log())

    def draw(self, count: int, stream: Stream) -> Integers:
        """``count`` draws that read their randomness from ``stream``."""
        found = np.empty(count, np.int64)
        done = 0
        while done < count:
            accepted = self._accepted(min(CHUNK, 16 + (count - done) * 3 // 2), stream)[: count - done]
            found[done : done + len(accepted)] = accepted
            done += len(accepted)
        return found

    def _accepted(self, trials: int, stream: Stream) -> Integers:
        words = stream.words(trials).view(np.int64)
        work = np.empty(trials)
        sizes = self._proposal.floors(words & _PREFIX_MASK, stream, work)
        coins = stream.words(trials)
        accept = self._accept(sizes, coins, work, stream)
        signs = words[accept] >> 63
        return (sizes[accept].astype(np.int64) ^ signs) - signs

    def _accept(self, sizes: Floats, coins: np.ndarray, work: Floats, stream: Stream) -> np.ndarray:
        if not host.trusted():
            pairs = zip(sizes, coins, strict=True)
            return np.asarray([self._settle(int(y), int(v), stream) for y, v in pairs], dtype=np.bool_)
        exponent = sizes - float(self._centre)
        exponent *= exponent
        exponent *= float(1 / (2 * self.squared))
        # Halve the word so that the conversion is from a signed integer, which the processor does eight at a time.
        np.log((coins >> np.uint64(1)).view(np.int64), out=work, where=coins > 1)
        np.subtract(63 * math.log(2) + float(self._least_exponent), work, out=work)
        work -= exponent
        return self._decided(sizes, coins, work, stream)

    def _decided(self, sizes: Floats, coins: np.ndarray, gap: Floats, stream: Stream) -> np.ndarray:
        accept: np.ndarray = gap > 0
        if np.abs(gap).min() < _RADIUS or coins.min() < _LEAST_WORD:
            for index in np.flatnonzero((np.abs(gap) < _RADIUS) | (coins < _LEAST_WORD)):
                accept[index] = self._settle(int(sizes[index]), int(coins[index]), stream)
        return accept

    def _settle(self, size: int, coin: int, stream: Stream) -> bool:
        exponent = (size - self._centre) ** 2 / (2 * self.squared) - self._least_exponent
        return LazyUniform(coin, 64, stream).exceeds(lambda v: -v.log() - ball(exponent))

    # Probabilities.

    def _weight(self, value: int) -> Ball:
        return (-value * value / ball(2 * self.squared)).exp()

    def mass(self, value: int) -> Ball:
        """P(X = value)."""
        return self._weight(value) / self._total

    def above(self, value: int) -> Ball:
        """P(X ≥ value)."""
        if value <= 0:
            return 1 - self.above(1 - value)
        if self.squared > _TERM_BY_TERM:
            return self._smooth_sum(value) / self._total
        sums = self._sums
        return sums[min(value, len(sums) - 1)] / self._total

    @cached_property
    def _total(self) -> Ball:
        with working_precision(BITS):
            if self.squared <= _TERM_BY_TERM:
                return 1 + 2 * self._sums[1]
            # Poisson summation: Σ e^(-k²/2σ²) = σ√(2π) (1 + 2 e^(-2π²σ²) + ...), and 2π²σ² is over five million.
            return (2 * Ball.pi() * ball(self.squared)).sqrt() * (1 + Ball(0, 2.0**-1000))

    @cached_property
    def _sums(self) -> list[Ball]:
        """For k = 0, 1, 2, ...: the sum of weights from k upwards; the last entry bounds all that follow it."""
        with working_precision(BITS):
            last = math.isqrt(math.ceil(2 * self.squared * BITS)) + 2
            # Past ``last`` a term is below 2^-BITS and each next one below e^(-last/σ²) times the one before.
            rest = self._weight(last) / (1 - (-last / ball(self.squared)).exp())
            sums = [rest.union(Ball(0))]
            for k in range(last - 1, -1, -1):
                sums.append(sums[-1] + self._weight(k))
            return sums[::-1]

    def _smooth_sum(self, start: int) -> Ball:
        """Σ_{k ≥ start} e^(-k²/2σ²) by Euler-Maclaurin with the terms up to the fifth derivative."""
        sigma = ball(self.squared).sqrt()
        z = start / sigma
        weight = (-z * z / 2).exp()
        integral = sigma * (Ball.pi() / 2).sqrt() * (z / Ball(2).sqrt()).erfc()
        first, third, fifth = z, z**3 - 3 * z, z**5 - 10 * z**3 + 15 * z  # Hermite polynomials
        terms = Ball(1) / 2 + first / (12 * sigma) - third / (720 * sigma**3) + fifth / (30240 * sigma**5)
        # Remainder: 2ζ(6)/(2π)^6 ∫|f⁗″| with ∫|f⁗″| = He₅(z) e^(-z²/2) σ^-5 right of the last root of He₆.
        spread = fifth * weight if z > 4 else _WORST_HE6 * (2 * Ball.pi()).sqrt()
        remainder = spread / (30000 * sigma**5)
        return integral + weight * terms + remainder.union(-remainder)

    def pmf(self, values: Whole) -> Floats:
        """P(X = value) for each value."""
        k = whole_numbers(values).astype(np.float64)
        return np.exp(-k * k / float(2 * self.squared)) / float(self._total)

    def tail(self, values: Whole) -> Floats:
        """P(X ≥ value) for each value."""
        k = whole_numbers(values)
        far = self._far(np.where(k > 0, k, 1 - k))
        return np.where(k > 0, far, 1 - far)

    def _far(self, k: Integers) -> Floats:
        if self.squared <= _TERM_BY_TERM:
            return self._float_tails[np.minimum(k, len(self._float_tails) - 1)]
        z = k / self.sigma
        integral = math.sqrt(math.pi / 2) * self.sigma * erfc(z / math.sqrt(2))
        terms = 1 / 2 + z / (12 * self.sigma) - (z**3 - 3 * z) / (720 * self.sigma**3)
        return np.asarray((integral + np.exp(-z * z / 2) * terms) / float(self._total), dtype=np.float64)

    @cached_property
    def _float_tails(self) -> Floats:
        return np.asarray([float(s.mid()) for s in self._sums]) / float(self._total)

    @cached_property
    def variance(self) -> float:
        """The variance: below σ², and indistinguishable from it once σ ≥ 2."""
        if self.squared > _TERM_BY_TERM:
            return float(self.squared)
        k = np.arange(len(self._sums))
        return float(2 * np.sum(k * k * self.pmf(k)))
