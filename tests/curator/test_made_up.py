"""Rows made up from a policy alone."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import date, datetime
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings

from discreet.catalog.catalog import Catalog
from discreet.catalog.column import Column, ColumnType
from discreet.catalog.table import Budget, ForeignKey, Table
from discreet.curator.rehearsal.synthetic_rows import MadeUpRows
from discreet.engines.duckdb.engine import DuckDBEngine
from discreet.engines.duckdb.ingest import ingest
from discreet.errors import InvalidInput
from tests.catalog.strategies import tables
from tests.thoroughness import many

INTEGER, REAL, TEXT, BOOLEAN = ColumnType.INTEGER, ColumnType.REAL, ColumnType.TEXT, ColumnType.BOOLEAN
VISITS = Table(
    "visits",
    (
        Column("patient_id", INTEGER),
        Column("ward", TEXT, keys=("a", "b", "c")),
        Column("age", INTEGER, lower=0, upper=110),
        Column("cost", REAL, lower=-1, upper=1, nullable=False),
        Column("day", ColumnType.DATE, lower=date(2020, 1, 1), upper=date(2020, 1, 31)),
        Column("seen", ColumnType.TIMESTAMP, lower=datetime(2020, 1, 1), upper=datetime(2020, 1, 2)),
        Column("sex", TEXT, keys=("f", "m"), constant_per_unit=True),
        Column("kind", TEXT, keys=("x", "y"), default="x"),
        Column("note", TEXT),
        Column("flag", BOOLEAN),
    ),
    unit="patient_id",
    budget=Budget(1),
    rows_per_unit=5,
)
CUSTOMERS = Table("customers", (Column("id", INTEGER), Column("city", TEXT)), unit="id", budget=Budget(1))
ORDERS = Table(
    "orders",
    (Column("number", INTEGER), Column("customer", INTEGER)),
    budget=Budget(1),
    rows_per_unit=3,
    foreign_keys=(ForeignKey("customer", "customers", "id"),),
)
ITEMS = Table(
    "items",
    (Column("order", INTEGER), Column("city", TEXT, keys=("x", "y"), constant_per_unit=True), Column("ward", TEXT)),
    budget=Budget(1),
    rows_per_unit=5,
    foreign_keys=(ForeignKey("order", "orders", "number"), ForeignKey("ward", "wards", "name")),
)
WARDS = Table("wards", (Column("name", TEXT, keys=("a", "b", "c")), Column("floor", INTEGER)), public=True)
SHOP = Catalog([CUSTOMERS, ORDERS, ITEMS, WARDS])


def made(table: Table, rows: int = 1000) -> pa.Table:
    return MadeUpRows(Catalog([table]), rows).of(table.name)


def test_values_lie_within_their_bounds_and_reach_near_both() -> None:
    rows = made(VISITS)
    ages = [age for age in rows["age"].to_pylist() if age is not None]
    assert (min(ages), max(ages)) == (0, 110)
    costs = rows["cost"].to_pylist()
    assert -1 <= min(costs) < -0.99
    assert 0.99 < max(costs) <= 1
    assert {day.day for day in rows["day"].to_pylist() if day is not None} == set(range(1, 32))


def test_every_key_occurs_about_as_often_as_every_other() -> None:
    counts = Counter(made(VISITS)["ward"].to_pylist())
    assert set(counts) == {"a", "b", "c", None}
    assert all(250 < counts[key] < 350 for key in "abc")


def test_values_are_missing_where_they_may_be_and_nowhere_else() -> None:
    rows = made(VISITS)
    missing = {name: rows[name].null_count for name in rows.column_names}
    assert missing["patient_id"] == missing["cost"] == 0
    assert all(50 < missing[name] < 200 for name in rows.column_names if name not in ("patient_id", "cost"))


def test_people_have_one_to_several_rows_and_some_have_more_than_count() -> None:
    each = Counter(Counter(made(VISITS)["patient_id"].to_pylist()).values())
    assert set(each) >= {1, 2, 3, 4, 5, 6}


def test_columns_are_not_copies_of_each_other() -> None:
    pairs = Counter(zip(*(made(VISITS)[name].to_pylist() for name in ("ward", "kind")), strict=True))
    assert len(pairs) == 12  # three wards or none, with two kinds or none: every pair occurs


def test_rows_are_the_same_for_the_same_policy() -> None:
    assert made(VISITS).equals(made(VISITS))


def test_what_is_constant_for_a_person_is() -> None:
    rows = made(VISITS)
    pairs = set(zip(rows["patient_id"].to_pylist(), rows["sex"].to_pylist(), strict=True))
    assert len(pairs) == len(set(rows["patient_id"].to_pylist()))


def test_foreign_keys_lead_to_rows_that_are_there() -> None:
    shop = MadeUpRows(SHOP)
    assert set(shop.of("items")["order"].to_pylist()) <= set(shop.of("orders")["number"].to_pylist())
    assert set(shop.of("orders")["customer"].to_pylist()) <= set(shop.of("customers")["id"].to_pylist())
    assert set(shop.of("items")["ward"].to_pylist()) == {"a", "b", "c"}
    numbers = shop.of("orders")["number"].to_pylist()
    assert len(set(numbers)) == len(numbers)


def test_a_catalog_with_foreign_keys_is_taken_in_like_real_rows(tmp_path: Path) -> None:
    shop = MadeUpRows(SHOP, 300)
    with DuckDBEngine(tmp_path) as engine:
        for table in SHOP:
            ingest(engine, table, shop.of(table.name), catalog=SHOP)
        people = engine.run("SELECT count(DISTINCT _unit) AS n FROM items WHERE _unit > 0").to_pylist()[0]["n"]
        assert people > 20
        assert not engine.run("SELECT 1 FROM items WHERE _unit < 0").num_rows  # nobody is lost on the way


def test_public_tables_keep_their_rows() -> None:
    real = pa.table({"name": ["q", "r"], "floor": [1, 2]})
    shop = MadeUpRows(SHOP, 100, lambda name: real)
    assert shop.of("wards").equals(real)
    assert set(shop.of("items")["ward"].to_pylist()) == {"q", "r"}


def test_a_made_up_public_table_has_every_key_once() -> None:
    assert sorted(MadeUpRows(SHOP).of("wards")["name"].to_pylist()) == ["a", "b", "c"]


@pytest.mark.parametrize("rows", [0, -1, 10**7, 1.5, "many"])
def test_odd_numbers_of_rows_are_refused(rows: int) -> None:
    with pytest.raises(InvalidInput, match="rows"):
        MadeUpRows(SHOP, rows)


@settings(max_examples=many(10, 25), deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
@given(table=tables())
def test_rows_made_up_for_any_policy_are_taken_in(table: Table, tmp_path_factory: pytest.TempPathFactory) -> None:
    alone = replace(table, foreign_keys=(), rows_per_unit=table.rows_per_unit if table.unit else 1)
    with DuckDBEngine(tmp_path_factory.mktemp("store"), threads=1) as engine:
        ingest(engine, alone, made(alone, 37))
        assert engine.version(alone.name)
