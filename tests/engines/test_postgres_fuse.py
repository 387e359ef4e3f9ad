"""A real server that goes away before, while and after a question is sent: what is charged, returned and suspended."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import psycopg
import pytest

from discreet.catalog.catalog import Catalog
from discreet.catalog.table import Budget
from discreet.curator.curator import Curator
from discreet.curator.ledger.verify import verify
from discreet.engines.engine import OwnerFile
from discreet.engines.postgres.engine import PostgresEngine
from discreet.engines.postgres.writer import PostgresWriter
from discreet.errors import (
    DiscreetError,
    EngineFailure,
    EngineUnavailable,
    QueryRefused,
    RequestConflict,
    Suspended,
)
from discreet.privacy.loss import Pure
from tests.engines.test_postgres import as_reader, load
from tests.engines.test_postgres_server import ROWS, SLOW, VISITS, as_owner, wait_until
from tests.servers.fixtures import need_postgres
from tests.servers.postgres import PostgresServer

ASKED = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"
TABLE = replace(VISITS, analysts={"ann": Budget(3), "bob": None})


class _Unprepared(PostgresEngine):
    """One that does not look whether the server is there before it is charged."""

    def reach(self) -> None:
        pass


@pytest.fixture
def server() -> Iterator[PostgresServer]:
    """A server of its own, for it is stopped and killed."""
    need_postgres()
    made = PostgresServer()
    try:
        made.start()
        load(made.url, VISITS, ROWS)
        yield made
    finally:
        made.remove()


def opened(server: PostgresServer, folder: Path, kind: type[PostgresEngine] = PostgresEngine, **more: Any) -> Curator:
    engine = kind(folder, as_reader(server.url), owner_log=OwnerFile(folder), **more)
    return Curator(folder, engine=engine)


def refused(curator: Curator, kind: type[DiscreetError], sql: str = ASKED, **more: Any) -> None:
    with pytest.raises(kind) as caught:
        curator.ask(sql, 1, analyst="ann", **more)
    assert type(caught.value) is kind
    assert caught.value.__context__ is None


def spent(curator: Curator) -> Any:
    return curator.budget()["visits"]["spent"], curator.budget()["visits/ann"]["spent"]


def kinds(curator: Curator) -> list[str]:
    return [entry.body["kind"] for entry in curator.ledger.entries()]


def test_a_server_that_is_down_is_said_before_anything_is_charged(server: PostgresServer, tmp_path: Path) -> None:
    curator = opened(server, tmp_path)
    curator.protect("public.visits", TABLE)
    known = curator.ask(ASKED, "0.5", analyst="bob")
    before = kinds(curator)
    server.stop()
    refused(curator, EngineUnavailable, request="r")
    assert kinds(curator) == before
    assert curator.ask(ASKED, "0.5", analyst="ann").table == known.table  # what was answered needs no server
    server.start()
    assert curator.ask(ASKED, 1, analyst="ann", request="r").charged
    assert verify(tmp_path).problems == []


def test_a_server_that_goes_down_behind_the_charge_gives_it_back(server: PostgresServer, tmp_path: Path) -> None:
    curator = opened(server, tmp_path, _Unprepared)
    curator.protect("public.visits", TABLE)
    server.stop()
    for _ in range(2):
        refused(curator, EngineUnavailable, request="r")
    assert spent(curator) == (Pure(0), Pure(0))
    assert kinds(curator)[-4:] == ["charge", "return", "charge", "return"]
    assert curator.suspensions() == []
    server.start()
    assert curator.ask(ASKED, 1, analyst="ann", request="r").charged
    assert spent(curator) == (Pure(1), Pure(1))
    assert verify(tmp_path).problems == []


def test_columns_that_changed_are_seen_before_a_row_is_read(server: PostgresServer, tmp_path: Path) -> None:
    curator = opened(server, tmp_path)
    curator.protect("public.visits", TABLE)
    as_owner(server.url, "ALTER TABLE visits ALTER age TYPE text")
    refused(curator, EngineUnavailable)
    assert spent(curator) == (Pure(0), Pure(0))
    as_owner(server.url, "ALTER TABLE visits ALTER age TYPE int8 USING age::int8")
    assert curator.ask(ASKED, 1, analyst="ann").charged


def test_a_view_that_raises_over_a_row_suspends(server: PostgresServer, tmp_path: Path) -> None:
    as_owner(
        server.url,
        "CREATE VIEW sharp AS SELECT patient, ward, 100 / (age - 7) AS age, note FROM visits",
        "GRANT SELECT ON sharp TO reader",
    )
    curator = opened(server, tmp_path)
    curator.protect("public.sharp", TABLE)
    asked = "SELECT SUM(age) FROM visits"
    refused(curator, EngineFailure, asked)
    assert "division by zero" in (tmp_path / "owner.log").read_text()
    assert spent(curator) == (Pure(1), Pure(1))
    refused(curator, Suspended)
    curator.ask(ASKED, "0.1", analyst="bob")
    as_owner(server.url, "DELETE FROM visits WHERE age = 7")
    curator.lift(curator.suspensions()[0].record, "the view divided by zero")
    assert curator.ask(asked, 1, analyst="ann").charged
    assert spent(curator) == (Pure("2.1"), Pure(2))
    assert verify(tmp_path).problems == []


def test_a_timeout_is_a_failure_like_any_other(server: PostgresServer, tmp_path: Path) -> None:
    as_owner(server.url, *SLOW)
    curator = opened(server, tmp_path, timeout=0.5)
    curator.protect("public.slow", TABLE)
    refused(curator, EngineFailure)
    refused(curator, Suspended)
    assert spent(curator) == (Pure(1), Pure(1))


_READING = "FROM pg_stat_activity WHERE usename = 'reader' AND state = 'active' AND query LIKE '%slow%'"


def _reading(server: PostgresServer) -> bool:

    with psycopg.connect(server.url) as connection:
        return connection.execute(f"SELECT 1 {_READING} AND wait_event = 'PgSleep'".encode()).fetchone() is not None


def _end_backends(server: PostgresServer) -> None:
    as_owner(server.url, f"SELECT pg_terminate_backend(pid) {_READING}")


@pytest.mark.parametrize("end", [PostgresServer.kill, _end_backends])
@pytest.mark.some(1)
def test_a_server_that_is_killed_while_it_reads_suspends(
    server: PostgresServer, tmp_path: Path, end: Callable[[PostgresServer], None]
) -> None:
    as_owner(server.url, *SLOW)
    curator = opened(server, tmp_path)
    curator.protect("public.slow", TABLE)
    asker = threading.Thread(target=lambda: refused(curator, EngineFailure))
    asker.start()
    wait_until(lambda: _reading(server))
    end(server)
    asker.join(30)
    assert not asker.is_alive()
    refused(curator, Suspended)
    assert spent(curator) == (Pure(1), Pure(1))
    assert kinds(curator)[-1] == "failure"
    assert verify(tmp_path).problems == []


# Statements that fail whatever the rows are.


@pytest.mark.parametrize("mistake", ["LIMIT counting(1)", "LIMIT 1 / (1 - 1)"])
@pytest.mark.parametrize("kind", ["table", "view"])
@pytest.mark.some(1)
def test_a_statement_that_the_server_never_runs_is_refused_before_the_charge(
    server: PostgresServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mistake: str, kind: str
) -> None:
    as_owner(
        server.url,
        "CREATE VIEW grouped AS SELECT patient, ward, age, note FROM visits GROUP BY 1, 2, 3, 4",
        "GRANT SELECT ON grouped TO reader",
    )
    curator = opened(server, tmp_path)
    curator.protect("public.visits" if kind == "table" else "public.grouped", TABLE)
    before, write = kinds(curator), PostgresWriter.statement
    monkeypatch.setattr(PostgresWriter, "statement", lambda self, text: f"{write(self, text)} {mistake}")
    curator.engine._known.clear()  # type: ignore[attr-defined]
    with pytest.raises(QueryRefused, match="whatever the rows are") as caught:
        curator.ask(ASKED, 1, analyst="ann", request="r")
    assert "division" not in str(caught.value)
    assert "counting" not in str(caught.value)
    assert (kinds(curator), curator.suspensions()) == (before, [])
    monkeypatch.undo()
    curator.engine._known.clear()  # type: ignore[attr-defined]
    assert curator.ask(ASKED, 1, analyst="ann", request="r").charged


def test_a_statement_is_tried_once_and_reads_no_row(server: PostgresServer, tmp_path: Path) -> None:
    as_owner(
        server.url,
        "CREATE VIEW sharp AS SELECT patient, ward, 1 / (age - age) AS age, note FROM visits",
        "GRANT SELECT ON sharp TO reader",
        "CREATE VIEW sharper AS SELECT patient, ward, max(1 / (age - age)) AS age, note FROM visits GROUP BY 1, 2, 4",
        "GRANT SELECT ON sharper TO reader",
    )
    for view in ("sharp", "sharper"):
        engine = PostgresEngine(tmp_path / view, as_reader(server.url))
        engine.take_in(TABLE, f"public.{view}", catalog=Catalog([TABLE]))
        statement = 'SELECT SUM(CAST(age AS BIGINT)) AS s FROM "visits"'
        engine.rehearse(statement)
        assert len(engine._rehearsed) == 1
        with pytest.raises(EngineFailure):
            engine.run(statement)
        server.stop()
        engine.rehearse(statement)
        engine.rehearse('SELECT COUNT(*) AS n FROM "visits"')  # nobody to ask: that is said where it is run
        assert len(engine._rehearsed) == 1
        server.start()
        engine.close()


# Killed, and protected again before the answer.

_KILLED = """
import os, signal, sys
from discreet.curator.curator import Curator
curator = Curator(sys.argv[1], rows=sys.argv[2])
curator.ledger.settle = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
curator.ask(sys.argv[3], 1, analyst="ann", request="r")
"""


def test_a_charge_whose_process_was_killed_is_answered_after_the_table_is_protected_again(
    server: PostgresServer, tmp_path: Path
) -> None:
    curator = Curator(tmp_path, rows=as_reader(server.url))
    curator.protect("public.visits", TABLE)
    words = [sys.executable, "-c", _KILLED, str(tmp_path), as_reader(server.url), ASKED]
    assert subprocess.run(words, check=False).returncode == -signal.SIGKILL
    curator.protect("public.visits", replace(TABLE, rows_per_unit=2))
    with pytest.raises(RequestConflict):
        curator.ask("SELECT COUNT(*) AS n FROM visits", 1, analyst="ann", request="r")
    answer = curator.ask(ASKED, 1, analyst="ann", request="r")
    assert curator.ask(ASKED, 1, analyst="ann", request="r").table == answer.table
    assert spent(curator) == (Pure(1), Pure(1))
    assert kinds(curator).count("replan") == 1
    assert verify(tmp_path).problems == []
