"""Health: yes or no, to anybody, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from discreet.errors import DiscreetError, LedgerError, StoreError
from discreet.service.jobs.jobs import AskRequest
from discreet.service.monitoring import Health
from discreet.service.operations import ask as asking
from discreet.service.state import ServiceState
from tests.full_disk import can_mount, files_of_at_most, small_disk
from tests.service.hospital import Clients, client_of, founded
from tests.service.visiting import ANA


def test_anybody_may_ask(clients: Clients) -> None:
    assert clients.nobody.get("/health/live").json() == {"status": "live"}
    assert clients.nobody.get("/health/ready").json() == {"status": "ready"}


def test_a_ledger_that_cannot_be_read_is_told_in_one_word(service: ServiceState) -> None:
    def fail() -> None:
        raise LedgerError("secret words")

    service.curator.ledger.head = fail  # type: ignore[assignment,method-assign]
    client = client_of(service)
    answer = client.get("/health/ready")
    assert answer.status_code == 503
    assert answer.json()["detail"] == "The service is not ready."
    assert client.get("/health/live").status_code == 200


def test_a_storage_that_cannot_be_written_is_told_within_a_second(service: ServiceState) -> None:
    now = [0.0]
    health = Health(service, lambda: now[0])
    assert health.is_ready()
    write = service.store.write

    def fail(*_: object, **__: object) -> None:
        raise StoreError("secret words")

    service.store.write = fail  # type: ignore[assignment,method-assign]
    assert health.is_ready()  # it looked a moment ago
    now[0] = 1.0
    assert not health.is_ready()
    service.store.write = write  # type: ignore[method-assign]
    now[0] = 2.0
    assert health.is_ready()


def test_a_full_disk_is_told(service: ServiceState) -> None:
    with files_of_at_most(1000):
        assert not Health(service).is_ready()
    assert Health(service).is_ready()
    assert not list(service.curator.folder.glob("tmp*"))


def test_a_real_disk_that_is_full_is_told_while_questions_are_refused_and_no_longer() -> None:
    if not can_mount():
        pytest.skip("mounting a small disk needs root")
    with small_disk(32 * 2**20) as disk:
        service = founded(Path(disk.root) / "hospital").service()
        ask_request = AskRequest("SELECT COUNT(*) AS n FROM visits", "0.1")
        assert Health(service).is_ready()
        disk.fill(0)
        assert not Health(service).is_ready()
        with pytest.raises(DiscreetError):
            asking.ask(service, ANA, ask_request, "one")
        assert not Health(service).is_ready()
        disk.empty()
        assert Health(service).is_ready()
        asking.ask(service, ANA, ask_request, "one")
