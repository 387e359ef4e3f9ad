"""From what the blocks released to the answer: the query above, over tables with ends at the confidences it needs.

Columns of the answer show aggregates in the analyst's own words. A block's aggregates are called a0, a1, … inside;
people know them by the names in their SELECT.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
from sqlglot import exp

from discreet.errors import QueryRefused
from discreet.query.aggregates.noise_tails import LinearForm, Noise
from discreet.query.answer.cell_intervals import Cells, Ends
from discreet.query.answer.corrections import MEASURED, guard_divisors, name_columns, unclip_totals
from discreet.query.answer.interval_columns import TOTAL_PARTS, name_end
from discreet.query.answer.interval_propagation import Extended, Followed, FormColumns, describe_shape, with_intervals
from discreet.query.answer.intervals import linear_noise, noisy_table, spread
from discreet.query.answer.noisy_columns import NoisyTable
from discreet.query.answer.sandbox import post_process, tell_apart
from discreet.query.bind.group_by import PrivateAggregation
from discreet.query.bind.split import SplitQuery
from discreet.query.plan.budget_split import Price, with_magnitude
from discreet.query.plan.sensitivity import AggregationPlan
from discreet.query.question import ExpectedError, PlannedQuestion
from discreet.query.run.measure import Measured

__all__ = [
    "HIDDEN",
    "Intervals",
    "compute_answer",
    "confidence_of_each",
    "extension",
    "find_shares",
    "label_columns",
    "output_names",
    "shown",
]


Intervals = dict[str, list[tuple[float, float] | None]]
"""Per column that has them, an interval per row; None where none is known, as where an end would be infinite."""

_HIGHEST = 1 - 2**-40
"""Beyond this confidence floating point cannot tell how rarely a cell may miss."""


def compute_answer(
    split: SplitQuery, measured: Sequence[Measured], public: Mapping[str, pa.Table], confidence: float, raw: bool
) -> tuple[pa.Table, Intervals]:
    """The table that answers a query, and the intervals of its columns; ``measured`` has what answers each block."""
    if split.only_picks:  # which needs no database
        return _pick(split, measured[0], confidence, raw)
    return shown(extension(split, [one.plan for one in measured], public), split, measured, public, confidence, raw)


def _pick(split: SplitQuery, measured: Measured, confidence: float, raw: bool) -> tuple[pa.Table, Intervals]:
    """Columns of the one block, under the names that the query gives them."""
    table = noisy_table(measured, confidence, raw, split.blocks[0])
    places = [projection.unalias().name for projection in split.above.selects]
    names = tell_apart([projection.alias_or_name for projection in split.above.selects])
    intervals: Intervals = {}
    for name, place in zip(names, places, strict=True):
        if place.startswith("a"):
            low, high = (table[f"{place}_{end}"].to_pylist() for end in ("low", "high"))
            is_known = confidence <= _HIGHEST
            shown_values = table[place].to_pylist()
            rows = zip(shown_values, low, high, strict=True)
            intervals[name] = [_interval(*row) if is_known else None for row in rows]
    return table.select(places).rename_columns(names), intervals


def extension(split: SplitQuery, plans: Sequence[AggregationPlan], public: Mapping[str, pa.Table]) -> Extended:
    """The query above with ends added, which is decided before any row is read."""
    return with_intervals(split.above, _shapes(split, plans, public))


def _shapes(
    split: SplitQuery, plans: Sequence[AggregationPlan], public: Mapping[str, pa.Table]
) -> dict[str, NoisyTable]:
    """What is known of every table that the query above reads."""
    shapes = {
        name: NoisyTable(tuple(table.column_names), table.num_rows, is_noisy=False) for name, table in public.items()
    }
    return shapes | {block.name: describe_shape(block, plan) for block, plan in zip(split.blocks, plans, strict=True)}


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
    tables = _shapes(split, [one.plan for one in measured], public)
    if extended.has_totals:
        noisy = {b.name: _with_totals(noisy[b.name], one, b, confidence, raw, extended.divisors) for b, one in pairs}
    cells = Cells(*zip(*pairs, strict=True)) if extended.has_forms else None
    if cells is not None:
        noisy = {block.name: cells.added_to(noisy[block.name], block) for block, _ in pairs}
    try:
        result = post_process(_made_plausible(extended.query, tables, raw), {**public, **noisy})
        return _apart(result, extended, cells, confidence, raw)
    except QueryRefused:  # perhaps the ends alone failed, and what was paid for is shown all the same
        return post_process(_made_plausible(split.above, tables, raw), {**public, **noisy}), {}


def _made_plausible(query: exp.Query, tables: Mapping[str, NoisyTable], raw: bool) -> exp.Query:
    """The query with totals of what was measured and sure divisors; where all is shown as measured, as it is."""
    named = name_columns(query)
    return named if raw else unclip_totals(guard_divisors(named, tables), tables)


def confidence_of_each(confidence: float, cells: int) -> float:
    """The confidence that each of several cells needs so that all hold together, rounded up."""
    return confidence if cells <= 1 else math.nextafter(1 - (1 - confidence) / cells, 1)


def _with_ends(
    measured: Measured, block: PrivateAggregation, confidence: float, raw: bool, divisors: frozenset[int]
) -> pa.Table:
    """The block's table, and the ends of its aggregates for values made of so many cells each."""
    table = noisy_table(measured, confidence, raw, block)
    as_measured = table if raw else noisy_table(measured, confidence, True, block)
    for a, aggregate in enumerate(block.aggregates):
        if aggregate.is_count:
            table = table.append_column(f"a{a}{MEASURED}", as_measured[f"a{a}"])
    for divisor in sorted(divisors):
        each = confidence_of_each(confidence, divisor)
        wide = table if each == confidence else noisy_table(measured, min(each, _HIGHEST), raw, block)
        for a in range(len(block.aggregates)):
            low, high = (np.asarray(wide[f"a{a}_{end}"], np.float64) for end in ("low", "high"))
            unknown = ~(np.isfinite(low) & np.isfinite(high)) | (each > _HIGHEST)
            for end, values in (("low", low), ("high", high)):
                table = table.append_column(name_end(f"a{a}", end, divisor), pa.array(values, mask=unknown))
    return table


def _with_totals(
    table: pa.Table,
    measured: Measured,
    block: PrivateAggregation,
    confidence: float,
    raw: bool,
    divisors: frozenset[int],
) -> pa.Table:
    """The table, and what the ends of sums over its groups are made of, for values made of so many cells each."""
    as_measured = noisy_table(measured, confidence, True, block)
    for a, aggregate in enumerate(block.aggregates):
        noise = linear_noise(measured.plan, aggregate)
        if noise is None:
            continue
        for divisor in sorted(divisors):
            parts = _total_parts(*noise, confidence, divisor, len(measured.groups))
            floor = 0.0 if aggregate.is_count and not raw else -math.inf
            for name, value in zip(TOTAL_PARTS[1:], (*parts, floor), strict=True):
                column = pa.array(np.full(table.num_rows, value))
                table = table.append_column(name_end(f"a{a}", name, divisor), column)
            table = table.append_column(name_end(f"a{a}", TOTAL_PARTS[0], divisor), as_measured[f"a{a}"])
    return table


def _total_parts(
    form: LinearForm, noise: Noise, confidence: float, divisor: int, groups: int
) -> tuple[float, float, float]:
    """The reach of one group where all hold together, and the two numbers of a spread."""
    of_one, of_total = (confidence_of_each(confidence, divisor * cells) for cells in (groups, 1))
    if max(of_one, of_total) > _HIGHEST:
        return math.nan, math.nan, math.nan
    total = spread(form, noise, of_total)
    return form.reach(noise, of_one), total.square, total.least


def _apart(
    result: pa.Table, extended: Extended, cells: Cells | None, confidence: float, raw: bool
) -> tuple[pa.Table, Intervals]:
    """The table people see, and the intervals of its columns."""
    width = result.num_columns - len(extended.added)
    added = result.select(list(range(width, result.num_columns))).rename_columns(list(extended.added))
    intervals: Intervals = {}
    for one in extended.followed:
        if cells is not None:
            each = confidence_of_each(confidence, one.cells)
            added = _with_parts(added, one.parts, cells, each, raw)
        rows = zip(result.column(one.position).to_pylist(), *_ends_in(added, one), strict=True)
        intervals[result.column_names[one.position]] = [_interval(*row) for row in rows]
    return result.select(list(range(width))), intervals


def _with_parts(added: pa.Table, parts: Sequence[FormColumns], cells: Cells, confidence: float, raw: bool) -> pa.Table:
    """The columns that were added, and the ends of parts."""
    for part in parts:
        below = None if part.below is None else added[part.below]
        ends: list[Ends] = [None] * added.num_rows
        if confidence <= _HIGHEST:
            ends = cells.ends(added[part.above], below, added[part.shown].to_pylist(), confidence, raw=raw)
        for name, end in ((part.low, 0), (part.high, 1)):
            found = pa.array([None if pair is None else pair[end] for pair in ends], pa.float64())
            added = added.append_column(name, found)
    return added


def _ends_in(added: pa.Table, one: Followed) -> list[list[float | None]]:
    """The two ends of every row of a column."""
    low, high = one.ends.low, one.ends.high
    if isinstance(low, exp.Column) and isinstance(high, exp.Column):
        return [added[end.name].to_pylist() for end in (low, high)]
    used = sorted({column.name for end in (low, high) for column in end.find_all(exp.Column)})
    query = exp.select(exp.alias_(low.copy(), "low"), exp.alias_(high.copy(), "high")).from_("added")
    found = post_process(query, {"added": added.select(used)})
    return [column.to_pylist() for column in found.columns]


def _interval(value: Any, low: float | None, high: float | None) -> tuple[float, float] | None:
    """The interval of a value, which it lies in: what is rounded to be shown may have left it by a little."""
    if value is None or low is None or high is None or not (math.isfinite(low) and math.isfinite(high)):
        return None
    if not isinstance(value, (int, float, Decimal)) or not math.isfinite(value):
        return float(low), float(high)
    return min(float(low), float(value)), max(float(high), float(value))


Place = tuple[str, str]
"""An aggregate: its block, and its column there."""


def output_names(above: exp.Query) -> tuple[dict[Place, str], dict[Place, str]]:
    """The outputs that are an aggregate as it stands, and those that are computed from one; outer queries first."""
    shown: dict[Place, str] = {}
    used: dict[Place, str] = {}
    for select in above.find_all(exp.Select):
        for projection in select.expressions:
            whole = _aggregate(projection.unalias())
            if whole is not None:
                shown.setdefault(whole, projection.alias_or_name)
            for part in map(_aggregate, projection.find_all(exp.Column)):
                if part is not None:
                    used.setdefault(part, projection.alias_or_name)
    return shown, used


def label_columns(question: PlannedQuestion, errors: list[ExpectedError]) -> tuple[ExpectedError, ...]:
    """The expected errors under the names of the outputs: ``visits``, or ``sum in cost_each`` where it is computed."""
    places = [(block.name, f"a{k}") for block in question.split.blocks for k in range(len(block.aggregates))]
    shown, used = output_names(question.split.above)
    found = []
    for place, error in zip(places, errors, strict=True):
        within = f"{error.column} in {used[place]}" if used.get(place) else error.column
        found.append(replace(error, column=shown.get(place) or within))
    return tuple(found)


def find_shares(question: PlannedQuestion) -> tuple[tuple[str, Price], ...]:
    """How the price is divided: what each share answers, under the names of the outputs, and the share."""
    shown, used = output_names(question.split.above)
    found: dict[tuple[int, int], tuple[list[str], Price]] = {}
    for block, plan in zip(question.split.blocks, question.plans, strict=True):
        names = {a: (block.name, f"a{k}") for k, a in enumerate(block.aggregates)}
        for number, (aggregates, share) in enumerate(plan.shares):
            labels, _ = found.setdefault((id(plan), number), ([], with_magnitude(plan.loss, share)))
            places = [(a, names[a]) for a in aggregates if a in names]
            labels += [shown.get(place) or used.get(place) or a.name for a, place in places]
    return tuple((", ".join(dict.fromkeys(labels)) or HIDDEN, share) for labels, share in found.values())


HIDDEN = "which groups are shown"
"""What a share is for that no output shows: the number of people who hold a key."""


def _aggregate(node: exp.Expr) -> Place | None:
    if isinstance(node, exp.Column) and node.table.startswith("_block") and node.name.startswith("a"):
        return node.table, node.name
    return None
