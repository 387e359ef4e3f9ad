"""The desk: where questions wait for their turn at the rows, a few at a time; members take turns.

Its threads are its own, so that what needs no rows never waits for them. No member has all places, also where several
processes, here or on other hosts, have one each. It holds a lease on
what it works on, and takes over what others let go of, here or in another process. A place at the rows is given on at
multiples of the release quantum, so that the start of one question does not tell when another ended. What a run found
waits for such a moment before the ledger hears of it: others are charged meanwhile, and stand before or behind it.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from threading import Event, Lock, Thread
from weakref import ref

from discreet.curator.answer import Answer
from discreet.curator.answer_arrow import answer_to_arrow
from discreet.errors import DiscreetError, EngineFailure, StoreError
from discreet.service.logs import log_event
from discreet.service.quantum import wait_until_release
from discreet.service.requests import LEASE, Job, Key, Requests
from discreet.service.turns import Turns
from discreet.web.kinds import problem_of

__all__ = ["Desk", "Hold"]

_ROUND = LEASE / 4
"""Seconds between two looks at leases."""
Finish = Callable[[], None]
"""Writes down what came of a request."""
Answering = Callable[[Job, "Hold"], Answer]
"""Answers a request, and calls the hold once it has read rows."""


class Desk:
    """Answers accepted requests with ``answer``, at most ``at_once`` of them at the same time."""

    def __init__(self, requests: Requests, answer: Answering, *, at_once: int, quantum: float = 0.0) -> None:
        """At these ``requests``; nothing is read before the first of them."""
        self._requests = requests
        self._answer = answer
        self._quantum = quantum
        self._rows = ThreadPoolExecutor(at_once, thread_name_prefix="rows")
        self._mine: dict[Key, Future[None]] = {}
        self._turns: Turns[tuple[Job, float, Future[None]]] = Turns(at_once)
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
        """Queue a request that was accepted for this desk."""
        arrived = time.monotonic() - max(0.0, self._requests.clock() - job.made)
        with self._lock:
            if job.key not in self._mine and not self._closing.is_set():
                done = self._mine[job.key] = Future()
                self._turns.add(job.member, (job, arrived, done))
                self._rows.submit(self._next)
        self.watch()

    def future(self, key: Key) -> Future[None] | None:
        """What is done when a request of this desk is; None where another desk works on it, or none does."""
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
                waiting.set_result(None)  # whoever waits for it looks again, and hears that the desk is closed
        self._rows.shutdown(wait=True, cancel_futures=True)
        with self._lock:
            left, self._mine = list(self._mine), {}
        self._requests.release(left)

    def _next(self) -> None:
        with self._lock:
            taken = self._turns.take(self._may_come)
        if taken is None:
            return  # the desk closes, or who waits must wait for a question of their own
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
        hold = Hold(arrived, self._quantum, self._closing)
        try:
            finish = self._outcome(job, hold)
            hold()
            finish()
        except (StoreError, _Closing):
            return  # it stays accepted, and is tried again at no price when its lease ends, or after the next start
        finally:
            if not self._closing.is_set():
                self._forget(job.key)

    def _outcome(self, job: Job, hold: Hold) -> Finish:
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
            problem = problem_of(fault)
            return lambda: self._requests.refuse(job.key, problem)
        except Exception as fault:  # the same words whatever the reason, because it can hold a value of a row
            log_event("a question failed", logging.ERROR, error=type(fault).__name__)
            problem = problem_of(EngineFailure())
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
    """The desk closes while somebody waits for the release quantum."""


class Hold:
    """Waits for the next multiple of the release quantum, once."""

    def __init__(self, arrived: float, quantum: float, closing: Event) -> None:
        """Since the request ``arrived``; a desk that is ``closing`` waits for nothing."""
        self._arrived, self._quantum, self._closing = arrived, quantum, closing
        self._is_over = False

    def __call__(self) -> None:
        """Wait, if nobody did so before."""
        seconds = 0.0 if self._is_over else wait_until_release(time.monotonic() - self._arrived, self._quantum)
        if seconds > 0 and self._closing.wait(seconds):
            raise _Closing
        self._is_over = True


def _attend(desk: ref[Desk], closing: Event) -> None:
    """Look round now and then, as long as the desk is there."""
    while not closing.wait(_ROUND):
        here = desk()
        if here is None or not here.look_round():
            return
        del here
