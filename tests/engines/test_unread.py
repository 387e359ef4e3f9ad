"""What could not be read as its type: counted exactly, for the owner alone, whatever kind of source it came from."""

from __future__ import annotations

import gzip
import math
from collections.abc import Mapping
from dataclasses import replace
from datetime import date, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from discreet.audit.replay.session import rows_of
from discreet.catalog.column import Column, ColumnType
from discreet.catalog.policy.read import Look, UnreadColumn, unread_words
from discreet.catalog.table import Budget, Table
from discreet.curator.curator import Curator
from discreet.engines.duckdb.engine import DuckDBEngine
from discreet.engines.duckdb.ingest import ingest
from discreet.errors import StoreError

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


def told(folder: Path, source: Any, table: Table = TABLE) -> Mapping[str, UnreadColumn]:
    found: list[Mapping[str, UnreadColumn]] = []
    with DuckDBEngine(folder / "curator", threads=1) as engine:
        ingest(engine, table, source, unread=found.append)
    [columns] = found
    return columns


def unread(folder: Path, source: Any) -> Mapping[str, int]:
    return {name: one.count for name, one in told(folder, source).items()}


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


# What they look like ----------------------------------------------------------------------------------------------

LOOKS = {
    "age": {
        Look.NULL_WORD: ["NA", "n/a", "-", "NULL", " ? "],
        Look.COMMA_THOUSANDS: ["12,000", "-1,234,567", "1,234.50"],
        Look.POINT_THOUSANDS: ["12.000", "12.500", "1.234.567", "1.234,50"],
        Look.OTHER_THOUSANDS: ["12 000", "12\u00a0000", "12\u202f000", "12'000"],
        Look.DECIMAL_COMMA: ["12,5", ",5"],
        Look.FRACTION: ["12.5", "1e3", ".5"],
        Look.WITH_UNIT: ["€ 12", "12 %", "12 kg"],
        Look.SOMETHING_ELSE: ["old", "12-13-14-15"],
    },
    "day": {
        Look.NULL_WORD: ["none"],
        Look.YEAR_LAST: ["31.12.2024", "1/2/2024", "3 Jan 2024", "31.12.2024 10:00"],
        Look.SHORT_YEAR: ["04-03-24", "4.3.24"],
        Look.EIGHT_DIGITS: ["20241231"],
        Look.DAY_NUMBER: ["45234", "45234.5"],
        Look.SOMETHING_ELSE: ["soon", "2024-02-30"],
    },
}


@pytest.mark.parametrize("column", sorted(LOOKS))
def test_what_could_not_be_read_is_told_by_what_it_looks_like(tmp_path: Path, column: str) -> None:
    values = [value for each in LOOKS[column].values() for value in each]
    rows = pa.table({one.name: values if one.name == column else pa.nulls(len(values)) for one in TABLE.columns})
    found = told(tmp_path, rows)[column]
    assert found.looks == {look: len(values) for look, values in LOOKS[column].items()}
    assert found.count == len(values)
    assert not found.doubtful


def test_numbers_that_may_mean_thousands_are_not_read_in_silence(tmp_path: Path) -> None:
    columns = (Column("n", ColumnType.INTEGER), Column("cost", ColumnType.REAL), Column("size", ColumnType.REAL))
    table = Table("t", columns, budget=Budget(1))
    texts = {"n": ["12.000", "5.0", "0.000", "1234.000", "7."], "cost": ["12.345", "1.000", "7", "-3.500", ""]}
    rows = pa.table({**texts, "size": ["12.345", "1.5", "1", "2", "3"]})
    found = told(tmp_path, rows, table)
    assert {name: (one.count, one.doubtful) for name, one in found.items()} == {"n": (1, 0), "cost": (0, 3)}
    words = unread_words(table, found)
    assert "n: 1 value could not be read as integer; they count as missing" in words
    assert any("between thousands (12.000)" in one for one in words)
    assert any("cost: 3 values with three digits after a point" in one for one in words)
    with DuckDBEngine(tmp_path / "curator", threads=1) as engine:
        stored = engine.run("SELECT n, cost FROM t").to_pydict()
    assert stored["n"] == [None, 5, 0, 1234, 7]
    assert stored["cost"] == [12.345, 1.0, 7.0, -3.5, None]


@pytest.mark.parametrize("other", ["1.234,50", "1.234.567", "2,5"])
def test_decimals_do_not_silence_numbers_beside_which_points_separate_thousands(tmp_path: Path, other: str) -> None:
    table = Table("t", (Column("cost", ColumnType.REAL),), budget=Budget(1))
    found = told(tmp_path, pa.table({"cost": ["12.000", other, "3.5"]}), table)
    assert (found["cost"].count, found["cost"].doubtful) == (1, 1)
    assert any("cost: 1 value with three digits after a point" in one for one in unread_words(table, found))


def test_a_policy_says_how_a_csv_file_spells_values(tmp_path: Path) -> None:
    file, curator = tmp_path / "v.csv", Curator(tmp_path / "curator")
    lines = ["id;cost;n;day;seen;name", "1;1.234,5;12.000;31.12.2024;1.2.2024 10:30;NA", '2;"12,5";-5;1.2.2024;;"NA"']
    lines += ["3;3.456;1.2;2024-01-01;2024-01-01;é€", "4;,5;1e3;-;-;-"]
    file.write_text("\n".join(lines), encoding="cp1252")
    spelled = {"decimal": ",", "thousands": ".", "dates": "%d.%m.%Y", "timestamps": "%d.%m.%Y %H:%M"}
    spelled |= {"nulls": ["NA", "-"], "encoding": "cp1252"}
    types = {"id": "integer", "cost": "real", "n": "integer", "day": "date", "seen": "timestamp"}
    with pytest.warns(UserWarning, match="n: 2 values could not be read as integer") as warned:
        made = curator.protect(file, unit="id", budget=1, columns=types, csv=spelled)
    assert "day: 1 value could not" in str(warned[0].message)
    found = curator.engine.run("SELECT cost, n, day, seen, name FROM v ORDER BY id").to_pydict()
    assert found["cost"] == [1234.5, 12.5, 3456.0, 0.5]
    assert found["n"] == [12000, -5, None, None]
    assert found["day"] == [date(2024, 12, 31), date(2024, 2, 1), None, None]
    assert found["seen"] == [datetime(2024, 2, 1, 10, 30), None, None, None]
    assert found["name"] == [None, "NA", "é€", None]
    assert Curator(tmp_path / "curator").catalog.table("v") == made  # the policy file keeps it
    assert made.csv is not None
    rows = rows_of(str(file), made)  # what audits and replays read
    assert rows["cost"].to_pylist() == found["cost"]


def test_a_stated_decimal_point_makes_the_point_clear(tmp_path: Path) -> None:
    (tmp_path / "v.csv").write_text("n,cost\n12.000,12.345\n")
    curator = Curator(tmp_path / "curator")
    columns = {"n": "integer", "cost": "real"}
    curator.protect(tmp_path / "v.csv", unit="row", budget=1, columns=columns, csv={"decimal": "."})
    assert curator.engine.run("SELECT n, cost FROM v").to_pylist() == [{"n": 12, "cost": 12.345}]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-8-sig", "latin-1"])
def test_files_in_other_encodings_are_read_packed_or_not(tmp_path: Path, encoding: str) -> None:
    content = "id,näme\r\n1,é\r\n".encode(encoding)
    (tmp_path / "v.csv").write_bytes(content)
    (tmp_path / "w.csv.gz").write_bytes(gzip.compress(content))
    curator = Curator(tmp_path / "curator")
    made = curator.protect(tmp_path / "v.csv", unit="row", budget=1, csv={"encoding": encoding})
    assert curator.engine.run('SELECT "näme" FROM v').to_pydict() == {"näme": ["é"]}
    curator.protect(tmp_path / "w.csv.gz", replace(made, name="w"))
    assert curator.engine.run('SELECT "näme" FROM w').to_pydict() == {"näme": ["é"]}
    assert not list((tmp_path / "curator").rglob("*.csv"))


def test_an_excel_file_is_read_by_the_extension_or_says_what_to_do(tmp_path: Path) -> None:
    file = tmp_path / "v.xlsx"
    file.write_bytes(b"PK")
    table = Table("v", (Column("id", ColumnType.INTEGER),), budget=Budget(1))
    with pytest.raises(StoreError, match="Excel file") as refused:
        Curator(tmp_path / "curator").protect(file, table)
    assert "save it as CSV" in str(refused.value) or "readable as an Excel file" in str(refused.value)
