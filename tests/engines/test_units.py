"""Units: dense ids, shared between tables of one kind, and rows without a person on their own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from discreet.catalog.catalog import Catalog
from discreet.catalog.column import Column, ColumnType
from discreet.catalog.table import Budget, ForeignKey, Table
from discreet.engines.duckdb.engine import DuckDBEngine
from discreet.engines.duckdb.ingest import ingest
from discreet.errors import EngineFailure, InvalidValue, StoreError

INTEGER, TEXT, REAL = ColumnType.INTEGER, ColumnType.TEXT, ColumnType.REAL
CUSTOMERS = Table("customers", (Column("id", INTEGER), Column("city", TEXT)), unit="id", budget=Budget(1))
ORDERS = Table(
    "orders",
    (Column("number", INTEGER), Column("customer", INTEGER)),
    unit="customer",
    budget=Budget(1),
    foreign_keys=(ForeignKey("customer", "customers", "id"),),
)
ITEMS = Table(
    "items",
    (Column("order", INTEGER), Column("price", INTEGER)),
    budget=Budget(1),
    rows_per_unit=5,
    foreign_keys=(ForeignKey("order", "orders", "number"),),
)
PUBLIC = Table("wards", (Column("ward", TEXT),), public=True)
SHOP = Catalog([CUSTOMERS, ORDERS, ITEMS, PUBLIC])

CUSTOMER_ROWS = pa.table({"id": [30, 10, 20], "city": ["x", "y", "z"]})
ORDER_ROWS = pa.table({"number": [1, 2, 3, 4], "customer": [10, 40, 10, None]})
ITEM_ROWS = pa.table({"order": [1, 1, 2, 3, 4, 99, None, 99], "price": [1, 2, 3, 4, 5, 6, 7, 8]})


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[DuckDBEngine]:
    with DuckDBEngine(tmp_path, threads=2) as engine:
        yield engine


def shop(engine: DuckDBEngine) -> None:
    for table, rows in ((CUSTOMERS, CUSTOMER_ROWS), (ORDERS, ORDER_ROWS), (ITEMS, ITEM_ROWS)):
        ingest(engine, table, rows, catalog=SHOP)


def units(engine: DuckDBEngine, table: str, column: str) -> list[tuple[Any, int]]:
    rows = engine.run(f'SELECT "{column}" AS k, _unit AS u FROM {table}').to_pylist()
    return sorted(((row["k"], row["u"]) for row in rows), key=repr)


def miscounted(engine: DuckDBEngine, table: str) -> list[dict[str, int]]:
    """The units whose rows do not say how many they are."""
    wrong = "COUNT(*) <> MIN(_n) OR COUNT(*) <> MAX(_n)"
    return engine.run(f"SELECT _unit, COUNT(*) AS n FROM {table} GROUP BY _unit HAVING {wrong}").to_pylist()


def test_every_row_says_how_many_rows_its_unit_has(engine: DuckDBEngine) -> None:
    shop(engine)
    for name in ("customers", "orders", "items"):
        assert engine.stored(name).counted
        assert miscounted(engine, name) == []
    # Two orders lead to one customer, and an item without an order is a unit of its own.
    assert engine.run("SELECT MAX(_n) AS n, MIN(_n) AS least FROM items").to_pylist() == [{"n": 3, "least": 1}]


def test_ids_are_dense_and_in_the_order_of_the_keys(engine: DuckDBEngine) -> None:
    shop(engine)
    assert units(engine, "customers", "id") == [(10, 1), (20, 2), (30, 3)]


def test_tables_of_one_kind_of_unit_share_their_ids(engine: DuckDBEngine) -> None:
    shop(engine)
    found = dict(units(engine, "orders", "number"))
    assert (found[1], found[2], found[3]) == (1, 4, 1), "of customers 10, 40 who is new, and 10"
    assert found[4] < 0


def test_units_are_found_through_foreign_keys(engine: DuckDBEngine) -> None:
    shop(engine)
    found = dict(units(engine, "items", "price"))
    alone = dict(units(engine, "orders", "number"))[4]
    assert [found[price] for price in (1, 2, 3, 4, 5)] == [1, 1, 4, 1, alone], "of orders 1, 1, 2, 3 and 4"


def test_rows_that_lead_nowhere_are_each_a_unit_of_their_own(engine: DuckDBEngine) -> None:
    shop(engine)
    found = dict(units(engine, "items", "price"))
    lost = [found[price] for price in (6, 7, 8)]
    assert len(set(lost)) == 3
    assert all(unit < 0 for unit in lost)
    assert dict(units(engine, "orders", "number"))[4] not in lost, "nor that of the order without a customer"


def test_rows_without_a_key_are_each_a_unit_of_their_own_for_ever(engine: DuckDBEngine) -> None:
    table = Table("t", (Column("person", TEXT),), unit="person", budget=Budget(1))
    used: set[int] = set()
    for _ in range(3):
        ingest(engine, table, pa.table({"person": ["a", None, None, ""]}))
        own = {unit for key, unit in units(engine, "t", "person") if key is None}
        assert len(own) == 2
        assert not own & used
        used |= own
    assert dict(units(engine, "t", "person"))[""] == 1, "an empty name is a name"


def test_where_every_row_is_a_unit_ids_number_the_rows(engine: DuckDBEngine) -> None:
    table = Table("t", (Column("x", INTEGER),), budget=Budget(1))
    ingest(engine, table, pa.table({"x": list(range(300_000))}))
    assert engine.run(
        "SELECT min(_unit) AS low, max(_unit) AS high, count(DISTINCT _unit) AS n FROM t"
    ).to_pylist() == [{"low": 1, "high": 300_000, "n": 300_000}]


def test_public_rows_have_no_unit(engine: DuckDBEngine) -> None:
    ingest(engine, PUBLIC, pa.table({"ward": ["A", "B"]}))
    assert engine.run("SELECT * FROM wards").column_names == ["ward"]


def test_keys_are_compared_as_text_of_their_type(engine: DuckDBEngine) -> None:
    """A key that is 7 here and 7.0 in a file of floats is one person."""
    ingest(engine, CUSTOMERS, pa.table({"id": ["7", "8"], "city": ["x", "y"]}), catalog=SHOP)
    ingest(engine, ORDERS, pa.table({"number": [1, 2], "customer": [7.0, 8.5]}), catalog=SHOP)
    found = dict(units(engine, "orders", "number"))
    assert found[1] == 1
    assert found[2] < 0, "8.5 is no integer, so it is nobody's key"


@pytest.mark.parametrize(
    ("kind", "keys", "different"),
    [
        (TEXT, ["a", "A", "a ", "ä", "a\u0308", "a"], 5),
        (REAL, [0.0, -0.0, 0.1, 0.30000000000000004, 0.3], 4),
        (INTEGER, [2**63 - 1, 2**63 - 2, -(2**63), 0], 4),
        (ColumnType.BOOLEAN, [True, False, True], 2),
    ],
)
def test_keys_that_differ_are_different_people(
    engine: DuckDBEngine, kind: ColumnType, keys: list[Any], different: int
) -> None:
    table = Table("t", (Column("person", kind),), unit="person", budget=Budget(1))
    ingest(engine, table, pa.table({"person": keys}))
    found = {unit for _, unit in units(engine, "t", "person")}
    assert found == set(range(1, different + 1))


def test_units_of_different_kinds_do_not_share_a_map(engine: DuckDBEngine) -> None:
    nurses = Table("nurses", (Column("id", INTEGER),), unit="id", budget=Budget(1))
    ingest(engine, CUSTOMERS, pa.table({"id": [5, 6, 7], "city": ["x"] * 3}))
    ingest(engine, nurses, pa.table({"id": [7]}))
    assert units(engine, "nurses", "id") == [(7, 1)]


def test_a_parent_must_be_taken_in_first(engine: DuckDBEngine) -> None:
    with pytest.raises(InvalidValue, match="the store must hold the table, got 'orders'"):
        ingest(engine, ITEMS, ITEM_ROWS, catalog=SHOP)


def test_a_table_whose_parent_was_taken_in_again_is_refused_until_it_is_too(engine: DuckDBEngine) -> None:
    shop(engine)
    ingest(engine, ORDERS, pa.table({"number": [1, 2], "customer": [20, 30]}), catalog=SHOP)
    assert engine.stale() == ("items",)
    with pytest.raises(StoreError, match="take in items again"):
        engine.version("items")
    with pytest.raises(EngineFailure):
        engine.run("SELECT count(*) FROM items")
    assert engine.version("customers")
    ingest(engine, ITEMS, ITEM_ROWS, catalog=SHOP)
    assert engine.stale() == ()
    assert dict(units(engine, "items", "price"))[1] == 2


def test_a_key_that_leads_to_two_people_is_refused(engine: DuckDBEngine) -> None:
    ingest(engine, ORDERS, pa.table({"number": [1, 1, 2, 2], "customer": [10, 20, 30, 30]}), catalog=SHOP)
    with pytest.raises(InvalidValue, match=r"orders.number: a foreign key must lead to one person"):
        ingest(engine, ITEMS, ITEM_ROWS, catalog=SHOP)
    ingest(engine, ITEMS, pa.table({"order": [2], "price": [1]}), catalog=SHOP)


def test_rows_are_stored_sorted_by_unit(engine: DuckDBEngine) -> None:
    import duckdb

    keys = [(number * 7919) % 50_021 for number in range(200_000)]
    table = Table("t", (Column("person", INTEGER), Column("x", INTEGER)), unit="person", budget=Budget(1))
    ingest(engine, table, pa.table({"person": keys, "x": keys}))
    [file] = engine.store.root.glob("rows-*.duckdb")
    engine.close()
    with duckdb.connect(str(file), read_only=True) as connection:
        found = connection.execute("SELECT _unit, person FROM rows").fetchnumpy()
    assert (found["_unit"][1:] >= found["_unit"][:-1]).all()
    assert Counter(found["person"].tolist()) == Counter(keys)
