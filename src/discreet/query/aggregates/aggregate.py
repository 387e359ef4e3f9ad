"""What an aggregate is: a class that says everything particular to it, from its SQL names to its confidence interval.

Planning, measuring and answering ask the aggregate and never which one it is. There are two families. One is read from
noisy sums (`SummedAggregate`): it names the statistic that answers it alone, and turns noisy integers into an estimate.
The other is one of the values themselves (`ChosenAggregate`): it plans the mechanism that chooses. `registry.py` lists
all classes; a new one is a class, its name there, and a line in a fixture.

A block (`PrivateAggregation`) is one aggregation over private rows, the only place where a query touches people's data.
Everything below it is private and stays in the engine; everything above it is post-processing of the noisy table that
the block releases, whose columns are k0, k1, … for the groups and a0, a1, … for the aggregates.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import pyarrow as pa
from sqlglot import exp

from discreet.catalog.column import ColumnType
from discreet.exact.grid import Integers
from discreet.mechanisms.measurement import Measurement
from discreet.noise.source import Stream
from discreet.privacy.neighbours import Neighbours
from discreet.privacy.sensitivity import Norm, Sensitivity
from discreet.query.aggregates.estimate import CellEstimate
from discreet.query.aggregates.noise_tails import LinearForm
from discreet.query.aggregates.statistics import Moments, NoisyStatistic, Statistic
from discreet.query.expressions.expression import Expression
from discreet.query.expressions.public_values import Key, ListRows
from discreet.query.expressions.read import LookUp

__all__ = ["Aggregate", "ChosenAggregate", "Forms", "PlannedSelection", "Spellings", "SummedAggregate", "bound_scores"]


Spellings = Mapping[type[exp.Expr], str]
Forms = Mapping[str, str]


@dataclass(frozen=True)
class Aggregate(ABC):
    """One aggregate of a query."""

    argument: Expression | None = None
    """Of which values; None counts rows."""
    condition: Expression | None = None
    """Of which rows; None takes all."""

    name: ClassVar[str]
    """What people, ledgers and certificates call it. It is never changed."""
    spellings: ClassVar[Spellings] = {}
    """The functions of SQL that it reads, and what the page about SQL calls each; nothing where `forms` says more."""
    forms: ClassVar[Forms] = {}
    """Further ways to write it, beyond the name of a function, and what the same page calls each."""
    is_count: ClassVar[bool] = False
    """Whether it is a whole number that is never below zero."""
    ranks_groups: ClassVar[bool] = False
    """Whether it is the weight of rows alone, so that the largest groups can be chosen without releasing it."""
    counts_units: ClassVar[bool] = False
    """Whether it counts people and not their rows."""

    @classmethod
    @abstractmethod
    def read(cls, node: exp.Expr, look_up: LookUp) -> Aggregate:
        """What ``node``, which is one of its spellings, asks for."""

    @property
    def label(self) -> str:
        """What notes call it."""
        return self.name.capitalize()


class SummedAggregate(Aggregate):
    """An aggregate that is computed from noisy sums."""

    @property
    @abstractmethod
    def statistic(self) -> Statistic:
        """What answers it alone; others of the same values and rows may share a larger one with it."""

    def importance(self, part: Statistic) -> Fraction:
        """The variance of what is read from a part, in units of what one row can contribute, at noise of one."""
        return self._variance_in(part) if isinstance(part, Moments) else Fraction(1)

    def _variance_in(self, part: Moments) -> Fraction:
        return Fraction(1)

    def form(self, statistic: NoisyStatistic) -> LinearForm | None:
        """The linear form of the integers of its part that it is; None where it is none."""
        return None

    @abstractmethod
    def estimate(
        self, statistic: NoisyStatistic, sums: list[Integers], confidence: float, *, raw: bool
    ) -> CellEstimate:
        """Its value and interval in every group, from the noisy integers; where not ``raw``, made plausible."""


@dataclass(frozen=True)
class PlannedSelection(ABC):
    """How one of the values is chosen in each group, decided before any row is read."""

    aggregate: ChosenAggregate
    """Which of which values."""
    epsilon: Fraction
    """The loss over all groups together: their sum where prices are pure, else the root of the sum of squares."""
    mechanism: Measurement
    """What chooses in each group."""

    error: ClassVar[str]
    """How far off it may be, as a sentence with a gap for the number of rows."""

    @property
    def inward(self) -> int:
        """By how much weight the target is moved into the data, which its error comes on top of."""
        return 0

    @property
    @abstractmethod
    def factor(self) -> Fraction:
        """What a score is multiplied by."""

    @property
    @abstractmethod
    def points(self) -> int:
        """How many answers are possible."""

    @property
    def grid(self) -> tuple[Fraction, tuple[int, int]] | None:
        """Between numbers: the distance of two possible answers, and the first and the last, in steps; else None."""
        return None

    @property
    def listed(self) -> tuple[Key, ...]:
        """Between listed values: these, which are chosen by their positions."""
        return ()

    @abstractmethod
    def pick(self, points: Integers, weights: Integers, count: int, stream: Stream) -> Integers:
        """Choose ``count`` times, each time anew, among points with these weights."""

    @abstractmethod
    def show(self, found: Integers) -> pa.Array:
        """What was chosen, as people see it."""


@dataclass(frozen=True)
class ChosenAggregate(Aggregate):
    """An aggregate that is one of the values themselves, chosen by a mechanism."""

    shown_as: ColumnType = ColumnType.REAL
    """What a chosen value is shown as; dates are chosen by their number of days."""

    @property
    def importance(self) -> Fraction:
        """The square of the scale, in whole rows, at which worse answers become rarer, at ε = 1."""
        return Fraction(1)

    @abstractmethod
    def select(
        self, epsilon: Fraction, weight: Fraction, neighbours: Neighbours, public_values: ListRows | None
    ) -> PlannedSelection:
        """The choice that costs ``epsilon`` where one unit adds and removes at most ``weight``, in all groups together.

        Together is their sum for a pure loss, and the root of the sum of squares for ρ = ε²/8.
        """


def bound_scores(weight: Fraction, neighbours: Neighbours) -> tuple[Sensitivity, bool]:
    """How far one score moves where a unit adds and removes ``weight``, and whether all move the same way.

    A unit that joins or leaves moves all scores the same way; one that is replaced takes away half and adds half.
    """
    monotone = neighbours is Neighbours.ADD_REMOVE_ONE
    return Sensitivity(weight if monotone else weight / 2, neighbours, Norm.LINF), monotone
