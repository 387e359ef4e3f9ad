"""Noisy thresholds: show a key with its noisy count where that count reaches a threshold nobody reaches alone.

Promise. If one unit holds at most l keys, showing every key whose count plus noise reaches the threshold, with that
noisy count, is (ε, δ)-differentially private under add-remove-one, for every ε > 0, 0 < δ < 1 and l ≥ 1. The threshold
is the least integer for which the proof holds. Proof sheet: ``noisy_threshold.md``.

>>> rule = LaplaceThreshold(epsilon=1, delta=1e-6)
>>> rule.threshold, rule.visible_from(0.95)
(15, 17)
>>> GaussianThreshold(epsilon=1, delta=1e-6).threshold
22
>>> KeyThreshold(Laplace(epsilon=1, sensitivity=3), delta=1e-6, keys_per_unit=3).threshold
45
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from discreet.errors import InvalidType, InvalidValue
from discreet.exact.ball import Ball, sqrt_up
from discreet.exact.grid import Integers
from discreet.exact.rational import Number, integer
from discreet.mechanisms.additive import draw_onto
from discreet.mechanisms.distribution import Distribution, Many
from discreet.mechanisms.gaussian import Gaussian, turning_point
from discreet.mechanisms.laplace import Laplace
from discreet.mechanisms.partition_selection import KeySelection, SurvivorsLaw, held_keys
from discreet.mechanisms.selection import canonical
from discreet.noise.laplace import DiscreteLaplace
from discreet.noise.law import SymmetricLaw, is_at_least, open_probability
from discreet.noise.source import SYSTEM, Source, Stream
from discreet.privacy.loss import Approximate, Pure, ZeroConcentrated

__all__ = ["GaussianThreshold", "KeyThreshold", "LaplaceThreshold", "ThresholdedLaw", "least_threshold"]


@dataclass(frozen=True)
class ThresholdedLaw(Distribution):
    """A noisy count where it reaches the threshold, and None where the key is not shown."""

    law: SymmetricLaw
    """The noise."""
    count: int
    """How many units hold the key."""
    threshold: int
    """The least noisy count that is shown."""

    def mass(self, outcome: int | None) -> Ball:
        """P(answer = outcome)."""
        if outcome is None:
            return self.law.below(self.threshold - 1 - self.count) if self.count > 0 else Ball(1)
        is_possible = self.count > 0 and outcome >= self.threshold
        return self.law.mass(outcome - self.count) if is_possible else Ball(0)


class _NoisyThreshold(KeySelection):
    law: SymmetricLaw
    """The noise on one count."""
    threshold: int
    """The least noisy count that is shown."""

    def _set(self, law: SymmetricLaw, delta: Fraction) -> None:
        self.law = law
        self.threshold = least_threshold(law, delta, self.keys_per_unit)

    def shown(self, count: int) -> Ball:
        """P(a key that ``count`` units hold is shown), as a ball at the working precision."""
        return self.law.above(self.threshold - count) if count > 0 else Ball(0)

    def release(self, value: Any, *, source: Source = SYSTEM) -> dict[Any, int]:
        """The keys that pass, each with its noisy count, in an order that depends on the keys alone."""
        shown: dict[Any, int] = self.releases(value, 1, source=source)[0]
        return shown

    def releases(self, value: Any, count: int, *, source: Source = SYSTEM) -> Many:
        """``count`` independent answers, each at the full price: for audits and studies."""
        keys, counts = held_keys(value)
        noisy, passed = self.show(np.broadcast_to(counts, (count, len(keys))), source.open())
        return Many.of_rows(np.where(passed, noisy, self.threshold - 1), lambda row: self._passing(keys, row))

    def show(self, counts: Integers, stream: Stream) -> tuple[Integers, npt.NDArray[np.bool_]]:
        """Numbers of units with noise on each, and which of their keys are shown; the other numbers are private."""
        noisy = draw_onto(self.law, counts, stream)
        return noisy, (noisy >= self.threshold) & (counts > 0)

    def _passing(self, keys: list[Hashable], noisy: list[int]) -> dict[Any, int]:
        found = {key: count for key, count in zip(keys, noisy, strict=True) if count >= self.threshold}
        return {key: found[key] for key in canonical(found)}

    def distribution(self, value: Any) -> Distribution:
        """The exact law for one key held by so many units, or for a whole mapping of keys to counts."""
        if isinstance(value, int) and not isinstance(value, bool):
            return ThresholdedLaw(self.law, value, self.threshold)
        keys, counts = held_keys(value)
        parts: dict[Hashable, Distribution] = {
            key: ThresholdedLaw(self.law, count, self.threshold)
            for key, count in zip(keys, counts.tolist(), strict=True)
        }
        return SurvivorsLaw(parts, None)

    def count_error(self, confidence: Number = 0.95, answers: int = 1) -> int:
        """The exact quantile of |noise|, before the threshold: all ``answers`` counts stay within it."""
        return self.law.error(confidence, answers)


class LaplaceThreshold(_NoisyThreshold):
    """Discrete Laplace noise of scale l/ε; all of δ goes to the threshold."""

    def __init__(self, epsilon: Number, delta: Number, keys_per_unit: int = 1) -> None:
        """Choose the price; ``keys_per_unit`` is the most keys that one unit may hold."""
        self._declare(epsilon, delta, keys_per_unit)
        self._set(DiscreteLaplace(self.keys_per_unit / self.epsilon), self.delta)


class GaussianThreshold(_NoisyThreshold):
    """Discrete Gaussian noise for an L2 move of √l; from two keys on, δ is shared by the noise and the threshold.

    A unit with one key either moves a count that others hold, or holds its key alone: δ pays for one of the two.
    """

    def __init__(
        self, epsilon: Number, delta: Number, keys_per_unit: int = 1, *, noise_share: Number | None = None
    ) -> None:
        """Choose the price; ``noise_share`` is the part of δ that pays for the noise: half of it unless it is given.

        With one key per unit and no ``noise_share``, noise and threshold each have all of δ.
        """
        self._declare(epsilon, delta, keys_per_unit)
        for_noise, for_threshold = self._shares(noise_share)
        # One unit moves at most l counts, so noise for l answers serves however many keys there are.
        noise = Gaussian(
            self.epsilon,
            for_noise,
            sqrt_up(self.keys_per_unit),
            dimension=self.keys_per_unit,
            integers=True,
        )
        self._set(noise.law, for_threshold)

    def _shares(self, noise_share: Number | None) -> tuple[Fraction, Fraction]:
        """δ for the noise and δ for the threshold."""
        if noise_share is None and self.keys_per_unit == 1:
            return self.delta, self.delta
        for_noise = self.delta * open_probability(Fraction(1, 2) if noise_share is None else noise_share, "noise_share")
        return for_noise, self.delta - for_noise


class KeyThreshold(_NoisyThreshold):
    """The threshold for noise that is already chosen: all of ``delta`` is for keys that one unit holds alone."""

    noise: Laplace | Gaussian
    """What hides the counts of keys that others hold too."""

    def __init__(self, noise: Laplace | Gaussian, delta: Number, keys_per_unit: int = 1) -> None:
        """``noise`` is Laplace noise of ε, or Gaussian noise of ρ, for ``keys_per_unit`` counts that move by one."""
        self.noise = noise
        self.delta = open_probability(delta, "delta")
        self.keys_per_unit = integer(keys_per_unit, "keys_per_unit", least=1, most=2**32)
        self._check_noise()
        self._set(noise.law, self.delta)

    def _check_noise(self) -> None:
        if not isinstance(self.noise.loss, Pure | ZeroConcentrated) or self.noise.grid.exponent:
            rule = "the noise must be on whole numbers, at a price of ε or of ρ"
            raise InvalidType(rule, repr(self.noise), "use GaussianThreshold for an (ε, δ) price")
        hidden = self.noise.sensitivity if isinstance(self.noise, Laplace) else self.noise.squared_moves
        if hidden < self.keys_per_unit:
            rule = f"the noise must hide a move of {self.keys_per_unit} counts by one each"
            raise InvalidValue(rule, repr(self.noise), "raise its sensitivity, or lower keys_per_unit")

    def __repr__(self) -> str:
        return f"KeyThreshold({self.noise!r}, delta={self.delta}, keys_per_unit={self.keys_per_unit})"

    @property
    def loss(self) -> Approximate:
        """(ε, δ) for Laplace noise; (ε(ρ, δ), 2δ) for Gaussian noise, of which δ-approximate ρ-zCDP is more."""
        price, delta = self.noise.loss, self.delta
        spent = delta if isinstance(price, Pure) else min(2 * delta, Fraction(1))
        return Approximate(self.epsilon, spent, price.neighbours)

    @property
    def epsilon(self) -> Fraction:  # type: ignore[override]
        """The ε of ``loss``."""
        price = self.noise.loss
        return price.epsilon if isinstance(price, Pure) else price.epsilon_at(self.delta)


def least_threshold(law: SymmetricLaw, delta: Fraction, keys: int) -> int:
    """The least T with 1 - (1 - P(1 + noise ≥ T))^l ≤ δ, for l keys that one unit holds alone."""

    def hides(threshold: int) -> bool:
        return is_at_least(lambda: (1 - law.above(threshold - 1)) ** keys, 1 - delta)

    return turning_point(hides)
