"""The sensitivity sampler: where no sensitivity is known, sample how far random neighbours move the target.

Promise. Let rows be drawn independently from the oracle's distribution. Noise calibrated to the sampled estimate keeps
its loss for two random neighbours of the sampled size, but for a probability of γ, for every target, every oracle and
every 0 < γ < 1. That is random differential privacy. It is *not* differential privacy: for some datasets nothing is
promised. Proof sheet: ``sensitivity_sampler.md``.

>>> import itertools
>>> heads = itertools.cycle([0, 1, 1, 0, 1, 0, 0])
>>> sampler = SensitivitySampler(sum, lambda n: [next(heads) for _ in range(n)], size=3, gamma="0.25", method="exact")
>>> sampler.sample()
SampledSensitivity(1 in L1 for 3 rows, m=3, k=3, γ=0.25: gamma-random differential privacy, not differential privacy)

A plan says how many times to sample, and which order statistic to take, for a wanted γ. There are three proofs that the
k-th smallest of m sampled moves bounds a fresh one but for γ: ``dkw`` by the inequality of Dvoretzky, Kiefer and
Wolfowitz (the paper's), ``exact`` by exchangeability (the fewest samples), ``conditional`` by the binomial law (for an
estimate that is used again and again). Proof sheet: ``sensitivity_sampler.md``.

>>> SamplingPlan.of("dkw", gamma="0.1")
SamplingPlan(samples=285, order=285, gamma=0.1, rho=0.00974, method='dkw')
>>> SamplingPlan.of("exact", gamma="0.1").samples, SamplingPlan.of("conditional", gamma="0.1").samples
(9, 49)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Sized
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from scipy.special import lambertw
from scipy.stats import binom

from discreet.errors import InvalidType, InvalidValue, OutOfReach
from discreet.exact.ball import Ball, ball, round_up, upper, working_precision
from discreet.exact.grid import Grid
from discreet.exact.rational import Number, integer
from discreet.mechanisms.additive import AdditiveNoise
from discreet.mechanisms.distribution import Distribution
from discreet.mechanisms.exponential import Exponential
from discreet.mechanisms.gaussian import Gaussian, turning_point
from discreet.mechanisms.laplace import Laplace
from discreet.mechanisms.measurement import Measurement
from discreet.mechanisms.random_privacy import WARNING, RandomDP, SampledBound
from discreet.noise.law import Floats, open_probability
from discreet.noise.source import SYSTEM, Source
from discreet.privacy.loss import shown
from discreet.privacy.sensitivity import Norm, Sensitivity

__all__ = ["RandomlyPrivate", "SampledSensitivity", "SamplingPlan", "SensitivitySampler"]


_MOST_SAMPLES = 2**40
_GAMMA_STEP = Fraction(1, 2**30)
_FLOAT_SLACK = 1e-9


@dataclass(frozen=True, repr=False)
class SamplingPlan:
    """m samples, of which the k-th smallest is taken."""

    samples: int
    """m, the number of sampled pairs of neighbours."""
    order: int
    """k, which of the sorted moves is the estimate; never above m."""
    gamma: Fraction
    """The probability that a random pair of neighbours moves further than the estimate."""
    rho: Fraction | None
    """The part of γ that is spent on an unlucky sample; None where the proof is joint."""
    method: str
    """``dkw``, ``exact`` or ``conditional``."""

    def __post_init__(self) -> None:
        if not 1 <= self.order <= self.samples:
            rule = f"{self.samples} samples must be enough for gamma = {float(self.gamma):g}"
            raise OutOfReach(rule, f"<order {self.order}>", "take more samples or a larger gamma")

    def __repr__(self) -> str:
        rho = None if self.rho is None else f"{float(self.rho):.3g}"
        parts = f"samples={self.samples}, order={self.order}, gamma={float(self.gamma):.4g}, rho={rho}"
        return f"SamplingPlan({parts}, method={self.method!r})"

    @classmethod
    def manual(cls, samples: int, order: int) -> SamplingPlan:
        """The ``order``-th smallest of so many ``samples``, with the γ = 1 - k/(m+1) that exchangeability proves."""
        m = integer(samples, "samples", least=1, most=_MOST_SAMPLES)
        k = integer(order, "order", least=1, most=m)
        return cls(m, k, 1 - Fraction(k, m + 1), None, "exact")

    @classmethod
    def of(cls, method: str, gamma: Number | None = None, samples: int | None = None) -> SamplingPlan:
        """The plan for γ with the fewest samples, for m with the least γ, or for both with the least order."""
        plans = {"dkw": _dkw, "exact": _exact, "conditional": _conditional}
        if method not in plans:
            raise InvalidValue(f"method must be one of {', '.join(plans)}", method)
        if gamma is None and samples is None:
            raise InvalidType("a plan needs gamma=, samples=, or both", "<neither>")
        wanted = None if gamma is None else open_probability(gamma, "gamma")
        count = None if samples is None else integer(samples, "samples", least=1, most=_MOST_SAMPLES)
        return plans[method](wanted, count)


def _dkw(gamma: Fraction | None, samples: int | None) -> SamplingPlan:
    """Rubinstein and Aldà's theorem; every ρ below min(γ, ½) is valid, and Lambert's W gives the best one."""
    if samples is None and gamma is not None:
        rho = Fraction(math.exp(_lower_branch(-float(gamma) / (2 * math.sqrt(math.e))) + 0.5))
        with working_precision():
            samples = math.ceil(upper(-ball(rho).log() / (2 * ball(gamma - rho) ** 2)))
    else:
        rho = Fraction(math.exp(_lower_branch(-1 / (4 * (samples or 1))) / 2))
    m = samples or 1
    with working_precision():
        least_gamma = round_up(upper(ball(rho) + _dkw_band(rho, m)))
        gamma = least_gamma if gamma is None else gamma
        order = math.ceil(upper(m * (1 - ball(gamma) + ball(rho) + _dkw_band(rho, m))))
    if gamma >= 1:
        raise OutOfReach("so few samples bound nothing", m, "take more samples")
    # Rounding up γ to state it leaves k at m.
    return SamplingPlan(m, min(order, m) if gamma >= least_gamma else m + 1, gamma, rho, "dkw")


def _dkw_band(rho: Fraction, samples: int) -> Ball:
    return (-ball(rho).log() / (2 * samples)).sqrt()


def _lower_branch(x: float) -> float:
    return float(lambertw(x, -1).real)


def _exact(gamma: Fraction | None, samples: int | None) -> SamplingPlan:
    """A fresh move is equally likely to take each of m + 1 ranks, so it exceeds the k-th with at most 1 - k/(m+1)."""
    if gamma is None:
        gamma = Fraction(1, (samples or 1) + 1)
    m = math.ceil(1 / gamma) - 1 if samples is None else samples
    return SamplingPlan(m, math.ceil((1 - gamma) * (m + 1)), gamma, None, "exact")


def _conditional(gamma: Fraction | None, samples: int | None) -> SamplingPlan:
    """The k-th of m covers 1 - γ' of the law but for ρ; γ = γ' + ρ with ρ = γ/10."""
    if gamma is None:
        gamma = _conditional_gamma(samples or 1)
    rho = gamma / 10
    if samples is None:
        with working_precision():
            samples = math.ceil(upper(ball(rho).log() / ball(1 - gamma + rho).log()))
    return SamplingPlan(samples, _conditional_order(samples, gamma - rho, rho), gamma, rho, "conditional")


def _conditional_order(samples: int, missed: Fraction, rho: Fraction) -> int:
    """The least k with P(Bin(m, 1-γ') ≥ k) ≤ ρ; m + 1 where there is none."""
    if (1 - float(missed)) ** samples > float(rho) * (1 + _FLOAT_SLACK):
        return samples + 1

    def suffices(order: int) -> bool:
        chance = float(binom.sf(order - 1, samples, 1 - float(missed)))
        return order >= samples or chance <= float(rho) * (1 - _FLOAT_SLACK)

    return turning_point(suffices, max(round(samples * (1 - missed)), 1), 16)


def _conditional_gamma(samples: int) -> Fraction:
    def suffices(steps: int) -> bool:
        gamma = steps * _GAMMA_STEP
        with working_precision():
            return bool(samples * ball(1 - gamma * 9 / 10).log() <= ball(gamma / 10).log())

    steps = turning_point(suffices, 2**29, 2**20)
    if steps * _GAMMA_STEP >= 1:
        raise OutOfReach("so few samples bound nothing", samples, "take more samples")
    return steps * _GAMMA_STEP


Target = Callable[[Any], Any]
"""A function of a dataset that returns a number or an array of numbers."""

Oracle = Callable[[int], Any]
"""n ↦ n rows drawn independently from a public distribution, with the caller's own randomness."""

_UP = 1 + 2.0**-48  # more than all roundings of a norm
_STEPS = 1024  # the default grid resolves a move into this many steps


class RandomlyPrivate(Measurement):
    """A target computed on a dataset of one fixed size, and a mechanism for a sensitivity that was sampled."""

    def __init__(
        self, noise: AdditiveNoise | Exponential, target: Target, size: int, dimension: int, gamma: Fraction
    ) -> None:
        """Made by `SampledSensitivity`; it takes datasets, not answers, so that the size can be checked."""
        self.noise = noise
        self.target = target
        self.size = size
        self.dimension = dimension
        self.gamma = gamma

    def __repr__(self) -> str:
        return f"RandomlyPrivate({self.noise!r}, size={self.size}, γ={shown(self.gamma)}: {WARNING})"

    @property
    def loss(self) -> RandomDP:
        """The noise's loss, but for γ over random datasets."""
        return RandomDP(self.noise.loss, self.gamma)

    def release(self, value: Any, *, source: Source = SYSTEM) -> Any:
        """The noisy target of the dataset ``value``, which must have the size that was sampled, or the choice."""
        return self.noise.release(self._answer(value), source=source)

    def distribution(self, value: Any) -> Distribution:
        """The exact law of the release for the dataset ``value``."""
        return self.noise.distribution(self._answer(value))

    def error(self, confidence: Number = 0.95) -> int | float:
        """How far the answers, or the score of the choice, may be from the best, with this confidence."""
        return self.noise.error(confidence, self.dimension)

    def _answer(self, rows: Any) -> Any:
        if not isinstance(rows, Sized):
            raise InvalidType("the dataset must be a list or an array of rows", f"<{type(rows).__name__}>")
        if len(rows) != self.size:
            remedy = "sample the sensitivity again for this size"
            raise InvalidValue(f"the dataset must have {self.size} rows, as sampled", "<another number>", remedy)
        answer = self.target(rows)
        numbers = numbers_of(answer)
        if numbers.size != self.dimension:
            raise InvalidValue(f"the target must return {self.dimension} numbers, as sampled", "<another number>")
        return numbers if np.ndim(answer) else float(numbers[0])


@dataclass(frozen=True, repr=False)
class SampledSensitivity(SampledBound):
    """An estimate that random neighbours stay below, but for γ."""

    value: Fraction
    """The estimate, the plan's order statistic of the sampled moves."""
    norm: Norm
    """How a move of several answers is measured."""
    size: int
    """The number of rows it holds for."""
    plan: SamplingPlan
    """How it was sampled."""
    dimension: int
    """How many numbers the target returns."""
    target: Target = field(compare=False)
    """What is released."""

    def __repr__(self) -> str:
        plan = f"m={self.plan.samples}, k={self.plan.order}, γ={shown(self.plan.gamma)}"
        return f"SampledSensitivity({float(self.value):g} in {self.norm} for {self.size} rows, {plan}: {WARNING})"

    @property
    def gamma(self) -> Fraction:
        """The probability, over the samples and random neighbours, that they move further."""
        return self.plan.gamma

    def exponential(self, epsilon: Number, candidates: Iterable[Hashable] | None = None) -> RandomlyPrivate:
        """A choice among as many candidates as the target returns scores; it takes a dataset of the sampled size."""
        return self._private(Exponential(epsilon, candidates, sensitivity=self._sensitivity))

    def laplace(self, epsilon: Number, *, grid: Number | None = None) -> RandomlyPrivate:
        """Laplace noise for the estimate; the mechanism takes a dataset of the sampled size."""
        noise = Laplace(epsilon, self._sensitivity, grid=self._grid(grid), dimension=self.dimension)
        return self._private(noise)

    def gaussian(
        self,
        epsilon: Number | None = None,
        delta: Number | None = None,
        *,
        rho: Number | None = None,
        grid: Number | None = None,
    ) -> RandomlyPrivate:
        """Gaussian noise for the estimate; the mechanism takes a dataset of the sampled size."""
        step = self._grid(grid)
        return self._private(Gaussian(epsilon, delta, self._sensitivity, rho=rho, grid=step, dimension=self.dimension))

    @property
    def _sensitivity(self) -> Sensitivity:
        return Sensitivity(self.value, self.neighbours, self.norm)

    def _grid(self, grid: Number | None) -> Number:
        return Grid.finer_than(self.value / (_STEPS * self.dimension)).step if grid is None else grid

    def _private(self, noise: Laplace | Gaussian | Exponential) -> RandomlyPrivate:
        return RandomlyPrivate(noise, self.target, self.size, self.dimension, self.plan.gamma)


class SensitivitySampler:
    """Draws random neighbours from a public oracle and measures how far the target moves between them."""

    def __init__(
        self,
        target: Target,
        oracle: Oracle,
        size: int,
        *,
        norm: Norm | str = Norm.L1,
        gamma: Number | None = None,
        samples: int | None = None,
        method: str = "dkw",
        plan: SamplingPlan | None = None,
    ) -> None:
        """``size`` is the number of rows at release; the oracle must not look at the private data.

        ``plan`` says how to sample in place of ``gamma``, ``samples`` and ``method``.
        """
        self.target = target
        self.oracle = oracle
        self.size = integer(size, "size", least=1)
        self.norm = Norm.of(norm)
        if plan is not None and (gamma, samples) != (None, None):
            raise InvalidType("a sampler takes a plan, or gamma and samples, not both", repr(plan))
        self.plan = SamplingPlan.of(method, gamma, samples) if plan is None else plan

    def __repr__(self) -> str:
        return f"SensitivitySampler(size={self.size}, norm={self.norm}, {self.plan!r}: {WARNING})"

    def sample(self) -> SampledSensitivity:
        """The estimate. One of 0 is refused, because noise for it would hide nothing."""
        moves = [self._move() for _ in range(self.plan.samples)]
        dimensions = {dimension for _, dimension in moves}
        if len(dimensions) != 1:
            raise InvalidValue("the target must always return as many numbers", "<different numbers>")
        value = sorted(size for size, _ in moves)[self.plan.order - 1]
        if value == 0:
            remedy = "take more samples or a smaller gamma, or prove a sensitivity"
            raise OutOfReach("the sampled sensitivity must be positive", 0, remedy)
        return SampledSensitivity(Fraction(value * _UP), self.norm, self.size, self.plan, dimensions.pop(), self.target)

    def _move(self) -> tuple[float, int]:
        """How far the target moves when the last of ``size`` rows is replaced by another one."""
        rows = self.oracle(self.size + 1)
        if not isinstance(rows, Sized) or len(rows) != self.size + 1:
            raise InvalidValue(f"the oracle must return {self.size + 1} rows as asked", "<others>")
        first, second = (numbers_of(self.target(part)) for part in _neighbours(rows))
        if first.shape != second.shape:
            raise InvalidValue("the target must always return as many numbers", "<different numbers>")
        return _length(first - second, self.norm), first.size


def _neighbours(rows: Any) -> tuple[Any, Any]:
    if isinstance(rows, np.ndarray):
        return rows[:-1], np.concatenate([rows[:-2], rows[-1:]])
    if not isinstance(rows, list):
        raise InvalidType("the oracle must return a list or an array of rows", f"<{type(rows).__name__}>")
    return rows[:-1], rows[:-2] + rows[-1:]


def _length(move: Floats, norm: Norm) -> float:
    sizes = np.abs(move).tolist()
    if norm is Norm.L1:
        return math.fsum(sizes)
    return math.hypot(*sizes) if norm is Norm.L2 else max(sizes)


def numbers_of(answer: Any) -> Floats:
    """What a target returned, as finite floats in a row."""
    array = np.asarray(answer)
    if array.dtype.kind not in "biuf":
        raise InvalidType("the target must return numbers", f"<{array.dtype}>")
    numbers = array.astype(np.float64).ravel()
    if not np.isfinite(numbers).all() or not numbers.size:
        raise InvalidValue("the target must return finite numbers, at least one", "<NaN, infinity or nothing>")
    return numbers
