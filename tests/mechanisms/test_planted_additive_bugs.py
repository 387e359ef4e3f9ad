"""Bugs that real libraries had, planted: the check that passes for a mechanism must catch its broken version."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from discreet.exact.ball import Ball, working_precision
from discreet.exact.grid import Grid, Integers
from discreet.exact.rational import Number
from discreet.mechanisms.distribution import Distribution, ProductLaw
from discreet.mechanisms.gaussian import Gaussian
from discreet.mechanisms.laplace import Laplace
from discreet.mechanisms.measurement import Measurement
from discreet.mechanisms.noisy_threshold import LaplaceThreshold
from discreet.mechanisms.randomized_response import RandomizedResponse
from discreet.noise.gaussian import DiscreteGaussian
from discreet.noise.laplace import DiscreteLaplace
from discreet.noise.source import SYSTEM, Source
from discreet.privacy.hypothesis_tests import Pair
from discreet.privacy.loss import Approximate, Loss
from discreet.privacy.sensitivity import Sensitivity
from tests.mechanisms.contract import privacy_violation


class LaplaceWithTooLittleNoise(Laplace):
    def __init__(self, epsilon: Number) -> None:
        super().__init__(epsilon)
        self._law = DiscreteLaplace(self._law.scale * Fraction(95, 100))


class GaussianWithTooLittleNoise(Gaussian):
    def __init__(self, **price: Any) -> None:
        super().__init__(**price)
        self._law = DiscreteGaussian(variance_parameter=self._law.squared * Fraction(95, 100) ** 2)


class ClassicGaussian(Gaussian):
    """σ = √(2 ln(1.25/δ))/ε, proved for ε < 1 and used everywhere."""

    def __init__(self, epsilon: int, delta: Fraction, *, grid: Number) -> None:
        super().__init__(sigma=math.sqrt(2 * math.log(1.25 / delta)) / epsilon, grid=grid)
        self._price = Approximate(epsilon, delta)


class ZeroTwice(DiscreteLaplace):
    """A size and a sign drawn apart: "-0" and "+0" both count as zero."""

    def mass(self, value: int) -> Ball:
        share = (1 - self._ratio()) * self._ratio() ** abs(value)
        return share if value == 0 else share / 2


class LaplaceWithZeroTwice(Laplace):
    def __init__(self, epsilon: Number) -> None:
        super().__init__(epsilon)
        self._law = ZeroTwice(self._law.scale)


class HalvesToEven(Grid):
    def steps_of(self, values: npt.ArrayLike) -> Integers:
        return np.rint(np.ldexp(np.asarray(values, dtype=np.float64), -self.exponent)).astype(np.int64)


class LaplaceRoundingToEven(Laplace):
    def __init__(self, epsilon: Number) -> None:
        super().__init__(epsilon)
        self.grid = HalvesToEven(self.grid.exponent)


class BoundedSum(Measurement):
    """The sum of values clamped to public bounds: what a SUM in a query compiles to."""

    relation = "add-remove-one"

    def __init__(self, lower: int, upper: int) -> None:
        self.lower, self.upper = lower, upper
        self.noise = Laplace(1, Sensitivity.sum(lower, upper, self.relation))

    @property
    def loss(self) -> Loss:
        return self.noise.loss

    def clamped(self, rows: Sequence[int]) -> list[int]:
        return [min(max(row, self.lower), self.upper) for row in rows]

    def release(self, value: Any, *, source: Source = SYSTEM) -> Any:
        return self.noise.release(sum(self.clamped(value)), source=source)

    def error(self, confidence: Number = 0.95) -> Any:
        return self.noise.error(confidence)

    def distribution(self, value: Any) -> Distribution:
        return self.noise.distribution(sum(self.clamped(value)))


class SumWithoutItsClamp(BoundedSum):
    def clamped(self, rows: Sequence[int]) -> list[int]:
        return list(rows)


class SumForTheOtherNeighbours(BoundedSum):
    relation = "replace-one"


class FiveReports(RandomizedResponse):
    """The same bit reported five times, with fresh coins."""

    @property
    def loss(self) -> Loss:  # type: ignore[override]
        return 5 * self.honesty.loss

    def distribution(self, value: Any, predicate: Any = None) -> Distribution:
        return ProductLaw((super().distribution(value, predicate),) * 5)


class FiveReportsForThePriceOfOne(FiveReports):
    @property
    def loss(self) -> Loss:  # type: ignore[override]
        return self.honesty.loss


class ThresholdOneTooLow(LaplaceThreshold):
    def __init__(self, epsilon: Number, delta: Number) -> None:
        super().__init__(epsilon, delta)
        self.threshold -= 1


@dataclass(frozen=True)
class Case:
    name: str
    sound: Callable[[], Measurement]
    broken: Callable[[], Measurement]
    first: Any
    second: Any
    outcomes: Sequence[Any]


COUNTS = range(-200, 210)
SIXTEENTHS = [Fraction(k, 16) for k in range(-200, 220)]
SHOWN = [{}, *({"a": y} for y in range(5, 120))]
BITS = list(itertools.product((0, 1), repeat=5))

CASES = [
    Case("Laplace scale times 0.95", lambda: Laplace(1), lambda: LaplaceWithTooLittleNoise(1), 0, 1, COUNTS),
    Case(
        "Gaussian scale times 0.95",
        lambda: Gaussian(1, "1e-5"),
        lambda: GaussianWithTooLittleNoise(epsilon=1, delta="1e-5"),
        0,
        1,
        COUNTS,
    ),
    Case(
        "the classic Gaussian formula far above epsilon 1",
        lambda: Gaussian(8, Fraction(1, 100), grid="1/16"),
        lambda: ClassicGaussian(8, Fraction(1, 100), grid="1/16"),
        0,
        1,
        SIXTEENTHS,
    ),
    Case(
        "a histogram under replace-one with a sensitivity of 1",
        lambda: Laplace(1, Sensitivity.histogram("replace-one")),
        lambda: Laplace(1, 1),
        [1, 0],
        [0, 1],
        [(a, b) for a in range(-9, 11) for b in range(-9, 11)],
    ),
    Case("-0 counted twice", lambda: Laplace(1), lambda: LaplaceWithZeroTwice(1), 0, 1, COUNTS),
    Case("halves rounded to even", lambda: Laplace(1), lambda: LaplaceRoundingToEven(1), 0.5, 1.5, COUNTS),
    Case(
        "a sum without its clamp",
        lambda: BoundedSum(0, 10),
        lambda: SumWithoutItsClamp(0, 10),
        [1, 2],
        [1, 2, 1000],
        range(-200, 1200),
    ),
    Case(
        "a sum priced for the other neighbours",
        lambda: BoundedSum(5, 10),
        lambda: SumForTheOtherNeighbours(5, 10),
        [5],
        [5, 10],
        COUNTS,
    ),
    Case(
        "five reports for the price of one",
        lambda: FiveReports(1),
        lambda: FiveReportsForThePriceOfOne(1),
        0,
        1,
        BITS,
    ),
    Case(
        "a threshold for keys one too low",
        lambda: LaplaceThreshold(1, "1e-5"),
        lambda: ThresholdOneTooLow(1, "1e-5"),
        {"a": 1},
        {},
        SHOWN,
    ),
]


def violation(mechanism: Measurement, case: Case) -> str | None:
    """The contract's own check, in both orders of the two inputs."""
    forth = privacy_violation(mechanism, case.first, case.second, case.outcomes)
    return forth or privacy_violation(mechanism, case.second, case.first, case.outcomes)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_check_passes_for_the_real_mechanism(case: Case) -> None:
    assert violation(case.sound(), case) is None


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_check_catches_the_planted_bug(case: Case) -> None:
    assert violation(case.broken(), case) is not None


def renyi_excess(mechanism: Gaussian, order: int) -> float:
    """How far the Rényi divergence of a count moved by 1 is above what the stated ρ allows, relatively."""
    with working_precision(256):
        p, q = ([mechanism.law.mass(k - centre) for k in range(-60, 60)] for centre in (0, 1))
    return float(Pair(p, q).renyi(order)) / (order * float(mechanism.loss.rho)) - 1  # type: ignore[attr-defined]


def test_divergences_catch_a_concentrated_loss_with_too_little_noise() -> None:
    for order in (2, 8):
        assert renyi_excess(Gaussian(rho="0.1"), order) <= 1e-12
        assert renyi_excess(GaussianWithTooLittleNoise(rho="0.1"), order) > 0.1


def leaves_the_grid(answers: npt.ArrayLike, step: float) -> bool:
    steps = np.asarray(answers) / step  # exact: the step is a power of two
    return bool((steps != np.rint(steps)).any())


def float_laplace(value: float, rng: np.random.Generator) -> npt.NDArray[np.float64]:
    """What a textbook says to write: continuous noise added to a float."""
    return value + rng.laplace(0, 1, 1000)


@pytest.mark.parametrize("value", [0.1, 1e5 / 3])
def test_the_grid_check_catches_float_noise(value: float) -> None:
    real = Laplace(1, grid=2**-20, dimension=1000)
    assert not leaves_the_grid(real.release(np.full(1000, value)), 2**-20)
    assert leaves_the_grid(float_laplace(value, np.random.default_rng(5)), 2**-20)
