"""From noisy integers to the values people asked for, each with an interval, as the table that is queried above.

Each aggregate makes its own value and interval of them (`query/aggregates/`).

Where the interval of a group's count contains 0, nobody can tell whether the group is empty: its mean, variance,
median or mode is NULL, as that of an empty group is in SQL.

The noise of many groups carries their sum much less far than every group at its worst.

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

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from discreet.noise.laplace import DiscreteLaplace
from discreet.query.aggregates.aggregate import Aggregate, SummedAggregate
from discreet.query.aggregates.estimate import CellEstimate, rows_form
from discreet.query.aggregates.noise_tails import LinearForm, Noise
from discreet.query.aggregates.statistics import Moments
from discreet.query.bind.group_by import PrivateAggregation
from discreet.query.expressions.public_values import arrow_type
from discreet.query.plan.sensitivity import AggregationPlan
from discreet.query.run.measure import Measured

__all__ = [
    "SumSpread",
    "count_moved_cells",
    "find_count_beside",
    "linear_noise",
    "noisy_schema",
    "noisy_table",
    "spread",
]


def noisy_table(measured: Measured, confidence: float, raw: bool, block: PrivateAggregation | None = None) -> pa.Table:
    """The block's table: k0, k1, … for groups; a0, a0_low, a0_high, a1, … for aggregates.

    ``block`` is the block whose columns are wanted, where several were measured together.
    """
    wanted = measured.plan.block if block is None else block
    columns: dict[str, pa.Array] = {f"k{k}": column for k, column in enumerate(measured.groups.columns())}
    for a, aggregate in enumerate(wanted.aggregates):
        three = _columns(measured, aggregate, confidence, raw)
        columns |= zip((f"a{a}", f"a{a}_low", f"a{a}_high"), three, strict=True)
    if not columns:
        columns["k"] = pa.array([0])
    return pa.table(columns)


def _columns(
    measured: Measured, aggregate: Aggregate, confidence: float, raw: bool
) -> tuple[pa.Array, pa.Array, pa.Array]:
    """The values of an aggregate, and the ends of their intervals; what is chosen has none."""
    none = pa.nulls(len(measured.groups), pa.float64())
    if measured.plan.top is not None:  # the query above orders by it and does not show it
        return pa.array(measured.chosen[0]), none, none
    choice = measured.plan.choice_of(aggregate)
    if choice is not None:
        chosen = measured.plan.choices[choice].show(measured.chosen[choice])
        empty = _may_be_empty(measured, aggregate, confidence)
        return pc.if_else(pa.array(empty), pa.nulls(len(empty), chosen.type), chosen), none, none
    found = _estimate(measured, aggregate, confidence, raw)
    is_whole = aggregate.is_count and not raw
    value = found.value.astype(np.int64) if is_whole else found.value
    return pa.array(value, mask=None if is_whole else np.isnan(value)), pa.array(found.low), pa.array(found.high)


def count_moved_cells(measured: Measured, block: PrivateAggregation, confidence: float) -> tuple[int, int]:
    """How many counts were measured below zero, and how many means and spreads outside what is possible."""
    counts = others = 0
    for aggregate in block.aggregates:
        if measured.plan.part_of(aggregate) is None:
            continue
        as_measured = _estimate(measured, aggregate, confidence, raw=True).value
        if aggregate.is_count:
            counts += int(np.count_nonzero(as_measured < -0.5))  # made whole, the rest are 0 or more
        else:
            shown = _estimate(measured, aggregate, confidence, raw=False).value
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
    if choice is not None:
        return plan.choices[choice].show(np.empty(0, np.int64)).type
    return pa.int64() if plan.top is not None or aggregate.is_count else pa.float64()


def _estimate(measured: Measured, aggregate: Aggregate, confidence: float, raw: bool) -> CellEstimate:
    position = measured.plan.part_of(aggregate)
    if position is None or not isinstance(aggregate, SummedAggregate):
        raise AssertionError("an aggregate is chosen or read from a part")
    return aggregate.estimate(measured.plan.parts[position], measured.sums[position], confidence, raw=raw)


def _may_be_empty(measured: Measured, aggregate: Aggregate, confidence: float) -> npt.NDArray[np.bool_]:
    """The groups that may have no row of an aggregate, as far as a count that was released beside it tells."""
    empty = np.zeros(len(measured.groups), np.bool_)
    for position in find_count_beside(measured.plan, aggregate):
        statistic, sums = measured.plan.parts[position], measured.sums[position]
        empty |= CellEstimate.of_form(rows_form(statistic), statistic, sums, confidence).low <= 0
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
    found = None if plan.releases_keys else plan.form_of(aggregate)
    return None if found is None else (found[1], plan.parts[found[0]].noise)
