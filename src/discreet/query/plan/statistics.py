"""Statistics: vectors of integer sums per group, each with one joint sensitivity and one share of the price.

A *tally* gives each row's weight to the Bernstein polynomials of the row's value t, scaled to [0, 1]: 1 for a count,
(1-t, t) for a mean, ((1-t)², 2t(1-t), t²) for a variance. They are never negative and add up to one, so a row moves all
of them together by no more than its own weight. Count, sum and squares are linear in them, so COUNT, SUM, AVG and
VARIANCE of one column need one share of the price instead of three. With ``rest``, the rows that the tally leaves out
are one more such part, and the count of all rows is free as well.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from discreet.catalog.column import ColumnType
from discreet.engines.value_grid import find_step
from discreet.mechanisms.gaussian import Gaussian
from discreet.mechanisms.laplace import Laplace
from discreet.query.expressions.expression import Expression
from discreet.query.plan.noise_tails import Noise

__all__ = [
    "DistinctUnits",
    "DistinctValues",
    "Moments",
    "NoisyStatistic",
    "Part",
    "PlainSum",
    "ValueScale",
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


@dataclass(frozen=True)
class Moments:
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

    def scale(self, bits: int) -> ValueScale:
        """The grid for values of at most ``bits`` bits."""
        if self.degree == 0:
            return ValueScale(Fraction(0), Fraction(1), 0, _FINE_COUNT if self.rest else 1)
        low, high = bound_values(self.argument)
        if self.argument is not None and self.argument.type is ColumnType.INTEGER:
            low, high = Fraction(math.floor(low)), Fraction(math.ceil(high))
        step = _step(self.argument, high - low, bits)
        return ValueScale(low, step, 0, max(math.ceil((high - low) / step), 1))

    def whole(self, scale: ValueScale) -> int:
        """The sum of a row's integers, at weight one."""
        return int(scale.last ** max(self.degree, 1))


@dataclass(frozen=True)
class PlainSum:
    """A sum and nothing else: one integer, of either sign."""

    argument: Expression
    condition: Expression | None
    size = 1
    degree = 1

    def scale(self, bits: int) -> ValueScale:
        """The grid for values of at most ``bits`` bits."""
        reach = max(abs(end) for end in bound_values(self.argument))
        step = _step(self.argument, reach, bits)
        steps = max(math.ceil(reach / step), 1)
        return ValueScale(Fraction(0), step, -steps, steps)

    def whole(self, scale: ValueScale) -> int:
        """The most that a row of weight one adds, in either direction."""
        return scale.last


@dataclass(frozen=True)
class DistinctUnits:
    """How many people there are in a group; who is in many groups counts as few."""

    condition: Expression | None
    size = 1


@dataclass(frozen=True)
class DistinctValues:
    """How many different values there are in a group; a person shows as many as they have rows."""

    argument: Expression
    condition: Expression | None
    size = 1


Part = Moments | PlainSum | DistinctUnits | DistinctValues


@dataclass(frozen=True)
class NoisyStatistic:
    """A part as it is released: what an aggregate needs to read it."""

    part: Part
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
