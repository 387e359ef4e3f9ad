"""A server that only follows another one: rows are asked about there as anywhere, and no ledger is kept there."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from discreet.curator.curator import Curator
from discreet.curator.ledger.ledger import Ledger
from discreet.engines.postgres.engine import PostgresEngine
from discreet.errors import EngineFailure, LedgerError
from discreet.storage.postgres import write_server
from tests.engines.test_postgres import as_reader, load
from tests.engines.test_postgres_server import ROWS, SLOW, VISITS, _running, as_owner, counted, wait_until
from tests.servers.fixtures import need_postgres
from tests.servers.postgres import PostgresServer


@pytest.fixture(scope="module")
def leader() -> Iterator[PostgresServer]:
    """A server with visits in it."""
    need_postgres()
    server = PostgresServer()
    try:
        server.start()
        load(server.url, VISITS, ROWS)
        as_owner(server.url, *SLOW)
        yield server
    finally:
        server.remove()


@pytest.fixture(scope="module")
def replica(leader: PostgresServer) -> Iterator[PostgresServer]:
    """One that follows it, and lets no question hold that up."""
    server = PostgresServer(follows=leader)
    try:
        server.start("max_standby_streaming_delay=0")
        yield server
    finally:
        server.remove()


def test_questions_are_answered_on_a_replica_and_it_keeps_up(
    leader: PostgresServer, replica: PostgresServer, tmp_path: Path
) -> None:
    curator = Curator(tmp_path / "whole", rows=as_reader(replica.url))
    curator.protect("public.visits", VISITS)
    people = "SELECT ward, COUNT(*) AS n, AVG(age) AS a, COUNT(DISTINCT patient) AS p FROM visits GROUP BY ward"
    assert curator.ask(people, 3).table["ward"].to_pylist() == ["a", "b"]
    with PostgresEngine(tmp_path / "live", as_reader(replica.url)) as engine:
        engine.take_in(VISITS, "visits")
        assert counted(engine) == 400
        as_owner(leader.url, "INSERT INTO visits VALUES (1000, 'a', 1, '')")
        wait_until(lambda: counted(engine) == 401)


def test_a_question_that_stands_in_the_way_of_the_replica_is_the_constant_error(
    leader: PostgresServer, replica: PostgresServer, tmp_path: Path
) -> None:
    heard: list[str] = []

    def change() -> None:
        wait_until(lambda: _running(replica.url, "slow"))
        as_owner(leader.url, "ALTER TABLE visits ALTER COLUMN note SET NOT NULL")

    with PostgresEngine(tmp_path, as_reader(replica.url), owner_log=heard.append) as engine:
        engine.take_in(VISITS, "slow")
        changer = threading.Thread(target=change)
        changer.start()
        with pytest.raises(EngineFailure) as caught:
            counted(engine)
        changer.join()
        assert caught.value.__context__ is None
        assert "conflict with recovery" in heard[-1]
        engine.take_in(VISITS, "visits")
        assert counted(engine) >= 400


def test_a_ledger_is_not_kept_on_a_replica(replica: PostgresServer, tmp_path: Path) -> None:
    write_server(tmp_path, replica.url)
    with pytest.raises(LedgerError, match="a server that only follows another one"):
        Ledger(tmp_path)
    with pytest.raises(LedgerError, match="a server that only follows another one"):
        Curator(tmp_path).budget()
