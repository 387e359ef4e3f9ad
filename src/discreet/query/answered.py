"""From what the blocks released to the answer: the query above, over tables with ends at the confidences it needs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa

from discreet.errors import QueryRefused
from discreet.query.answer_table import noisy_table
from discreet.query.block import AggregateKind, Block
from discreet.query.forms import Form, Noise
from discreet.query.intervals_above import TOTAL_PARTS, Extended, end_name, shape_of, with_intervals
from discreet.query.measure import Measured
from discreet.query.noisy_view import Shape
from discreet.query.plan import BlockPlan
from discreet.query.sandbox import post_process, told_apart
from discreet.query.split import SplitQuery
from discreet.query.sums_over_groups import linear_noise, spread

__all__ = ["Intervals", "answered", "confidence_of_each", "extension", "shown"]

Intervals = dict[str, list[tuple[float, float] | None]]
"""Per column that has them, an interval per row; None where none is known, as where an end would be infinite."""

_HIGHEST = 1 - 2**-40
"""Beyond this confidence floating point cannot tell how rarely a cell may miss."""


def answered(
    split: SplitQuery, measured: Sequence[Measured], public: Mapping[str, pa.Table], confidence: float, raw: bool
) -> tuple[pa.Table, Intervals]:
    """The table that answers a query, and the intervals of its columns; ``measured`` has what answers each block."""
    if split.only_picks:  # which needs no database
        return _picked(split, measured[0], confidence, raw)
    return shown(extension(split, [one.plan for one in measured], public), split, measured, public, confidence, raw)


def _picked(split: SplitQuery, measured: Measured, confidence: float, raw: bool) -> tuple[pa.Table, Intervals]:
    """Columns of the one block, under the names that the query gives them."""
    table = noisy_table(measured, confidence, raw, split.blocks[0])
    places = [projection.unalias().name for projection in split.above.selects]
    names = told_apart([projection.alias_or_name for projection in split.above.selects])
    intervals: Intervals = {}
    for name, place in zip(names, places, strict=True):
        if place.startswith("a"):
            low, high = (table[f"{place}_{end}"].to_pylist() for end in ("low", "high"))
            is_known = confidence <= _HIGHEST
            intervals[name] = [_interval(*ends) if is_known else None for ends in zip(low, high, strict=True)]
    return table.select(places).rename_columns(names), intervals


def extension(split: SplitQuery, plans: Sequence[BlockPlan], public: Mapping[str, pa.Table]) -> Extended:
    """The query above with ends added, which is decided before any row is read."""
    shapes = {name: Shape(tuple(table.column_names), table.num_rows, is_noisy=False) for name, table in public.items()}
    shapes |= {block.name: shape_of(block, plan) for block, plan in zip(split.blocks, plans, strict=True)}
    return with_intervals(split.above, shapes)


def shown(
    extended: Extended,
    split: SplitQuery,
    measured: Sequence[Measured],
    public: Mapping[str, pa.Table],
    confidence: float,
    raw: bool,
) -> tuple[pa.Table, Intervals]:
    """What an extended query shows of what was measured."""
    pairs = list(zip(split.blocks, measured, strict=True))
    noisy = {block.name: _with_ends(one, block, confidence, raw, extended.divisors) for block, one in pairs}
    if extended.has_totals:
        noisy = {b.name: _with_totals(noisy[b.name], one, b, confidence, raw, extended.divisors) for b, one in pairs}
    try:
        return _apart(post_process(extended.query, {**public, **noisy}), extended)
    except QueryRefused:  # perhaps the ends alone failed, and what was paid for is shown all the same
        return post_process(split.above, {**public, **noisy}), {}


def confidence_of_each(confidence: float, cells: int) -> float:
    """The confidence that each of several cells needs so that all hold together, rounded up."""
    return confidence if cells <= 1 else math.nextafter(1 - (1 - confidence) / cells, 1)


def _with_ends(measured: Measured, block: Block, confidence: float, raw: bool, divisors: frozenset[int]) -> pa.Table:
    """The block's table, and the ends of its aggregates for values made of so many cells each."""
    table = noisy_table(measured, confidence, raw, block)
    for divisor in sorted(divisors):
        each = confidence_of_each(confidence, divisor)
        wide = table if each == confidence else noisy_table(measured, min(each, _HIGHEST), raw, block)
        for a in range(len(block.aggregates)):
            low, high = (np.asarray(wide[f"a{a}_{end}"], np.float64) for end in ("low", "high"))
            unknown = ~(np.isfinite(low) & np.isfinite(high)) | (each > _HIGHEST)
            for end, values in (("low", low), ("high", high)):
                table = table.append_column(end_name(f"a{a}", end, divisor), pa.array(values, mask=unknown))
    return table


def _with_totals(
    table: pa.Table, measured: Measured, block: Block, confidence: float, raw: bool, divisors: frozenset[int]
) -> pa.Table:
    """The table, and what the ends of sums over its groups are made of, for values made of so many cells each."""
    as_measured = noisy_table(measured, confidence, True, block)
    for a, aggregate in enumerate(block.aggregates):
        noise = linear_noise(measured.plan, aggregate)
        if noise is None:
            continue
        for divisor in sorted(divisors):
            parts = _total_parts(*noise, confidence, divisor, len(measured.groups))
            floor = -math.inf if raw or aggregate.kind is AggregateKind.SUM else 0.0
            for name, value in zip(TOTAL_PARTS[1:], (*parts, floor), strict=True):
                column = pa.array(np.full(table.num_rows, value))
                table = table.append_column(end_name(f"a{a}", name, divisor), column)
            table = table.append_column(end_name(f"a{a}", TOTAL_PARTS[0], divisor), as_measured[f"a{a}"])
    return table


def _total_parts(form: Form, noise: Noise, confidence: float, divisor: int, groups: int) -> tuple[float, float, float]:
    """The reach of one group where all hold together, and the two numbers of a spread."""
    of_one, of_total = (confidence_of_each(confidence, divisor * cells) for cells in (groups, 1))
    if max(of_one, of_total) > _HIGHEST:
        return math.nan, math.nan, math.nan
    total = spread(form, noise, of_total)
    return form.reach(noise, of_one), total.square, total.least


def _apart(result: pa.Table, extended: Extended) -> tuple[pa.Table, Intervals]:
    """The table people see, and the intervals of its columns."""
    width = result.num_columns - 2 * len(extended.positions)
    intervals: Intervals = {}
    for pair, position in enumerate(extended.positions):
        low, high = (result.column(width + 2 * pair + end).to_pylist() for end in (0, 1))
        intervals[result.column_names[position]] = [_interval(*ends) for ends in zip(low, high, strict=True)]
    return result.select(list(range(width))), intervals


def _interval(low: float | None, high: float | None) -> tuple[float, float] | None:
    if low is None or high is None or not (math.isfinite(low) and math.isfinite(high)):
        return None
    return float(low), float(high)
