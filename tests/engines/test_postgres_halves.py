"""Counting people in two halves on PostgreSQL: along an index, by the middle that the server knows, the same always."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pyarrow as pa
import pytest

from discreet.catalog.catalog import Catalog
from discreet.catalog.column import Column, ColumnType
from discreet.catalog.table import Budget, Table
from discreet.engines.duckdb.engine import DuckDBEngine
from discreet.engines.postgres.engine import PostgresEngine, find_middle
from discreet.engines.postgres.writer import HalvingWriter
from discreet.privacy.loss import Pure
from discreet.query.question import prepare
from discreet.query.run.contribution_bounds import write_statements
from tests.engines.same_everywhere import comparable
from tests.engines.test_postgres import as_reader, load
from tests.servers.fixtures import postgres_server, postgres_url  # noqa: F401

COUNTED = Table(
    "visits",
    (Column("who", ColumnType.INTEGER), Column("ward", ColumnType.TEXT, keys=("a", "b"))),
    unit="who",
    budget=Budget(1),
    rows_per_unit=5,
)


@pytest.fixture
def many(postgres_url: str) -> Iterator[psycopg.Connection[Any]]:  # noqa: F811
    """4,000 people with six rows each, of which five count, and an index on who they are."""
    load(postgres_url, COUNTED, pa.table({"who": [1], "ward": ["a"]}))
    with psycopg.connect(postgres_url, autocommit=True) as owner:
        owner.execute("ALTER TABLE visits ALTER who TYPE integer")
        owner.execute("INSERT INTO visits SELECT k % 4000, 'a' FROM generate_series(2, 24000) k")
        owner.execute("CREATE INDEX along ON visits (who)")
        yield owner


def counting() -> tuple[str, list[object]]:
    (plan,) = prepare("SELECT ward, COUNT(*) FROM visits GROUP BY ward", Catalog([COUNTED]), Pure(1)).plans
    (asked,) = write_statements(plan)
    return asked


def _spied(execute: Any, sent: list[str]) -> Any:
    def spy(cursor: Any, query: Any, *rest: Any, **named: Any) -> Any:
        sent.append(query.decode() if isinstance(query, bytes) else str(query))
        return execute(cursor, query, *rest, **named)

    return spy


def test_people_are_counted_along_an_index_on_their_column(
    many: psycopg.Connection[Any],
    postgres_url: str,  # noqa: F811
    tmp_path: Path,
) -> None:
    many.execute("VACUUM ANALYZE visits")
    with PostgresEngine(tmp_path, as_reader(postgres_url)) as engine:
        engine.take_in(COUNTED, "visits")
        steps = many.execute(f"EXPLAIN {engine.written(*counting())}".encode()).fetchall()
        assert sum("Index Only Scan using along" in step for (step,) in steps) == 2
        statement, values = counting()
        halves, _ = engine.translated(statement, values, HalvingWriter)
        said = halves.replace(f"${len(values) + 1}::int8", "2000::int8")
        steps = many.execute(f"EXPLAIN {said}".encode()).fetchall()
        assert sum("Index Only Scan using along" in step for (step,) in steps) == 2
        assert sum("Index Cond" in step and "2000" in step for (step,) in steps) == 2


@pytest.mark.parametrize("what", ["nothing", "ANALYZE visits", "old", "hidden"])
@pytest.mark.some(2)
def test_halves_are_by_the_middle_where_the_server_knows_it_and_count_the_same(
    what: str,
    many: psycopg.Connection[Any],
    postgres_url: str,  # noqa: F811
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sent = list[str]()
    monkeypatch.setattr(psycopg.RawCursor, "execute", _spied(psycopg.RawCursor.execute, sent))
    if what != "nothing":
        many.execute("ANALYZE visits")
    if what == "old":
        many.execute("UPDATE visits SET who = who + 100000")
    if what == "hidden":
        many.execute("REVOKE SELECT ON pg_stats FROM PUBLIC")
    with PostgresEngine(tmp_path / "there", as_reader(postgres_url), owner_log=print) as there:
        there.take_in(COUNTED, "visits")
        found = comparable(there.run(*counting()))
    assert any("(_unit < $1::int8)" in text for text in sent) == (what in ("ANALYZE visits", "old"))
    with DuckDBEngine(tmp_path / "here", threads=1) as here:
        here.take_in(COUNTED, pa.table({"who": [k % 4000 for k in range(24000)], "ward": ["a"] * 24000}))
        assert found == comparable(here.run(*counting()))


def test_the_middle_is_that_of_the_numbers(many: psycopg.Connection[Any]) -> None:
    many.cursor_factory = psycopg.RawCursor
    assert find_middle(many, "public.visits", "who") is None
    many.execute("ANALYZE visits")
    middle = find_middle(many, "public.visits", "who")
    assert middle is not None
    assert 1500 < middle < 2500
    assert find_middle(many, "public.visits", "nobody") is None
