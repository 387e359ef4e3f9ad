"""A PostgreSQL server that froze behind the ledger, the members or the rows: 503, and it goes on when it thaws."""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from discreet.catalog.table import Budget
from discreet.curator.curator import Curator
from discreet.engines.postgres import engine as rows_engine
from discreet.service.auth.members import Members
from discreet.service.auth.roles import MemberRole
from discreet.service.settings import Settings
from discreet.service.state import ServiceState
from discreet.service.storage import move
from discreet.storage.server_silence import AttentiveConnection
from tests.engines.test_postgres import as_reader, load
from tests.servers.fixtures import need_postgres
from tests.servers.freezing import frozen
from tests.servers.postgres import PostgresServer
from tests.service.hospital import CHEAP, Hospital, client_of, policy, visits

PATIENCE = 120.0
"""Seconds in which a request must be answered; before, there was no answer at all."""


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresServer]:
    """One of our own, because others share the usual one."""
    need_postgres()
    made = PostgresServer()
    try:
        made.start()
        yield made
    finally:
        made.remove()


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(AttentiveConnection, "silence", 2.0)
    monkeypatch.setattr(rows_engine, "ROWS_REACH", 2.0)


def _within(pool: ThreadPoolExecutor, client: httpx.Client, method: str, path: str, **sent: object) -> httpx.Response:
    """What is answered, or a failure where nothing is."""
    return pool.submit(client.request, method, f"/api/v1{path}", **sent).result(PATIENCE)  # type: ignore[arg-type]


def test_frozen_storages_are_unavailable_and_then_available_again(server: PostgresServer, hospital: Hospital) -> None:
    move(hospital.folder, server.url)
    service = hospital.service()
    ana, pool = client_of(service, hospital.tokens["ana"]), ThreadPoolExecutor(8)
    question = {"sql": "SELECT COUNT(*) AS n FROM visits", "epsilon": "0.1", "request": "one"}
    second = {**question, "epsilon": "0.2", "request": "two"}
    assert _within(pool, ana, "GET", "/me").status_code == 200
    assert _within(pool, ana, "POST", "/ask", json=question).status_code == 200
    with frozen(server):
        for method, path, sent in (
            ("GET", "/me", None),
            ("GET", "/budget", None),
            ("GET", "/ledger", None),
            ("POST", "/ask", second),
        ):
            answer = _within(pool, ana, method, path, json=sent)
            assert (answer.status_code, answer.headers["content-type"]) == (503, "application/problem+json"), path
        assert client_of(service).get("/health/live").status_code == 200
        assert client_of(service).get("/health/ready").status_code == 503
        many = [pool.submit(ana.get, "/api/v1/me") for _ in range(8)]
        assert {one.result(PATIENCE).status_code for one in many} == {503}
    for _ in range(200):  # it was silent a moment ago, so nobody waits for it yet
        if (answer := _within(pool, ana, "POST", "/ask", json=second)).status_code == 200:
            break
        time.sleep(0.1)
    assert answer.status_code == 200
    spent = _within(pool, ana, "GET", "/budget").json()
    assert next(one for one in spent if one["analyst"] == "ana")["spent"]["exact"] == "3/10"
    service.close()
    pool.shutdown()


def test_frozen_rows_are_unavailable_and_cost_nothing(server: PostgresServer, tmp_path: Path) -> None:
    table = policy(analysts={"ana": Budget(1)})
    load(server.url, table, visits())
    curator = Curator(tmp_path, rows=as_reader(server.url))
    curator.protect("public.visits", table)
    curator.ledger.close()
    service = ServiceState(Settings.model_validate({"folder": tmp_path}))
    service.members = Members(service.store, hasher=CHEAP)
    service.members.add("ana", MemberRole.ANALYST)
    ana, pool = client_of(service, service.members.issue("ana", days=1)), ThreadPoolExecutor(2)
    question = {"sql": "SELECT COUNT(*) AS n FROM visits", "epsilon": "0.1", "request": "one"}
    assert _within(pool, ana, "POST", "/ask", json=question).status_code == 200
    with frozen(server):
        answer = _within(pool, ana, "POST", "/ask", json={**question, "epsilon": "0.2", "request": "two"})
        assert (answer.status_code, answer.json()["type"]) == (503, "urn:discreet:engine-unavailable")
        assert (
            _within(pool, ana, "POST", "/explain", json={"sql": question["sql"], "epsilon": "0.2"}).status_code == 200
        )
    left = _within(pool, ana, "GET", "/budget").json()
    assert next(one for one in left if one["analyst"] == "ana")["spent"]["exact"] == "1/10"
    answer = _within(pool, ana, "POST", "/ask", json={**question, "epsilon": "0.2", "request": "three"})
    assert answer.status_code == 200
    service.close()
    pool.shutdown()
