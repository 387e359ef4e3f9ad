"""Choices: quantiles, minima, maxima and modes by the exponential mechanism, decided before any row is read."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from discreet.catalog.column import ColumnType
from discreet.exact.ball import ln_up
from discreet.exact.grid import Grid
from discreet.query.block import Aggregate, AggregateKind
from discreet.query.domains import Key
from discreet.query.parts import bounds_of

__all__ = ["Choice", "ModeChoice", "QuantileChoice", "TopChoice", "importance_of", "mode_of", "quantile_of"]

_POINTS = 2**14
_FURTHEST = 2**49
"""Points are doubles before they are integers, so the ends must be exact as both: at most 2^50 steps from zero."""
_ODDS = 20  # for a minimum or maximum: one in twenty lies outside the data
_ENDS = {AggregateKind.MINIMUM: Fraction(0), AggregateKind.MAXIMUM: Fraction(1)}


@dataclass(frozen=True)
class QuantileChoice:
    """A quantile on the weighted histogram of each group."""

    aggregate: Aggregate
    """Which quantile of which values."""
    epsilon: Fraction
    """The loss over all groups together: their sum where prices are pure, else the root of the sum of squares."""
    quantile: Fraction
    """Where the target lies between least and greatest."""
    step: Fraction
    """The distance between two possible answers."""
    ends: tuple[int, int]
    """The first and the last answer, in steps."""
    factor: Fraction
    """What a distance in weights is multiplied by: ε/2Δ."""
    inward: int
    """By how much weight the target of a minimum or maximum is moved into the data."""

    @property
    def points(self) -> int:
        """How many answers are possible."""
        return self.ends[1] - self.ends[0] + 1


@dataclass(frozen=True)
class ModeChoice:
    """The heaviest of the listed values, in each group.

    A unit's weights all point the same way, so one that joins or leaves raises or lowers every score by at most its
    weight in the group, and e^(factor · score) costs factor times that weight.
    """

    aggregate: Aggregate
    """Of which values."""
    epsilon: Fraction
    """The loss over all groups together: their sum where prices are pure, else the root of the sum of squares."""
    values: tuple[Key, ...]
    """What can be chosen."""
    factor: Fraction
    """What a weight is multiplied by: ε/Δ."""

    @property
    def points(self) -> int:
        """How many answers are possible."""
        return len(self.values)


@dataclass(frozen=True)
class TopChoice:
    """The heaviest groups themselves, best first, each from those that are left."""

    aggregate: Aggregate
    """Which rows count."""
    epsilon: Fraction
    """The pure loss of one pick."""
    picks: int
    """How many are chosen."""
    points: int
    """Among how many."""
    factor: Fraction
    """What a weight is multiplied by: ε/Δ."""


Choice = QuantileChoice | ModeChoice


def importance_of(aggregate: Aggregate) -> Fraction:
    """The square of the scale, in whole rows, at which worse answers become rarer, at ε = 1."""
    if aggregate.kind is AggregateKind.MODE:
        return Fraction(1)
    quantile = _ENDS.get(aggregate.kind, aggregate.quantile)
    return (2 * max(quantile, 1 - quantile)) ** 2


def quantile_of(aggregate: Aggregate, epsilon: Fraction, weight: Fraction) -> QuantileChoice:
    """The choice that costs ``epsilon`` where one unit adds and removes at most ``weight``, in all groups together.

    Together is their sum for a pure loss, and the root of the sum of squares for ρ = ε²/8.
    """
    low, high = bounds_of(aggregate.argument)
    step = _step(aggregate, low, high)
    first, last = math.floor(low / step), math.ceil(high / step)
    quantile = _ENDS.get(aggregate.kind, aggregate.quantile)
    # The weights below and above a point and the total move together: see weighted_quantile.
    factor = epsilon / (2 * weight * max(quantile, 1 - quantile))
    inward = math.ceil(ln_up(Fraction(_ODDS * (last - first + 1))) / factor) if quantile in (0, 1) else 0
    return QuantileChoice(aggregate, epsilon, quantile, step, (first, last), factor, inward)


def mode_of(aggregate: Aggregate, epsilon: Fraction, weight: Fraction, values: tuple[Key, ...]) -> ModeChoice:
    """The choice that costs ``epsilon`` where one unit adds and removes at most ``weight``, in all groups together.

    Together is their sum for a pure loss, and the root of the sum of squares for ρ = ε²/8.
    """
    return ModeChoice(aggregate, epsilon, values, epsilon / weight)


def _step(aggregate: Aggregate, low: Fraction, high: Fraction) -> Fraction:
    furthest = max(abs(low), abs(high), Fraction(1, _FURTHEST))
    length = max((high - low) / _POINTS, furthest / _FURTHEST)
    is_whole = aggregate.argument is not None and aggregate.argument.type is ColumnType.INTEGER
    return max(Grid.finer_than(length).step, Fraction(1 if is_whole else 0))
