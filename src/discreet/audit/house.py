"""Every mechanism of the house, on neighbours that are hard for it: claimed against observed, for each of them."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any

from discreet.audit.case import Case
from discreet.exact.rational import Number, positive
from discreet.mechanisms.categorical_response import CategoricalResponse
from discreet.mechanisms.exponential import Exponential
from discreet.mechanisms.gaussian import Gaussian
from discreet.mechanisms.laplace import Laplace
from discreet.mechanisms.measurement import Measurement
from discreet.mechanisms.noisy_max import NoisyMax
from discreet.mechanisms.optimal_keys import OptimalKeySelection
from discreet.mechanisms.permute_and_flip import PermuteAndFlip
from discreet.mechanisms.quantile import Maximum, Median, Minimum, Quantile
from discreet.mechanisms.randomized_response import RandomizedResponse
from discreet.mechanisms.sparse_vector import AboveThreshold
from discreet.mechanisms.threshold_keys import GaussianThreshold, LaplaceThreshold
from discreet.mechanisms.top_k import TopK

__all__ = ["NAMES", "house", "house_case"]

_DELTA = Fraction(1, 1000)
_PEOPLE = [2, 4, 4, 5, 7]
_RANKED = [2, 1, 0, 0], [1, 2, 1, 1]
_FAR_COUNTS = 60


def house(epsilon: Number = 1, delta: Number = _DELTA) -> tuple[Case, ...]:
    """One case for every mechanism, all at the same price."""
    return tuple(house_case(name, epsilon, delta) for name in NAMES)


def house_case(name: str, epsilon: Number = 1, delta: Number = _DELTA) -> Case:
    """The case of this name."""
    about, build = _BUILDERS[name]
    mechanism, first, second = build(positive(epsilon, "epsilon"), positive(delta, "delta"))
    outcomes = _shown_keys(mechanism)
    return Case(name, mechanism, first, second, mechanism.loss, about, outcomes=outcomes)


def _shown_keys(mechanism: Measurement) -> list[Any] | None:
    """What rules for keys can say about one key; their laws have no end and list nothing."""
    if isinstance(mechanism, OptimalKeySelection):
        return [[], ["tea"]]
    if isinstance(mechanism, (LaplaceThreshold, GaussianThreshold)):
        low = mechanism.threshold
        return [{}, *({"tea": count} for count in range(low, low + _FAR_COUNTS))]
    return None


Built = tuple[Measurement, Any, Any]
Builder = Callable[[Fraction, Fraction], Built]


def _one(kind: Callable[[Fraction], Measurement], first: Any, second: Any) -> Builder:
    return lambda epsilon, delta: (kind(epsilon), first, second)


def _both(kind: Callable[[Fraction, Fraction], Measurement], first: Any, second: Any) -> Builder:
    return lambda epsilon, delta: (kind(epsilon, delta), first, second)


_BUILDERS: dict[str, tuple[str, Builder]] = {
    "laplace": ("a count with Laplace noise", _one(Laplace, 0, 1)),
    "laplace-vector": ("three counts, one of which moves", _one(Laplace, [0, 0, 0], [1, 0, 0])),
    "laplace-grid": ("a real number on a grid", _one(partial(Laplace, grid=0.25), 0.0, 1.0)),
    "gaussian": ("a count with Gaussian noise", _both(Gaussian, 0, 1)),
    "gaussian-rho": ("the same, priced by ρ = ε²/2", _one(lambda e: Gaussian(rho=e**2 / 2), 0, 1)),
    "randomized-response": ("one bit, told or turned", _one(RandomizedResponse, 0, 1)),
    "categorical-response": (
        "one of four categories, told or changed",
        _one(lambda e: CategoricalResponse(e, ("north", "east", "south", "west")), "north", "east"),
    ),
    "exponential": ("a choice by score", _one(Exponential, *_RANKED)),
    "permute-and-flip": ("a choice by score", _one(PermuteAndFlip, *_RANKED)),
    "noisy-max": ("the largest noisy score", _one(NoisyMax, *_RANKED)),
    "top-k": ("the two best of four", _one(lambda e: TopK(e, 2), *_RANKED)),
    "quantile": ("the upper quartile", _one(lambda e: Quantile(e, "3/4", 0, 10), _PEOPLE, _PEOPLE[:-1])),
    "median": ("the median", _one(lambda e: Median(e, 0, 10), _PEOPLE, _PEOPLE[:-1])),
    "minimum": ("the low end", _one(lambda e: Minimum(e, 0, 10), _PEOPLE, _PEOPLE[1:])),
    "maximum": ("the high end", _one(lambda e: Maximum(e, 0, 10), _PEOPLE, _PEOPLE[:-1])),
    "sparse-vector": (
        "which of three answers are large",
        _one(lambda e: AboveThreshold(e, threshold=1), [0, 1, 0], [1, 0, 1]),
    ),
    "laplace-threshold": ("a key past a noisy threshold", _both(LaplaceThreshold, {"tea": 5}, {"tea": 4})),
    "gaussian-threshold": ("a key past a noisy threshold", _both(GaussianThreshold, {"tea": 5}, {"tea": 4})),
    "optimal-keys": ("a key as often as may be", _both(OptimalKeySelection, {"tea": 2}, {"tea": 1})),
    "one-person-key": ("a key that one person alone holds", _both(OptimalKeySelection, {"tea": 1}, {})),
}
NAMES: tuple[str, ...] = tuple(_BUILDERS)
"""What people ask for, in the order of the table."""
