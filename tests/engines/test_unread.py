"""What could not be read as its type: counted exactly, for the owner alone, whatever kind of source it came from."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from discreet.catalog.column import Column, ColumnType
from discreet.catalog.table import Budget, Table
from discreet.engines.duckdb import DuckDBEngine
from discreet.engines.ingest import ingest

TABLE = Table(
    "visits",
    (
        Column("person", ColumnType.INTEGER),
        Column("age", ColumnType.INTEGER),
        Column("cost", ColumnType.REAL),
        Column("day", ColumnType.DATE),
        Column("ward", ColumnType.TEXT),
        Column("smokes", ColumnType.BOOLEAN),
    ),
    unit="person",
    budget=Budget(1),
)


def unread(folder: Path, source: Any) -> Mapping[str, int]:
    told: list[Mapping[str, int]] = []
    with DuckDBEngine(folder / "curator", threads=1) as engine:
        ingest(engine, TABLE, source, unread=told.append)
    [counts] = told
    return counts


def test_values_of_a_csv_file_that_are_not_of_their_type_are_counted(tmp_path: Path) -> None:
    file = tmp_path / "visits.csv"
    rows = ["person,age,cost,day,ward,smokes", "1,40,1.5,2025-01-02,a,yes", "x,4.5,inf,31.1.2025,,maybe", ",n/a,,,,"]
    file.write_text("\n".join([*rows, '"",,"","","",""', "2,1e3,nan,2025-02-30,NaN,1"]))
    assert unread(tmp_path, str(file)) == {"person": 1, "age": 3, "cost": 1, "day": 2, "smokes": 1}


def test_missing_values_of_a_frame_are_not_counted_but_infinities_are(tmp_path: Path) -> None:
    table = pa.table(
        {
            "person": [1, 2, None],
            "age": pa.array([1.0, 2.5, math.nan]),
            "cost": pa.array([math.inf, math.nan, None]),
            "day": ["2025-01-01", "", "soon"],
            "ward": ["", "nan", None],
            "smokes": [2, 1, None],
        }
    )
    assert unread(tmp_path, table) == {"age": 1, "cost": 1, "day": 1, "smokes": 1}


@pytest.mark.parametrize("rows", [0, 3])
def test_nothing_is_listed_where_everything_could_be_read(tmp_path: Path, rows: int) -> None:
    columns = {"person": [1], "age": [2], "cost": [3.0], "day": ["2025-01-01"], "ward": ["a"], "smokes": [True]}
    assert unread(tmp_path, pa.table({name: values * rows for name, values in columns.items()})) == {}
