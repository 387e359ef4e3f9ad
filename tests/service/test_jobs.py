"""Questions as jobs: they queue in order, outlive their process and their connection, and cost once."""

from __future__ import annotations

import asyncio
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from discreet.curator.curator import Curator
from discreet.curator.fuse import MOST_RUNS
from discreet.curator.ledger.verify import verify
from discreet.errors import EngineFailure, NotAllowed, RequestConflict, Suspended, TooManyRequests
from discreet.service.jobs.jobs import AskRequest, Job, State
from discreet.service.jobs.worker import FairQueue, ReleaseDelay
from discreet.service.operations import ask as asking
from discreet.service.operations import ask as waiting
from discreet.service.operations.ask import MOST_WAITING
from discreet.service.state import ServiceState
from discreet.time_limits import LEASE
from tests.service.hospital import Clients, Hospital, policy, visits
from tests.service.served import KEEP, PATIENCE, ROOT, STEPS
from tests.service.test_asking import ARROW, COUNT, ask, spent
from tests.service.visiting import ANA, BEN, OWNER
from tests.threads import in_a_loop

ASK_REQUEST = AskRequest(COUNT, "0.1")


class Gate:
    """Rows that nobody can read until it is opened; remembers who came in which order."""

    def __init__(self, service: ServiceState) -> None:
        self.opened = threading.Event()
        self.order: list[str] = []
        self.reading = self.most = 0
        self._lock = threading.Lock()
        self._answered = service.worker._answer
        service.worker._answer = self._answer

    def _answer(self, job: Job, hold: ReleaseDelay) -> Any:
        with self._lock:
            self.order.append(f"{job.member}/{job.request}")
            self.reading += 1
            self.most = max(self.most, self.reading)
        assert self.opened.wait(PATIENCE)
        try:
            return self._answered(job, hold)
        finally:
            with self._lock:
                self.reading -= 1


def until(holds: Callable[[], bool]) -> None:
    """Wait until something holds."""
    end = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < end, "it never came to hold"
        time.sleep(0.01)


def test_a_member_waits_on_few_connections_at_once(service: ServiceState) -> None:
    """Each takes a connection for up to a minute, and somebody who had all of them would keep others out."""
    gate = Gate(service)
    asking.start(service, ANA, ASK_REQUEST, "one")
    asking.start(service, BEN, ASK_REQUEST, "two")

    async def crowd() -> None:
        waiters = [
            asyncio.create_task(waiting.wait_finished(service, ANA, "one", PATIENCE)) for _ in range(MOST_WAITING)
        ]
        await asyncio.sleep(0)
        assert (await waiting.wait_finished(service, ANA, "one", PATIENCE)).is_unfinished
        other = asyncio.create_task(waiting.wait_finished(service, BEN, "two", PATIENCE))
        gate.opened.set()
        assert not any(one.is_unfinished for one in await asyncio.gather(*waiters, other))

    in_a_loop(crowd())


# Over the network -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("params", "headers"), [({"wait": 0}, {}), ({}, {"Prefer": "respond-async"})])
def test_a_long_question_is_a_job(
    clients: Clients, service: ServiceState, params: dict[str, Any], headers: dict[str, str]
) -> None:
    gate = Gate(service)
    body = {"sql": COUNT, "epsilon": 0.1, "request": "one"}
    accepted = clients.ana.post("/api/v1/ask", json=body, params=params, headers=headers)
    assert (accepted.status_code, accepted.headers["location"]) == (202, "/api/v1/jobs/one")
    assert ("preference-applied" in accepted.headers) == bool(headers)
    assert accepted.json()["state"] == "accepted"
    assert clients.ana.get("/api/v1/answers/one").status_code == 404
    gate.opened.set()
    done = clients.ana.get(accepted.headers["location"], params={"wait": 60}, timeout=PATIENCE).json()
    assert done["state"] == "answered"
    assert done["elapsed"] >= 0
    assert (
        clients.ana.get("/api/v1/answers/one").json()["rows"] == ask(clients.ana, COUNT, request="one").json()["rows"]
    )
    assert spent(service) == Fraction(1, 10)


def test_a_refused_job_says_why(clients: Clients) -> None:
    ask(clients.ana, COUNT, request="one", epsilon=2)
    job = clients.ana.get("/api/v1/jobs/one").json()
    assert (job["state"], job["problem"]["type"]) == ("refused", "urn:discreet:budget-exceeded")
    assert set(job) == {"request", "sql", "state", "price", "made", "settled", "elapsed", "problem"}


def test_prices_are_told_while_every_thread_of_the_server_could_be_waiting(
    clients: Clients, service: ServiceState
) -> None:
    """48 questions wait; the server's pool has 40 threads. It waits forever if an asker holds one of them."""
    gate = Gate(service)
    members = (clients.ana, clients.ben, clients.owner)
    with ThreadPoolExecutor(3 * asking.UNFINISHED) as pool:
        waiting = [
            pool.submit(ask, client, f"{COUNT} WHERE age > {20 + number}", epsilon="0.001")
            for client in members
            for number in range(asking.UNFINISHED)
        ]
        until(lambda: len(service.requests.unfinished()) == len(waiting))
        explained = clients.ben.post("/api/v1/explain", json={"sql": COUNT, "epsilon": 1}, timeout=PATIENCE)
        assert explained.status_code == 200
        refused = ask(clients.ana, COUNT)
        assert (refused.status_code, refused.json()["type"]) == (429, "urn:discreet:too-many-requests")
        gate.opened.set()
        assert {one.result().status_code for one in waiting} == {200}
    assert gate.most == service.settings.questions_at_once


def test_who_hangs_up_stops_nothing_and_gets_nothing_back(clients: Clients, service: ServiceState) -> None:
    gate = Gate(service)
    asking.start(service, ANA, ASK_REQUEST, "one")
    until(lambda: gate.reading == 1)

    async def hang_up() -> None:
        waiter = asyncio.create_task(waiting.wait_finished(service, ANA, "one", PATIENCE))
        await asyncio.sleep(0.05)
        waiter.cancel()
        with suppress(asyncio.CancelledError):
            await waiter
        assert waiter.cancelled()

    in_a_loop(hang_up())
    gate.opened.set()
    kept = asking.ask(service, ANA, ASK_REQUEST, "one")
    assert ask(clients.ana, COUNT, ARROW, request="one").content == kept.arrow
    assert gate.order == ["ana/one"]
    assert spent(service) == Fraction(1, 10)


# The worker ---------------------------------------------------------------------------------------------------------


def test_who_asks_much_does_not_keep_others_waiting(hospital: Hospital) -> None:
    service = hospital.service(questions_at_once=1)
    gate = Gate(service)
    for number in range(8):
        asking.start(service, ANA, ASK_REQUEST, f"r{number}")
    until(lambda: bool(gate.order))
    asking.start(service, BEN, ASK_REQUEST, "only")
    gate.opened.set()
    asking.ask(service, ANA, ASK_REQUEST, "r7")
    assert gate.order.index("ben/only") <= 2
    assert [one for one in gate.order if one.startswith("ana")] == [f"ana/r{number}" for number in range(8)]
    service.close()


def test_questions_are_answered_in_order_a_few_at_a_time(service: ServiceState) -> None:
    gate = Gate(service)
    for number in range(8):
        asking.start(service, (ANA, BEN)[number % 2], AskRequest(COUNT, Fraction(1, 100 + number)), f"r{number}")
    until(lambda: gate.reading == service.settings.questions_at_once)
    gate.opened.set()
    until(lambda: not service.requests.unfinished())
    for name, first in (("ana", 0), ("ben", 1)):
        own = [one for one in gate.order if one.startswith(name)]
        assert own == [f"{name}/r{number}" for number in range(first, 8, 2)]
    assert gate.most == 2


@pytest.mark.parametrize(("places", "at_once"), [(1, 1), (2, 1), (3, 2)])
def test_nobody_has_all_places_at_the_rows(hospital: Hospital, places: int, at_once: int) -> None:
    service = hospital.service(questions_at_once=places)
    gate = Gate(service)
    for number in range(5):
        asking.start(service, ANA, AskRequest(COUNT, Fraction(1, 100 + number)), f"r{number}")
    until(lambda: gate.reading == at_once)
    if places > 1:
        asking.start(service, BEN, AskRequest(COUNT, Fraction(1, 200)), "now")
        until(lambda: "ben/now" in gate.order)
    assert gate.reading == places
    assert sum(one.startswith("ana") for one in gate.order) == at_once
    gate.opened.set()
    until(lambda: not service.requests.unfinished())
    assert len(gate.order) == (6 if places > 1 else 5)
    service.close()


def test_who_has_a_question_at_the_rows_comes_behind_all_who_have_none() -> None:
    turns: FairQueue[str] = FairQueue(places=4)
    for what in ("a1", "a2", "a3", "a4", "b1", "b2", "c1"):
        turns.add(what[0], what)
    assert [turns.take() for _ in range(4)] == ["a1", "b1", "c1", "a2"]
    turns.leave("a")
    assert turns.take() == "b2"  # both have one there, and b waits longer
    assert [turns.take() for _ in range(3)] == ["a3", "a4", None]
    assert turns.clear() == []


def test_one_member_does_not_have_the_only_places_of_several_processes(hospital: Hospital) -> None:
    services = [hospital.service(questions_at_once=1) for _ in range(2)]
    gates = [Gate(service) for service in services]
    for number, service in enumerate(services):
        asking.start(service, ANA, AskRequest(COUNT, Fraction(1, 100 + number)), f"r{number}")
        if number == 0:
            until(lambda: gates[0].reading == 1)
    asking.start(services[1], BEN, ASK_REQUEST, "mine")
    until(lambda: gates[1].order == ["ben/mine"])
    gates[1].opened.set()
    until(lambda: not asking.job(services[1], BEN, "mine").is_unfinished)
    assert gates[1].order == ["ben/mine"]  # ana waits for her own
    gates[0].opened.set()
    until(lambda: not services[1].requests.unfinished())
    assert gates[1].order == ["ben/mine", "ana/r1"]
    for service in services:
        service.close()


def test_one_member_cannot_fill_the_worker(service: ServiceState) -> None:
    gate = Gate(service)
    for number in range(asking.UNFINISHED):
        asking.start(service, ANA, ASK_REQUEST, f"r{number}")
    with pytest.raises(TooManyRequests):
        asking.start(service, ANA, ASK_REQUEST, "one-more")
    assert asking.start(service, ANA, ASK_REQUEST, "r3").is_unfinished  # it waits already
    assert asking.start(service, BEN, ASK_REQUEST, "r0").is_unfinished
    gate.opened.set()
    until(lambda: not service.requests.unfinished())
    assert asking.ask(service, ANA, ASK_REQUEST, "one-more").answer.charged is False


def test_closing_leaves_what_waits_to_the_next_start(hospital: Hospital) -> None:
    service = hospital.service(questions_at_once=1)
    gate = Gate(service)
    for number in range(3):
        asking.start(service, ANA, AskRequest(COUNT, Fraction(1, 100 + number)), f"r{number}")
    until(lambda: gate.reading == 1)
    closing = threading.Thread(target=service.close)
    closing.start()
    until(lambda: service.worker.is_closed)
    gate.opened.set()
    closing.join()
    assert [one.state for one in asking.answers(service, ANA)][::-1] == [State.ANSWERED, State.ACCEPTED, State.ACCEPTED]
    after = hospital.service()
    until(lambda: not after.requests.unfinished())
    assert {one.state for one in asking.answers(after, ANA)} == {State.ANSWERED}
    after.close()


def test_who_was_removed_meanwhile_gets_no_answer(service: ServiceState) -> None:
    gate = Gate(service)
    asking.start(service, ANA, ASK_REQUEST, "one")
    service.store.write(lambda database: database.execute("UPDATE member SET removed = 1 WHERE name = 'ana'"))
    gate.opened.set()
    until(lambda: not service.requests.unfinished())
    with pytest.raises(NotAllowed):
        asking.answer(service, ANA, "one")
    assert spent(service) == 0


# Leases -----------------------------------------------------------------------------------------------------------


def abandoned(hospital: Hospital, clock: float) -> None:
    """A request that was accepted by a process that is gone, at some time on its clock."""
    service = hospital.service()
    service.requests.clock = lambda: clock
    service.requests.accept(("ana", "one"), ASK_REQUEST, None, 16)
    service.close()


@pytest.mark.parametrize("ago", [LEASE + 1, 86_400.0, -86_400.0], ids=["ended", "long ago", "from a clock set back"])
def test_a_lease_that_is_nobodys_is_taken_over_at_the_next_start(hospital: Hospital, ago: float) -> None:
    abandoned(hospital, time.time() - ago)
    service = hospital.service()
    until(lambda: not service.requests.unfinished())
    assert asking.answer(service, ANA, "one").job.state is State.ANSWERED
    assert spent(service) == Fraction(1, 10)
    service.close()


@pytest.mark.parametrize("skew", [LEASE / 4, -LEASE / 4])
def test_a_host_whose_clock_differs_a_little_leaves_others_their_work(hospital: Hospital, skew: float) -> None:
    one, other = hospital.service(), hospital.service()
    gate, idle = Gate(one), Gate(other)
    other.requests.clock = lambda: time.time() + skew
    asking.start(one, ANA, ASK_REQUEST, "one")
    until(lambda: gate.reading == 1)
    assert asking.job(other, ANA, "one").is_unfinished
    assert other.worker.look_round()
    assert other.worker.future(("ana", "one")) is None
    gate.opened.set()
    assert asking.ask(other, ANA, ASK_REQUEST, "one").answer.charged
    assert idle.order == []
    for service in (one, other):
        service.close()


def test_a_lease_that_ends_later_is_taken_over_by_looking(hospital: Hospital) -> None:
    first = hospital.service()  # it starts before there is anything to take over
    now = time.time()
    abandoned(hospital, now)
    assert first.worker.future(("ana", "one")) is None
    first.requests.clock = lambda: now + LEASE / 2
    assert asking.job(first, ANA, "one").is_unfinished
    assert first.worker.future(("ana", "one")) is None
    first.requests.clock = lambda: now + LEASE + 1
    assert asking.ask(first, ANA, ASK_REQUEST, "one").answer.charged
    assert spent(first) == Fraction(1, 10)
    first.close()


@pytest.mark.parametrize("jump", [86_400.0, -86_400.0])
def test_a_clock_that_jumps_loses_and_doubles_nothing(hospital: Hospital, jump: float) -> None:
    """Two services in one folder: the clock jumps while one works, so the other takes the work over as well."""
    one, other = hospital.service(), hospital.service()
    gates = Gate(one), Gate(other)
    asking.start(one, ANA, ASK_REQUEST, "one")
    until(lambda: gates[0].reading == 1)
    for service in (one, other):
        service.requests.clock = lambda: time.time() + jump
    assert asking.job(other, ANA, "one").is_unfinished
    until(lambda: gates[1].reading == 1)
    for gate in gates:
        gate.opened.set()
    until(lambda: not one.requests.unfinished())
    assert asking.answer(one, ANA, "one").arrow == asking.answer(other, ANA, "one").arrow
    until(lambda: gates[0].reading == gates[1].reading == 0)
    assert asking.ask(other, ANA, ASK_REQUEST, "one").job.state is State.ANSWERED
    assert spent(one) == Fraction(1, 10)
    assert verify(hospital.folder).is_sound
    for service in (one, other):
        service.close()


def test_leases_are_renewed_while_their_question_is_answered(service: ServiceState) -> None:
    gate = Gate(service)
    asking.start(service, ANA, ASK_REQUEST, "one")
    until(lambda: gate.reading == 1)
    first = asking.job(service, ANA, "one").lease
    assert service.worker.look_round()
    assert asking.job(service, ANA, "one").lease > first
    gate.opened.set()
    until(lambda: not service.requests.unfinished())
    assert not service.worker.look_round()


# Kill -9 ----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def all_killed(first_hospital: Hospital, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Hospital]:
    """Per step, a hospital whose process was killed there while it answered a question."""
    folder, found = tmp_path_factory.mktemp("killed"), {}
    for number, step in enumerate(STEPS):
        shutil.copytree(first_hospital.folder, folder / str(number))
        found[step] = Hospital(folder / str(number), first_hospital.tokens)
    arguments = [text for step, one in found.items() for text in (str(one.folder), step)]
    subprocess.run([sys.executable, "-m", "tests.service.dying", *arguments], cwd=ROOT, check=True, timeout=PATIENCE)
    return found


@pytest.fixture
def killed(all_killed: dict[str, Hospital], step: str, tmp_path: Path) -> Hospital:
    """A copy of the hospital that was killed at this step."""
    shutil.copytree(all_killed[step].folder, tmp_path / "copy")
    return Hospital(tmp_path / "copy", all_killed[step].tokens)


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.some(2)
def test_what_a_killed_process_left_is_answered_after_the_restart_for_one_charge(killed: Hospital, step: str) -> None:
    service = killed.service()
    assert spent(service) == (0 if step == "before the charge" else Fraction(1, 10))
    assert asking.job(service, ANA, "one").is_unfinished
    service.requests.clock = lambda: time.time() + LEASE
    first, again = (asking.ask(service, ANA, ASK_REQUEST, "one") for _ in range(2))
    assert first.arrow == again.arrow
    assert first.answer.charged is (step != KEEP)
    assert spent(service) == Fraction(1, 10)
    assert verify(killed.folder).is_sound
    service.close()


@pytest.mark.parametrize("ingests", [1, 2])
@pytest.mark.parametrize("step", STEPS)
@pytest.mark.some(3)
def test_what_a_killed_process_left_is_answered_also_when_new_data_came_before_the_restart(
    killed: Hospital, step: str, ingests: int
) -> None:
    owner = Curator(killed.folder)
    before = owner.engine.version("visits")
    for _ in range(ingests):
        owner.protect(visits(), policy())
    after = owner.engine.version("visits")
    service = killed.service()
    service.requests.clock = lambda: time.time() + LEASE
    found = asking.ask(service, ANA, ASK_REQUEST, "one")
    assert found.arrow == asking.ask(service, ANA, ASK_REQUEST, "one").arrow
    was_measured, is_kept = step == KEEP, ingests == 1 and step != "before the charge"
    assert found.answer.certificate["tables"]["visits"] == (before if was_measured or is_kept else after)
    assert spent(service) == Fraction(1, 10)
    with pytest.raises(RequestConflict):
        asking.ask(service, ANA, AskRequest(COUNT, "0.2"), "one")
    service.close()
    assert verify(killed.folder).problems == []
    assert len(list((killed.folder / "store").glob("rows-*.duckdb"))) == 1


def test_a_question_that_kills_the_service_each_time_is_not_run_for_ever(
    first_hospital: Hospital, tmp_path: Path
) -> None:
    shutil.copytree(first_hospital.folder, tmp_path / "copy")
    hospital = Hospital(tmp_path / "copy", first_hospital.tokens)
    arguments = [str(hospital.folder), "before the answer is in the ledger"] * MOST_RUNS
    subprocess.run([sys.executable, "-m", "tests.service.dying", *arguments], cwd=ROOT, check=True, timeout=PATIENCE)
    service = hospital.service()
    assert service.curator.suspensions() == []
    service.requests.clock = lambda: time.time() + MOST_RUNS * LEASE
    for _ in range(2):
        with pytest.raises(EngineFailure):
            asking.ask(service, ANA, ASK_REQUEST, "one")
    assert [one.analyst for one in service.curator.suspensions()] == ["ana"]
    with pytest.raises(Suspended):
        asking.ask(service, ANA, AskRequest(COUNT, "0.2"), "two")
    assert asking.ask(service, BEN, ASK_REQUEST, "one").answer.charged
    assert spent(service) == Fraction(2, 10)
    service.close()
    assert verify(hospital.folder).problems == []


def test_the_owner_may_ask_in_jobs_too(service: ServiceState) -> None:
    assert asking.ask(service, OWNER, ASK_REQUEST, "one").answer.price == asking.job(service, OWNER, "one").price
