"""Statistics: vectors of integer sums per group, each with one joint sensitivity and one share of the price.

A *tally* gives each row's weight to the Bernstein polynomials of the row's value t, scaled to [0, 1]: 1 for a count,
(1-t, t) for a mean, ((1-t)², 2t(1-t), t²) for a variance. They are never negative and add up to one, so a row moves all
of them together by no more than its own weight. Count, sum and squares are linear in them, so COUNT, SUM, AVG and
VARIANCE of one column need one share of the price instead of three. With ``rest``, the rows that the tally leaves out
are one more such part, and the count of all rows is free as well.

A statistic says itself what one unit contributes to it, how its values lie on a grid, and which integers of the rows
are added up; a new one is a class here. Proofs: ``sensitivity.md``.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

from discreet.catalog.column import ColumnType
from discreet.engines.value_grid import find_step
from discreet.mechanisms.gaussian import Gaussian
from discreet.mechanisms.laplace import Laplace
from discreet.query.aggregates.noise_tails import Noise
from discreet.query.expressions.expression import Expression

__all__ = [
    "DistinctUnits",
    "DistinctValues",
    "Moments",
    "NoisyStatistic",
    "PlainSum",
    "RowStatistic",
    "Statistic",
    "StatisticWriter",
    "UnitBounds",
    "ValueScale",
    "WeightBound",
    "bound_values",
]


_FINE_COUNT = 2**8
"""Counts that are added to others lie on a finer grid, so that bounds for the sum of their noises are tight."""


@dataclass(frozen=True)
class ValueScale:
    """Values as whole numbers of steps from an origin."""

    origin: Fraction
    step: Fraction
    first: int
    """The least number of steps."""
    last: int
    """The greatest number of steps."""


_COUNTED = ValueScale(Fraction(0), Fraction(1), 0, 1)
"""What is counted is there or is not."""


@dataclass(frozen=True)
class WeightBound:
    """The contribution bound of a statistic: what one unit weighs at most, in whole rows, groups or values."""

    weight: int
    """The integer units of a whole one."""
    total: int
    """The most that a unit weighs in all groups together."""
    squared: int
    """The most that the squares of a unit's weights in each group add up to."""


@dataclass(frozen=True)
class UnitBounds:
    """The contribution bounds of a block."""

    rows: WeightBound
    groups: WeightBound
    values: WeightBound


class StatisticWriter(Protocol):
    """The SQL that a statement has for one statistic: its value ``x`` in a row, and sums over rows."""

    @property
    def scale(self) -> ValueScale:
        """The grid of its values."""

    def held(self) -> str | None:
        """One in the row that stands for a unit in its group; None where each unit has one row."""

    def presence(self, argument: Expression | None) -> str:
        """One where there is a value."""

    def on_grid(self, argument: Expression) -> str:
        """A value in steps of the grid."""

    def units(self) -> str:
        """How many units there are."""

    def everybody(self) -> str:
        """The weight of all rows."""

    def present(self) -> str:
        """The weight of the rows that have a value."""

    def power(self, exponent: int) -> str:
        """The sum of the weight times this power of the value."""


class Statistic(ABC):
    """Integers per group that have one joint sensitivity."""

    condition: Expression | None
    """Which rows; None takes all."""
    degree: int
    """The power of values that are added up; 0 counts."""

    @property
    @abstractmethod
    def size(self) -> int:
        """How many integers it has per group."""

    @abstractmethod
    def bound(self, bounds: UnitBounds) -> WeightBound:
        """The contribution bound that it is under."""

    @abstractmethod
    def scale(self, bits: Callable[[], int]) -> ValueScale:
        """The grid for its values, of as many bits as ``bits`` allows where it needs some."""

    @abstractmethod
    def whole(self, scale: ValueScale) -> int:
        """The most that one row, group or value of weight one adds to all its integers, in either direction."""

    @abstractmethod
    def is_summed(self, *, one_row_each: bool) -> bool:
        """Whether one statement can add it up with others, where units have ``one_row_each`` in a group or not."""

    @property
    def counted(self) -> Expression | None:
        """The values whose different ones are counted."""
        return None

    @abstractmethod
    def value(self, writer: StatisticWriter) -> str | None:
        """What a row contributes, NULL where it is left out; None where no value is needed."""

    @abstractmethod
    def integers(self, writer: StatisticWriter) -> list[str]:
        """Its integers, from sums that no number of rows can overflow."""


class RowStatistic(Statistic):
    """A statistic that adds up rows by their weights."""

    argument: Expression | None
    """Which values; None counts rows."""

    def bound(self, bounds: UnitBounds) -> WeightBound:
        """That of rows."""
        return bounds.rows

    def is_summed(self, *, one_row_each: bool) -> bool:
        """Always."""
        return True


@dataclass(frozen=True)
class Moments(RowStatistic):
    """The count and the first moments of a column, as parts of a whole."""

    argument: Expression | None
    """Which values; None counts rows."""
    condition: Expression | None
    """Which rows; None takes all."""
    degree: int
    """0 counts, 1 adds, 2 adds squares."""
    rest: bool = False
    """Whether the rows it leaves out are counted too."""

    @property
    def size(self) -> int:
        """How many integers it has per group."""
        return self.degree + 1 + self.rest

    @property
    def leaves_out(self) -> bool:
        """Whether a row can be left out: by the condition, or because its value is missing."""
        return self.condition is not None or (self.argument is not None and self.argument.nullable)

    def scale(self, bits: Callable[[], int]) -> ValueScale:
        """From the low bound on, in steps of at most so many bits."""
        finest = bits()
        if self.degree == 0:
            return ValueScale(Fraction(0), Fraction(1), 0, _FINE_COUNT if self.rest else 1)
        low, high = bound_values(self.argument)
        if self.argument is not None and self.argument.type is ColumnType.INTEGER:
            low, high = Fraction(math.floor(low)), Fraction(math.ceil(high))
        step = _step(self.argument, high - low, finest)
        return ValueScale(low, step, 0, max(math.ceil((high - low) / step), 1))

    def whole(self, scale: ValueScale) -> int:
        """The sum of a row's integers, at weight one."""
        return int(scale.last ** max(self.degree, 1))

    def value(self, writer: StatisticWriter) -> str | None:
        """The value in steps; where it counts, whether there is one."""
        if self.degree and self.argument is not None:
            return writer.on_grid(self.argument)
        return writer.presence(self.argument) if self.leaves_out else None

    def integers(self, writer: StatisticWriter) -> list[str]:
        """The Bernstein polynomials added up, and the rows that are left out where they are counted too."""
        everybody = writer.everybody()
        count = writer.present() if self.leaves_out else everybody
        powers = [writer.power(exponent) for exponent in range(1, self.degree + 1)]
        found = _bernstein(writer.scale.last, count, powers)
        return [*found, f"{self.whole(writer.scale)} * ({everybody} - {count})"] if self.rest else found


def _bernstein(steps: int, count: str, powers: list[str]) -> list[str]:
    """The Bernstein polynomials of a value between 0 and ``steps``, added up, from its count and its powers' sums."""
    if not powers:
        return [f"{steps} * {count}" if steps > 1 else count]
    if len(powers) == 1:
        return [f"{steps} * {count} - {powers[0]}", powers[0]]
    first, second = powers
    start = f"{steps * steps} * {count} - {2 * steps} * {first} + {second}"
    return [start, f"{2 * steps} * {first} - 2 * {second}", second]


@dataclass(frozen=True)
class PlainSum(RowStatistic):
    """A sum and nothing else: one integer, of either sign."""

    argument: Expression
    condition: Expression | None
    size = 1
    degree = 1

    def scale(self, bits: Callable[[], int]) -> ValueScale:
        """From 0 on in both directions, in steps of at most so many bits."""
        reach = max(abs(end) for end in bound_values(self.argument))
        step = _step(self.argument, reach, bits())
        steps = max(math.ceil(reach / step), 1)
        return ValueScale(Fraction(0), step, -steps, steps)

    def whole(self, scale: ValueScale) -> int:
        """The most that a row of weight one adds, in either direction."""
        return scale.last

    def value(self, writer: StatisticWriter) -> str:
        """The value in steps."""
        return writer.on_grid(self.argument)

    def integers(self, writer: StatisticWriter) -> list[str]:
        """The sum of the values."""
        return [writer.power(1)]


@dataclass(frozen=True)
class DistinctUnits(Statistic):
    """How many people there are in a group; who is in many groups counts as few."""

    condition: Expression | None
    size = 1
    degree = 0

    def bound(self, bounds: UnitBounds) -> WeightBound:
        """That of groups."""
        return bounds.groups

    def scale(self, bits: Callable[[], int]) -> ValueScale:
        """There or not."""
        return _COUNTED

    def whole(self, scale: ValueScale) -> int:
        """A person counts as one."""
        return 1

    def is_summed(self, *, one_row_each: bool) -> bool:
        """Where each person is one row, or has one that stands for them, and all rows count."""
        return one_row_each and self.condition is None

    def value(self, writer: StatisticWriter) -> str | None:
        """Whether the row stands for its person."""
        return writer.held()

    def integers(self, writer: StatisticWriter) -> list[str]:
        """The number of people."""
        return [writer.units()]


@dataclass(frozen=True)
class DistinctValues(Statistic):
    """How many different values there are in a group; a person shows as many as they have rows."""

    argument: Expression
    condition: Expression | None
    size = 1
    degree = 0

    def bound(self, bounds: UnitBounds) -> WeightBound:
        """That of values."""
        return bounds.values

    def scale(self, bits: Callable[[], int]) -> ValueScale:
        """There or not."""
        return _COUNTED

    def whole(self, scale: ValueScale) -> int:
        """A value counts once."""
        return 1

    def is_summed(self, *, one_row_each: bool) -> bool:
        """Never: equal values of different rows count once."""
        return False

    @property
    def counted(self) -> Expression:
        """The values."""
        return self.argument

    def value(self, writer: StatisticWriter) -> str | None:
        """Nothing that could be added up."""
        raise AssertionError("values are counted apart")

    def integers(self, writer: StatisticWriter) -> list[str]:
        """Nothing that could be added up."""
        raise AssertionError("values are counted apart")


@dataclass(frozen=True)
class NoisyStatistic:
    """A part as it is released: what an aggregate needs to read it."""

    part: Statistic
    scale: ValueScale
    """The grid of its values."""
    weight: int
    """The weight of a whole row or person, in integer units."""
    mechanism: Laplace | Gaussian
    """What releases its integers, in its integer units."""

    @property
    def noise(self) -> Noise:
        """The noise on each of its integers, in its integer units."""
        return self.mechanism.law

    @property
    def unit(self) -> Fraction:
        """What one integer unit of its counts is worth."""
        whole = self.part.whole(self.scale) if isinstance(self.part, Moments) else 1
        return Fraction(1, self.weight * whole)


def bound_values(argument: Expression | None) -> tuple[Fraction, Fraction]:
    """The public bounds of an aggregate's values; reading it made sure that there are some."""
    known = None if argument is None else argument.interval.known
    if known is None:
        raise AssertionError("an aggregate of values has bounds")
    return known


def _step(argument: Expression | None, reach: Fraction, bits: int) -> Fraction:
    return find_step(reach, bits, is_whole=argument is not None and argument.type is ColumnType.INTEGER)
