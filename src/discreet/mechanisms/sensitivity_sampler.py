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
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Sized
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from discreet.errors import InvalidType, InvalidValue, OutOfReach
from discreet.exact.grid import Grid
from discreet.exact.rational import Number, integer
from discreet.mechanisms.additive import AdditiveNoise
from discreet.mechanisms.distribution import Distribution
from discreet.mechanisms.exponential import Exponential
from discreet.mechanisms.gaussian import Gaussian
from discreet.mechanisms.laplace import Laplace
from discreet.mechanisms.measurement import Measurement
from discreet.mechanisms.random_privacy import WARNING, RandomDP, SampledBound
from discreet.mechanisms.sampling_plan import SamplingPlan
from discreet.noise.law import Floats
from discreet.noise.source import SYSTEM, Source
from discreet.privacy.loss import shown
from discreet.privacy.sensitivity import Norm, Sensitivity

__all__ = ["RandomlyPrivate", "SampledSensitivity", "SensitivitySampler"]

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
