"""Some are answered while many others wait: for their tokens to be verified, or for the ledger to be replayed."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event

import pytest
from argon2 import PasswordHasher

from discreet.curator.ledger.verify import Verification
from discreet.service.auth.members import Members
from discreet.service.operations import ledger as storages
from discreet.service.state import ServiceState
from tests.service.hospital import Hospital, client_of

WAITING = 45
"""More than there are threads that answer, of which there are 40."""
PATIENCE = 60.0
ME = "/api/v1/me"


class Held(PasswordHasher):
    """Argon2 that lets nobody pass while it is held."""

    def __init__(self) -> None:
        super().__init__(time_cost=1, memory_cost=8, parallelism=1)
        self.open = Event()
        self.reached = Event()

    def verify(self, hash: str | bytes, password: str | bytes) -> bool:  # noqa: A002
        self.reached.set()
        assert self.open.wait(2 * PATIENCE)
        return super().verify(hash, password)


def test_who_was_let_in_is_answered_while_many_wait_for_verification(hospital: Hospital, service: ServiceState) -> None:
    hasher = Held()
    hasher.open.set()
    service.members = Members(service.store, hasher=hasher)
    ana = client_of(service, hospital.tokens["ana"])
    assert ana.get(ME).status_code == 200
    others = [client_of(service, service.members.issue("ben", days=1)) for _ in range(WAITING)]
    hasher.open.clear()
    hasher.reached.clear()
    with ThreadPoolExecutor(WAITING + 1) as threads:
        try:
            waiting = [threads.submit(other.get, ME) for other in others]
            assert hasher.reached.wait(PATIENCE)
            assert threads.submit(ana.get, ME).result(PATIENCE).status_code == 200
            assert not any(one.done() for one in waiting)
        finally:
            hasher.open.set()
        assert {one.result(PATIENCE).status_code for one in waiting} == {200}


def test_questions_are_priced_while_many_verify_the_ledger(
    hospital: Hospital, service: ServiceState, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened, reached, replay, runs = Event(), Event(), storages.replay, []

    def held(folder: Path) -> Verification:
        runs.append(folder)
        reached.set()
        assert opened.wait(2 * PATIENCE)
        return replay(folder)

    monkeypatch.setattr(storages, "replay", held)
    auditor, ben = (client_of(service, hospital.tokens[name]) for name in ("auditor", "ben"))
    with ThreadPoolExecutor(WAITING + 1) as threads:
        try:
            waiting = [threads.submit(auditor.get, "/api/v1/ledger/verification") for _ in range(WAITING)]
            assert reached.wait(PATIENCE)
            asked = {"sql": "SELECT COUNT(*) FROM visits", "epsilon": 1}
            priced = threads.submit(ben.post, "/api/v1/explain", json=asked)
            assert priced.result(PATIENCE / 4).status_code == 200
            assert not any(one.done() for one in waiting)
        finally:
            opened.set()
        assert {one.result(PATIENCE).json()["is_sound"] for one in waiting} == {True}
    assert len(runs) < WAITING / 4  # one for all who asked while it ran
