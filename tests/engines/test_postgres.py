"""PostgreSQL against a real server: the same integers, and no row that makes it raise."""

from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path
from typing import ClassVar

import psycopg
import pyarrow as pa
import pytest

from discreet.catalog.catalog import Catalog
from discreet.catalog.column import Column, ColumnType
from discreet.catalog.table import Budget, Table
from discreet.engines.duckdb.engine import DuckDBEngine
from discreet.engines.postgres.engine import PostgresEngine
from discreet.privacy.loss import Pure
from discreet.query.question import prepare
from discreet.query.run.contribution_bounds import write_statements
from tests.engines.same_everywhere import SameEverywhere, comparable
from tests.query.world import CATALOG
from tests.servers.fixtures import postgres_server, postgres_url  # noqa: F401
from tests.servers.postgres import PostgresServer

TYPES = {
    ColumnType.INTEGER: "bigint",
    ColumnType.REAL: "double precision",
    ColumnType.TEXT: "text",
    ColumnType.BOOLEAN: "boolean",
    ColumnType.DATE: "date",
    ColumnType.TIMESTAMP: "timestamp",
}


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def load(url: str, table: Table, rows: pa.Table) -> None:
    """Make ``rows`` the rows of a table that the role ``reader`` may read."""
    columns = ", ".join(f"{quoted(column.name)} {TYPES[column.type]}" for column in table.columns)
    name = f"public.{quoted(table.name)}"
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"DROP TABLE IF EXISTS {name}".encode())
        connection.execute(f"CREATE TABLE {name} ({columns})".encode())
        if not connection.execute("SELECT 1 FROM pg_roles WHERE rolname = 'reader'").fetchone():
            connection.execute("CREATE ROLE reader LOGIN")
        connection.execute(f"GRANT SELECT ON {name} TO reader".encode())
        with connection.cursor().copy(f"COPY {name} FROM STDIN".encode()) as copy:
            for row in rows.select([column.name for column in table.columns]).to_pylist():
                copy.write_row(list(row.values()))


def as_reader(url: str) -> str:
    return url.replace("curator@", "reader@")


def database(server: PostgresServer, name: str) -> str:
    with psycopg.connect(server.url, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}".encode())
    return server.url.replace("/postgres?", f"/{name}?")


REGULAR, TEXT_READ, FAR = "regular expressions", "text read as", "some thousand years"
REFUSED = {
    "SELECT COUNT(*) FROM visits WHERE TRY_CAST(note AS INTEGER) IS NULL": TEXT_READ,
    "SELECT SUM(CAST(note AS DECIMAL(6, 2))), SUM(CAST(score AS DECIMAL(6, 2))) FROM visits": TEXT_READ,
    "SELECT SUM(least(50, greatest(0, strpos(note, 'a')))), COUNT_IF(regexp_matches(note, 'a|%')) FROM visits": REGULAR,
    "SELECT COUNT(*) FROM visits WHERE note ~ '^[ab]' OR REGEXP_CONTAINS(note, '7$')": REGULAR,
    "SELECT COUNT(*) FROM visits WHERE regexp_full_match(note, 'a.') OR note RLIKE 'B'": REGULAR,
    "SELECT SUM(log10(age + 1)), SUM(log2(age + 1)), SUM(log(age + 1)), SUM(cbrt(age)), SUM(trunc(cost)), "
    "SUM(square(age)) FROM visits": "LOG2",
    "SELECT CASE WHEN note ~ '^[a-z]' THEN 'word' ELSE 'other' END AS k, COUNT(*) FROM visits GROUP BY k": REGULAR,
}
REFUSED_EXPRESSIONS = {
    **{f"CAST({x} AS {t})": TEXT_READ for x in ("note", "ward") for t in ("INTEGER", "DOUBLE", "DATE", "TIMESTAMP")},
    **{f"CAST(note AS DECIMAL({size}))": TEXT_READ for size in ("4, 2", "38, 0", "12, 12")},
    **{f"{x} + INTERVAL (big) {u}": FAR for x in ("day", "seen", "met") for u in ("MONTH", "DAY", "HOUR")},
    **{f"log2({x})": "LOG2" for x in ("age", "cost", "score", "big")},
    "big + day": FAR,
    "day - big": FAR,
    "make_date(big, age, age)": "outside the years",
    "note NOT LIKE 'a%' AND note NOT ILIKE 'A_' AND note ~ '^a' AND regexp_full_match(note, '[a-z]*')": REGULAR,
    "regexp_matches(ward, '\\x00|%$') OR note RLIKE '(a+)+$' OR note ~* 'A'": REGULAR,
    "replace(note, 'a', '') || replace(ward, '%', 'x') || reverse(note)": "REVERSE",
}


class TestSameAsElsewhere(SameEverywhere):
    holds_nul = False
    refused = REFUSED
    refused_expressions = REFUSED_EXPRESSIONS

    url: ClassVar[str]

    @pytest.fixture(scope="class", autouse=True)
    @classmethod
    def database(cls, postgres_server: PostgresServer) -> None:  # noqa: F811
        cls.url = database(postgres_server, "same")

    def opened(self, folder: Path, given: dict[str, pa.Table]) -> PostgresEngine:
        url = self.url
        place = PostgresEngine(folder, as_reader(url), owner_log=print)
        for table in CATALOG:
            load(url, table, given[table.name])
            place.take_in(table, f"public.{quoted(table.name)}", catalog=CATALOG)
        return place


@pytest.mark.parametrize("is_analyzed", [False, True])
@pytest.mark.parametrize(
    ("kind", "native"),
    [
        (ColumnType.TEXT, "text"),
        (ColumnType.TEXT, "varchar(20)"),
        *((ColumnType.INTEGER, native) for native in ("smallint", "integer", "bigint", "numeric", "text")),
        (ColumnType.DATE, "date"),
    ],
)
@pytest.mark.some(3)
def test_people_with_too_many_rows_weigh_the_same_whatever_they_are_named_by(
    kind: ColumnType,
    native: str,
    is_analyzed: bool,
    postgres_url: str,  # noqa: F811
    tmp_path: Path,
) -> None:
    """Person k has k rows; both halves have people with too many, whether by their hashes or by their numbers."""
    table = Table(
        "visits",
        (
            Column("who", kind),
            Column("ward", ColumnType.TEXT, keys=("a", "b")),
            Column("age", ColumnType.INTEGER, lower=0, upper=110),
        ),
        unit="who",
        budget=Budget(1),
        rows_per_unit=5,
    )
    names = {
        ColumnType.TEXT: lambda k: f"pérson {k}",
        ColumnType.INTEGER: lambda k: k,
        ColumnType.DATE: lambda k: date(2020, 1, 1) + timedelta(days=k),
    }
    rows = pa.Table.from_pylist(
        [{"who": names[kind](k), "ward": "ab"[j % 2], "age": (k * j) % 100} for k in range(20) for j in range(k)]
    )
    load(postgres_url, table, rows)
    with psycopg.connect(postgres_url, autocommit=True) as owner:
        owner.execute(f"ALTER TABLE visits ALTER who TYPE {native}".encode())
        if is_analyzed:
            owner.execute("ALTER TABLE visits ALTER who SET STATISTICS 2")  # a histogram, and not all of so few
            owner.execute("ANALYZE visits")
    asked = prepare("SELECT ward, COUNT(*), SUM(age) FROM visits GROUP BY ward", Catalog([table]), Pure(1))
    with PostgresEngine(tmp_path / "there", as_reader(postgres_url), owner_log=print) as there:
        there.take_in(table, "visits")
        with DuckDBEngine(tmp_path / "here", threads=1) as here:
            here.take_in(table, rows)
            for plan in asked.plans:
                for statement in write_statements(plan):
                    assert comparable(there.run(*statement)) == comparable(here.run(*statement))
