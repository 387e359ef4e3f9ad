"""The release quantum: how long rows took does not show in when an answer leaves."""

from __future__ import annotations

import time
from concurrent.futures import Future, ThreadPoolExecutor, wait
from pathlib import Path
from threading import Event

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import ks_2samp

from discreet.curator.answers.answer import Answer
from discreet.errors import EngineFailure
from discreet.query.plan.sensitivity import AggregationPlan
from discreet.query.run.measure import Measured, Run
from discreet.service.auth.members import Members
from discreet.service.auth.roles import MemberRole
from discreet.service.jobs.jobs import AskRequest, Job, Requests
from discreet.service.jobs.worker import JobWorker, ReleaseDelay, wait_until_release
from discreet.service.operations import ask as asking
from discreet.service.operations import ledger as storages
from discreet.service.state import ServiceState
from discreet.service.storage import ServiceStore
from tests.service.hospital import CHEAP, Hospital, client_of
from tests.service.test_asking import COUNT, ask
from tests.service.visiting import ANA, OWNER

EACH = 24
"""Questions with the heavy person, and as many without."""
FALSE_ALARMS = 1e-6
"""How often two samples of one law are told apart, at most: the exact p-value of Kolmogorov and Smirnov is compared."""
AT_ONCE = 12
QUANTUM = 1.0
HEAVY = QUANTUM / 2
"""Seconds that the rows of the heavy person take."""
BOTH = pytest.mark.parametrize(("quantum", "apart"), [(QUANTUM, False), (0.0, True)], ids=["with", "without a quantum"])
"""Without a quantum the same comparison sees the heavy person: it is able to."""


def are_told_apart(times: list[float]) -> bool:
    """Whether every other time, with the heavy person, follows another law than those between."""
    found = ks_2samp(times[::2], times[1::2], method="exact")
    return bool(found.pvalue <= FALSE_ALARMS)


def heaviness(number: int) -> float:
    """Every other question reads the heavy person's rows."""
    return HEAVY * (number % 2)


@given(st.floats(0, 1e6), st.floats(0.001, 3600))
def test_the_end_is_the_next_multiple_and_never_the_start(elapsed: float, quantum: float) -> None:
    end = (elapsed + wait_until_release(elapsed, quantum)) / quantum
    assert end == pytest.approx(round(end), rel=1e-9)
    assert round(end) >= 1
    assert 0 <= wait_until_release(elapsed, quantum) <= quantum


# Answers over the whole service -----------------------------------------------------------------------------------


def weigh_down(service: ServiceState) -> None:
    """Rows are slow where the heavy person is among them; what is answered is the same for all."""
    answer = asking.ask(service, OWNER, AskRequest(COUNT, "0.1")).answer

    def slowly(job: Job, _: ReleaseDelay) -> Answer:
        time.sleep(heaviness(int(job.request[1:])))
        return answer

    service.worker._answer = slowly


def response_time(client: httpx.Client, number: int) -> float:
    start = time.perf_counter()
    assert ask(client, COUNT, request=f"r{number}").status_code == 200
    return time.perf_counter() - start


@BOTH
def test_a_heavy_person_does_not_show_in_response_times(hospital: Hospital, quantum: float, apart: bool) -> None:
    service = hospital.service(questions_at_once=AT_ONCE + 1)  # the last place is for others
    weigh_down(service)
    service.worker._quantum = quantum
    client = client_of(service, hospital.tokens["ana"])
    with ThreadPoolExecutor(AT_ONCE) as pool:
        times = list(pool.map(lambda number: response_time(client, number), range(2 * EACH)))
    assert are_told_apart(times) is apart
    assert min(times) >= quantum
    service.close()


def test_an_answer_that_is_ready_is_shown_nowhere_before_its_time(hospital: Hospital) -> None:
    service = hospital.service(release_quantum=60)
    ended = watched(service)
    job = asking.start(service, ANA, AskRequest(COUNT, "0.1"), "one")
    assert ended.wait(30)
    time.sleep(HEAVY)  # long enough to write it down; what others are charged now would stand behind it
    assert not any(entry.body["kind"] == "answer" for entry in service.curator.ledger.entries())
    assert asking.job(service, ANA, "one") == job
    assert service.requests.answer(job.key) is None
    assert [one.answered for one in storages.entries(service, ANA)] == [None]
    service.close()  # which does not wait for the quantum
    assert asking.answers(service, ANA)[0].is_unfinished
    after = hospital.service()
    entry = asking.ask(after, ANA, AskRequest(COUNT, "0.1"), "one").answer.entry
    assert [one.answered for one in storages.entries(after, ANA)] == [entry]
    after.close()


def watched(service: ServiceState) -> Event:
    """Is set when a run over rows has ended."""
    curator, ended = service.curator, Event()
    measured = curator._measured

    def noted(plan: AggregationPlan, run: Run) -> Measured:
        found = measured(plan, run)
        ended.set()
        return found

    curator._measured = noted  # type: ignore[method-assign]
    return ended


def test_one_waits_for_the_quantum_once() -> None:
    closing = Event()
    hold = ReleaseDelay(time.monotonic(), 0.05, closing)
    hold()
    closing.set()
    hold()  # to wait again would be told that the worker closes


# Failures, and the next in the queue ------------------------------------------------------------------------------


class Failing:
    """Questions that take as long as their rows do, and then fail."""

    def __init__(self, folder: Path, quantum: float) -> None:
        self.requests = Requests(store := ServiceStore(folder))
        self.began: dict[str, float] = {}
        self._quantum = quantum
        members = Members(store, hasher=CHEAP)
        for number in range(2 * EACH):
            members.add(f"m{number}", MemberRole.ANALYST)

    def worker(self, at_once: int) -> JobWorker:
        return JobWorker(self.requests, self._fail, at_once=at_once, quantum=self._quantum)

    def _fail(self, job: Job, _: ReleaseDelay) -> Answer:
        self.began[job.request] = time.monotonic()
        time.sleep(heaviness(int(job.request[1:])) if job.request.startswith("r") else 0)
        raise EngineFailure

    def run(self, worker: JobWorker, request: str, number: int) -> Future[None]:
        """For a member of this number alone, because a member who is at the rows of one worker waits at all others."""
        job, _ = self.requests.accept((f"m{number}", f"{request}{number}"), AskRequest(COUNT, 1), None, 1000)
        worker.run(job)
        return worker.future(job.key) or Future()

    def seen_after(self, number: int) -> float:
        found = self.requests.find((f"m{number}", f"r{number}"))
        assert found is not None
        assert found.settled is not None
        return found.settled - found.made


@BOTH
def test_a_heavy_person_does_not_show_in_when_a_charged_run_fails(tmp_path: Path, quantum: float, apart: bool) -> None:
    failing = Failing(tmp_path, quantum)
    worker = failing.worker(2 * EACH)
    wait([failing.run(worker, "r", number) for number in range(2 * EACH)])
    worker.close()
    assert are_told_apart([failing.seen_after(number) for number in range(2 * EACH)]) is apart


@BOTH
def test_a_heavy_person_does_not_show_in_when_the_next_question_begins(
    tmp_path: Path, quantum: float, apart: bool
) -> None:
    """The charge of the next question can be seen in the budget, and so can its time."""
    failing = Failing(tmp_path, quantum)
    workers = [failing.worker(1) for _ in range(2 * EACH)]
    pairs = [
        (failing.run(worker, "r", number), failing.run(worker, "next", number)) for number, worker in enumerate(workers)
    ]
    wait([following for _, following in pairs])
    began = failing.began
    assert are_told_apart([began[f"next{number}"] - began[f"r{number}"] for number in range(2 * EACH)]) is apart
    for worker in workers:
        worker.close()
