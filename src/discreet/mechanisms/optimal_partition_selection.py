"""The optimal rule for unknown keys: show each key as often as any (ε, δ) rule may, and nothing but the key.

Promise. If one unit holds at most l keys, showing each key independently with probability π(n), where n units hold
it, is (ε, δ)-differentially private under add-remove-one, for every ε > 0, 0 < δ < 1 and l ≥ 1. For l = 1 no private
rule shows any key more often. Proof sheet: ``optimal_partition_selection.md``.

>>> rule = OptimalKeySelection(epsilon=1, delta=1e-6)
>>> rule.probability_of_release(1), rule.always_from
(1e-06, 28)
>>> rule.release({"tea": 900, "one person's typo": 1, "nobody": 0})
['tea']
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import compress
from typing import Any

import numpy as np

from discreet.exact.ball import BITS, Ball, ball, current_precision, floor_of, lower, working_precision
from discreet.exact.rational import Number
from discreet.mechanisms.distribution import Distribution, FiniteLaw, Many
from discreet.mechanisms.partition_selection import KeySelection, SurvivorsLaw, held_keys
from discreet.mechanisms.selection import canonical
from discreet.noise.bernoulli import threshold_of
from discreet.noise.source import SYSTEM, Source
from discreet.noise.uniform import ThresholdAt, falls_below

__all__ = ["OptimalKeySelection"]


_DELTA_BITS = 200


class OptimalKeySelection(KeySelection):
    """Each key with the largest probability that privacy allows for the number of units that hold it."""

    def __init__(self, epsilon: Number, delta: Number, keys_per_unit: int = 1) -> None:
        """Choose the price; ``keys_per_unit`` is the most keys that one unit may hold."""
        self._declare(epsilon, delta, keys_per_unit)
        self._curve = _Curve(self.epsilon / self.keys_per_unit, _split_delta(self.delta, self.keys_per_unit))

    @property
    def always_from(self) -> int:
        """The least number of units from which a key is always shown."""
        return self._curve.last

    def shown(self, count: int) -> Ball:
        """π(count), as a ball at the working precision."""
        return self._curve.probability(count)

    def release(self, value: Any, *, source: Source = SYSTEM) -> list[Any]:
        """The keys that are shown, in an order that depends on the keys alone."""
        found: list[Any] = self.releases(value, 1, source=source)[0]
        return found

    def releases(self, value: Any, count: int, *, source: Source = SYSTEM) -> Many:
        """``count`` independent answers, each at the full price: for audits and studies."""
        keys, counts = held_keys(value)
        stream = source.open()
        words = stream.words(count * len(keys)).reshape(count, len(keys))
        shown = np.zeros((count, len(keys)), np.bool_)
        capped = np.minimum(counts, min(self.always_from, 2**62))
        order = np.argsort(capped, kind="stable")
        for alike in np.split(order, np.flatnonzero(np.diff(capped[order])) + 1):
            if len(alike):
                threshold = self._curve.threshold(int(capped[alike[0]]))
                shown[:, alike] = falls_below(words[:, alike].ravel(), threshold, stream).reshape(count, len(alike))
        return Many.of_rows(shown.astype(np.int64), lambda row: canonical(compress(keys, row)))

    def distribution(self, value: Any) -> Distribution:
        """The exact law for one key held by so many units, or for a whole mapping of keys to counts."""
        if isinstance(value, int) and not isinstance(value, bool):
            return self._law(value)
        keys, counts = held_keys(value)
        return SurvivorsLaw({k: self._law(n) for k, n in zip(keys, counts.tolist(), strict=True)}, False)

    def _law(self, count: int) -> FiniteLaw:
        with working_precision(max(BITS, current_precision())):
            probability = self.shown(count)
            return FiniteLaw((True, False), (probability, 1 - probability))


@dataclass(frozen=True)
class _Curve:
    """π(0) = 0 and π(n+1) = min(e^ε π(n) + δ, 1 - e^-ε (1 - π(n) - δ), 1), solved for any n at once."""

    epsilon: Fraction
    delta: Fraction

    @cached_property
    def turn(self) -> int:
        """The last n that the first term of the minimum reaches; after it the second term is smaller."""

        def steps() -> Ball:
            grown, delta = ball(self.epsilon).exp(), ball(self.delta)
            return ((grown + 2 * delta - 1) / (delta * (grown + 1))).log() / ball(self.epsilon)

        return 1 + floor_of(steps)

    @cached_property
    def last(self) -> int:
        """The least n with π(n) = 1."""
        if self.delta == Fraction(1, 2):  # the one case where π reaches 1 exactly on a step, so no ball can round it
            return 2

        def steps() -> Ball:
            missing = 1 - self._rising(self.turn)
            return (1 + missing * ball(self.epsilon).expm1() / ball(self.delta)).log() / ball(self.epsilon)

        return self.turn + floor_of(steps) + 1

    def probability(self, count: int) -> Ball:
        """π(count)."""
        if count <= 0:
            return Ball(0)
        if count >= self.last:
            return Ball(1)
        return self._rising(count) if count <= self.turn else self._closing(count - self.turn)

    def _rising(self, count: int) -> Ball:
        if count == 1:
            return ball(self.delta)
        return ball(self.delta) * ball(count * self.epsilon).expm1() / ball(self.epsilon).expm1()

    def _closing(self, steps: int) -> Ball:
        shrunk = ball(-steps * self.epsilon)
        limit = 1 + ball(self.delta) / ball(self.epsilon).expm1()
        return -shrunk.expm1() * limit + shrunk.exp() * self._rising(self.turn)

    def threshold(self, count: int) -> ThresholdAt:
        """floor(π(count) · 2^bits). π(1) = δ is rational; between 1 and the last count π is transcendental."""
        if count <= 1:
            return threshold_of(self.delta if count == 1 else Fraction(0))
        if count >= self.last:
            return threshold_of(Fraction(1))
        return lambda bits: (_scaled_floor(self, count, bits), False)


@lru_cache(maxsize=2**16)
def _scaled_floor(curve: _Curve, count: int, bits: int) -> int:
    return floor_of(lambda: curve.probability(count) * Ball(2) ** bits, bits + 128)


def _split_delta(delta: Fraction, keys: int) -> Fraction:
    """1 - (1 - δ)^(1/l), rounded down: what each of l independent decisions may spend."""
    if keys == 1:
        return delta
    with working_precision(2 * _DELTA_BITS):
        share = lower(-((1 - ball(delta)).log() / keys).expm1())
    return max(Fraction(int(share * 2**_DELTA_BITS), 2**_DELTA_BITS), delta / keys)
