"""A block: one aggregate over private rows, the only place where a query touches people's data.

Everything below it is private and stays in the engine; everything above it is post-processing of the noisy table that
the block releases, whose columns are k0, k1, … for the groups and a0, a1, … for the aggregates.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction

from sqlglot import exp

from discreet.catalog.column import ColumnType
from discreet.query.expression import Expression
from discreet.query.relation import Relation
from discreet.query.restriction import Restriction

__all__ = ["Aggregate", "AggregateKind", "Block"]


class AggregateKind(Enum):
    """What is asked about a group."""

    COUNT = "count"
    SUM = "sum"
    MEAN = "mean"
    VARIANCE = "variance"
    DEVIATION = "standard deviation"
    QUANTILE = "quantile"
    MINIMUM = "minimum"
    MAXIMUM = "maximum"
    MODE = "mode"
    PEOPLE = "number of people"
    VALUES = "number of different values"

    @property
    def is_count(self) -> bool:
        """Whether it is a whole number that is never below zero."""
        return self in (AggregateKind.COUNT, AggregateKind.PEOPLE, AggregateKind.VALUES)

    @property
    def is_choice(self) -> bool:
        """Whether it is one of the values themselves, chosen, and not computed from sums."""
        return self in (AggregateKind.QUANTILE, AggregateKind.MINIMUM, AggregateKind.MAXIMUM, AggregateKind.MODE)


@dataclass(frozen=True)
class Aggregate:
    """One aggregate of a query."""

    kind: AggregateKind
    """What is asked."""
    argument: Expression | None = None
    """Of which values; None counts rows."""
    condition: Expression | None = None
    """Of which rows; None takes all."""
    quantile: Fraction = Fraction(1, 2)
    """Which quantile, for quantiles."""
    is_sample: bool = False
    """Whether a variance divides by n - 1."""
    shown_as: ColumnType = ColumnType.REAL
    """What a chosen value is shown as; dates are chosen by their number of days."""


@dataclass
class Block:
    """Groups and aggregates over private rows."""

    number: int
    """Which block of the query it is."""
    rows: Relation
    """The private rows."""
    keys: list[Expression]
    """What the rows are grouped by."""
    places: list[exp.Expr]
    """Where the query says so, for refusals that point."""
    asked: dict[Aggregate, str] = field(default_factory=dict)
    """What is asked about each group, each once, and the column of the noisy table that will hold it."""
    top: int | None = None
    """How many groups are wanted, where only the names of the largest are shown."""

    @property
    def name(self) -> str:
        """The noisy table's name above the block."""
        return f"_block{self.number}"

    @property
    def aggregates(self) -> list[Aggregate]:
        """What is asked about each group, each once."""
        return list(self.asked)

    @property
    def restriction(self) -> Restriction | None:
        """Whose rows they are alone, where the query says so."""
        known = () if self.rows.privacy is None else self.rows.privacy.restrictions
        return known[0] if known else None

    def ask(self, aggregate: Aggregate) -> str:
        """The column of the noisy table that will hold this aggregate."""
        return self.asked.setdefault(aggregate, f"a{len(self.asked)}")
