"""What an ingest keeps beside the rows is still read after the curator was closed and opened again."""

from __future__ import annotations

from datetime import UTC, date, datetime
from fractions import Fraction
from pathlib import Path

import pyarrow as pa
import pytest

from discreet.catalog.budget import Budget
from discreet.catalog.column import Column, ColumnType
from discreet.catalog.table import Table
from discreet.curator.curator import Curator
from discreet.engines.stored_columns import use_stored_clamp, use_stored_key_bound
from discreet.errors import QueryRefused

COLUMNS = (
    Column("who", ColumnType.TEXT),
    Column("age", ColumnType.INTEGER, lower=0, upper=110, default=40),
    Column("cost", ColumnType.REAL, lower=0.1, upper=Fraction(1, 3)),
    Column("born", ColumnType.DATE, lower=date(1900, 1, 1), upper=date(2020, 12, 31)),
    Column(
        "seen", ColumnType.TIMESTAMP, lower=datetime(2020, 1, 1, tzinfo=UTC), upper=datetime(2021, 1, 1, tzinfo=UTC)
    ),
    Column("tea", ColumnType.TEXT),
)
ROWS = pa.table(
    {
        "who": ["a", "a", "b", "b", "b"],
        "age": [-5, 200, None, 30, 31],
        "cost": [-1.0, 0.2, 7.0, None, 0.1],
        "born": [date(1850, 1, 1), date(1950, 1, 1), None, date(2030, 1, 1), date(2000, 1, 1)],
        "seen": [datetime(2019, 1, 1), datetime(2020, 5, 1), datetime(2022, 1, 1), None, datetime(2021, 1, 1)],
        "tea": ["green", "black", "green", "green", None],
    }
)


def test_columns_are_kept_within_limits_and_marked_for_the_policy_as_it_is_read_again(tmp_path: Path) -> None:
    budget = Budget(3, delta="1e-6", delta_for_keys="5e-7")
    Curator(tmp_path).protect(ROWS, Table("t", COLUMNS, unit="who", rows_per_unit=2, groups_per_unit=2, budget=budget))
    again = Curator(tmp_path)
    policy, stored = again.catalog.table("t"), again.engine.stored("t")
    kept = {column.name: use_stored_clamp(column, stored) for column in policy.columns}
    assert {name for name, column in kept.items() if column is not None} == {"age", "cost", "born", "seen"}
    assert use_stored_key_bound("tea", "text", policy.most_groups, stored) is not None
    columns = {name: (f'"{name}"', column) for name, column in kept.items() if column is not None}
    moved = {
        name: dict(tuple(row.values()) for row in again.engine.run(f"SELECT {a}, {b} FROM t", []).to_pylist())
        for name, (a, b) in columns.items()
    }
    assert moved["age"] == {-5: 0, 200: 110, None: 40, 30: 30, 31: 31}
    assert moved["cost"] == {-1.0: 0.1, 0.2: 0.2, 7.0: 1 / 3, None: None, 0.1: 0.1}
    assert [moved["born"][born] for born in (date(1850, 1, 1), date(2030, 1, 1))] == list(policy.columns[3].bounds)
    assert moved["born"][date(2000, 1, 1)] == date(2000, 1, 1)
    assert [moved["seen"][datetime(year, 1, 1)] for year in (2019, 2022)] == [
        datetime(2020, 1, 1),
        datetime(2021, 1, 1),
    ]


def test_what_is_kept_of_a_public_table_is_not_one_of_its_columns(tmp_path: Path) -> None:
    curator = Curator(tmp_path)
    rows = pa.table({"ward": ["a", "b"], "floor": [1, 99]})
    curator.protect(rows, table="wards", public=True, columns={"floor": {"lower": 0, "upper": 5}})
    assert curator.ask("SELECT * FROM wards", epsilon=1).table.to_pylist() == rows.to_pylist()
    with pytest.raises(QueryRefused, match="_within1"):
        curator.ask("SELECT SUM(_within1) FROM wards", epsilon=1)
