"""Columns that are kept in steps of a grid answer as columns that every question puts on its grid itself."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

import pyarrow as pa
import pytest

from discreet.catalog.catalog import Catalog
from discreet.catalog.column import Column, ColumnType
from discreet.catalog.table import Budget, Table
from discreet.curator.preconditions import use_stored_columns
from discreet.engines.duckdb.engine import DuckDBEngine
from discreet.engines.value_grid import VALUE_BITS, find_grid
from discreet.privacy.loss import Pure
from discreet.query.plan.sensitivity import AggregationPlan
from discreet.query.question import prepare
from discreet.query.run import contribution_bounds as statement
from discreet.query.run.contribution_bounds import write_statements
from tests.query.test_tallied import same, unmarked

REAL, INTEGER = ColumnType.REAL, ColumnType.INTEGER
COLUMNS = (
    Column("part", INTEGER, lower=0, upper=3),
    Column("cost", REAL, lower=0, upper=1000),
    Column("shift", REAL, lower=-0.1, upper=0.7),
    Column("filled", REAL, lower=-3, upper=5, default=2.5),
    Column("age", INTEGER, lower=18, upper=110),
    Column("wide", INTEGER, lower=-(10**9), upper=10**9),
    Column("far", REAL, lower=10**9, upper=10**9 + 1),
)
SHOPS = Table("shops", COLUMNS, budget=Budget(100))
FLOORS = Table("floors", (Column("name", INTEGER, lower=0, upper=3),), public=True)
CATALOG = Catalog([SHOPS, FLOORS])
SPECIAL = [None, math.nan, math.inf, -math.inf, 0.0, -0.0, 5e-324, 1e308, -1e308, 0.5, 2.5, 1 / 3, 1e9 + 0.25]
STEP = 2.0**-15
"""A step of ``cost``; halves of it are rounded."""
HALVES = [(k + 0.5) * STEP for k in range(6)] + [1000 - STEP / 2, 1000 + STEP, math.nextafter(1000, 0)]
WHOLE = [None, 0, 17, 18, 19, 110, 111, -(10**9), 10**9, 10**18, -(10**18), 2**53 + 1, 7]
READ = [
    "SELECT SUM({}) FROM shops",
    "SELECT part, COUNT(*), SUM({}), AVG({}) FROM shops GROUP BY part",
    "SELECT COUNT({}), AVG({}) FROM shops WHERE cost > 0.5 AND age < 90",
    "SELECT part, SUM({}) FILTER (WHERE wide > 0) FROM shops WHERE shift IS NOT NULL GROUP BY part",
]
OTHERS = [
    "SELECT VARIANCE({}) FROM shops",
    "SELECT SUM(x) FROM (SELECT {} AS x FROM shops) s",
    "SELECT SUM({}) FROM shops JOIN floors ON part = name",
    "SELECT SUM({}) FROM shops WHERE part IN (SELECT name FROM floors)",
    "SELECT SUM({} + 1) FROM shops",
    "SELECT MEDIAN({}) FROM shops",
]


def _rows() -> pa.Table:
    reals, count = [*SPECIAL, *HALVES], len(SPECIAL) + len(HALVES)
    turned = {column.name: [reals[(k * 7 + at) % count] for k in range(count)] for at, column in enumerate(COLUMNS)}
    whole = {"part": [k % 4 for k in range(count)], "age": [WHOLE[k % len(WHOLE)] for k in range(count)]}
    whole["wide"] = [WHOLE[(k * 5) % len(WHOLE)] for k in range(count)]
    turned |= {"cost": reals}
    types = {column.name: pa.int64() if column.type is INTEGER else pa.float64() for column in COLUMNS}
    return pa.table({name: pa.array((turned | whole)[name], kind) for name, kind in types.items()})


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DuckDBEngine]:
    with DuckDBEngine(tmp_path_factory.mktemp("steps"), threads=1) as engine:
        engine.take_in(SHOPS, _rows())
        engine.take_in(FLOORS, pa.table({"name": [0, 1, 1, 3]}))
        yield engine


def _plan(query: str, catalog: Catalog = CATALOG, epsilon: Fraction | int = 1) -> AggregationPlan:
    (plan,) = prepare(query, catalog, Pure(epsilon), count_alike=lambda *_: 2).plans
    return plan


def _reads_steps(plan: AggregationPlan) -> bool:
    """Whether the values come from kept steps; the names of all of them stand in the rows, which costs nothing."""
    return any("_steps AS x" in text or "_steps END AS x" in text for text, _ in write_statements(plan))


@pytest.mark.parametrize("query", [*READ, *OTHERS])
@pytest.mark.parametrize("column", ["cost", "shift", "filled", "age", "wide", "far"])
@pytest.mark.parametrize("epsilon", [1, Fraction(1, 10**6)])
@pytest.mark.some(20)
def test_every_sum_is_the_same_as_without(engine: DuckDBEngine, query: str, column: str, epsilon: Fraction) -> None:
    plan = _plan(query.replace("{}", column), epsilon=epsilon)
    assert same(engine, unmarked(plan, engine), use_stored_columns(plan, engine))


def test_sums_of_a_column_as_it_is_read_its_steps(engine: DuckDBEngine) -> None:
    def reading(queries: list[str], column: str, epsilon: Fraction | int = 1) -> list[str]:
        plans = [(query, _plan(query.replace("{}", column), epsilon=epsilon)) for query in queries]
        return [query for query, plan in plans if _reads_steps(use_stored_columns(plan, engine))]

    assert reading(READ, "cost") == READ
    assert reading(OTHERS, "cost") == []
    assert reading(READ, "shift") == READ[1:3]  # a sum alone is counted from zero
    assert reading(READ, "age") == READ[1:3]
    assert reading(READ, "far") == []  # no value so far out is exact to a quarter of a step
    assert reading(READ, "cost", Fraction(1, 10**6)) == []  # so much noise needs a coarser grid


def test_limits_that_the_policy_no_longer_has_are_not_read(engine: DuckDBEngine) -> None:
    edited = [replace(column, upper=500) if column.name == "cost" else column for column in COLUMNS]
    plan = _plan("SELECT AVG(cost) FROM shops", Catalog([replace(SHOPS, columns=tuple(edited)), FLOORS]))
    assert not _reads_steps(use_stored_columns(plan, engine))
    assert same(engine, unmarked(plan, engine), use_stored_columns(plan, engine))


def test_a_grid_that_is_taken_for_another_would_be_seen(engine: DuckDBEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    """The planted bug."""
    plan = _plan("SELECT SUM(shift) FROM shops")
    stored = engine.stored("shops").steps["shift"]
    assert same(engine, unmarked(plan, engine), use_stored_columns(plan, engine))
    monkeypatch.setattr(statement, "describe_steps", lambda *_: stored)
    assert not same(engine, plan, use_stored_columns(plan, engine))


def test_steps_are_kept_where_every_row_is_a_unit_and_values_have_bounds(engine: DuckDBEngine) -> None:
    assert set(engine.stored("shops").steps) == {"part", "cost", "shift", "filled", "age", "wide"}
    assert engine.stored("floors").steps == {}
    people = Table("people", (Column("who", INTEGER), COLUMNS[1]), unit="who", budget=Budget(1), rows_per_unit=1)
    engine.take_in(people, pa.table({"who": [1, 2], "cost": [3.0, 4.0]}))
    assert engine.stored("people").steps == {}


def test_steps_are_as_many_as_the_finest_grid_of_a_sum_has() -> None:
    assert find_grid(COLUMNS[1]) == (0, Fraction(STEP))
    assert 2**VALUE_BITS <= 1000 / STEP < 2 ** (VALUE_BITS + 1)
    assert find_grid(Column("x", REAL)) is None
    assert find_grid(Column("x", REAL, lower=-1e300, upper=1e300)) is None
    assert find_grid(Column("x", REAL, lower=0, upper=5e-324)) == (0, Fraction(1, 2**84))
    assert find_grid(Column("x", ColumnType.TEXT)) is None
