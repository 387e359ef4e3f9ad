"""The mode: the heaviest of the listed values, chosen by the exponential mechanism."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar

import pyarrow as pa
from sqlglot import exp

from discreet.exact.grid import Integers
from discreet.mechanisms.exponential import Exponential
from discreet.noise.source import Stream
from discreet.privacy.neighbours import Neighbours
from discreet.query.aggregates.aggregate import ChosenAggregate, PlannedSelection, Spellings, bound_scores
from discreet.query.aggregates.argument import get_shown_type
from discreet.query.expressions.dates import format_iso_date
from discreet.query.expressions.decimals import as_key
from discreet.query.expressions.expression import Field, collect_fields
from discreet.query.expressions.public_values import Key, ListRows, arrow_type, find_domain, with_values
from discreet.query.expressions.read import LookUp, read
from discreet.query.parse.places import refuse

__all__ = [
    "ModeAggregate",
    "ModeSelection",
]


@dataclass(frozen=True)
class ModeSelection(PlannedSelection):
    """The heaviest of the listed values, in each group.

    A unit's weights all point the same way, so one that joins or leaves raises or lowers every score by at most its
    weight in the group, and e^(factor · score) costs factor times that weight.
    """

    mechanism: Exponential
    values: tuple[Key, ...]
    """What can be chosen."""

    error = "at most {:,.0f} rows behind the most frequent value"

    @property
    def factor(self) -> Fraction:
        """What a weight is multiplied by: ε/Δ."""
        return self.mechanism.factor

    @property
    def points(self) -> int:
        """How many answers are possible."""
        return len(self.values)

    @property
    def listed(self) -> tuple[Key, ...]:
        """What can be chosen."""
        return self.values

    def pick(self, points: Integers, weights: Integers, count: int, stream: Stream) -> Integers:
        """Positions of values."""
        return self.mechanism.pick(weights, count, stream)

    def show(self, found: Integers) -> pa.Array:
        """The values at these positions."""
        argument = self.aggregate.argument
        if argument is None:
            raise AssertionError("a mode is one of the values of something")
        return pa.array(self.values, arrow_type(argument)).take(pa.array(found))


class ModeAggregate(ChosenAggregate):
    """The most frequent value."""

    name = "mode"
    spellings: ClassVar[Spellings] = {exp.Mode: "mode"}

    @classmethod
    def read(cls, node: exp.Expr, look_up: LookUp) -> ModeAggregate:
        """MODE(x), of a column whose values are public."""
        if isinstance(node.this, exp.Distinct) or [key for key, value in node.args.items() if value and key != "this"]:
            raise refuse(node, "MODE takes one column", "write MODE(x)")
        argument = read(node.this, look_up)
        if isinstance(argument, Field) and argument.is_unit:
            raise refuse(node, "the person's own identifier cannot be shown", "ask about another column")
        shown = format_iso_date(as_key(node, argument))
        is_listed_elsewhere = any(used.keys_from or used.origin for used in collect_fields(shown))  # planning reads it
        if not is_listed_elsewhere and not find_domain(replace(shown, nullable=False)):
            rule = "MODE needs a column whose values are public"
            raise refuse(node, rule, "the owner lists its keys in the policy, or write SELECT x, COUNT(*) … GROUP BY x")
        return cls(shown, shown_as=get_shown_type(argument))

    def select(
        self, epsilon: Fraction, weight: Fraction, neighbours: Neighbours, public_values: ListRows | None
    ) -> ModeSelection:
        """A choice among the listed values."""
        moved, monotone = bound_scores(weight, neighbours)
        mechanism = Exponential(epsilon, sensitivity=moved, monotone=monotone)
        return ModeSelection(self, epsilon, mechanism, self._values(public_values))

    def _values(self, public_values: ListRows | None) -> tuple[Key, ...]:
        known = None if self.argument is None else find_domain(with_values(self.argument, None, public_values))
        found = tuple(value for value in known or () if value is not None) or known  # nothing else can be there
        if not found:
            rule = "MODE needs a column whose values are public"
            raise refuse(None, rule, "list its keys in the policy, or GROUP BY it")
        return found
