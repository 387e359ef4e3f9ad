"""Casts are total: no cell, of any type, is an error, and every source follows the same rules."""

from __future__ import annotations

import math
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.catalog.column import ColumnType
from discreet.engines.casts import total_cast
from discreet.engines.parameters import DUCKDB_TYPES
from tests.thoroughness import many

INTEGER, REAL, TEXT = ColumnType.INTEGER, ColumnType.REAL, ColumnType.TEXT
BOOLEAN, DATE, TIMESTAMP = ColumnType.BOOLEAN, ColumnType.DATE, ColumnType.TIMESTAMP

CONNECTION = duckdb.connect(":memory:", config={"threads": 1})
CONNECTION.execute("SET TimeZone = 'UTC'")


def cast(literal: str, wanted: ColumnType, parameters: list[Any] | None = None) -> Any:
    [(native,)] = CONNECTION.execute(f"SELECT typeof({literal})", parameters or []).fetchall()
    expression = total_cast("x", native, wanted)
    assert expression is not None
    [(kind, found)] = CONNECTION.execute(
        f"SELECT typeof(y), y FROM (SELECT {expression} AS y FROM (SELECT {literal} AS x))", parameters or []
    ).fetchall()
    assert kind == DUCKDB_TYPES[wanted]
    return found


@pytest.mark.parametrize(
    ("literal", "wanted", "value"),
    [
        ("'7'", INTEGER, 7),
        ("' -7 '", INTEGER, -7),
        ("'7.0'", INTEGER, 7),
        ("'7.'", INTEGER, 7),
        ("'5.5'", INTEGER, None),
        ("'1e3'", INTEGER, None),
        ("'0x10'", INTEGER, None),
        ("'1_000'", INTEGER, None),
        ("'9223372036854775807'", INTEGER, 2**63 - 1),
        ("'9223372036854775808'", INTEGER, None),
        ("'-9223372036854775808'", INTEGER, -(2**63)),
        ("'١'", INTEGER, None),
        ("''", INTEGER, None),
        ("'5.0'", INTEGER, 5),
        ("'12.000'", INTEGER, None),  # twelve thousand in other countries
        ("' -1.000'", INTEGER, None),
        ("'1234.000'", INTEGER, 1234),
        ("'0.000'", INTEGER, 0),
        ("'7.0000'", INTEGER, 7),
        ("'12.000'", REAL, 12.0),
        ("'04-03-24'", DATE, None),  # DuckDB takes it for a day of the year 4
        ("'04/03/24'", TIMESTAMP, None),
        ("5.5::DOUBLE", INTEGER, None),
        ("5::DOUBLE", INTEGER, 5),
        ("9223372036854775808::DOUBLE", INTEGER, None),
        ("'nan'::DOUBLE", INTEGER, None),
        ("'inf'::FLOAT", INTEGER, None),
        ("12.50::DECIMAL(5,2)", INTEGER, None),
        ("12.00::DECIMAL(5,2)", INTEGER, 12),
        ("0.1::DECIMAL(38,38)", INTEGER, None),
        ("18446744073709551615::UBIGINT", INTEGER, None),
        ("170141183460469231731687303715884105727::HUGEINT", INTEGER, None),
        ("true", INTEGER, 1),
        ("NULL", INTEGER, None),
        ("'0.1'", REAL, 0.1),
        ("'nan'", REAL, None),
        ("'-Infinity'", REAL, None),
        ("'1e400'", REAL, None),
        ("'1,5'", REAL, None),
        ("'-0.0'", REAL, 0.0),
        ("'nan'::DOUBLE", REAL, None),
        ("'-inf'::DOUBLE", REAL, None),
        ("0.1::DECIMAL(38,38)", REAL, 0.1),
        ("170141183460469231731687303715884105727::HUGEINT", REAL, 2.0**127),
        ("1.5::DOUBLE", TEXT, "1.5"),
        ("DATE '2024-02-29'", TEXT, "2024-02-29"),
        ("'00000000-0000-0000-0000-000000000001'::UUID", TEXT, "00000000-0000-0000-0000-000000000001"),
        ("'é'", TEXT, "é"),
        ("'e\u0301'", TEXT, "e\u0301"),
        ("'yes'", BOOLEAN, True),
        ("' False '", BOOLEAN, False),
        ("'2'", BOOLEAN, None),
        ("'maybe'", BOOLEAN, None),
        ("2", BOOLEAN, None),
        ("1", BOOLEAN, True),
        ("0.5::DOUBLE", BOOLEAN, None),
        ("0.5::DECIMAL(38,38)", BOOLEAN, None),
        ("'nan'::DOUBLE", BOOLEAN, None),
        ("'2024-02-29'", DATE, date(2024, 2, 29)),
        ("'2023-02-29'", DATE, None),
        ("'infinity'", DATE, None),
        ("'infinity'::DATE", DATE, None),
        ("DATE '5000000-01-01'", DATE, None),
        ("'0044-03-15 (BC)'", DATE, None),
        ("TIMESTAMP '2024-02-29 23:59:59'", DATE, date(2024, 2, 29)),
        ("TIMESTAMPTZ '2024-01-01 00:30:00+02'", DATE, date(2023, 12, 31)),
        ("'2024-01-01T00:30:00+02:00'", TIMESTAMP, datetime(2023, 12, 31, 22, 30)),
        ("'2024-01-01T00:30:00Z'", TIMESTAMP, datetime(2024, 1, 1, 0, 30)),
        ("'2024-01-01 00:30'", TIMESTAMP, datetime(2024, 1, 1, 0, 30)),
        ("'2024-01-01'", TIMESTAMP, datetime(2024, 1, 1)),
        ("'2024-01-01 25:00'", TIMESTAMP, None),
        ("'infinity'", TIMESTAMP, None),
        ("'290000-01-01'", TIMESTAMP, None),
        ("'999999-01-01'", TIMESTAMP, None),
        ("DATE '5000000-01-01'", TIMESTAMP, None),
        ("TIMESTAMP_S '2024-01-01 00:30:00'", TIMESTAMP, datetime(2024, 1, 1, 0, 30)),
        ("TIMESTAMPTZ '2024-01-01 00:30:00+02'", TIMESTAMP, datetime(2023, 12, 31, 22, 30)),
    ],
)
def test_a_value_of_another_type_is_missing_and_never_an_error(literal: str, wanted: ColumnType, value: object) -> None:
    assert cast(literal, wanted) == value


def test_minus_zero_is_zero() -> None:
    assert math.copysign(1, cast("-0.0::DOUBLE", REAL)) == 1


@pytest.mark.parametrize(
    "native", ["INTEGER[]", "STRUCT(a INTEGER)", "BLOB", "TIME", "INTERVAL", "MAP(INTEGER, INTEGER)"]
)
@pytest.mark.parametrize("wanted", list(ColumnType))
def test_types_without_a_meaning_are_refused_by_the_schema_alone(native: str, wanted: ColumnType) -> None:
    assert total_cast("x", native, wanted) is None


@pytest.mark.parametrize(
    ("native", "wanted"), [("BIGINT", DATE), ("BIGINT", TIMESTAMP), ("DATE", INTEGER), ("DATE", REAL)]
)
def test_numbers_are_not_dates(native: str, wanted: ColumnType) -> None:
    assert total_cast("x", native, wanted) is None


CELLS = st.one_of(
    st.text(st.characters(exclude_categories=("Cs",)), max_size=30),
    st.integers(-(2**127), 2**127 - 1),
    st.floats(),
    st.booleans(),
    st.dates(),
    st.datetimes(),
    st.decimals(allow_nan=False, allow_infinity=False, places=6, min_value=-(10**20), max_value=10**20),
    st.none(),
    st.from_regex(r"[+-]?\d{1,40}(\.\d{0,5})?([eE][+-]?\d{1,4})?", fullmatch=True),
    st.from_regex(r"\d{4,7}-\d{1,2}-\d{1,2}([T ]\d{1,2}:\d{2}(:\d{2})?([+-]\d{2}(:\d{2})?|Z)?)?", fullmatch=True),
)


@settings(max_examples=many(100, 400), deadline=None)
@given(CELLS, st.sampled_from(list(ColumnType)))
def test_no_cell_is_an_error(cell: Any, wanted: ColumnType) -> None:
    [(native,)] = CONNECTION.execute("SELECT typeof(?)", [cell]).fetchall()
    expression = total_cast("x", native, wanted)
    if expression is None:
        return
    found = CONNECTION.execute(f"SELECT {expression} AS y FROM (SELECT ? AS x)", [cell]).fetchall()[0][0]
    if isinstance(found, float):
        assert math.isfinite(found)
    if isinstance(found, int) and isinstance(cell, int | Decimal):
        assert found == cell


def test_doubles_that_are_whole_are_the_same_integer_up_to_the_edge() -> None:
    values = pa.table({"x": [2.0**53, 2.0**62, -(2.0**63), 2.0**63, 1e300]})
    CONNECTION.register("edges", values)
    expression = total_cast("x", "DOUBLE", INTEGER)
    found = [value for (value,) in CONNECTION.execute(f"SELECT {expression} FROM edges").fetchall()]
    assert found == [2**53, 2**62, -(2**63), None, None]
