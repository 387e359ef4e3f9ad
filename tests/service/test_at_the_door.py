"""Who was let in is answered while many others wait at the door for their tokens to be verified."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Event

from argon2 import PasswordHasher

from discreet.service.house import House
from discreet.service.members import Members
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


def test_who_was_let_in_is_answered_while_many_wait_for_verification(hospital: Hospital, house: House) -> None:
    hasher = Held()
    hasher.open.set()
    house.members = Members(house.store, hasher=hasher)
    ana = client_of(house, hospital.tokens["ana"])
    assert ana.get(ME).status_code == 200
    others = [client_of(house, house.members.issue("ben", days=1)) for _ in range(WAITING)]
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
