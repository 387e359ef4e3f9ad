"""Variances and standard deviations, from counts, sums and squares.

Their intervals follow from intervals for the three that hold together: each misses a third as often.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
from sqlglot import exp

from discreet.exact.grid import Integers
from discreet.query.aggregates.aggregate import Spellings, SummedAggregate
from discreet.query.aggregates.argument import read_bounded_number
from discreet.query.aggregates.estimate import (
    CellEstimate,
    Floats,
    find_value_ends,
    get_moments,
    move_within,
    polynomial_form,
)
from discreet.query.aggregates.statistics import Moments, NoisyStatistic, Statistic, bound_values
from discreet.query.expressions.read import LookUp

__all__ = ["DeviationAggregate", "VarianceAggregate"]


_OF_SAMPLES = (exp.Variance, exp.Stddev, exp.StddevSamp)


@dataclass(frozen=True)
class VarianceAggregate(SummedAggregate):
    """The variance of the values."""

    is_sample: bool = False
    """Whether it divides by n - 1."""

    name = "variance"
    spellings: ClassVar[Spellings] = {exp.Variance: "variance of a sample", exp.VariancePop: "variance"}
    never_negative: ClassVar[bool] = False
    """Whether also what is shown as measured is not below zero."""

    @classmethod
    def read(cls, node: exp.Expr, look_up: LookUp) -> VarianceAggregate:
        """Of a sample, or of everybody, as the function says."""
        return cls(read_bounded_number(node, look_up), is_sample=isinstance(node, _OF_SAMPLES))

    @property
    def statistic(self) -> Statistic:
        """Count, sum and squares."""
        return Moments(self.argument, self.condition, 2)

    def estimate(
        self, statistic: NoisyStatistic, sums: list[Integers], confidence: float, *, raw: bool
    ) -> CellEstimate:
        """The variance; where not ``raw``, one that is possible, and missing where there may be one row or none."""
        low, high = find_value_ends(statistic)
        half, together = (high - low) / 2, 1 - (1 - confidence) / 3
        moments = ([Fraction(1)] * 3, [-half, Fraction(0), half], [half**2, -(half**2), half**2])
        forms = (polynomial_form(statistic, each) for each in moments)
        count, first, second = (CellEstimate.of_form(form, statistic, sums, together) for form in forms)
        found = _divide_moments(count, first, second)
        if not raw or self.never_negative:
            bounds = bound_values(get_moments(statistic).argument)
            found = move_within(found, 0.0, float(bounds[1] - bounds[0]) ** 2 / 4)
        return self._known(self._finish(found, count), count, raw=raw)

    def _finish(self, found: CellEstimate, count: CellEstimate) -> CellEstimate:
        return _correct_sample(found, count) if self.is_sample else found

    def _known(self, found: CellEstimate, count: CellEstimate, *, raw: bool) -> CellEstimate:
        """What is known where there are several rows for sure."""
        is_bounded = count.low > 1
        is_shown = count.value > 0 if raw else is_bounded
        ends = (np.where(is_bounded, each, np.nan) for each in (found.low, found.high))
        return CellEstimate(np.where(is_shown, found.value, np.nan), *ends)


class DeviationAggregate(VarianceAggregate):
    """The standard deviation of the values."""

    name = "standard deviation"
    spellings: ClassVar[Spellings] = {
        exp.Stddev: "standard deviation of a sample",
        exp.StddevSamp: "standard deviation of a sample",
        exp.StddevPop: "standard deviation",
    }
    never_negative = True  # nothing below zero has a root

    def _finish(self, found: CellEstimate, count: CellEstimate) -> CellEstimate:
        variance = super()._finish(found, count)
        return CellEstimate(*(np.sqrt(each) for each in (variance.value, variance.low, variance.high)))


def _divide_moments(count: CellEstimate, first: CellEstimate, second: CellEstimate) -> CellEstimate:
    """The mean of squares less the square of the mean, at its least and at its most."""
    known = CellEstimate(*(np.where(each > 0, each, 1.0) for each in (count.value, count.low, count.high)))
    value = second.value / known.value - (first.value / known.value) ** 2
    squares = (
        second.low / np.where(second.low > 0, known.high, known.low),
        second.high / np.where(second.high > 0, known.low, known.high),
    )
    means = np.abs([s / n for s in (first.low, first.high) for n in (known.low, known.high)])
    crosses = (first.low <= 0) & (first.high >= 0)
    least = np.where(crosses, 0.0, np.min(means, axis=0))
    return CellEstimate(value, squares[0] - np.max(means, axis=0) ** 2, squares[1] - least**2)


def _correct_sample(found: CellEstimate, count: CellEstimate) -> CellEstimate:
    """N / (n - 1) times the variance: the fewer there are, the more that is, and nobody varies alone."""
    pairs = zip((found.value, found.low, found.high), _several(count), strict=True)
    return CellEstimate(*(variance * n / (n - 1) for variance, n in pairs))


def _several(count: CellEstimate) -> tuple[Floats, Floats, Floats]:
    """The number of values, the most and the fewest that there may be, two at least."""
    value, high, low = (np.maximum(each, 2.0) for each in (count.value, count.high, count.low))
    return value, high, low
