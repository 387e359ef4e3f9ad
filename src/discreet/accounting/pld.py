"""Numeric composition of a fixed batch: add the privacy-loss distributions themselves.

The losses of independent releases add, so their distributions convolve. Three measures make the sum an upper bound
that is also tight:

* losses are put on a grid by splitting each atom between its two neighbours so that the mean of e^-loss stays, which
  can only raise δ (the rounding costs little, since the mean of the loss hardly moves);
* the distributions are tilted by e^(λ·loss) before the Fourier transform and tilted back after it, so that its
  rounding errors are relative to δ and not to 1;
* what falls outside the window, the bound on the transform's error, and the accuracy of the masses are added to δ.

Only for batches fixed in advance: a price chosen after seeing an answer needs a filter.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt
from scipy.fft import irfft, next_fast_len, rfft
from scipy.optimize import brentq
from scipy.special import ndtri

from discreet.errors import InvalidType, InvalidValue, NoProvedPath, OutOfReach
from discreet.exact.rational import Number, probability, rational
from discreet.privacy.loss import Approximate, Loss
from discreet.privacy.loss_distribution import LossDistribution
from discreet.privacy.neighbours import Neighbours

__all__ = ["Batch"]


Floats = npt.NDArray[np.float64]

_ADDED_VARIANCE = 1e-4  # what the grid may add to the variance of the total loss, relative to it
_MOVED = 3e-4  # what the grid may add to the total loss, relative to it
_MOST_POINTS = 2**22
_OUTSIDE = 2.0**-60  # tilted probability that may fall outside the window
_ROUNDS = 8
_SETTLED = 2.0**-20
_LEAST = 2.0**-1074  # of all floats
_NUDGE = 2.0**-16


class Batch:
    """Releases that were all fixed before the first answer was seen."""

    def __init__(self, releases: Iterable[LossDistribution | Loss]) -> None:
        """Pass mechanisms' loss distributions, or losses, for which the worst mechanism is assumed."""
        distributions = [_distribution_of(release) for release in releases]
        self.neighbours = _one_relation(distributions)
        """The relation of all releases that say one; releases under two relations are refused."""
        parts = _group(distributions)
        self._infinite = _any_infinite(parts)
        self._parts = [part for part in parts if part.widest > 0]
        self._count = sum(part.count for part in self._parts)

    def epsilon_at(self, delta: Number) -> Fraction:
        """The least ε at which `delta_at` is ``delta`` or less, never below the true one."""
        exact = probability(delta, "delta")
        if not 0 < exact < 1:
            raise InvalidValue("delta must lie strictly between 0 and 1", delta)
        wanted = math.nextafter(float(exact), 0.0)
        if self._infinite >= wanted:
            raise OutOfReach(f"delta must exceed {self._infinite:g}, the chance of an unbounded loss", delta)
        if not self._parts:
            return Fraction(0)
        least, guess = self._largest_loss(), min(self._first_guess(wanted), self._largest_loss())
        for _ in range(_ROUNDS):
            total = self._total(guess)
            found = total.epsilon_at(wanted)
            # Every total is a bound at every ε, but a good one only near the ε that it was tilted towards. Where the
            # tilt is capped, the window can end before δ is as small as was asked.
            if total.delta_at(found) <= wanted:
                if found >= least * (1 - _SETTLED):
                    break
                least = found
            guess = found
        # Two grids differ by a hair: what is returned is a point of the curve that `delta_at` has.
        nudge = _NUDGE * least
        while least and Fraction(self._delta_at(least)) > exact:
            least, nudge = min(least + nudge, self._largest_loss()), 2 * nudge
        return Fraction(math.nextafter(least, math.inf)) if least else Fraction(0)

    def delta_at(self, epsilon: Number) -> Fraction:
        """The least δ at ``epsilon``, never below the true one."""
        exact = rational(epsilon, "epsilon")
        if exact < 0:
            raise InvalidValue("epsilon must not be negative", epsilon)
        if exact >= self._largest_loss():
            return Fraction(self._infinite)
        return Fraction(self._delta_at(math.nextafter(float(exact), 0.0)))

    def _delta_at(self, epsilon: float) -> float:
        if not self._parts or epsilon >= self._largest_loss():
            return self._infinite
        return min(self._total(epsilon).delta_at(epsilon), 1.0)

    def approximate(self, delta: Number) -> Approximate:
        """The loss of the whole batch as (ε, δ)."""
        return Approximate(self.epsilon_at(delta), rational(delta, "delta"), self.neighbours)

    def _first_guess(self, delta: float) -> float:
        mean, variance = self._moments(0.0)
        return max(mean - float(ndtri(delta)) * math.sqrt(variance), 0.0)

    def _largest_loss(self) -> float:
        """No finite total exceeds this, so δ is the chance of an unbounded loss from here on."""
        return math.nextafter(math.fsum(part.count * part.widest for part in self._parts) * (1 + 2.0**-50), math.inf)

    def _moments(self, tilt: float) -> tuple[float, float]:
        parts = [(part.count, *part.moments(tilt)) for part in self._parts]
        return math.fsum(c * m for c, m, _ in parts), math.fsum(c * v for c, _, v in parts)

    def _total(self, epsilon: float) -> _TotalLoss:
        """The distribution of the total loss, accurate around ``epsilon``."""
        tilt = self._tilt_towards(epsilon)
        mean, variance = self._moments(tilt)
        half, outside = self._window(tilt, mean, variance)
        step = self._step(epsilon, variance)
        size = next_fast_len(min(max(math.ceil(2 * half / step), 64), _MOST_POINTS), real=True)
        step = 2 * half / size
        transform, log_scale = np.ones(size // 2 + 1, np.complex128), 0.0
        for part in self._parts:
            masses, log_mass = part.on_grid(step, size, tilt)
            spectrum = rfft(masses)
            transform *= spectrum if part.count == 1 else spectrum**part.count
            log_scale += part.count * log_mass
        first = math.floor((mean - half) / step)
        weights = np.asarray(np.roll(irfft(transform, size), -(first % size)), dtype=np.float64)
        error = outside + self._count * size * math.log2(size) * 2.0**-52
        inflation = 1 + self._count * 2.0**-44
        losses = np.asarray(step * (first + np.arange(size)), dtype=np.float64)
        return _TotalLoss(losses, np.maximum(weights, 0.0), tilt, log_scale, error, inflation, self._infinite)

    def _step(self, epsilon: float, variance: float) -> float:
        """A grid step that adds little to the variance, or moves the total by little: either makes it fine enough."""
        widest = max(part.widest for part in self._parts)
        moved = _MOVED * max(epsilon, widest / 8) / self._count
        return max(math.sqrt(_ADDED_VARIANCE * variance / self._count), moved)

    def _tilt_towards(self, epsilon: float) -> float:
        """The λ at which the tilted mean loss is near ``epsilon``; any λ is valid, a good one loses fewer digits."""
        mean, variance = self._moments(0.0)
        tilt = max((epsilon - mean) / max(variance, 1e-300), 0.0)
        largest = 500 / max(part.widest for part in self._parts)
        for _ in range(3):
            tilt = min(tilt, largest)
            mean, variance = self._moments(tilt)
            tilt = max(tilt + (epsilon - mean) / max(variance, 1e-300), 0.0)
        return min(tilt, largest)

    def _window(self, tilt: float, mean: float, variance: float) -> tuple[float, float]:
        """Half the window's width, and a bound on the tilted probability outside it (Chernoff)."""
        half = 9 * math.sqrt(variance) + 1e-12
        reach = self._largest_loss()
        while half < 2.1 * reach:
            pull = half / max(variance, 1e-300)
            pull = min(pull, 200 / max(part.widest for part in self._parts))
            outside = self._chernoff(tilt, pull, mean + half) + self._chernoff(tilt, -pull, mean - half)
            if outside <= _OUTSIDE:
                return half, outside
            half *= 1.25
        return 2.1 * reach, 0.0

    def _chernoff(self, tilt: float, pull: float, edge: float) -> float:
        """P_tilted(pull · (S - edge) ≥ 0) ≤ M(tilt + pull) / M(tilt) · e^(-pull · edge)."""
        log_ratio = math.fsum(
            part.count * (part.log_moment(tilt + pull) - part.log_moment(tilt)) for part in self._parts
        )
        return math.exp(min(log_ratio - pull * edge, 50.0))


@dataclass
class _Repeated:
    """One loss distribution and how often it is released."""

    distribution: LossDistribution
    count: int

    def __post_init__(self) -> None:
        positive = self.distribution.masses > 0
        self._losses = self.distribution.losses[positive]
        masses = self.distribution.masses[positive]
        self._log_masses = np.log(masses / masses.sum())
        self.widest = float(np.abs(self._losses).max(initial=0.0))

    def log_moment(self, tilt: float) -> float:
        """The logarithm of E[e^(tilt · loss)], given that the loss is finite."""
        exponents = self._log_masses + tilt * self._losses
        top = float(exponents.max())
        return top + math.log(float(np.exp(exponents - top).sum()))

    def moments(self, tilt: float) -> tuple[float, float]:
        """Mean and variance of the tilted loss."""
        exponents = self._log_masses + tilt * self._losses
        weights = np.exp(exponents - exponents.max())
        weights /= weights.sum()
        mean = float(weights @ self._losses)
        return mean, float(weights @ (self._losses - mean) ** 2)

    def on_grid(self, step: float, size: int, tilt: float) -> tuple[Floats, float]:
        """Tilted masses on a ring of ``size`` grid points, summing to 1, and the logarithm of what they summed to."""
        below = np.floor(self._losses / step)
        up = np.expm1(-(self._losses - below * step)) / math.expm1(-step)
        positions = below.astype(np.int64)
        points = np.concatenate([positions, positions + 1])
        shares = np.concatenate([1 - up, up])
        log_masses = np.concatenate([self._log_masses, self._log_masses]) + tilt * step * points
        top = float(log_masses.max())
        masses = np.bincount(points % size, weights=shares * np.exp(log_masses - top), minlength=size)
        total = float(masses.sum())
        return masses / total, top + math.log(total)


@dataclass(frozen=True)
class _TotalLoss:
    """The total loss of a batch, tilted: P(loss) = weight · e^(log_scale - tilt · loss)."""

    losses: Floats
    weights: Floats
    tilt: float
    log_scale: float
    error: float
    inflation: float
    infinite: float

    def delta_at(self, epsilon: float) -> float:
        """E[(1 - e^(ε - loss))⁺], plus all that the computation may have missed."""
        above = int(np.searchsorted(self.losses, epsilon))
        excess = self.losses[above:] - epsilon
        mean = float(np.sum(self.weights[above:] * np.exp(-self.tilt * excess) * -np.expm1(-excess)))
        scale = math.exp(min(self.log_scale - self.tilt * epsilon, 700.0))
        finite = scale * (mean + self.error) * self.inflation
        return self.infinite + (1 - self.infinite) * finite

    def epsilon_at(self, delta: float) -> float:
        """The least ε at or above 0 in the window with δ(ε) ≤ delta."""
        low, high = max(float(self.losses[0]), 0.0), float(self.losses[-1])
        if self.delta_at(low) <= delta:
            return low
        if self.delta_at(high) >= delta:
            return high

        def excess(epsilon: float) -> float:
            return math.log(max(self.delta_at(epsilon), _LEAST)) - math.log(delta)

        found = float(brentq(excess, low, high, xtol=1e-15, rtol=1e-13))
        while self.delta_at(found) > delta:  # a root is found from either side
            found = min(found + 1e-12 * max(found, 1e-6), high)
        return found


def _one_relation(releases: Iterable[LossDistribution]) -> Neighbours | None:
    said = {release.neighbours for release in releases} - {None}
    if len(said) > 1:
        rule, names = "the releases of a batch must share one relation", ", ".join(sorted(map(str, said)))
        raise NoProvedPath(rule, f"<{names}>", "prove all of them under one of the two")
    return said.pop() if said else None


def _group(releases: Iterable[LossDistribution]) -> list[_Repeated]:
    """Equal distributions together, so that each is transformed once."""
    parts: dict[tuple[float, ...], list[_Repeated]] = {}
    for release in releases:
        same = parts.setdefault((len(release.losses), release.losses[0], release.infinite), [])
        for part in same:
            if part.distribution is release or part.distribution == release:
                part.count += 1
                break
        else:
            same.append(_Repeated(release, 1))
    return [part for same in parts.values() for part in same]


def _any_infinite(parts: list[_Repeated]) -> float:
    """The chance that some loss is unbounded, rounded up; a difference from 1 would lose all that is below 2^-53."""
    chances = [(part.count, part.distribution.infinite) for part in parts]
    if any(chance == 1 for _, chance in chances):
        return 1.0
    return min(-math.expm1(math.fsum(count * math.log1p(-chance) for count, chance in chances)) * (1 + 2.0**-40), 1.0)


def _distribution_of(release: object) -> LossDistribution:
    if isinstance(release, LossDistribution):
        return release
    if isinstance(release, Loss):
        return LossDistribution.of(release)
    raise InvalidType("a batch holds losses or loss distributions", release, "pass mechanism.loss_distribution()")
