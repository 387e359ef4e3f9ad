"""Counts: of rows, of people, and of different values."""

from __future__ import annotations

from fractions import Fraction
from typing import ClassVar

import numpy as np
from sqlglot import exp

from discreet.catalog.column import ColumnType
from discreet.exact.grid import Integers
from discreet.query.aggregates.aggregate import Aggregate, Forms, Spellings, SummedAggregate
from discreet.query.aggregates.estimate import CellEstimate, move_within
from discreet.query.aggregates.noise_tails import LinearForm
from discreet.query.aggregates.statistics import DistinctUnits, DistinctValues, Moments, NoisyStatistic, Statistic
from discreet.query.expressions.expression import Call, Expression, Field
from discreet.query.expressions.interval import UNKNOWN
from discreet.query.expressions.read import LookUp, read, read_condition
from discreet.query.parse.places import refuse

__all__ = ["CountAggregate", "UnitCountAggregate", "ValueCountAggregate"]


class CountAggregate(SummedAggregate):
    """How many rows there are, or how many have a value."""

    name = "count"
    spellings: ClassVar[Spellings] = {exp.Count: "", exp.CountIf: "count"}
    forms: ClassVar[Forms] = {"COUNT(*)": "count", "COUNT(x)": "count"}
    is_count = True
    ranks_groups = True

    @classmethod
    def read(cls, node: exp.Expr, look_up: LookUp) -> Aggregate:
        """COUNT of rows, of a column, or of different values; COUNT_IF counts the rows that fulfil a condition."""
        if isinstance(node, exp.CountIf):
            return CountAggregate(None, read_condition(node.this, look_up))
        if node.expressions:
            raise refuse(node, "COUNT takes one argument", "use COUNT(*)")
        if node.this is None or isinstance(node.this, exp.Star):
            return CountAggregate()
        if isinstance(node.this, exp.Distinct):
            return _read_distinct(node, node.this, look_up)
        argument = read(node.this, look_up)
        return CountAggregate(argument if argument.nullable else None)

    @property
    def statistic(self) -> Statistic:
        """The weights of its rows, added up."""
        return Moments(self.argument, self.condition, 0)

    @property
    def _is_of_all_rows(self) -> bool:
        return self.argument is None and self.condition is None

    def _variance_in(self, part: Moments) -> Fraction:
        return Fraction(part.size if self._is_of_all_rows else part.degree + 1)

    def form(self, statistic: NoisyStatistic) -> LinearForm:
        """The sum of all integers of its part; those of rows that the part leaves out count where all rows do."""
        part = statistic.part
        if not isinstance(part, Moments):
            return LinearForm((statistic.unit,))
        counts_rest = part.leaves_out and self._is_of_all_rows
        rest = [statistic.unit if counts_rest else Fraction(0)] * part.rest
        return LinearForm((*[statistic.unit] * (part.degree + 1), *rest))

    def estimate(
        self, statistic: NoisyStatistic, sums: list[Integers], confidence: float, *, raw: bool
    ) -> CellEstimate:
        """The count as measured; where not ``raw``, whole and not below zero."""
        measured = CellEstimate.of_form(self.form(statistic), statistic, sums, confidence)
        if raw:
            return measured
        moved = move_within(measured, 0.0, np.inf)
        whole = np.rint(moved.value)
        return CellEstimate(whole, np.minimum(moved.low, whole), np.maximum(moved.high, whole))


class UnitCountAggregate(CountAggregate):
    """How many people there are."""

    name = "number of people"
    spellings: ClassVar[Spellings] = {}
    forms: ClassVar[Forms] = {"COUNT(DISTINCT x)": "number of people, of different values"}
    ranks_groups = False
    counts_units = True

    @property
    def statistic(self) -> Statistic:
        """A statistic of its own: who is in many groups counts as few."""
        return DistinctUnits(self.condition)


class ValueCountAggregate(CountAggregate):
    """How many different values there are."""

    name = "number of different values"
    spellings: ClassVar[Spellings] = {}
    forms: ClassVar[Forms] = UnitCountAggregate.forms
    ranks_groups = False
    counts_units = False

    @property
    def statistic(self) -> Statistic:
        """A statistic of its own: a person adds as many values as they have rows."""
        if self.argument is None:
            raise AssertionError("different values are values of something")
        return DistinctValues(self.argument, self.condition)


def _read_distinct(node: exp.Expr, distinct: exp.Distinct, look_up: LookUp) -> Aggregate:
    parts = [] if distinct.find(exp.Tuple) else [read(part, look_up) for part in distinct.expressions]
    if len(parts) != 1:
        raise refuse(node, "COUNT(DISTINCT …) takes one column", "count the rows of a subquery with GROUP BY")
    if isinstance(parts[0], Field) and parts[0].is_unit:
        return UnitCountAggregate(condition=_has_row(parts[0]) if parts[0].may_be_absent else None)
    return ValueCountAggregate(parts[0])


def _has_row(unit: Field) -> Expression:
    """Whether an outer join found a row that names the person."""
    return Call(ColumnType.BOOLEAN, UNKNOWN, False, "{0} IS NOT NULL", (unit,))
