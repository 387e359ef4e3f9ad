"""Columns of PostgreSQL as declared types: no value makes the server raise, and each is what it is elsewhere."""

from __future__ import annotations

import math
from datetime import date, datetime
from pathlib import Path
from typing import Any

import psycopg
import pytest

from discreet.catalog.column import Column, ColumnType
from discreet.catalog.table import Table
from discreet.engines.postgres.engine import PostgresEngine
from discreet.errors import InvalidType
from tests.engines.test_postgres import as_reader
from tests.servers.fixtures import postgres_server, postgres_url  # noqa: F401

INTEGER, REAL, TEXT, BOOLEAN = ColumnType.INTEGER, ColumnType.REAL, ColumnType.TEXT, ColumnType.BOOLEAN
DATE, TIMESTAMP = ColumnType.DATE, ColumnType.TIMESTAMP
WORDS = [
    "", " ", "x", "5", " 5 ", "+5", "-5", "5.0", "5.5", "1e3", "1e400", "1e-400", "1e999999999",
    "9" * 400, "." + "9" * 400,
    "9223372036854775807", "9223372036854775808", "-9223372036854775808", "nan", "inf", "-Infinity", ".", "-", "e5",
    "0x1F", "1_000", "t", "TRUE", "yes", "no", "0", "1", "2021-02-03", "2021-02-30", "0000-01-01", "2021-13-01", "now",
    "2021-02-03 04:05:06", "2021-02-03T04:05:06.789+02:00", "2021-02-03 24:00:00", "9999-12-31 23:59:59-14", "infinity",
    "2021-02-03-05", "2021-02-03+0530", "2021-02-03Z", "2021-02-03 04:05Z",
    "12.000", "-1.000", "0.000", "1234.000", "7.00", "7.0000", "04-03-24", "04/03/24", "24-3-4",
    "today", "epoch", "2020-02-29", "1900-02-29", "99999-01-01", "2021-02-03 04:05:06 America/New_York", "\\", "🦆",
]  # fmt: skip
FAR = ["infinity", "-infinity", "0001-01-01 BC", "4713-01-01 BC", "10000-01-01", "5874897-01-01", "2021-02-03"]
VALUES: dict[str, list[str]] = {
    "text": WORDS,
    "varchar(500)": WORDS,
    "numeric": [
        "NaN",
        "Infinity",
        "-Infinity",
        "1e400",
        "1e-400",
        "9223372036854775807.5",
        "5",
        "5.5",
        "0",
        "1",
        "1e308",
    ],
    "double precision": ["NaN", "Infinity", "-0", "5", "5.5", "1e308", "5e-324", "9223372036854775807", "1", "0"],
    "real": ["NaN", "Infinity", "-0", "5", "0.1", "3e38", "1e-45", "1", "0"],
    "smallint": ["32767", "-32768", "0", "1"],
    "bigint": ["9223372036854775807", "-9223372036854775808", "0", "1"],
    "boolean": ["true", "false"],
    "date": FAR,
    "timestamp": [*FAR[:5], "294276-12-31 23:59:59.999999", "2021-02-03 04:05:06.789"],
    "timestamptz": [
        *FAR[:5],
        "294276-12-31 23:59:59.999999+00",
        "2021-02-03 04:05:06.789+02",
        "0001-01-01 00:00:00+14",
    ],
    "uuid": ["00000000-0000-0000-0000-000000000000"],
    "character(5)": ["5", "x"],
    "mood": ["happy", "5"],
    "percent": ["5", "100"],
}
EXPECTED: dict[tuple[str, str, ColumnType], Any] = {
    ("text", "5.0", INTEGER): 5,
    ("text", "5.5", INTEGER): None,
    ("text", "12.000", INTEGER): None,  # twelve thousand in other countries
    ("text", "1234.000", INTEGER): 1234,
    ("text", "0.000", INTEGER): 0,
    ("text", "04-03-24", DATE): None,
    ("text", "9223372036854775808", INTEGER): None,
    ("text", "-9223372036854775808", INTEGER): -(2**63),
    ("text", "1e3", REAL): 1000.0,
    ("text", "1e400", REAL): None,
    ("text", "1e-400", REAL): 0.0,
    ("text", "inf", REAL): None,
    ("text", "yes", BOOLEAN): True,
    ("text", "2021-02-30", DATE): None,
    ("text", "1900-02-29", DATE): None,
    ("text", "2020-02-29", DATE): date(2020, 2, 29),
    ("text", "2021-02-03T04:05:06.789+02:00", TIMESTAMP): datetime(2021, 2, 3, 2, 5, 6, 789000),
    ("text", "9999-12-31 23:59:59-14", TIMESTAMP): None,
    ("text", "now", DATE): None,
    ("text", "2021-02-03-05", TIMESTAMP): None,
    ("text", "2021-02-03Z", TIMESTAMP): None,
    ("text", "2021-02-03 04:05Z", TIMESTAMP): datetime(2021, 2, 3, 4, 5),
    ("numeric", "5.5", INTEGER): None,
    ("numeric", "5", INTEGER): 5,
    ("numeric", "1e400", REAL): None,
    ("double precision", "NaN", REAL): None,
    ("double precision", "5e-324", REAL): 5e-324,
    ("double precision", "9223372036854775807", INTEGER): None,
    ("double precision", "1", BOOLEAN): True,
    ("date", "infinity", DATE): None,
    ("date", "0001-01-01 BC", TEXT): None,
    ("timestamptz", "2021-02-03 04:05:06.789+02", TIMESTAMP): datetime(2021, 2, 3, 2, 5, 6, 789000),
    ("timestamptz", "0001-01-01 00:00:00+14", TIMESTAMP): None,
    ("mood", "5", INTEGER): 5,
    ("percent", "100", REAL): 100.0,
}


def test_every_value_of_every_type_is_read_or_missing(postgres_url: str, tmp_path: Path) -> None:  # noqa: F811
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute("CREATE TYPE mood AS ENUM ('happy', '5')")
        connection.execute("CREATE DOMAIN percent AS int CHECK (VALUE <= 100)")
        for number, (native, values) in enumerate(VALUES.items()):
            connection.execute(f"CREATE TABLE t{number} (word text, v {native})".encode())
            connection.execute(f"GRANT SELECT ON t{number} TO PUBLIC".encode())
            for value in values:
                connection.execute(f"INSERT INTO t{number} VALUES (%s, %s)".encode(), (value, value))
        if not connection.execute("SELECT 1 FROM pg_roles WHERE rolname = 'reader'").fetchone():
            connection.execute("CREATE ROLE reader LOGIN")
    missing = set(EXPECTED)
    with PostgresEngine(tmp_path, as_reader(postgres_url), owner_log=print) as engine:
        for number, native in enumerate(VALUES):
            for wanted in ColumnType:
                table = Table(f"t{number}", (Column("word", TEXT), Column("v", wanted)), public=True)
                try:
                    engine.take_in(table, f"t{number}")
                except InvalidType:
                    continue
                for row in engine.run(f'SELECT "word", "v" FROM "t{number}"').to_pylist():
                    key = (native, row["word"], wanted)
                    assert key not in EXPECTED or row["v"] == EXPECTED[key], key
                    assert not isinstance(row["v"], float) or math.isfinite(row["v"])
                    missing.discard(key)
    assert not missing


@pytest.mark.parametrize("native", ["json", "bytea", "int[]", "interval", "money", "time", "point", "int4range"])
@pytest.mark.some(3)
def test_a_type_without_a_meaning_here_is_refused(native: str, postgres_url: str, tmp_path: Path) -> None:  # noqa: F811
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        if not connection.execute("SELECT 1 FROM pg_roles WHERE rolname = 'reader'").fetchone():
            connection.execute("CREATE ROLE reader LOGIN")
        connection.execute(f"CREATE TABLE odd (v {native})".encode())
        connection.execute("GRANT SELECT ON odd TO reader")
    with PostgresEngine(tmp_path, as_reader(postgres_url)) as engine:
        for wanted in ColumnType:
            with pytest.raises(InvalidType, match="can be read as"):
                engine.take_in(Table("odd", (Column("v", wanted),), public=True), "odd")
