"""The plan of a standing series, and what is measured of it in one period.

A series about people is planned as one question over all its periods, those to come among them: what periods there are
follows from the calendar. Its noise is that of the whole, and one period draws it for the groups of that period, on
rows that count as the first of their people. Where a unit is in one period, the plan is that of one period alone, and
each period is a question of its own. Nothing here looks at a row. Proof: ``series.md``.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date

import numpy as np

from discreet.catalog.catalog import Catalog
from discreet.catalog.period import Period
from discreet.catalog.table import Table
from discreet.curator.notes import write_notes
from discreet.curator.preconditions import check_stored, use_stored_columns
from discreet.curator.series.terms import AT_LIMIT_SHARE, SeriesTerms
from discreet.engines.engine import Engine
from discreet.errors import QueryRefused
from discreet.mechanisms.gaussian import Gaussian
from discreet.mechanisms.laplace import Laplace
from discreet.privacy.neighbours import Neighbours
from discreet.query.aggregates.aggregate import SummedAggregate
from discreet.query.aggregates.statistics import DistinctValues
from discreet.query.answer.intervals import noisy_schema
from discreet.query.answer.sandbox import check_above
from discreet.query.bind.contribution import ContributionBound
from discreet.query.bind.group_by import PrivateAggregation
from discreet.query.bind.periods import find_read_periods, names_period, narrow_table
from discreet.query.bind.relation import RowCounts, without_partitions
from discreet.query.bind.split import SplitQuery
from discreet.query.divide import can_be_divided
from discreet.query.parse.clock import asks_clock
from discreet.query.parse.parser import parse
from discreet.query.passes import split
from discreet.query.plan.budget_split import get_magnitude, with_magnitude
from discreet.query.plan.list_groups import Listing
from discreet.query.plan.sensitivity import AggregationPlan, calibrate_noise
from discreet.query.question import PlannedQuestion, prepare_all
from discreet.query.run.fingerprint import write_recorded

__all__ = ["SeriesPlan", "keep_own", "plan_series"]


@dataclass(frozen=True)
class SeriesPlan:
    """What a series measures."""

    terms: SeriesTerms
    question: PlannedQuestion
    """Over all its periods, where it is paid once; else over the first."""
    at_limit: Laplace | Gaussian | None
    """What hides the number of people at the limit; None where nobody has one."""
    catalog: Catalog
    """The policies that it is planned in."""

    @property
    def plan(self) -> AggregationPlan:
        """The one plan of the question."""
        return self.question.plans[0]

    @property
    def laws(self) -> str:
        """The grids and laws of its noise, in the words of records."""
        sums = [write_recorded((one.noise, str(one.share), one.scale, one.weight)) for one in self.plan.parts]
        quotas = [one.max_contribution for one in self.plan.parts]
        told = {"sums": sums, "quotas": quotas, "rows": [self.plan.rows_per_unit, self.plan.rows_per_group]}
        return json.dumps(told | ({} if self.at_limit is None else {"at_limit": write_recorded(self.at_limit.law)}))

    def notes(self, confidence: float) -> tuple[str, ...]:
        """What is clamped, weighted or left out, in plain words."""
        plan = replace(self.plan, block=_reading(self.plan.block, frozenset()))
        return write_notes(replace(self.question, plans=(plan,)), confidence)

    def over(self, periods: Sequence[Period]) -> AggregationPlan:
        """The plan with the groups of some of its periods alone, as answers about these are read."""
        if not self.terms.is_once:
            whole = _planned(self.terms, self.catalog, periods, self.terms.price)[0]
            return replace(self.plan, listing=whole.plans[0].listing)
        return replace(self.plan, listing=_keep_periods(self.plan, self.terms.policy, periods))

    def is_complete(self, period: Period, snapshot: Engine) -> bool:
        """Whether no value is missing in a period where the policy said so when the series began."""
        policy = self.terms.policy
        there = {name.casefold() for name in snapshot.stored(policy.name).over([period.name]).complete}
        return all(one.may_be_missing or one.name.casefold() in there for one in policy.columns)

    def at(self, period: Period, snapshot: Engine) -> AggregationPlan:
        """What is measured in one period, on rows as they are kept."""
        if not self.terms.is_once:
            question, _ = _planned(self.terms, self.catalog, [period], self.terms.price)
            return question.plans[0]
        table, plan = self.terms.table, self.over([period])
        plan = replace(plan, block=_reading(plan.block, frozenset({(table, period.name)})))
        check_stored([plan], self.catalog, snapshot)
        before = [one.name for one in self.terms.periods if one.start < period.start]
        earlier = {table.casefold(): snapshot.stored(table).over(before)} if before else {}
        return replace(use_stored_columns(plan, snapshot), counted=False, earlier=earlier)


def plan_series(terms: SeriesTerms, catalog: Catalog) -> SeriesPlan:
    """The plan of a series by its terms; ``catalog`` says what else there is, and nothing about its table."""
    periods = terms.periods if terms.is_once else terms.periods[:1]
    if not terms.is_once:
        return SeriesPlan(terms, _planned(terms, catalog, periods, terms.price)[0], None, catalog)
    magnitude = get_magnitude(terms.price)
    beside = with_magnitude(terms.price, magnitude * AT_LIMIT_SHARE)
    question, table = _planned(terms, catalog, periods, with_magnitude(terms.price, magnitude * (1 - AT_LIMIT_SHARE)))
    moves = 2 if table.neighbours is Neighbours.REPLACE_ONE else 1  # one of them in one period, the other in another
    plan = question.plans[0]
    plan = replace(plan, block=replace(plan.block, rows=without_partitions(plan.block.rows)), earlier={})
    return SeriesPlan(terms, replace(question, plans=(plan,)), calibrate_noise(moves, moves, beside), catalog)


def _planned(
    terms: SeriesTerms, catalog: Catalog, periods: Sequence[Period], price: object
) -> tuple[PlannedQuestion, Table]:
    table = narrow_table(terms.policy, periods)
    query = split(terms.sql, catalog.with_table(table))
    _check_text(terms.sql, query, table)
    _check_block(query, table)
    (question,) = prepare_all([query], price, delta=terms.delta)  # type: ignore[arg-type]
    _check_above(question)
    return question, table


def keep_own(table: Table) -> Table:
    """What a policy says about the table itself, without who may ask and how files are spelled."""
    return replace(table, analysts={}, description="", csv=None, closed=())


# What a series can be about.


def _check_text(sql: str, query: SplitQuery, table: Table) -> None:
    if asks_clock(parse(sql, "duckdb")):
        rule = "a series asks the same in every period, and CURRENT_DATE is another day in each"
        raise QueryRefused(rule, "", "leave it out; every period is answered when it closes")
    if len(query.blocks) != 1 or query.public_tables or query.blocks[0].rows.public:
        rule = "a series reads one table, once"
        raise QueryRefused(rule, "", "write one SELECT with GROUP BY over one table, and join its answers yourself")
    if list(find_read_periods(query.blocks, table)) != list(table.closed):
        rule = "a series reads all its periods"
        raise QueryRefused(rule, "", "leave out the conditions on time, and name the number of periods")


def _check_block(query: SplitQuery, table: Table) -> None:
    block = query.blocks[0]
    if not any(names_period(key, [table]) for key in block.keys):
        every = "period" if table.time is None else table.time.every.value
        rule = f"a series has figures for every {every}"
        raise QueryRefused(rule, "", f"GROUP BY date_trunc('{every}', {table.time and table.time.column}) too")
    if table.is_by_period:
        if not can_be_divided(query, table):
            raise QueryRefused("a series is asked once for each period", "", "count, add or average rows of one table")
        return
    privacy = block.rows.privacy
    if privacy is None or privacy.tables != {table.name} or privacy.truncated or not query.is_by_row:
        raise QueryRefused("a series about people reads one table", "", "leave out joins")
    as_stored = privacy.contribution == ContributionBound.stored(table.rows_per_unit)
    if not as_stored or block.rows.tallied is RowCounts.NOTHING:
        rule = "a series about people counts rows as they are in the table"
        raise QueryRefused(rule, "", "leave out UNION ALL and subqueries with GROUP BY")
    _check_aggregates(block)


def _check_aggregates(block: PrivateAggregation) -> None:
    if block.top is not None:
        raise QueryRefused("a series about people shows all groups", "", "leave out LIMIT; sort what was released")
    for one in block.aggregates:
        if not isinstance(one, SummedAggregate) or isinstance(one.statistic, DistinctValues):
            rule = f"a series about people counts, adds and averages, and {one.name} does not"
            raise QueryRefused(rule, "", "use COUNT, SUM, AVG, VARIANCE or COUNT(DISTINCT person)")


def _check_above(question: PlannedQuestion) -> None:
    for block, plan in zip(question.split.blocks, question.plans, strict=True):
        if plan.listing is None and not question.delta:
            raise AssertionError("groups that are not public are refused before")
        if not question.split.only_picks:
            check_above(question.split.above, {block.name: noisy_schema(plan, block)})


# The groups of a period.


def _reading(block: PrivateAggregation, periods: frozenset[tuple[str, str]]) -> PrivateAggregation:
    privacy = block.rows.privacy
    if privacy is None:
        raise AssertionError("a series is about private rows")
    return replace(block, rows=replace(block.rows, privacy=replace(privacy, periods=periods)))


def _keep_periods(plan: AggregationPlan, table: Table, periods: Sequence[Period]) -> Listing:
    """Of the groups of a plan, those whose key lies in one of these periods."""
    listing, time = plan.listing, table.time
    if listing is None or time is None:
        raise AssertionError("a series about people has public groups in periods")
    place = next(k for k, key in enumerate(plan.block.keys) if names_period(key, [table]))
    names = {one.name for one in periods}
    values = listing.domains[place]
    is_in = np.array([isinstance(one, date) and time.period_of(one).name in names for one in values], np.bool_)
    below = int(np.prod([len(domain) for domain in listing.domains[place + 1 :]], dtype=np.int64))
    return replace(listing, codes=listing.codes[is_in[listing.codes // below % max(len(values), 1)]])
