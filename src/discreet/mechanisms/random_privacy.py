"""Random differential privacy: a promise about random data, which a proper loss must never be mixed with.

A mechanism is γ-random private at a loss when the inequality of that loss holds for two neighbouring datasets drawn
from a distribution, but for a probability of γ over the draw (Hall, Rinaldo, Wasserman 2012). For the unlucky datasets
nothing is promised at all, so such a loss adds to others of its kind alone.

>>> from discreet.privacy.loss import Pure
>>> RandomDP(Pure(1), "0.1") + RandomDP(Pure(2), "0.05")
RandomDP(Pure(ε=3), γ=0.15: gamma-random differential privacy, not differential privacy)
"""

from __future__ import annotations

from collections.abc import Callable, Sized
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from discreet.errors import InvalidType, InvalidValue, NoProvedPath
from discreet.exact.rational import Number, probability
from discreet.mechanisms.additive import AdditiveNoise, Answers
from discreet.mechanisms.distribution import Distribution
from discreet.mechanisms.measurement import Measurement
from discreet.noise.law import Floats
from discreet.noise.source import SYSTEM, Source
from discreet.privacy.loss import Loss, shown

__all__ = ["WARNING", "RandomDP", "RandomlyPrivate", "Target", "numbers_of"]

WARNING = "gamma-random differential privacy, not differential privacy"
"""Said wherever a random loss, or what leads to one, is printed."""

Target = Callable[[Any], Any]
"""A function of a dataset that returns a number or an array of numbers."""


@dataclass(frozen=True, repr=False, order=False)
class RandomDP(Loss):
    """The inequality of ``loss``, but for a probability of γ over random neighbouring datasets."""

    loss: Loss
    """What is promised for lucky datasets."""
    gamma: Fraction
    """How likely datasets are unlucky."""
    name: ClassVar[str] = "random"

    def __init__(self, loss: Loss, gamma: Number) -> None:
        if isinstance(loss, RandomDP):
            raise InvalidType("a random loss must wrap a proper loss", repr(loss))
        object.__setattr__(self, "loss", loss)
        object.__setattr__(self, "gamma", probability(gamma, "gamma"))
        if self.gamma == 1:
            raise InvalidValue("gamma must be below 1", gamma, "nothing would be promised for any dataset")

    def __repr__(self) -> str:
        return f"RandomDP({self.loss!r}, γ={shown(self.gamma)}: {WARNING})"

    def __str__(self) -> str:
        return f"{self.loss}, for all but a share γ = {shown(self.gamma)} of random datasets: {WARNING}"

    def __add__(self, other: object) -> Loss:
        if isinstance(other, Loss) and not isinstance(other, RandomDP):
            raise self._no_path()  # the general refusal would advise a conversion that does not exist
        return super().__add__(other)

    def _plus(self, other: RandomDP) -> RandomDP:
        return RandomDP(self.loss + other.loss, self.gamma + other.gamma)  # the union bound

    def _repeated(self, times: int) -> RandomDP:
        return RandomDP(times * self.loss, times * self.gamma)

    def _within(self, other: RandomDP) -> bool:
        return self.loss <= other.loss and self.gamma <= other.gamma

    def _or(self, other: RandomDP) -> RandomDP:
        return RandomDP(self.loss | other.loss, max(self.gamma, other.gamma))

    def group(self, size: int) -> RandomDP:
        """Refused: the datasets between two that differ in several units are not random ones."""
        raise NoProvedPath("random privacy says nothing about groups", size, "prove a sensitivity instead")

    def delta_at(self, epsilon: Number) -> Fraction:
        """Refused: γ is no δ, because it is not over the mechanism's own coins."""
        raise self._no_path()

    def epsilon_at(self, delta: Number) -> Fraction:
        """Refused: γ is no δ, because it is not over the mechanism's own coins."""
        raise self._no_path()

    def _into(self, other: Loss) -> Loss | None:
        if isinstance(other, RandomDP):
            return self
        raise self._no_path()

    def _no_path(self) -> NoProvedPath:
        rule = "random privacy holds for random data alone, so it neither adds to nor compares with a proper loss"
        return NoProvedPath(rule, f"<{self!r}>", "prove a sensitivity instead")


class RandomlyPrivate(Measurement):
    """A target computed on a dataset of one fixed size, with noise for a sensitivity that was sampled."""

    def __init__(self, noise: AdditiveNoise, target: Target, size: int, dimension: int, gamma: Fraction) -> None:
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

    def release(self, value: Any, *, source: Source = SYSTEM) -> Answers:
        """The noisy target of the dataset ``value``, which must have the size that was sampled."""
        return self.noise.release(self._answer(value), source=source)

    def distribution(self, value: Any) -> Distribution:
        """The exact law of the release for the dataset ``value``."""
        return self.noise.distribution(self._answer(value))

    def error(self, confidence: Number = 0.95) -> int | float:
        """The exact quantile of |noise|: all answers stay within it, together, with this confidence."""
        return self.noise.error(confidence, self.dimension)

    def _answer(self, rows: Any) -> float | Floats:
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


def numbers_of(answer: Any) -> Floats:
    """What a target returned, as finite floats in a row."""
    array = np.asarray(answer)
    if array.dtype.kind not in "biuf":
        raise InvalidType("the target must return numbers", f"<{array.dtype}>")
    numbers = array.astype(np.float64).ravel()
    if not np.isfinite(numbers).all() or not numbers.size:
        raise InvalidValue("the target must return finite numbers, at least one", "<NaN, infinity or nothing>")
    return numbers
