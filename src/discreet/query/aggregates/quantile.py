"""Quantiles, minima and maxima: one of the grid points between public bounds, chosen by `WeightedQuantile`.

Over several groups a unit's weights add up to B, so all groups together cost ε once.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from typing import ClassVar

import pyarrow as pa
from sqlglot import exp

from discreet.catalog.column import ColumnType
from discreet.exact.grid import Grid, Integers
from discreet.mechanisms.weighted_quantile import WeightedQuantile
from discreet.noise.source import Stream
from discreet.privacy.neighbours import Neighbours
from discreet.query.aggregates.aggregate import ChosenAggregate, Forms, PlannedSelection, Spellings
from discreet.query.aggregates.argument import check_one_argument, read_ordered_number
from discreet.query.aggregates.statistics import bound_values
from discreet.query.expressions.expression import Constant
from discreet.query.expressions.public_values import ListRows
from discreet.query.expressions.read import LookUp, read
from discreet.query.parse.places import refuse

__all__ = ["MaximumAggregate", "MinimumAggregate", "QuantileAggregate", "QuantileSelection"]


_POINTS = 2**14
_FURTHEST = 2**49
"""Points are doubles before they are integers, so the ends must be exact as both: at most 2^50 steps from zero."""
_FINEST_QUANTILE = 2**16
_WORD = 2**63
_START = datetime(1970, 1, 1, tzinfo=UTC).replace(tzinfo=None)


@dataclass(frozen=True)
class QuantileSelection(PlannedSelection):
    """A quantile on the weighted histogram of each group."""

    mechanism: WeightedQuantile
    step: Fraction
    """The distance between two possible answers."""

    error = "off by at most {:,.0f} rows in rank"

    @property
    def quantile(self) -> Fraction:
        """Where the target lies between least and greatest."""
        return self.mechanism.quantile

    @property
    def ends(self) -> tuple[int, int]:
        """The first and the last answer, in steps."""
        return self.mechanism.ends

    @property
    def factor(self) -> Fraction:
        """What a distance in weights is multiplied by: ε/2Δ."""
        return self.mechanism.factor

    @property
    def inward(self) -> int:
        """By how much weight the target of a minimum or maximum is moved into the data."""
        return self.mechanism.inward

    @property
    def points(self) -> int:
        """How many answers are possible."""
        return self.mechanism.points

    @property
    def grid(self) -> tuple[Fraction, tuple[int, int]]:
        """The distance of two possible answers, and the first and the last, in steps."""
        return self.step, self.ends

    def pick(self, points: Integers, weights: Integers, count: int, stream: Stream) -> Integers:
        """Grid points, in steps."""
        return self.mechanism.pick(points, weights, count, stream)

    def show(self, found: Integers) -> pa.Array:
        """Steps as values between the bounds, beyond which the steps reach a little."""
        low, high = bound_values(self.aggregate.argument)
        return _as_shown([min(max(step * self.step, low), high) for step in found.tolist()], self.aggregate.shown_as)


@dataclass(frozen=True)
class QuantileAggregate(ChosenAggregate):
    """The value that a share of the rows lies below."""

    quantile: Fraction = Fraction(1, 2)
    """Which share."""

    name = "quantile"
    spellings: ClassVar[Spellings] = {
        exp.Median: "quantile",
        **dict.fromkeys((exp.PercentileCont, exp.PercentileDisc, exp.Quantile, exp.ApproxQuantile), "any quantile"),
        exp.WithinGroup: "",
    }
    forms: ClassVar[Forms] = dict.fromkeys(
        ("PERCENTILE_CONT(0.25) WITHIN GROUP (ORDER BY x)", "APPROX_QUANTILES(x, 100)[OFFSET(95)]"), "any quantile"
    )

    @classmethod
    def read(cls, node: exp.Expr, look_up: LookUp) -> QuantileAggregate:
        """MEDIAN(x), QUANTILE_CONT(x, 0.25), or PERCENTILE_CONT(0.25) WITHIN GROUP (ORDER BY x)."""
        if isinstance(node, exp.WithinGroup):
            return _read_within_group(node, look_up)
        if isinstance(node, exp.Median):
            check_one_argument(node)
            return cls()._of(node, node.this, look_up)
        share = node.args.get("quantile") or node.args.get("expression")
        return _with_share(_read_share(node, share, look_up))._of(node, node.this, look_up)

    def _of(self, node: exp.Expr, of: exp.Expr, look_up: LookUp) -> QuantileAggregate:
        """The same of these values."""
        argument, kind = read_ordered_number(node, of, look_up)
        return replace(self, argument=argument, shown_as=self._shown_type(kind))

    def _shown_type(self, kind: ColumnType) -> ColumnType:
        return kind if kind in (ColumnType.DATE, ColumnType.TIMESTAMP) else ColumnType.REAL

    @property
    def label(self) -> str:
        """Which quantile it is."""
        return "Median" if self.quantile == Fraction(1, 2) else f"Quantile {float(self.quantile):g}"

    @property
    def importance(self) -> Fraction:
        """Twice the most that a row moves a rank, squared."""
        return (2 * max(self.quantile, 1 - self.quantile)) ** 2

    def select(
        self, epsilon: Fraction, weight: Fraction, neighbours: Neighbours, public_values: ListRows | None
    ) -> QuantileSelection:
        """A choice among the points of a grid between the bounds."""
        low, high = bound_values(self.argument)
        step = self._step(low, high)
        ends = math.floor(low / step), math.ceil(high / step)
        return QuantileSelection(self, epsilon, WeightedQuantile(epsilon, self.quantile, ends, weight=weight), step)

    def _step(self, low: Fraction, high: Fraction) -> Fraction:
        furthest = max(abs(low), abs(high), Fraction(1, _FURTHEST))
        length = max((high - low) / _POINTS, furthest / _FURTHEST)
        is_whole = self.argument is not None and self.argument.type is ColumnType.INTEGER
        return max(Grid.finer_than(length).step, Fraction(1 if is_whole else 0))


@dataclass(frozen=True)
class _ExtremeAggregate(QuantileAggregate):
    """The least or the greatest value, which is shown in the type of its column."""

    forms: ClassVar[Forms] = {}

    @classmethod
    def read(cls, node: exp.Expr, look_up: LookUp) -> QuantileAggregate:
        """MIN(x) or MAX(x)."""
        check_one_argument(node)
        return cls()._of(node, node.this, look_up)

    def _shown_type(self, kind: ColumnType) -> ColumnType:
        return kind

    @property
    def label(self) -> str:
        """Its name."""
        return self.name.capitalize()


@dataclass(frozen=True)
class MinimumAggregate(_ExtremeAggregate):
    """The least value."""

    quantile: Fraction = Fraction(0)
    name = "minimum"
    spellings: ClassVar[Spellings] = {exp.Min: "minimum"}


@dataclass(frozen=True)
class MaximumAggregate(_ExtremeAggregate):
    """The greatest value."""

    quantile: Fraction = Fraction(1)
    name = "maximum"
    spellings: ClassVar[Spellings] = {exp.Max: "maximum"}


def _with_share(share: Fraction) -> QuantileAggregate:
    """The quantile of a share of the rows: of none it is the minimum, of all the maximum."""
    ends = {Fraction(0): MinimumAggregate(), Fraction(1): MaximumAggregate()}
    return ends.get(share, QuantileAggregate(quantile=share))


def _read_within_group(node: exp.WithinGroup, look_up: LookUp) -> QuantileAggregate:
    inner, order = node.this, node.args["expression"]
    if not isinstance(inner, (exp.PercentileCont, exp.PercentileDisc)) or len(order.expressions) != 1:
        rule = "WITHIN GROUP goes with PERCENTILE_CONT or PERCENTILE_DISC and one column"
        raise refuse(node, rule, "PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY x)")
    ordered, share = order.expressions[0], _read_share(node, inner.this, look_up)
    # In descending order it is the same quantile counted from the other end.
    return _with_share(1 - share if ordered.args.get("desc") else share)._of(node, ordered.this, look_up)


def _read_share(node: exp.Expr, share: exp.Expr | None, look_up: LookUp) -> Fraction:
    wanted = None if share is None else read(share, look_up)
    if not isinstance(wanted, Constant) or not isinstance(wanted.value, (int, Fraction)) or not 0 <= wanted.value <= 1:
        raise refuse(node, "a quantile is a number from 0 to 1", "write 0.5 for the median")
    found = Fraction(wanted.value)
    if found.denominator > _FINEST_QUANTILE:
        raise refuse(node, f"a quantile is a fraction with a denominator of at most {_FINEST_QUANTILE}", "write 0.95")
    return found


def _as_shown(values: list[Fraction], kind: ColumnType) -> pa.Array:
    if kind is ColumnType.DATE:
        return pa.array([_moment(timedelta(days=round(value))).date() for value in values], pa.date32())
    if kind is ColumnType.TIMESTAMP:
        return pa.array([_moment(timedelta(seconds=float(value))) for value in values], pa.timestamp("us"))
    if kind is ColumnType.INTEGER:
        return pa.array([min(max(round(value), -_WORD), _WORD - 1) for value in values], pa.int64())
    return pa.array([float(value) for value in values], pa.float64())


def _moment(since: timedelta) -> datetime:
    """So long after the start of 1970, within the calendar: a step on from its last day leads nowhere."""
    return _START + min(max(since, datetime.min - _START), datetime.max - _START)
