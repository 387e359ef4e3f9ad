"""The discrete Gaussian law: P(X = k) proportional to e^(-k²/2σ²) on all integers, drawn exactly.

Drawing follows Canonne, Kamath and Steinke (2020): propose a discrete Laplace Y of a scale t near σ and accept it
with probability proportional to e^-(|Y| - σ²/t)²/2σ², here by comparing -ln V with the exponent within a proved
error. How many proposals were rejected is independent of the value that was accepted.

Probabilities are sums of e^(-k²/2σ²). Up to σ = 512 they are added term by term in balls; above it the
Euler-Maclaurin formula gives them to the working precision.

>>> DiscreteGaussian(1).pmf(np.array([-1, 0, 1])).round(4).tolist()
[0.242, 0.3989, 0.242]
"""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from functools import cache, cached_property, partial

import numpy as np
import numpy.typing as npt

from discreet.errors import InvalidType, InvalidValue
from discreet.exact.ball import BITS, Ball, ball, current_precision, sqrt_down, working_precision
from discreet.exact.grid import Integers
from discreet.exact.rational import Number, positive
from discreet.noise import host
from discreet.noise.inversion import CHUNK, LARGEST_SCALE, ScaledExponential
from discreet.noise.laplace import laplace_offset
from discreet.noise.law import Floats, SymmetricLaw, Whole, whole_numbers
from discreet.noise.source import Stream, Words
from discreet.noise.uniform import LazyUniform

__all__ = ["DiscreteGaussian"]


Booleans = npt.NDArray[np.bool_]

SMALLEST_SIGMA = Fraction(1, 2**50)
_TERM_BY_TERM = 512**2
_PREFIX_MASK = np.int64(2**63 - 1)
_LEAST_WORD = 2.0**41
_RADIUS = 2.0**-40 + 2.0**-42  # what the unread bits can change, and every rounding together
_SMALLEST_SHOWN = 39  # in units of σ: e^(-39²/2) is below the least float


class DiscreteGaussian(SymmetricLaw):
    """Gaussian noise on the integers; the parameter σ is close to its standard deviation once σ ≥ 1."""

    def __init__(self, sigma: Number | None = None, *, variance_parameter: Number | None = None) -> None:
        """Give σ, or σ² exactly as ``variance_parameter``."""
        self.squared = _square(sigma, variance_parameter)
        self.sigma = math.sqrt(self.squared)
        self._sums_at = cache(self._compute_sums)
        self._total_at = cache(self._compute_total)
        scale = max(Fraction(round(8 * sqrt_down(self.squared)), 8), Fraction(1, 8))
        self._centre = self.squared / scale
        # The likeliest proposal is accepted always: its exponent is subtracted from every other.
        self._least_exponent = (round(self._centre) - self._centre) ** 2 / (2 * self.squared)
        self._proposal = ScaledExponential(scale, partial(laplace_offset, scale))

    def __repr__(self) -> str:
        return f"DiscreteGaussian(variance_parameter={self.squared})"

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
        found: Integers = (sizes[accept].astype(np.int64) ^ signs) - signs
        return found

    def _accept(self, sizes: Floats, coins: Words, work: Floats, stream: Stream) -> Booleans:
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

    def _decided(self, sizes: Floats, coins: Words, gap: Floats, stream: Stream) -> Booleans:
        accept = gap > 0
        if np.abs(gap).min() < _RADIUS or coins.min() < _LEAST_WORD:
            for index in np.flatnonzero((np.abs(gap) < _RADIUS) | (coins < _LEAST_WORD)):
                accept[index] = self._settle(int(sizes[index]), int(coins[index]), stream)
        return accept

    def _settle(self, size: int, coin: int, stream: Stream) -> bool:
        exponent = (size - self._centre) ** 2 / (2 * self.squared) - self._least_exponent
        return exponent == 0 or LazyUniform(coin, 64, stream).exceeds(lambda v: -v.log() - ball(exponent))

    # Probabilities.

    def _weight(self, value: int) -> Ball:
        return (-value * value / ball(2 * self.squared)).exp()

    def mass(self, value: int) -> Ball:
        """P(X = value)."""
        return self._weight(value) / self._total_at(current_precision())

    def above(self, value: int) -> Ball:
        """P(X ≥ value)."""
        if value <= 0:
            return 1 - self.above(1 - value)
        total = self._total_at(current_precision())
        if self.squared > _TERM_BY_TERM:
            return self._smooth_sum(value) / total
        sums = self._sums_at(current_precision())
        return (sums[value] if value < len(sums) else self._rest(value)) / total

    def _compute_total(self, bits: int) -> Ball:
        if self.squared < 1:
            return 1 + 2 * self._sums_at(bits)[1]
        with working_precision(bits):
            # Poisson summation: Σ e^(-k²/2σ²) = σ√(2π) (1 + 2q + 2q⁴ + 2q⁹ + ...) with q = e^(-2π²σ²) < 1e-8.
            q = (-2 * Ball.pi() ** 2 * ball(self.squared)).exp()
            last = math.isqrt(bits // 28) + 2  # q^(last²) is below 2^-bits
            series = 1 + 2 * sum((q ** (j * j) for j in range(1, last)), Ball(0))
            beyond = (2 * q ** (last * last)).union(3 * q ** (last * last))
            return (2 * Ball.pi() * ball(self.squared)).sqrt() * (series + beyond)

    def _compute_sums(self, bits: int) -> list[Ball]:
        """For k = 0, 1, 2, ...: the sum of weights from k upwards, until a weight is below 2^-bits."""
        with working_precision(bits):
            last = math.isqrt(math.ceil(2 * self.squared * bits)) + 2
            sums = [self._rest(last)]
            for k in range(last - 1, -1, -1):
                sums.append(sums[-1] + self._weight(k))
            return sums[::-1]

    def _rest(self, start: int) -> Ball:
        """Σ_{k ≥ start} e^(-k²/2σ²) for start > 0: each term is at most e^(-start/σ²) times the one before."""
        ratio = (-start / ball(self.squared)).exp()
        return self._weight(start) * (1 / (1 - ratio)).union(Ball(1))

    def _smooth_sum(self, start: int) -> Ball:
        """Σ_{k ≥ start} e^(-k²/2σ²) by Euler-Maclaurin, with as many terms as the working precision asks for."""
        sigma = ball(self.squared).sqrt()
        z = start / sigma
        weight = (-z * z / 2).exp()
        total = sigma * (Ball.pi() / 2).sqrt() * (z / Ball(2).sqrt()).erfc() + weight / 2
        before, hermite = Ball(1), z  # He₀ and He₁: the n-th derivative is (-1)ⁿ Heₙ(z) e^(-z²/2) σ^-n
        for order in itertools.count(2, 2):
            factorial = math.factorial(order)
            share = Ball.bernoulli(order) / factorial / sigma ** (order - 1)
            total += share * hermite * weight
            # |Remainder| ≤ |B_n|/n! ∫|f⁽ⁿ⁾|, and E|Heₙ(Z)| ≤ √n! for a standard normal Z, by Cauchy-Schwarz.
            remainder = abs(share) * (2 * Ball.pi() * factorial).sqrt()
            if remainder < sigma * Ball(2) ** -current_precision():
                return total + remainder.union(-remainder)
            for n in (order - 1, order):
                before, hermite = hermite, z * hermite - n * before
        raise AssertionError("unreachable")

    def pmf(self, values: Whole) -> Floats:
        """P(X = value) for each value."""
        k = whole_numbers(values).astype(np.float64)
        return np.exp(-k * k / float(2 * self.squared)) / self._float_total

    def tail(self, values: Whole) -> Floats:
        """P(X ≥ value) for each value."""
        k = whole_numbers(values)
        far = self._far(np.where(k > 0, k, 1 - k))
        return np.where(k > 0, far, 1 - far)

    def _far(self, k: Integers) -> Floats:
        if self.squared <= _TERM_BY_TERM:
            return self._float_tails[np.minimum(k, len(self._float_tails) - 1)]
        from scipy.special import erfc  # noqa: PLC0415  an import of a third of a second, for those who need it

        z = k / self.sigma
        integral = math.sqrt(math.pi / 2) * self.sigma * erfc(z / math.sqrt(2))
        terms = 1 / 2 + z / (12 * self.sigma) - (z**3 - 3 * z) / (720 * self.sigma**3)
        return np.asarray((integral + np.exp(-z * z / 2) * terms) / self._float_total, dtype=np.float64)

    @cached_property
    def _float_total(self) -> float:
        return float(self._total_at(BITS))

    @cached_property
    def _float_tails(self) -> Floats:
        return np.cumsum(self.pmf(np.arange(self._furthest_shown, -1, -1)))[::-1]

    @property
    def _furthest_shown(self) -> int:
        return math.ceil(_SMALLEST_SHOWN * self.sigma) + 1

    @cached_property
    def variance(self) -> float:
        """The variance: below σ², and indistinguishable from it once σ ≥ 2."""
        if self.squared > _TERM_BY_TERM:
            return float(self.squared)
        k = np.arange(self._furthest_shown)
        return float(2 * np.sum(k * k * self.pmf(k)))


def _square(sigma: Number | None, variance_parameter: Number | None) -> Fraction:
    if sigma is not None and variance_parameter is not None:
        raise InvalidType("give sigma or variance_parameter, not both", variance_parameter, "drop one of them")
    if sigma is not None:
        squared = positive(sigma, "sigma") ** 2
    elif variance_parameter is not None:
        squared = positive(variance_parameter, "variance_parameter")
    else:
        raise InvalidType("give sigma or variance_parameter", None, "DiscreteGaussian(10), for example")
    if not SMALLEST_SIGMA**2 <= squared <= LARGEST_SCALE**2:
        shown = sigma if sigma is not None else variance_parameter
        raise InvalidValue("sigma must lie between 2^-50 and 2^42", shown, "use a coarser or a finer grid")
    return squared
