"""Columns that are kept within their limits answer as columns whose values every question moves itself."""

from __future__ import annotations

from dataclasses import replace

import pytest

from discreet.catalog.catalog import Catalog
from discreet.catalog.column import Column, ColumnType
from discreet.curator.promises import as_stored
from discreet.engines.duckdb import DuckDBEngine
from discreet.engines.limits import limits_of, name_within
from discreet.privacy.loss import Pure
from discreet.query import relation
from discreet.query.plan import BlockPlan
from discreet.query.question import prepare
from discreet.query.statement import statements_of
from tests.query.test_tallied import engine, plans, same, unmarked
from tests.query.world import CATALOG
from tests.thoroughness import some

__all__ = ["engine"]

AGE = "SELECT COUNT(*), SUM(age), SUM(CASE WHEN age = 60 THEN 1 ELSE 0 END) FROM visits"


def _texts(plan: BlockPlan) -> str:
    return " ".join(text for text, _ in statements_of(plan))


def test_the_whole_corpus_is_answered_as_without(engine: DuckDBEngine) -> None:
    kept = [(query, plan, as_stored(plan, engine)) for query, plan in plans()]
    read = [(query, plan, other) for query, plan, other in kept if "_within" in _texts(other)]
    assert len(read) > 100
    assert [query for query, plan, other in some(read, 50) if not same(engine, unmarked(plan, engine), other)] == []


def _limited_anew(lower: int, upper: int) -> BlockPlan:
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
    assert name_within(place) not in _texts(as_stored(plan, engine))
    assert same(engine, unmarked(plan, engine), as_stored(plan, engine))


def test_limits_that_are_taken_for_those_of_an_older_policy_would_be_seen(
    engine: DuckDBEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The planted bug."""
    plan = _limited_anew(0, 60)
    place = [column.name for column in CATALOG.table("visits").columns].index("age")
    monkeypatch.setattr(relation, "kept_within", lambda column, _: name_within(place) if column.name == "age" else None)
    assert not same(engine, plan, as_stored(plan, engine))


def test_limits_are_the_same_when_all_of_them_are() -> None:
    age = Column("age", ColumnType.INTEGER, lower=0, upper=110, default=40)
    others = [
        replace(age, lower=1),
        replace(age, upper=111),
        replace(age, default=None),
        replace(age, type=ColumnType.REAL),
        Column("age", ColumnType.INTEGER),
    ]
    assert limits_of(age) == limits_of(replace(age, description="in years"))
    assert len({limits_of(age), *map(limits_of, others)}) == 6
