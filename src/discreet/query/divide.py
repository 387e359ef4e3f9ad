"""Dividing a question by periods: one question for each, whose answers are put together.

Let the rows of a growing table lie in periods for good, and a unit in one of them. Where every block of a question
groups by the period, or by what lies within one, the cells of a period are a function of rows of that period and of
their own noise. So the question is asked once for each period, at the same price, and each of these has a fingerprint,
a charge and a stored answer of its own: who asks for eleven weeks after ten pays for the eleventh.

Claim. Put together, the answers are what the undivided question would measure, in groups and in the laws of noise.

Proof. Below the aggregates rows are made of one row each (or of rows of one person in one period, where a subquery is
grouped by both), so that the rows of a block are the union of those of its pieces. A key that names the period has no
value in common between two periods, so every group is in one piece, with all its rows. The mechanisms and grids of all
pieces are compared, and are the same.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from discreet.catalog.table import Table
from discreet.errors import QueryRefused
from discreet.exact.grid import Integers
from discreet.query.bind.periods import is_time, names_period
from discreet.query.bind.split import SplitQuery
from discreet.query.expressions.expression import collect_fields
from discreet.query.expressions.public_values import Key, find_values_through, order_keys
from discreet.query.plan.list_groups import Listing
from discreet.query.plan.sensitivity import AggregationPlan
from discreet.query.question import PlannedQuestion
from discreet.query.run.fingerprint import write_recorded
from discreet.query.run.measure import Groups, Measured

__all__ = ["can_be_divided", "join_measured", "join_pieces"]


def can_be_divided(query: SplitQuery, table: Table) -> bool:
    """Whether a question can be asked once for each period of a table, in which a unit is in one period."""
    return (
        table.is_by_period and query.is_by_row and all(_is_by_period(query, k, table) for k in range(len(query.blocks)))
    )


def _is_by_period(query: SplitQuery, place: int, table: Table) -> bool:
    block = query.blocks[place]
    tables = frozenset[str]() if block.rows.privacy is None else block.rows.privacy.tables
    is_alone = tables == {table.name} and block.top is None
    used = [one.argument for one in block.aggregates if one.argument is not None]
    fields = [field for argument in used for field in collect_fields(find_values_through(argument))]
    is_measured = any(is_time(field, [table]) for field in fields)  # its grid would be another one in each period
    return is_alone and not is_measured and any(names_period(key, [table]) for key in block.keys)


def join_pieces(pieces: Sequence[PlannedQuestion]) -> PlannedQuestion:
    """The question that the pieces answer together, each of which was planned for one period."""
    last = pieces[-1]
    plans = tuple(_joined([piece.plans[k] for piece in pieces]) for k in range(len(last.plans)))
    return replace(last, plans=plans, pieces=tuple(pieces))


def _joined(plans: list[AggregationPlan]) -> AggregationPlan:
    last = plans[-1]
    if any(_laws(one) != _laws(last) for one in plans):
        rule = "values must have the same bounds in every period"
        raise QueryRefused(rule, "", "bound them by constants, or keep one period with WHERE")
    listings = [one.listing for one in plans]
    known = [one for one in listings if one is not None]
    if len(known) < len(listings):
        return last
    return replace(last, listing=_joined_listing(known))


def _laws(plan: AggregationPlan) -> list[object]:
    """The grids and laws of noise by which the integers of a plan are read."""
    sums = [(write_recorded(one.noise), one.scale, one.weight, one.max_contribution) for one in plan.parts]
    choices = [(one.points, one.epsilon, one.factor, one.listed) for one in plan.choices]
    rules = [] if plan.rule is None else [(plan.rule.threshold, plan.rule.per_unit, plan.rule.delta)]
    return [*sums, *choices, *rules]


def _joined_listing(listings: list[Listing]) -> Listing:
    """The groups of all pieces, each of which is in one of them."""
    rows = [row for listing in listings for row in listing.tuples()]
    width = len(listings[0].domains)
    domains = [order_keys([row[k] for row in rows]) for k in range(width)]
    places: list[dict[Key, int]] = [{value: place for place, value in enumerate(domain)} for domain in domains]
    radix = [math.prod(len(domain) for domain in domains[k + 1 :]) for k in range(width)]
    codes = [sum(places[k][row[k]] * radix[k] for k in range(width)) for row in rows]
    if len(set(codes)) < len(codes):
        raise AssertionError("a group must be in one period")
    without = {place for listing in listings for place in listing.without}
    return Listing(domains, np.sort(np.array(codes, np.int64)), tuple(sorted(without)))


def join_measured(whole: PlannedQuestion, pieces: Sequence[Sequence[Measured]]) -> list[Measured]:
    """What the pieces released, as what the whole question did; per piece, one for each of its blocks."""
    return [_together(plan, [piece[k] for piece in pieces]) for k, plan in enumerate(whole.plans)]


def _together(plan: AggregationPlan, pieces: list[Measured]) -> Measured:
    tables = [_keys(one) for one in pieces]
    keys = plan.block.keys
    groups = Groups.listed(keys, plan.listing) if plan.rule is None else Groups.shown(keys, pa.concat_tables(tables))
    places = [groups.places(table)[0] for table in tables]
    filled = np.concatenate(places)
    if len(filled) != len(groups) or len(np.unique(filled)) != len(groups):
        raise AssertionError("every group must be measured in one period")

    def placed(values: list[Integers]) -> Integers:
        found = np.zeros(len(groups), np.int64)
        found[filled] = np.concatenate(values)
        return found

    sums = [
        [placed([one.sums[k][j] for one in pieces]) for j in range(len(part))] for k, part in enumerate(pieces[0].sums)
    ]
    chosen = [placed([one.chosen[k] for one in pieces]) for k in range(len(pieces[0].chosen))]
    return Measured(plan, groups, sums, chosen)


def _keys(measured: Measured) -> pa.Table:
    return pa.table({f"k{k}": column for k, column in enumerate(measured.groups.columns())})
