"""Columns that are kept within their limits answer as columns whose values every question moves itself."""

from __future__ import annotations

from dataclasses import replace

import pytest

from discreet.catalog.catalog import Catalog
from discreet.catalog.column import Column, ColumnType
from discreet.curator.preconditions import use_stored_columns
from discreet.engines.duckdb.engine import DuckDBEngine
from discreet.engines.stored_columns import name_within
from discreet.engines.value_grid import describe_limits
from discreet.privacy.loss import Pure
from discreet.query.bind import relation
from discreet.query.plan.sensitivity import AggregationPlan
from discreet.query.question import prepare
from discreet.query.run.contribution_bounds import write_statements
from tests.query.test_tallied import engine, plans, same, unmarked
from tests.query.world import CATALOG
from tests.thoroughness import some

__all__ = ["engine"]

AGE = "SELECT COUNT(*), SUM(age), SUM(CASE WHEN age = 60 THEN 1 ELSE 0 END) FROM visits"


def _texts(plan: AggregationPlan) -> str:
    return " ".join(text for text, _ in write_statements(plan))


def test_the_whole_corpus_is_answered_as_without(engine: DuckDBEngine) -> None:
    kept = [(query, plan, use_stored_columns(plan, engine)) for query, plan in plans()]
    read = [(query, plan, other) for query, plan, other in kept if "_within" in _texts(other)]
    assert len(read) > 100
    assert [query for query, plan, other in some(read, 12) if not same(engine, unmarked(plan, engine), other)] == []


def _limited_anew(lower: int, upper: int) -> AggregationPlan:
    """A plan of a policy that was edited since the rows were taken in."""
    visits = CATALOG.table("visits")
    age = next(column for column in visits.columns if column.name == "age")
    edited = [replace(column, lower=lower, upper=upper) if column is age else column for column in visits.columns]
    catalog = Catalog([replace(visits, columns=tuple(edited)) if table is visits else table for table in CATALOG])
    (plan,) = prepare(AGE, catalog, Pure(1)).plans
    return plan


@pytest.mark.parametrize("upper", [60, 100_000])
def test_other_limits_than_those_that_were_kept_are_applied_to_values_as_they_came(
    engine: DuckDBEngine, upper: int
) -> None:
    plan = _limited_anew(0, upper)
    place = [column.name for column in CATALOG.table("visits").columns].index("age")
    assert name_within(place) not in _texts(use_stored_columns(plan, engine))
    assert same(engine, unmarked(plan, engine), use_stored_columns(plan, engine))


def test_limits_that_are_taken_for_those_of_an_older_policy_would_be_seen(
    engine: DuckDBEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The planted bug."""
    plan = _limited_anew(0, 60)
    place = [column.name for column in CATALOG.table("visits").columns].index("age")
    stale = lambda column, _: name_within(place) if column.name == "age" else None  # noqa: E731
    monkeypatch.setattr(relation, "use_stored_clamp", stale)
    assert not same(engine, plan, use_stored_columns(plan, engine))


def test_limits_are_the_same_when_all_of_them_are() -> None:
    age = Column("age", ColumnType.INTEGER, lower=0, upper=110, default=40)
    others = [
        replace(age, lower=1),
        replace(age, upper=111),
        replace(age, default=None),
        replace(age, type=ColumnType.REAL),
        Column("age", ColumnType.INTEGER),
    ]
    assert describe_limits(age) == describe_limits(replace(age, description="in years"))
    assert len({describe_limits(age), *map(describe_limits, others)}) == 6
