"""Metrics: who may read them, what they count, and that no row changes them."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pyarrow.compute as pc
import pytest

from discreet.curator.curator import Curator
from discreet.service.app import API, application
from discreet.service.monitoring import EXPLAIN
from discreet.service.state import ServiceState
from tests.service.hospital import Clients, Hospital, client_of, policy, visits

COUNT = "SELECT COUNT(*) AS n FROM visits"


def told(text: str) -> dict[str, float]:
    """The samples by name and labels."""
    lines = [line.rpartition(" ") for line in text.splitlines() if not line.startswith("#")]
    return {name: float(value) for name, _, value in lines}


def session(service: ServiceState, tokens: dict[str, str]) -> dict[str, float]:
    """The metrics after a fixed course of requests, good and bad."""
    transport = client_of(service)._transport  # one application for all, because each counts for itself
    clients = {name: client_of(service, token) for name, token in tokens.items()}
    for one in clients.values():
        one._transport = transport
    ana = clients["ana"]
    for sql in (COUNT, "SELECT AVG(age) AS age FROM visits WHERE ward = 'surgery'", "SELECT * FROM visits"):
        ana.post(f"{API}/explain", json={"sql": sql, "epsilon": "0.1"})
        ana.post(f"{API}/ask?wait=30", json={"sql": sql, "epsilon": "0.1"})
    ana.post(f"{API}/ask?wait=30", json={"sql": COUNT, "epsilon": "100"})
    ana.get(f"{API}/tables/visits")
    ana.get(f"{API}/tables/{'x' * 50}")
    clients["ben"].get(f"{API}/ledger")
    return told(clients["auditor"].get(f"{API}/metrics").text)


def test_owners_and_auditors_alone_may_read_them(clients: Clients) -> None:
    assert clients.owner.get(f"{API}/metrics").status_code == 200
    assert clients.auditor.get(f"{API}/metrics").headers["content-type"].startswith("text/plain; version=0.0.4")
    assert [one.get(f"{API}/metrics").status_code for one in (clients.ana, clients.nobody)] == [403, 401]


def test_they_count_requests_refusals_questions_and_budgets(service: ServiceState, tokens: dict[str, str]) -> None:
    found = session(service, tokens)
    assert found['discreet_requests_total{method="POST",route="/api/v1/explain",status="200"}'] == 2
    assert found['discreet_requests_total{method="GET",route="/api/v1/tables/{name}",status="404"}'] == 1
    assert found['discreet_refusals_total{kind="query-refused"}'] == 2
    assert found['discreet_refusals_total{kind="budget-exceeded"}'] == 1
    assert found["discreet_explain_seconds_count"] == 3
    assert found['discreet_questions{state="answered"}'] == 2
    assert found['discreet_budget_spent{account="visits/ana",unit="epsilon"}'] == pytest.approx(0.2)
    assert found['discreet_budget_cap{account="visits",unit="epsilon"}'] == 3


def test_nothing_that_was_sent_becomes_a_name(service: ServiceState, tokens: dict[str, str]) -> None:
    assert "xxx" not in "".join(session(service, tokens))
    client = client_of(service, tokens["owner"])
    client.request("BREW", "/sent-in-a-path?and=a-query")
    text = client.get(f"{API}/metrics").text
    assert "sent-in" not in text
    assert 'method="other",route="unknown"' in text


def test_times_are_kept_of_explaining_alone_and_of_no_other_thing(
    service: ServiceState, tokens: dict[str, str]
) -> None:
    names = {re.match(r"\w+", name)[0] for name in session(service, tokens)}  # type: ignore[index]
    told_alone = {"discreet_requests_total", "discreet_refusals_total", "discreet_questions"}
    budgets = {"discreet_budget_cap", "discreet_budget_spent"}
    explaining = {f"discreet_explain_seconds_{part}" for part in ("bucket", "count", "sum")}
    assert names == told_alone | budgets | explaining | {"discreet_start_time_seconds"}
    assert EXPLAIN in application(service).openapi()["paths"]


def test_the_rows_of_one_person_change_nothing(hospital: Hospital, tokens: dict[str, str], tmp_path: Path) -> None:
    other = tmp_path / "other"
    shutil.copytree(hospital.folder, other)
    everybody = visits()
    fewer = everybody.filter(pc.not_equal(everybody["patient_id"], everybody["patient_id"][0]))
    assert fewer.num_rows < everybody.num_rows
    curator = Curator(other)
    curator.protect(fewer, policy())
    curator.ledger.close()
    found = [session(service, tokens) for service in (hospital.service(), Hospital(other, tokens).service())]
    assert _timeless(found[0]) == _timeless(found[1])


def _timeless(found: dict[str, float]) -> dict[str, float]:
    return {name: value for name, value in found.items() if not re.search("_bucket|_sum|start_time", name)}
