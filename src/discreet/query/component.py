"""Components: the integers that the engine adds up for an aggregate, and how large one row can make them.

A count adds weights, a sum adds weight times value, a mean adds a count and a sum of distances from the middle of the
bounds, a variance adds their squares too. Values are whole numbers of grid steps, moved into ±bound by the statement
itself, so the bound holds whatever floating point did before.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from discreet.catalog.column import ColumnType
from discreet.exact.grid import Grid
from discreet.query.block import Aggregate, AggregateKind
from discreet.query.expression import Expression

__all__ = ["Component", "Fineness", "bounds_of", "components_of"]

Fineness = Callable[[int], int]
"""How many bits a value may have, when it is multiplied with itself this often."""

_LEAST_REACH = Fraction(1, 2**60)


@dataclass(frozen=True)
class Component:
    """One integer per group: a weighted sum that gets noise."""

    argument: Expression | None
    """Which values are added; None adds ones."""
    condition: Expression | None
    """Which rows count."""
    power: int
    """How often a value is multiplied with itself: 0 counts, 1 adds, 2 adds squares."""
    centre: Fraction
    """What is subtracted from each value first."""
    step: Fraction
    """What one integer step of a value is worth."""
    bound: int
    """The largest value of one row, in steps, in either direction."""

    @property
    def is_count(self) -> bool:
        """Whether it can only grow with more rows."""
        return self.power == 0

    @property
    def largest(self) -> int:
        """The most that a row of weight one adds, in either direction."""
        return int(self.bound ** max(self.power, 1))


def components_of(aggregate: Aggregate, fineness: Fineness) -> list[Component]:
    """What an aggregate needs: a count, a sum, or both and a sum of squares."""
    count = _count(aggregate)
    if aggregate.kind is AggregateKind.COUNT:
        return [count]
    low, high = bounds_of(aggregate)
    if aggregate.kind is AggregateKind.SUM:
        return [_value(aggregate, 1, Fraction(0), fineness)]
    centre = (low + high) / 2
    powers = (1,) if aggregate.kind is AggregateKind.MEAN else (1, 2)
    return [count, *(_value(aggregate, power, centre, fineness) for power in powers)]


def bounds_of(aggregate: Aggregate) -> tuple[Fraction, Fraction]:
    """The public bounds of an aggregate's values; reading it made sure that there are some."""
    known = None if aggregate.argument is None else aggregate.argument.interval.known
    if known is None:
        raise AssertionError("an aggregate of values has bounds")
    return known


def _count(aggregate: Aggregate) -> Component:
    counted = aggregate.argument if aggregate.argument is not None and aggregate.argument.nullable else None
    return Component(counted, aggregate.condition, 0, Fraction(0), Fraction(1), 1)


def _value(aggregate: Aggregate, power: int, centre: Fraction, fineness: Fineness) -> Component:
    low, high = bounds_of(aggregate)
    reach = max(abs(low - centre), abs(high - centre), _LEAST_REACH)
    step = max(Grid.finer_than(reach / 2 ** fineness(power)).step, _natural(aggregate, centre))
    return Component(aggregate.argument, aggregate.condition, power, centre, step, math.ceil(reach / step))


def _natural(aggregate: Aggregate, centre: Fraction) -> Fraction:
    """Whole numbers need no finer grid than their distance from the centre."""
    is_whole = aggregate.argument is not None and aggregate.argument.type is ColumnType.INTEGER
    return Fraction(1, centre.denominator) if is_whole and centre.denominator <= 2 else Fraction(0)
