"""Health: yes or no, to anybody, and nothing else."""

from __future__ import annotations

from discreet.errors import LedgerError, StoreError
from discreet.service.health import Health
from discreet.service.house import House
from tests.service.hospital import Clients, client_of


def test_anybody_may_ask(clients: Clients) -> None:
    assert clients.nobody.get("/health/live").json() == {"status": "live"}
    assert clients.nobody.get("/health/ready").json() == {"status": "ready"}


def test_a_ledger_that_cannot_be_read_is_told_in_one_word(house: House) -> None:
    def fail() -> None:
        raise LedgerError("secret words")

    house.curator.ledger.head = fail  # type: ignore[assignment,method-assign]
    client = client_of(house)
    answer = client.get("/health/ready")
    assert answer.status_code == 503
    assert answer.json()["detail"] == "The service is not ready."
    assert client.get("/health/live").status_code == 200


def test_a_book_that_cannot_be_written_is_told_within_a_second(house: House) -> None:
    now = [0.0]
    health = Health(house, lambda: now[0])
    assert health.is_ready()
    write = house.store.write

    def fail(*_: object, **__: object) -> None:
        raise StoreError("secret words")

    house.store.write = fail  # type: ignore[assignment,method-assign]
    assert health.is_ready()  # it looked a moment ago
    now[0] = 1.0
    assert not health.is_ready()
    house.store.write = write  # type: ignore[method-assign]
    now[0] = 2.0
    assert health.is_ready()
