"""A question that fails in a service: its member is suspended, the owner sees why and lifts it, and nothing is free."""

from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from discreet.curator.ledger.verify import verify
from discreet.engines.duckdb.snapshot import DuckDBSnapshot
from discreet.engines.engine import Unsent
from discreet.errors import EngineFailure, EngineUnavailable, NotAllowed, Suspended
from discreet.service.jobs.jobs import AskRequest
from discreet.service.operations import ask as asking
from discreet.service.operations import ledger as storages
from discreet.service.operations import oversight
from discreet.service.operations import tables as telling
from discreet.service.operations.ledger import FAILURE
from discreet.service.state import ServiceState
from tests.service.hospital import Clients, Hospital
from tests.service.test_asking import COUNT, ask, spent
from tests.service.visiting import ANA, AUDITOR, BEN, OWNER

CANARY = "canary 4711 of one row"
OTHER = f"{COUNT} WHERE age > 30"


@pytest.fixture
def broken(monkeypatch: pytest.MonkeyPatch) -> Callable[[Exception | None], None]:
    """Runs over rows that raise, until they are told not to."""
    run = DuckDBSnapshot._run

    def breaks(fault: Exception | None) -> None:
        def failing(*_: object) -> Any:
            assert fault is not None
            raise fault from ConnectionRefusedError(CANARY)

        monkeypatch.setattr(DuckDBSnapshot, "_run", run if fault is None else failing)

    return breaks


@pytest.fixture
def failed(clients: Clients, broken: Callable[[Exception | None], None]) -> Any:
    """The problem of a question that failed."""
    broken(ValueError(CANARY))
    said = ask(clients.ana, COUNT, request="one")
    broken(None)
    return said.json()


def test_who_failed_is_refused_with_the_record_and_others_are_not(
    clients: Clients, failed: Any, service: ServiceState
) -> None:
    assert (failed["status"], failed["type"]) == (500, "urn:discreet:engine-failure")
    assert failed["detail"] == str(EngineFailure())
    (record,) = [one["record"] for one in clients.owner.get("/api/v1/suspensions").json()]
    for refused in (
        ask(clients.ana, OTHER),
        clients.ana.post("/api/v1/explain", json={"sql": OTHER, "epsilon": "0.1"}),
        clients.ana.get("/api/v1/typical-questions", params={"table": "visits"}),
    ):
        said = refused.json()
        assert (refused.status_code, said["type"], said["record"]) == (403, "urn:discreet:suspended", record)
    assert ask(clients.ben, OTHER).status_code == 200
    assert ask(clients.owner, OTHER).status_code == 200
    assert ask(clients.ana, COUNT, request="one").json() == failed  # and not that they are suspended
    assert verify(service.curator.folder).problems == []


def test_owners_and_auditors_see_it_and_owners_lift_it(clients: Clients, failed: Any, service: ServiceState) -> None:
    seen = clients.owner.get("/api/v1/suspensions").json()
    assert clients.auditor.get("/api/v1/suspensions").json() == seen
    assert [(one["analyst"], one["tables"], one["sql"], one["lifted"]) for one in seen] == [
        ("ana", ["visits"], COUNT, None)
    ]
    place = f"/api/v1/suspensions/{seen[0]['record']}/lift"
    assert clients.auditor.post(place, json={"because": "x"}).status_code == 403
    assert clients.ana.post(place, json={"because": "x"}).status_code == 403
    assert clients.owner.post(place, json={"because": ""}).status_code == 422
    assert clients.owner.post(place, json={}).status_code == 422
    lifted = clients.owner.post(place, json={"because": "the disk was full"}).json()
    assert (lifted["by"], lifted["because"]) == ("owner", "the disk was full")
    assert clients.owner.get("/api/v1/suspensions").json() == []
    assert clients.owner.get("/api/v1/suspensions", params={"lifted": True}).json() == [lifted]
    before = spent(service)
    assert ask(clients.ana, COUNT, request="one").json() == failed  # the request stands for what failed
    assert spent(service) == before
    assert ask(clients.ana, COUNT, request="two").status_code == 200
    assert spent(service) == before + Fraction(1, 10)


def test_the_storages_tell_it_to_their_readers_alone(clients: Clients, failed: Any, service: ServiceState) -> None:
    assert CANARY not in json.dumps(failed)
    record = oversight.suspensions(service, OWNER)[0].record
    oversight.lift(service, OWNER, record, "looked at it")
    kinds = {one.kind: one for one in storages.entries(service, AUDITOR)}
    assert "ana is suspended at visits" in kinds[FAILURE].text
    assert (kinds[FAILURE].analyst, kinds[FAILURE].tables) == ("ana", ("visits",))
    assert kinds["lift"].text == f"lifted the suspension of record {record}, by owner: looked at it"
    assert {one.kind for one in storages.entries(service, ANA)} == {"question"}
    for principal in (ANA, BEN, AUDITOR):
        with pytest.raises(NotAllowed):
            oversight.lift(service, principal, record, "please")
    for principal in (ANA, BEN):
        with pytest.raises(NotAllowed):
            oversight.suspensions(service, principal)


def test_an_engine_that_is_down_is_another_problem_and_the_same_request_goes_on(
    clients: Clients, service: ServiceState, broken: Callable[[Exception | None], None]
) -> None:
    broken(Unsent())
    down = ask(clients.ana, COUNT, request="one")
    assert (down.status_code, down.json()["type"]) == (503, "urn:discreet:engine-unavailable")
    assert down.json()["detail"] == str(EngineUnavailable())
    assert spent(service) == 0
    broken(None)
    assert clients.owner.get("/api/v1/suspensions").json() == []
    assert ask(clients.ana, COUNT, request="one").status_code == 200
    assert spent(service) == Fraction(1, 10)
    [only] = telling.spending(service, OWNER, "visits")
    assert only.analyst == "ana"
    returned = next(one for one in storages.entries(service, OWNER) if one.kind == "return")
    assert "because no row was read" in returned.text
    assert verify(service.curator.folder).problems == []


def test_a_suspension_outlives_the_service(
    hospital: Hospital, service: ServiceState, failed: Any, clients: Clients
) -> None:
    service.close()
    again = hospital.service()
    with pytest.raises(Suspended):
        asking.ask(again, ANA, AskRequest(OTHER, "0.1"))
    oversight.lift(again, OWNER, oversight.suspensions(again, OWNER)[0].record, "looked at it")
    assert asking.ask(again, ANA, AskRequest(OTHER, "0.1")).answer.charged
    again.close()
