"""Choices: quantiles, minima and maxima by the exponential mechanism, decided in full before any row is read."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from discreet.catalog.column import ColumnType
from discreet.exact.ball import ln_up
from discreet.exact.grid import Grid
from discreet.query.block import Aggregate, AggregateKind
from discreet.query.component import bounds_of

__all__ = ["Choice", "choice_of"]

_POINTS = 2**14
_FURTHEST = 2**60
_ODDS = 20  # for a minimum or maximum: one in twenty lies outside the data


@dataclass(frozen=True)
class Choice:
    """A quantile on the weighted histogram of each group."""

    aggregate: Aggregate
    """Which quantile of which values."""
    epsilon: Fraction
    """The pure loss over all groups together."""
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


def choice_of(aggregate: Aggregate, epsilon: Fraction, weight: int) -> Choice:
    """The choice that costs ``epsilon`` when one unit adds or removes at most ``weight``."""
    low, high = bounds_of(aggregate)
    step = _step(aggregate, low, high)
    first, last = math.floor(low / step), math.ceil(high / step)
    ends = {AggregateKind.MINIMUM: Fraction(0), AggregateKind.MAXIMUM: Fraction(1)}
    quantile = ends.get(aggregate.kind, aggregate.quantile)
    # The weights below and above a point and the total move together: see weighted_quantile.
    factor = epsilon / (2 * weight * max(quantile, 1 - quantile))
    inward = math.ceil(ln_up(Fraction(_ODDS * (last - first + 1))) / factor) if quantile in (0, 1) else 0
    return Choice(aggregate, epsilon, quantile, step, (first, last), factor, inward)


def _step(aggregate: Aggregate, low: Fraction, high: Fraction) -> Fraction:
    furthest = max(abs(low), abs(high), Fraction(1, _FURTHEST))
    length = max((high - low) / _POINTS, furthest / _FURTHEST)
    is_whole = aggregate.argument is not None and aggregate.argument.type is ColumnType.INTEGER
    return max(Grid.finer_than(length).step, Fraction(1 if is_whole else 0))
