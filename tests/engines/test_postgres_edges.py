"""Where PostgreSQL raises or spells things in its own way: values at every edge are what they are in DuckDB."""

from __future__ import annotations

import itertools
import math
import random
import sys
from collections.abc import Iterator
from dataclasses import replace
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from discreet.catalog.column import Column, ColumnType
from discreet.catalog.table import Table
from discreet.engines.duckdb.engine import DuckDBEngine
from discreet.engines.engine import TableStore
from discreet.engines.postgres.engine import PostgresEngine
from tests.engines import powers
from tests.engines.test_postgres import as_reader, load
from tests.servers.fixtures import postgres_server, postgres_url  # noqa: F401

Both = tuple[TableStore, TableStore]
MAX, TINY = sys.float_info.max, 5e-324
REALS = [
    x * sign
    for x in (
        0.0, TINY, 2 * TINY, 1e-320, sys.float_info.min, 1e-300, 1e-154, 1e-150, 2.0**-537, 2.0**-50, 0.1, 0.5, 1.0,
        math.nextafter(1, 2), math.nextafter(1, 0), 1.5, 2.5, 7.0, 1e15, 1234567890123456.8, 9999999999999998.0, 1e16,
        2.0**53, 9.3e18, 1e22, 1e150, 1.3407807929942596e154, 1.35e154, 2.0**537, 1e300, MAX / 2,
        math.nextafter(MAX / 2, MAX), MAX - 2.0**970, MAX, 709.782712893384, 709.7827128933841, 745.133219101941,
        745.1332191019412,
    )
    for sign in (1, -1)
]  # fmt: skip
PAIRS = Table("pairs", (Column("a", ColumnType.REAL), Column("b", ColumnType.REAL)), public=True)
SINGLE = Table("single", (Column("a", ColumnType.REAL),), public=True)
SPANS = Table(
    "spans",
    tuple(Column(n, k) for n, k in zip("abst", [ColumnType.DATE] * 2 + [ColumnType.TIMESTAMP] * 2, strict=True)),
    public=True,
)
WORDS = Table("words", (Column("w", ColumnType.TEXT),), public=True)
SURROUNDED = replace(WORDS, name="surrounded")


SQUARE = 'CASE WHEN abs("a") < 1e150 THEN pow("a", 2) = "a" * "a" END'
"""Closer to the largest double than a billionth of it, powers are taken for infinite."""


def spans() -> pa.Table:
    drawn = random.Random(1)
    days = [
        date(1, 1, 1),
        date(9999, 12, 31),
        date(1970, 1, 1),
        date(2020, 2, 29),
        date(2021, 2, 28),
        date(1969, 12, 31),
    ]
    days += [date(1900, 1, 1) + timedelta(days=drawn.randrange(80_000)) for _ in range(24)]
    moments = [
        datetime.min,
        datetime.max,
        datetime(1970, 1, 1),
        datetime(2020, 2, 29, 12),
        datetime(2021, 1, 31, 23, 30),
    ]
    moments += [datetime(1960, 1, 1) + timedelta(microseconds=drawn.randrange(3 * 10**15)) for _ in range(25)]
    pairs = list(itertools.product(range(30), repeat=2))
    rows = [(days[i], days[j], moments[i], moments[j]) for i, j in pairs]
    kinds = [pa.date32(), pa.date32(), pa.timestamp("us"), pa.timestamp("us")]
    return pa.table({n: pa.array([row[k] for row in rows], kinds[k]) for k, n in enumerate("abst")})


def words() -> pa.Table:
    """Every letter, 64 in a word."""
    letters = [chr(k) for k in range(1, 0x20000) if not 0xD800 <= k <= 0xDFFF]
    return pa.table({"w": ["".join(letters[k : k + 64]) for k in range(0, len(letters), 64)]})


def surrounded() -> pa.Table:
    """Every space, and many others, around a letter."""
    return pa.table({"w": [f"{chr(k)}a{chr(k)}" for k in (*range(1, 0x3100), 0xFEFF)]})


@pytest.fixture(scope="module")
def both(
    postgres_server: Any,  # noqa: F811
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Both]:
    from tests.engines.test_postgres import database

    url = database(postgres_server, "edges")
    pairs = list(itertools.product(REALS, repeat=2))
    given = {
        PAIRS: pa.table({"a": [a for a, _ in pairs], "b": [b for _, b in pairs]}),
        SINGLE: pa.table({"a": REALS}),
        SPANS: spans(),
        WORDS: words(),
        SURROUNDED: surrounded(),
        powers.POWERS: powers.rows(),
    }
    folder: Path = tmp_path_factory.mktemp("edges")
    with (
        PostgresEngine(folder / "there", as_reader(url), owner_log=print) as there,
        DuckDBEngine(folder / "here", threads=1) as here,
    ):
        for table, rows in given.items():
            load(url, table, rows)
            there.take_in(table, table.name)
            here.take_in(table, rows)
        yield there, here


def differences(both: Both, table: Table, expressions: list[str]) -> list[object]:
    names = [column.name for column in table.columns]
    listed = ", ".join([*(f'"{name}"' for name in names), *(f"({one}) AS v{k}" for k, one in enumerate(expressions))])
    found = [_rows(place.run(f'SELECT {listed} FROM "{table.name}"'), len(names)) for place in both]
    return [
        (expressions[k], key, one, two)
        for key, values in found[0].items()
        for k, (one, two) in enumerate(zip(values, found[1][key], strict=True))
        if one != two and not (isinstance(one, float) and math.isnan(one) and math.isnan(two))
    ]


def _rows(table: pa.Table, keys: int) -> dict[tuple[Any, ...], tuple[Any, ...]]:
    rows = zip(*(column.to_pylist() for column in table.columns), strict=True)
    return {row[:keys]: row[keys:] for row in rows}


def test_arithmetic_of_doubles_at_every_edge(both: Both) -> None:
    expressions = [
        '"a" + "b"',
        '"a" - "b"',
        '"a" * "b"',
        '"a" / NULLIF("b", 0)',
        '"a" * "b" * "b"',
        '"a" * "b" - "b" * "a"',
    ]
    assert differences(both, PAIRS, expressions)[:5] == []


def test_what_vanishes_keeps_its_sign(both: Both) -> None:
    """It shows where a number is read as text: 0.0 and -0.0 are equal otherwise."""
    operations = ('"a" * "b"', '"a" / NULLIF("b", 0)')
    expressions = [f"CASE WHEN {one} = 0 THEN CAST({one} AS VARCHAR) = '-0.0' END" for one in operations]
    assert differences(both, PAIRS, expressions)[:5] == []


def test_powers_at_every_edge_have_their_sign(both: Both) -> None:
    assert powers.differences(*both)[:5] == []


@pytest.mark.parametrize("constants", [REALS[k::8] for k in range(8)])
@pytest.mark.some(3)
def test_constants_at_every_edge_are_no_error_of_planning(both: Both, constants: list[float]) -> None:
    expressions: list[str] = []
    for x in constants:
        text = f"CAST({x!r} AS DOUBLE)" if math.copysign(1, x) > 0 else f"CAST(-CAST({-x!r} AS DOUBLE) AS DOUBLE)"
        expressions += [f'"a" * {text}', f'"a" + {text}', f"{text} * {text}", f"{text} + {text}", f"exp({text})"]
        expressions += [f'"a" / NULLIF({text}, 0)', f'{text} / NULLIF("a", 0)', f"pow({text}, {text}) > 1"]
        expressions += [f'pow("a", {text}) > 1', f'pow({text}, "a") > 1']
    assert differences(both, SINGLE, expressions)[:5] == []


def test_functions_and_casts_of_doubles_at_every_edge(both: Both) -> None:
    expressions = ['CAST("a" AS VARCHAR)', 'TRY_CAST("a" AS BIGINT)', 'TRY_CAST(round("a") AS BIGINT)', 'round("a", 2)']
    expressions += ['exp("a") > 1e300', 'exp("a") = 0', SQUARE, 'floor("a")']
    assert differences(both, SINGLE, expressions)[:5] == []
    assert differences(both, PAIRS, ['isfinite("a" * "b")'])[:5] == []


def test_differences_of_dates(both: Both) -> None:
    units = ("year", "quarter", "month", "week", "day", "hour", "minute", "second")
    expressions = [f'date_diff(\'{unit}\', "a", "b")' for unit in units[:5]]
    expressions += [f'date_diff(\'{unit}\', "s", "t")' for unit in units]
    expressions += [f'date_sub(\'{unit}\', "s", "t")' for unit in units]
    assert differences(both, SPANS, expressions)[:5] == []


def test_parts_and_names_of_dates(both: Both) -> None:
    parts = ("year", "isoyear", "decade", "century", "quarter", "month", "week", "yearweek", "day", "dayofweek")
    expressions = [
        f"date_part('{part}', \"s\")" for part in (*parts, "isodow", "dayofyear", "hour", "minute", "second")
    ]
    expressions += [
        f"date_trunc('{unit}', \"s\")" for unit in ("year", "quarter", "month", "week", "day", "hour", "second")
    ]
    expressions += ['CAST("s" AS VARCHAR)', 'CAST("a" AS VARCHAR)', 'last_day("a")', 'dayname("a")', 'monthname("a")']
    assert differences(both, SPANS, expressions)[:5] == []


def test_every_mark_of_a_format(both: Both) -> None:
    marks = ("Y", "y", "m", "d", "j", "H", "I", "M", "S", "p", "a", "A", "b", "B", "V", "G", "u", "w", "%")
    formats = [f"%{mark}|é" for mark in marks]
    formats += [f"%-{mark}|é" if mark in "ymdjHIMS" else f"'\"\\%{mark}|é" for mark in marks]
    shown = ", ".join(f'strftime("s", CAST(${k + 1} AS VARCHAR)) AS v{k}' for k in range(len(formats)))
    found = [place.run(f'SELECT {shown} FROM "spans"', formats) for place in both]
    for k, spelled in enumerate(formats):
        one, two = (sorted(table[f"v{k}"].to_pylist()) for table in found)
        assert one == two, spelled


def test_every_letter_and_every_space(both: Both) -> None:
    order = '"w" < right("w", 1)'
    assert differences(both, WORDS, ['upper("w")', 'lower("w")', 'length("w")', 'md5("w")', order])[:5] == []
    assert differences(both, SURROUNDED, ['trim("w")', 'ltrim("w")', 'length("w")', 'md5("w")'])[:5] == []
