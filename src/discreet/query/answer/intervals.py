"""From noisy integers to the values people asked for, each with an interval, as the table that is queried above.

Values are made plausible: counts are whole and not negative, means lie within their bounds, deviations are real. This
is post-processing and costs nothing; ``raw`` leaves them as they are. Every interval covers the truth at least as often
as it says: counts and sums by the reach of their noise, means by Fieller's argument (the true mean m makes S - mN pure
noise, and N and S are known up to that), variances from intervals for their parts that hold together.

Claim. A value that is moved to the nearest plausible one takes its interval along, and what is then cut off is
impossible: the interval is never a point, always contains the value that is shown, and covers at least as often.

Proof. Let l ≤ v ≤ h be an interval, and [a, b] hold the truth. With p the point of [a, b] next to v and d = p - v, the
interval that is shown is [l + d, h + d] ∩ [a, b]. It contains p. For v < a, d > 0 and l + d ≤ v + d = a, so it is
[a, min(h + d, b)], which contains [l, h] ∩ [a, b]; the same holds at b, and inside nothing moves. Its width beyond p is
that of the noise, as far as [a, b] allows.

Where the interval of a group's count contains 0, nobody can tell whether the group is empty: its mean, variance,
median or mode is NULL, as that of an empty group is in SQL.

How far the noise of many groups carries their sum: much less than every group at its worst.

Claim. Let n groups each have the noise Σ fⱼXⱼ, all X independent. With probability c, at least, the sum over the groups
is off by at most max(√(n·p), r), where L = ln(2 / (1 - c)), and
- for discrete Laplace noise of scale b: p = 8 ln 2 · L · b² Σfⱼ² and r = 2√2 · L · b · max|fⱼ|;
- for discrete Gaussian noise of parameter σ²: p = 2L · σ² Σfⱼ² and r = 0.

Proof. By Chernoff's bound the sum S passes t with probability at most e^(-st) E e^(sS), for every s > 0, and by
symmetry passes it in either direction with at most twice that.

Laplace: E e^(sX) = (cosh(1/b) - 1) / (cosh(1/b) - cosh s) for |s| < 1/b. Since (cosh x - 1) / x² grows with x > 0, this
is at most 1 / (1 - b²s²), and so at most e^(2 ln 2 · b²s²) where b²s² ≤ 1/2, because -ln(1 - x) is convex and meets the
line 2 ln 2 · x at 0 and 1/2. So S passes t with probability at most 2e^(-st + qs²), with q = 2 ln 2 · n · b² Σfⱼ², for
s up to e = 1 / (√2 · b · max|fⱼ|). This is 1 - c for t = L/s + qs. Take s = √(L/q) where that is at most e: then
t = 2√(qL) = √(n·p). Otherwise take s = e, where qs < L/s, so that t is less than 2L/e = r.

Gaussian: E e^(sX) ≤ e^(s²σ²/2) (Canonne, Kamath and Steinke, 2020), and t = √(n·p) by the same steps, with no limit
on s.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from discreet.catalog.column import ColumnType
from discreet.exact.grid import Integers
from discreet.noise.laplace import DiscreteLaplace
from discreet.query.bind.aggregate import Aggregate, AggregateKind, PrivateAggregation
from discreet.query.plan.noise_tails import LinearForm, Noise
from discreet.query.plan.public_groups import arrow_type
from discreet.query.plan.selection import ModeSelection, PlannedSelection
from discreet.query.plan.sensitivity import AggregationPlan, PricedStatistic
from discreet.query.plan.statistics import Moments, PlainSum, bound_values
from discreet.query.run.measure import Measured

__all__ = [
    "CellEstimate",
    "SumSpread",
    "count_form",
    "count_moved_cells",
    "find_count_beside",
    "linear_form",
    "linear_noise",
    "noisy_schema",
    "noisy_table",
    "spread",
    "sum_form",
]


Floats = npt.NDArray[np.float64]
_WORD = 2**63
_START = datetime(1970, 1, 1, tzinfo=UTC).replace(tzinfo=None)


@dataclass(frozen=True)
class CellEstimate:
    """A value per group with an interval around it."""

    value: Floats
    low: Floats
    high: Floats


def noisy_table(measured: Measured, confidence: float, raw: bool, block: PrivateAggregation | None = None) -> pa.Table:
    """The block's table: k0, k1, … for groups; a0, a0_low, a0_high, a1, … for aggregates.

    ``block`` is the block whose columns are wanted, where several were measured together.
    """
    wanted = measured.plan.block if block is None else block
    columns: dict[str, pa.Array] = {f"k{k}": column for k, column in enumerate(measured.groups.columns())}
    for a, aggregate in enumerate(wanted.aggregates):
        if measured.plan.top is not None:  # the query above orders by it and does not show it
            columns[f"a{a}"] = pa.array(measured.chosen[0])
            columns[f"a{a}_low"] = columns[f"a{a}_high"] = pa.nulls(len(measured.groups), pa.float64())
            continue
        choice = measured.plan.choice_of(aggregate)
        if choice is not None:
            chosen = _chosen(measured.plan.choices[choice], measured.chosen[choice])
            empty = _may_be_empty(measured, aggregate, confidence)
            columns[f"a{a}"] = pc.if_else(pa.array(empty), pa.nulls(len(empty), chosen.type), chosen)
            columns[f"a{a}_low"] = columns[f"a{a}_high"] = pa.nulls(len(measured.groups), pa.float64())
            continue
        band = _band(measured, aggregate, confidence, raw)
        if aggregate.kind.is_count and not raw:
            columns[f"a{a}"] = pa.array(band.value.astype(np.int64))
        else:
            columns[f"a{a}"] = pa.array(band.value, mask=np.isnan(band.value))
        columns[f"a{a}_low"], columns[f"a{a}_high"] = pa.array(band.low), pa.array(band.high)
    if not columns:
        columns["k"] = pa.array([0])
    return pa.table(columns)


def count_moved_cells(measured: Measured, block: PrivateAggregation, confidence: float) -> tuple[int, int]:
    """How many counts were measured below zero, and how many means and spreads outside what is possible."""
    counts = others = 0
    for aggregate in block.aggregates:
        if aggregate.kind.is_choice or measured.plan.top is not None or aggregate.kind is AggregateKind.SUM:
            continue
        as_measured = _band(measured, aggregate, confidence, raw=True).value
        if aggregate.kind.is_count:
            counts += int(np.count_nonzero(as_measured < -0.5))  # made whole, the rest are 0 or more
        else:
            shown = _band(measured, aggregate, confidence, raw=False).value
            others += int(np.count_nonzero(np.abs(shown - as_measured) > 0))  # what is missing is not counted
    return counts, others


def noisy_schema(plan: AggregationPlan, block: PrivateAggregation) -> pa.Schema:
    """The names and types of the table of a block, before anything is measured."""
    names = [(f"k{k}", arrow_type(key)) for k, key in enumerate(plan.block.keys)]
    for a, aggregate in enumerate(block.aggregates):
        names.append((f"a{a}", _type_of(plan, aggregate)))
        names += [(f"a{a}_{end}", pa.float64()) for end in ("low", "high")]
    return pa.schema(names or [("k", pa.int64())])


def _type_of(plan: AggregationPlan, aggregate: Aggregate) -> pa.DataType:
    choice = plan.choice_of(aggregate)
    if plan.top is not None or (choice is None and aggregate.kind.is_count):
        return pa.int64()
    if choice is None:
        return pa.float64()
    return _chosen(plan.choices[choice], np.empty(0, np.int64)).type


def _band(measured: Measured, aggregate: Aggregate, confidence: float, raw: bool) -> CellEstimate:
    position = measured.plan.part_of(aggregate)
    if position is None:
        raise AssertionError("an aggregate is chosen or read from a part")
    priced, sums = measured.plan.parts[position], measured.sums[position]
    if aggregate.kind.is_count:
        return _count_band(priced, sums, count_form(priced, aggregate), confidence, raw)
    if aggregate.kind is AggregateKind.SUM:
        return _form_band(priced, sums, sum_form(priced), confidence)
    if aggregate.kind is AggregateKind.MEAN:
        return _mean_band(priced, sums, confidence, raw)
    return _spread_band(priced, sums, aggregate, confidence, raw)


# Chosen values.


def _chosen(choice: PlannedSelection, found: Integers) -> pa.Array:
    if isinstance(choice, ModeSelection):
        argument = choice.aggregate.argument
        if argument is None:
            raise AssertionError("a mode is one of the values of something")
        return pa.array(choice.values, arrow_type(argument)).take(pa.array(found))
    low, high = bound_values(choice.aggregate.argument)  # the steps reach a little beyond
    return _as_shown([min(max(step * choice.step, low), high) for step in found.tolist()], choice.aggregate.shown_as)


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


# Counts and sums.


def count_form(priced: PricedStatistic, aggregate: Aggregate) -> LinearForm:
    """The count of an aggregate's rows, from the integers of its part."""
    part = priced.part
    if not isinstance(part, Moments):
        return LinearForm((priced.unit,))
    is_all = part.leaves_out and aggregate.argument is None and aggregate.condition is None
    factors = [priced.unit] * (part.degree + 1) + [priced.unit if is_all else Fraction(0)] * part.rest
    return LinearForm(tuple(factors))


def sum_form(priced: PricedStatistic) -> LinearForm:
    """The sum of the values, from the integers of the part."""
    if isinstance(priced.part, PlainSum):
        return LinearForm((priced.scale.step / priced.weight,))
    low, high = _ends(priced)
    return _of_values(priced, [low, high] if _tally(priced).degree == 1 else [low, (low + high) / 2, high])


def linear_form(plan: AggregationPlan, aggregate: Aggregate) -> tuple[int, LinearForm] | None:
    """The part and the form of its integers that a count or a sum is; None for what is neither."""
    position = None if plan.top is not None else plan.part_of(aggregate)
    if position is None:
        return None
    priced = plan.parts[position]
    if aggregate.kind is AggregateKind.SUM:
        return position, sum_form(priced)
    return (position, count_form(priced, aggregate)) if aggregate.kind.is_count else None


def _of_values(priced: PricedStatistic, controls: list[Fraction]) -> LinearForm:
    """The sum of a polynomial with these control points."""
    return LinearForm((*(control * priced.unit for control in controls), *[Fraction(0)] * _tally(priced).rest))


def _tally(priced: PricedStatistic) -> Moments:
    if not isinstance(priced.part, Moments):
        raise AssertionError("moments are read from a tally")
    return priced.part


def _ends(priced: PricedStatistic) -> tuple[Fraction, Fraction]:
    """The ends of the values' grid, which reach a little beyond their bounds."""
    return priced.scale.origin, priced.scale.origin + priced.scale.step * priced.scale.last


def _form_band(priced: PricedStatistic, sums: list[Integers], form: LinearForm, confidence: float) -> CellEstimate:
    value, reach = form.value(sums), form.reach(priced.noise, confidence)
    return CellEstimate(value, value - reach, value + reach)


def _count_band(
    priced: PricedStatistic, sums: list[Integers], form: LinearForm, confidence: float, raw: bool
) -> CellEstimate:
    band = _form_band(priced, sums, form, confidence)
    if raw:
        return band
    moved = _moved_within(band, 0.0, np.inf)
    whole = np.rint(moved.value)
    return CellEstimate(whole, np.minimum(moved.low, whole), np.maximum(moved.high, whole))


def _moved_within(band: CellEstimate, least: float, most: float) -> CellEstimate:
    """Values moved to the nearest that are possible, with their intervals; see the claim above."""
    value = np.clip(band.value, least, most)
    shift = value - band.value
    return CellEstimate(value, np.clip(band.low + shift, least, most), np.clip(band.high + shift, least, most))


def _may_be_empty(measured: Measured, aggregate: Aggregate, confidence: float) -> npt.NDArray[np.bool_]:
    """The groups that may have no row of an aggregate, as far as a count that was released beside it tells."""
    empty = np.zeros(len(measured.groups), np.bool_)
    for position in find_count_beside(measured.plan, aggregate):
        priced, sums = measured.plan.parts[position], measured.sums[position]
        form = _of_values(priced, [Fraction(1)] * (_tally(priced).degree + 1))
        empty |= _form_band(priced, sums, form, confidence).low <= 0
    return empty


def find_count_beside(plan: AggregationPlan, aggregate: Aggregate) -> list[int]:
    """The parts that count the rows of an aggregate, or more rows than those."""
    tallies = [
        (position, priced.part) for position, priced in enumerate(plan.parts) if isinstance(priced.part, Moments)
    ]
    return [
        position
        for position, part in tallies
        if part.condition in (None, aggregate.condition) and part.argument in (None, aggregate.argument)
    ]


# Means and spreads.


def _mean_band(priced: PricedStatistic, sums: list[Integers], confidence: float, raw: bool) -> CellEstimate:
    # For the true mean m, S - mN is noise with factors vᵢ - m, and it is widest for m at an end (Proschan: of two sets
    # of factors, the one that majorises the other spreads symmetric log-concave noise further).
    low, high = _ends(priced)
    total = sum_form(priced).value(sums)
    counting = _of_values(priced, [Fraction(1)] * (_tally(priced).degree + 1))
    count = counting.value(sums)
    width = high - low
    widest = [width, width / 2, Fraction(0)] if _tally(priced).degree == 2 else [width, Fraction(0)]
    reach = _of_values(priced, widest).reach(priced.noise, confidence)
    least_value, most_value = (float(end) for end in bound_values(_tally(priced).argument))
    sure = _form_band(priced, sums, counting, confidence).low > 0
    with np.errstate(divide="ignore", invalid="ignore"):
        value, least, most = (np.where(count > 0, (total + shift) / count, np.nan) for shift in (0.0, -reach, reach))
    if raw:
        return CellEstimate(value, least, most)
    moved = _moved_within(CellEstimate(value, least, most), least_value, most_value)
    return CellEstimate(*(np.where(sure, each, np.nan) for each in (moved.value, moved.low, moved.high)))


def _spread_band(
    priced: PricedStatistic, sums: list[Integers], aggregate: Aggregate, confidence: float, raw: bool
) -> CellEstimate:
    together = 1 - (1 - confidence) / 3
    low, high = _ends(priced)
    half = (high - low) / 2
    moments = ([Fraction(1)] * 3, [-half, Fraction(0), half], [half**2, -(half**2), half**2])
    count, first, second = (_form_band(priced, sums, _of_values(priced, each), together) for each in moments)
    bounds = bound_values(_tally(priced).argument)
    widest = float(bounds[1] - bounds[0]) ** 2 / 4
    sure = count.value > 0 if raw else count.low > 1
    known = CellEstimate(*(np.where(each > 0, each, 1.0) for each in (count.value, count.low, count.high)))
    value = second.value / known.value - (first.value / known.value) ** 2
    band = CellEstimate(value, *_spread_ends(known, first, second))
    if not raw or aggregate.kind is AggregateKind.DEVIATION:  # nothing below zero has a root
        band = _moved_within(band, 0.0, widest)
    if aggregate.is_sample:  # the fewer there are, the more n / (n - 1) is, and nobody varies alone
        pairs = zip((band.value, band.low, band.high), _several(count), strict=True)
        band = CellEstimate(*(v * m / (m - 1) for v, m in pairs))
    if aggregate.kind is AggregateKind.DEVIATION:
        band = CellEstimate(*(np.sqrt(each) for each in (band.value, band.low, band.high)))
    is_bounded = count.low > 1
    low_end, high_end = (np.where(is_bounded, each, np.nan) for each in (band.low, band.high))
    return CellEstimate(np.where(sure, band.value, np.nan), low_end, high_end)


def _several(count: CellEstimate) -> tuple[Floats, Floats, Floats]:
    """The number of values, the most and the fewest that there may be, two at least."""
    value, high, low = (np.maximum(each, 2.0) for each in (count.value, count.high, count.low))
    return value, high, low


def _spread_ends(count: CellEstimate, first: CellEstimate, second: CellEstimate) -> tuple[Floats, Floats]:
    squares = (
        second.low / np.where(second.low > 0, count.high, count.low),
        second.high / np.where(second.high > 0, count.low, count.high),
    )
    means = np.abs([s / n for s in (first.low, first.high) for n in (count.low, count.high)])
    crosses = (first.low <= 0) & (first.high >= 0)
    least = np.where(crosses, 0.0, np.min(means, axis=0))
    return squares[0] - np.max(means, axis=0) ** 2, squares[1] - least**2


@dataclass(frozen=True)
class SumSpread:
    """The reach of a sum over n groups: the larger of √(n · square) and least."""

    square: float
    least: float

    def reach(self, groups: int) -> float:
        """How far the sum over this many groups may be off."""
        return max(math.sqrt(groups * self.square), self.least)


def spread(form: LinearForm, noise: Noise, confidence: float) -> SumSpread:
    """The spread of a sum over groups, at this confidence."""
    length = math.log(2 / (1 - confidence))
    sizes = [abs(float(factor)) for factor in form.factors]
    squares = sum(size * size for size in sizes)
    if isinstance(noise, DiscreteLaplace):
        scale = float(noise.scale)
        return SumSpread(8 * math.log(2) * length * scale**2 * squares, math.sqrt(8) * length * scale * max(sizes))
    return SumSpread(2 * length * float(noise.squared) * squares, 0.0)


def linear_noise(plan: AggregationPlan, aggregate: Aggregate) -> tuple[LinearForm, Noise] | None:
    """What an aggregate's noise is made of, where groups are public and it is a sum of noises; else None."""
    found = None if plan.releases_keys else linear_form(plan, aggregate)
    return None if found is None else (found[1], plan.parts[found[0]].noise)
