"""Sums and means of values with public bounds.

Intervals of sums are the reach of their noise; those of means follow from Fieller's argument: the true mean m makes
S - mN pure noise, and N and S are known up to that.
"""

from __future__ import annotations

from fractions import Fraction
from typing import ClassVar

import numpy as np
from sqlglot import exp

from discreet.exact.grid import Integers
from discreet.query.aggregates.aggregate import Spellings, SummedAggregate
from discreet.query.aggregates.argument import read_bounded_number
from discreet.query.aggregates.estimate import (
    CellEstimate,
    find_control_points,
    find_value_ends,
    get_moments,
    move_within,
    polynomial_form,
    rows_form,
    sum_form,
)
from discreet.query.aggregates.noise_tails import LinearForm
from discreet.query.aggregates.statistics import Moments, NoisyStatistic, PlainSum, Statistic, bound_values
from discreet.query.expressions.read import LookUp

__all__ = ["MeanAggregate", "SumAggregate"]


class SumAggregate(SummedAggregate):
    """The sum of the values."""

    name = "sum"
    spellings: ClassVar[Spellings] = {exp.Sum: "sum"}

    @classmethod
    def read(cls, node: exp.Expr, look_up: LookUp) -> SumAggregate:
        """SUM(x)."""
        return cls(read_bounded_number(node, look_up))

    @property
    def statistic(self) -> Statistic:
        """A sum that nothing goes with is one integer, of either sign."""
        if self.argument is None:
            raise AssertionError("a sum is of values")
        return PlainSum(self.argument, self.condition)

    def _variance_in(self, part: Moments) -> Fraction:
        ends = find_control_points(*bound_values(part.argument), part.degree)
        largest = max(abs(end) for end in ends)
        return sum(((end / largest) ** 2 for end in ends), Fraction(0)) if largest else Fraction(1)

    def form(self, statistic: NoisyStatistic) -> LinearForm:
        """The sum of the values, from the integers of the part."""
        return sum_form(statistic)

    def estimate(
        self, statistic: NoisyStatistic, sums: list[Integers], confidence: float, *, raw: bool
    ) -> CellEstimate:
        """The sum as measured: any sum is possible."""
        return CellEstimate.of_form(sum_form(statistic), statistic, sums, confidence)


class MeanAggregate(SummedAggregate):
    """The mean of the values."""

    name = "mean"
    spellings: ClassVar[Spellings] = {exp.Avg: "mean"}

    @classmethod
    def read(cls, node: exp.Expr, look_up: LookUp) -> MeanAggregate:
        """AVG(x)."""
        return cls(read_bounded_number(node, look_up))

    @property
    def statistic(self) -> Statistic:
        """Count and sum."""
        return Moments(self.argument, self.condition, 1)

    def _variance_in(self, part: Moments) -> Fraction:
        # A mean of values spread evenly over their range, from two or three parts.
        return {1: Fraction(2, 3), 2: Fraction(3, 4)}[part.degree]

    def estimate(
        self, statistic: NoisyStatistic, sums: list[Integers], confidence: float, *, raw: bool
    ) -> CellEstimate:
        """Sum over count; where not ``raw``, within the bounds, and missing where the group may be empty."""
        counted = CellEstimate.of_form(rows_form(statistic), statistic, sums, confidence)
        total, count = sum_form(statistic).value(sums), counted.value
        reach = _widest_form(statistic).reach(statistic.noise, confidence)
        with np.errstate(divide="ignore", invalid="ignore"):
            ends = (np.where(count > 0, (total + shift) / count, np.nan) for shift in (0.0, -reach, reach))
            measured = CellEstimate(*ends)
        if raw:
            return measured
        moved = move_within(measured, *map(float, bound_values(get_moments(statistic).argument)))
        return CellEstimate(*(np.where(counted.low > 0, each, np.nan) for each in (moved.value, moved.low, moved.high)))


def _widest_form(statistic: NoisyStatistic) -> LinearForm:
    """S - mN for the mean m at which its noise is widest.

    For the true mean m it is noise with factors vᵢ - m, and it is widest for m at an end (Proschan: of two sets of
    factors, the one that majorises the other spreads symmetric log-concave noise further).
    """
    low, high = find_value_ends(statistic)
    return polynomial_form(statistic, find_control_points(high - low, Fraction(0), get_moments(statistic).degree))
