"""Which keys may be shown when the keys themselves are private: a product, a city, a search term that one person wrote.

A key held by one unit alone must almost never appear, or its appearance gives that unit away. Every rule here decides
key by key from the number of units that hold the key, never shows a key that nobody holds, and answers in an order that
says nothing about the data. The promise is under add-remove-one, where one unit holds at most ``keys_per_unit`` keys.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from discreet.errors import InvalidType, InvalidValue
from discreet.exact.ball import Ball, working_precision
from discreet.exact.grid import Grid, Integers, exact_array, holds_integers
from discreet.exact.rational import Number, integer, positive
from discreet.mechanisms.distribution import Distribution
from discreet.mechanisms.gaussian import turning_point
from discreet.mechanisms.measurement import Measurement
from discreet.noise.law import is_at_least, open_probability
from discreet.privacy.loss import Approximate
from discreet.privacy.neighbours import Neighbours

__all__ = ["KeySelection", "SurvivorsLaw", "held_keys"]


_LARGEST_EPSILON = 2**16


@dataclass(frozen=True)
class SurvivorsLaw(Distribution):
    """Independent decisions for each key; the answer names the keys that were shown."""

    parts: Mapping[Hashable, Distribution]
    """The law of what is said about each key that somebody holds."""
    absent: Any
    """What the law of one key calls not being shown."""

    def mass(self, outcome: Mapping[Hashable, Any] | Iterable[Hashable]) -> Ball:
        """P(answer = outcome), for a mapping of keys to counts or a list of keys."""
        said = dict(outcome) if isinstance(outcome, Mapping) else dict.fromkeys(outcome, True)
        if not said.keys() <= self.parts.keys():
            return Ball(0)
        product = Ball(1)
        for key, law in self.parts.items():
            product *= law.mass(said.get(key, self.absent))
        return product


class KeySelection(Measurement):
    """A rule that shows a key with a probability that depends on how many units hold it."""

    epsilon: Fraction
    delta: Fraction
    keys_per_unit: int
    """The most keys that one unit may hold; the caller drops the rest before counting."""
    neighbours = Neighbours.ADD_REMOVE_ONE

    def _declare(self, epsilon: Number, delta: Number, keys_per_unit: int) -> None:
        self.epsilon = positive(epsilon, "epsilon")
        if self.epsilon > _LARGEST_EPSILON:
            raise InvalidValue("epsilon must be at most 2^16", epsilon, "such a loss promises nothing")
        self.delta = positive(delta, "delta")
        if self.delta >= 1:
            raise InvalidValue("delta must be below 1", delta, "far below one in the number of units is usual")
        self.keys_per_unit = integer(keys_per_unit, "keys_per_unit", least=1, most=2**32)

    def __repr__(self) -> str:
        price = f"epsilon={self.epsilon}, delta={self.delta}"
        return f"{type(self).__name__}({price}, keys_per_unit={self.keys_per_unit})"

    @cached_property
    def loss(self) -> Approximate:
        """(ε, δ) for one unit that joins or leaves with all its keys."""
        return Approximate(self.epsilon, self.delta, self.neighbours)

    @property
    def replace_one_loss(self) -> Approximate:
        """The loss where one unit is replaced by another: one leaves and one joins, a group of two."""
        return self.loss.under(Neighbours.REPLACE_ONE)

    @abstractmethod
    def shown(self, count: int) -> Ball:
        """P(a key that ``count`` units hold is shown), as a ball at the working precision."""

    @abstractmethod
    def distribution(self, value: Any) -> Distribution:
        """The exact law for one key held by so many units, or for a whole mapping of keys to counts."""

    def probability_of_release(self, count: int) -> float:
        """P(a key that ``count`` units hold is shown)."""
        with working_precision():
            return float(self.shown(integer(count, "count")))

    def expected_keys(self, counts: Any) -> float:
        """How many of these keys are shown on average. It is computed from private counts: do not publish it."""
        held, times = np.unique(held_keys(counts)[1], return_counts=True)
        shares = [self.probability_of_release(count) for count in held.tolist()]
        return float(np.dot(shares, times))

    def visible_from(self, probability: Number = 0.95) -> int:
        """The least number of units from which a key is shown with at least this probability."""
        wanted = open_probability(probability, "probability")

        return turning_point(lambda count: is_at_least(lambda: self.shown(count), wanted))

    def error(self, confidence: Number = 0.95) -> int:
        """A key held by this many units or more is missing from the answer with at most the rest of the confidence."""
        return self.visible_from(confidence)

    def compared_with(self, other: KeySelection, counts: Iterable[int]) -> list[tuple[int, float, float]]:
        """For each count: how likely this rule and the other one show a key that so many units hold."""
        return [(n, self.probability_of_release(n), other.probability_of_release(n)) for n in counts]


def held_keys(value: Any) -> tuple[list[Hashable], Integers]:
    """The keys that somebody holds, and by how many units. A key with a count of 0 is as good as absent."""
    keys, counts = _split(value)
    if not _are_distinct(keys):
        raise InvalidValue("keys must be hashable, all different, and equal to themselves", "<others>")
    found = _whole(counts)
    present = np.flatnonzero(found > 0)
    return [keys[index] for index in present.tolist()], found[present]


def _are_distinct(keys: list[Any]) -> bool:
    try:
        return len(set(keys)) == len(keys) and all(key == key for key in keys)
    except TypeError:
        return False


def _split(value: Any) -> tuple[list[Hashable], list[Any]]:
    if isinstance(value, Mapping):
        return list(value.keys()), list(value.values())
    if not isinstance(value, tuple) or len(value) != 2:
        rule = "counts must be a mapping of keys to numbers of units, or a pair (keys, counts)"
        raise InvalidType(rule, f"<{type(value).__name__}>")
    keys, counts = (_list(part) for part in value)
    if len(keys) != len(counts):
        raise InvalidValue("keys and counts must have equal length", f"<{len(keys)} and {len(counts)}>")
    return keys, counts


def _list(part: Any) -> list[Any]:
    if isinstance(part, np.ndarray):
        part = part.tolist()
    if not isinstance(part, Sequence) or isinstance(part, (str, bytes)):
        raise InvalidType("keys and counts must be flat lists or arrays", f"<{type(part).__name__}>")
    return list(part)


def _whole(counts: list[Any]) -> Integers:
    array = exact_array(counts, "counts")
    if array.ndim != 1 or (array.size and not holds_integers(array)):
        raise InvalidType("counts must be whole numbers", f"<{array.dtype}>", "count units, do not weigh them")
    return Grid().steps_of(array)
