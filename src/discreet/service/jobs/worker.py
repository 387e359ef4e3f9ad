"""The worker: where questions wait for their turn at the rows, a few at a time; members take turns.

Its threads are its own, so that what needs no rows never waits for them. No member has all places, also where several
processes, here or on other hosts, have one each. It answers in the name of the member, under an id that no other member
can take. It holds a lease on what it works on, and takes over what others let go of, here or in another process. A
place at the rows is given on at multiples of the release quantum, so that the start of one question does not tell when
another ended. What a run found waits for such a moment before the ledger hears of it: others are charged meanwhile, and
stand before or behind it.

Of those who wait, everybody comes once before anybody comes twice, so that nobody is kept waiting by one. Who has a
question at the rows comes behind all who have none. Nobody has all places: the last one is left to others, for whoever
held it could keep everybody else waiting for as long as a run may take. Where a process has one place alone, it is not
for those who have one in another process.

>>> turns: FairQueue[int] = FairQueue(places=3)
>>> for member, number in (("ana", 1), ("ana", 2), ("ana", 3), ("ben", 4)):
...     turns.add(member, number)
>>> [turns.take() for _ in range(4)]
[1, 4, 2, None]
>>> turns.leave("ana")
>>> turns.take()
3

What a question led to leaves at multiples of the release quantum after the question came. How long a run over the rows
takes can tell of one heavy person. Rounded up, it tells in which multiple it ended, and where the quantum is longer
than a run, nothing.

>>> wait_until_release(0.3, 2.0), wait_until_release(2.5, 2.0), wait_until_release(5.0, 0.0)
(1.7, 1.5, 0.0)
"""

from __future__ import annotations

import logging
import math
import time
from collections import Counter, OrderedDict, deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from hashlib import sha256
from threading import Event, Lock, Thread
from typing import Generic, TypeVar
from urllib.parse import quote
from weakref import ref

from discreet.curator.answers.answer import Answer
from discreet.curator.answers.arrow import answer_to_arrow
from discreet.curator.curator import Curator
from discreet.errors import DiscreetError, EngineFailure, NotAllowed, StoreError
from discreet.http.problems import choose_problem
from discreet.service.auth.members import Members
from discreet.service.auth.roles import MemberRole
from discreet.service.jobs.jobs import Job, Key, Requests
from discreet.service.logs import log_event
from discreet.time_limits import LEASE

__all__ = ["ASKERS", "FairQueue", "JobWorker", "ReleaseDelay", "answer_job", "wait_until_release"]


T = TypeVar("T")


class FairQueue(Generic[T]):
    """What waits, by who waits for it, and who is at the rows; one thread at a time may use it."""

    def __init__(self, places: int) -> None:
        """Nobody waits for any of the ``places``. Where there is one alone, whoever has it has all."""
        self._most = max(1, places - 1)
        self._waiting: OrderedDict[str, deque[T]] = OrderedDict()
        self._running: Counter[str] = Counter()

    def add(self, member: str, what: T) -> None:
        """Let a member wait for something more, behind what they wait for already."""
        self._waiting.setdefault(member, deque()).append(what)

    def take(self, may_come: Callable[[str], bool] = lambda _: True) -> T | None:
        """What is next; None where nobody waits who may come now. Its member is at the rows until they leave.

        Members are asked about by ``may_come`` in their order, until one may.
        """
        free = sorted(self._waiting, key=lambda one: self._running[one])  # of those with as many, who waits longest
        member = next((one for one in free if self._running[one] < self._most and may_come(one)), None)
        if member is None:
            return None
        own = self._waiting.pop(member)
        found = own.popleft()
        if own:
            self._waiting[member] = own
        self._running[member] += 1
        return found

    def leave(self, member: str) -> None:
        """A member has one question less at the rows."""
        self._running[member] -= 1
        if not self._running[member]:
            del self._running[member]

    def clear(self) -> list[T]:
        """All that waited, which nobody waits for any more."""
        found = [what for own in self._waiting.values() for what in own]
        self._waiting.clear()
        return found


def wait_until_release(elapsed: float, quantum: float) -> float:
    """How long to wait, ``elapsed`` seconds after a question came; a quantum of 0 is none."""
    if quantum <= 0:
        return 0.0
    return max(1, math.ceil(elapsed / quantum)) * quantum - elapsed


_ROUND = LEASE / 4
"""Seconds between two looks at leases."""
Finish = Callable[[], None]
"""Writes down what came of a request."""
Answering = Callable[[Job, "ReleaseDelay"], Answer]
"""Answers a request, and calls the hold once it has read rows."""


class JobWorker:
    """Answers accepted requests with ``answer``, at most ``at_once`` of them at the same time."""

    def __init__(self, requests: Requests, answer: Answering, *, at_once: int, quantum: float = 0.0) -> None:
        """At these ``requests``; nothing is read before the first of them."""
        self._requests = requests
        self._answer = answer
        self._quantum = quantum
        self._rows = ThreadPoolExecutor(at_once, thread_name_prefix="rows")
        self._mine: dict[Key, Future[None]] = {}
        self._turns: FairQueue[tuple[Job, float, Future[None]]] = FairQueue(at_once)
        self._has_one_place = at_once == 1
        self._lock = Lock()
        self._closing = Event()
        self._attendant: Thread | None = None

    @property
    def is_closed(self) -> bool:
        """Whether it takes no more questions."""
        return self._closing.is_set()

    def open(self) -> None:
        """Take up what was left unfinished."""
        self.take_over()
        if self._requests.unfinished():
            self.watch()

    def run(self, job: Job) -> None:
        """Queue a request that was accepted for this worker."""
        arrived = time.monotonic() - max(0.0, self._requests.clock() - job.made)
        with self._lock:
            if job.key not in self._mine and not self._closing.is_set():
                done = self._mine[job.key] = Future()
                self._turns.add(job.member, (job, arrived, done))
                self._rows.submit(self._next)
        self.watch()

    def future(self, key: Key) -> Future[None] | None:
        """What is done when a request of this worker is; None where another worker works on it, or none does."""
        with self._lock:
            return self._mine.get(key)

    def watch(self) -> None:
        """Look after leases, in a thread, until nothing is unfinished."""
        with self._lock:
            if self._attendant is None and not self._closing.is_set():
                self._attendant = Thread(target=_attend, args=(ref(self), self._closing), name="leases", daemon=True)
                self._attendant.start()

    def take_over(self) -> None:
        """Queue what others let go of."""
        for job in self._requests.take_over():
            self.run(job)

    def close(self) -> None:
        """Finish what reads rows now; what waits is left to others, or to the next start."""
        self._closing.set()
        with self._lock:
            for _, _, waiting in self._turns.clear():
                waiting.set_result(None)  # whoever waits for it looks again, and hears that the worker is closed
        self._rows.shutdown(wait=True, cancel_futures=True)
        with self._lock:
            left, self._mine = list(self._mine), {}
        self._requests.release(left)

    def _next(self) -> None:
        with self._lock:
            taken = self._turns.take(self._may_come)
        if taken is None:
            return  # the worker closes, or who waits must wait for a question of their own
        job, arrived, done = taken
        try:
            self._work(job, arrived)
        finally:
            self._leave(job.member)
            with self._lock:
                self._turns.leave(job.member)
                if not self._closing.is_set():
                    self._rows.submit(self._next)  # for who waited for this one to end
            done.set_result(None)

    def _may_come(self, member: str) -> bool:
        """Whether a member may have our only place: not if they have that of another process, which may be the last."""
        if not self._has_one_place:
            return True
        try:
            return self._requests.presence.hold(_at_the_rows(member))
        except Exception as fault:  # better unfair than closed
            log_event("who is at the rows elsewhere is not known", logging.WARNING, error=type(fault).__name__)
            return True

    def _leave(self, member: str) -> None:
        if self._has_one_place:
            with suppress(Exception):
                self._requests.presence.release(_at_the_rows(member))

    def _work(self, job: Job, arrived: float) -> None:
        hold = ReleaseDelay(arrived, self._quantum, self._closing)
        try:
            finish = self._outcome(job, hold)
            hold()
            finish()
        except (StoreError, _Closing):
            return  # it stays accepted, and is tried again at no price when its lease ends, or after the next start
        finally:
            if not self._closing.is_set():
                self._forget(job.key)

    def _outcome(self, job: Job, hold: ReleaseDelay) -> Finish:
        """Answer the question; what came of it is not written down yet."""
        known = self._requests.find(job.key)
        if known is None or not known.is_unfinished:
            return lambda: None
        try:
            answer = self._answer(job, hold)
            data = answer_to_arrow(answer)
        except _Closing:
            raise
        except DiscreetError as fault:
            if isinstance(fault, EngineFailure):
                log_event("a question failed; its member is suspended", logging.ERROR, member=job.member)
            problem = choose_problem(fault)
            return lambda: self._requests.refuse(job.key, problem)
        except Exception as fault:  # the same words whatever the reason, because it can hold a value of a row
            log_event("a question failed", logging.ERROR, error=type(fault).__name__)
            problem = choose_problem(EngineFailure())
            return lambda: self._requests.refuse(job.key, problem)
        return lambda: self._requests.keep(job.key, data, answer.entry)

    def _forget(self, key: Key) -> None:
        with self._lock:
            self._mine.pop(key, None)

    def _look_again(self) -> None:
        """Who waits for a question of theirs elsewhere may come when that has ended, of which nobody tells us."""
        with self._lock:
            if self._has_one_place and self._mine and not self._closing.is_set():
                self._rows.submit(self._next)

    def look_round(self) -> bool:
        """Renew leases, take over others; whether there is anything left to look after."""
        with suppress(StoreError):
            with self._lock:
                mine = list(self._mine)
            self._requests.renew(mine)
            self.take_over()
            self._look_again()
            with self._lock:
                if self._mine or self._requests.unfinished():
                    return True
                self._attendant = None
                return False
        return True


def _at_the_rows(member: str) -> str:
    """What is held while a member has the only place of some process."""
    return f"at the rows: {member}"


class _Closing(Exception):
    """The worker closes while somebody waits for the release quantum."""


class ReleaseDelay:
    """Waits for the next multiple of the release quantum, once."""

    def __init__(self, arrived: float, quantum: float, closing: Event) -> None:
        """Since the request ``arrived``; a worker that is ``closing`` waits for nothing."""
        self._arrived, self._quantum, self._closing = arrived, quantum, closing
        self._is_over = False

    def __call__(self) -> None:
        """Wait, if nobody did so before."""
        seconds = 0.0 if self._is_over else wait_until_release(time.monotonic() - self._arrived, self._quantum)
        if seconds > 0 and self._closing.wait(seconds):
            raise _Closing
        self._is_over = True


def _attend(worker: ref[JobWorker], closing: Event) -> None:
    """Look round now and then, as long as the worker is there."""
    while not closing.wait(_ROUND):
        here = worker()
        if here is None or not here.look_round():
            return
        del here


_LONGEST_NAME = 100
ASKERS = frozenset({MemberRole.OWNER, MemberRole.ANALYST})
"""Who may ask."""


def answer_job(curator: Curator, members: Members, job: Job, hold: Callable[[], object]) -> Answer:
    """The answer; members who left, or may not ask any more, get none. ``hold`` is called once rows were read."""
    found = next((one for one in members.all() if one.name == job.member and one.removed is None), None)
    if found is None or found.role not in ASKERS:
        role = "no member any more" if found is None else f"an {found.role}"
        raise NotAllowed("only owners and analysts may ask", f"<{job.member}, {role}>")
    analyst = None if found.role is MemberRole.OWNER else found.name
    request = f"{_spell(job.member)}/{job.request}"
    asked = job.ask_request
    return curator.ask(**asked.as_ask_arguments(), analyst=analyst, request=request, raw=asked.raw, hold=hold)


def _spell(member: str) -> str:
    """A member's name in an id, short enough for a ledger; a colon is in no name that is spelled with escapes."""
    name = quote(member, safe="")
    return name if len(name) <= _LONGEST_NAME else f"sha256:{sha256(member.encode()).hexdigest()}"
