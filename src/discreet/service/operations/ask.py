"""Asking: what a question would cost, its answer, and the same answer again.

A request has an id, of the member's choice or ours. The same id serves the same answer for one charge: sent twice,
sent at once, sent after a crash or a lost connection. Its answer is kept before anybody sees it, and is served without
a look at the curator, whatever became of the data since. A refusal is not kept for good: it costs nothing, and the same
request may be sent again when the ledger or a policy has changed. A run that failed was charged, and its request stands
for that failure from then on: it is not run again.

A question that names a table that the analyst may not know of hears what it would hear if there were none. The curator
says that the analyst is not named in the policy, or that a column is misspelled, which tells that there is such a
table. So what it refuses is read again in a catalog without these tables, and what that says is said.

Whoever waits for an answer holds no thread, so that many may wait and others are still served.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from concurrent.futures import wait
from dataclasses import dataclass
from typing import Any

from starlette.concurrency import run_in_threadpool

from discreet.catalog.catalog import Catalog
from discreet.curator.answers.answer import Answer
from discreet.curator.answers.arrow import answer_from_arrow
from discreet.curator.curator import Explanation
from discreet.curator.planner import PublicRows
from discreet.errors import DiscreetError, NotFound, StoreError
from discreet.http.bodies import check_request_id
from discreet.http.problems import choose_fault
from discreet.noise.source import fresh_id
from discreet.query.bind.multiplicity import CountAlike
from discreet.query.passes import split
from discreet.service.auth.roles import Principal
from discreet.service.jobs.jobs import AskRequest, Job, State, check_same
from discreet.service.jobs.worker import ASKERS
from discreet.service.state import ServiceState

__all__ = [
    "ELSEWHERE",
    "MOST_WAITING",
    "UNFINISHED",
    "StoredAnswer",
    "answer",
    "answers",
    "ask",
    "certificate",
    "check_names",
    "explain",
    "finished",
    "job",
    "start",
    "wait_finished",
]


def check_names(sql: str, catalog: Catalog, analyst: str, count_alike: CountAlike) -> None:
    """Refuse a question that names a table which the analyst may not know of, as if it were not there."""
    if _has_hidden(catalog, analyst):
        split(sql, catalog.seen_by(analyst), count_alike=count_alike)


def _has_hidden(catalog: Catalog, analyst: str) -> bool:
    return any(not table.public and analyst not in table.analysts for table in catalog)


UNFINISHED = 16
"""How many questions of one member may wait at a time."""
ELSEWHERE = 0.2
"""Seconds between two looks at a request that another process works on."""


@dataclass(frozen=True)
class StoredAnswer:
    """An answer as it is kept."""

    job: Job
    """The request."""
    arrow: bytes
    """The whole answer as one Arrow stream."""

    @property
    def answer(self) -> Answer:
        """The answer, as the curator gave it when it was first asked."""
        return answer_from_arrow(self.arrow)


def explain(service: ServiceState, principal: Principal, ask_request: AskRequest) -> Explanation:
    """Price, shape and expected error; reads no rows and costs nothing."""
    principal.must_be(ASKERS)
    try:
        return service.curator.explain(**ask_request.as_ask_arguments(), analyst=principal.analyst)
    except DiscreetError as fault:
        refusal = fault
    if principal.analyst is not None:
        public = PublicRows(service.curator.catalog, service.curator.engine)
        check_names(ask_request.sql, service.curator.catalog, principal.analyst, public.count_alike)
    raise refusal


def start(service: ServiceState, principal: Principal, ask_request: AskRequest, request: str | None = None) -> Job:
    """Accept a question, or find the one that the id stands for. What can be refused without rows is refused here."""
    principal.must_be(ASKERS)
    key = principal.name, fresh_id() if request is None else check_request_id(request)
    known = service.requests.find(key)
    check_same(known, ask_request)
    if known is None or (known.state is State.REFUSED and not known.is_failed):
        try:
            price = explain(service, principal, ask_request).price
        except DiscreetError as refusal:
            service.note_refusal(principal.name, refusal, ask_request.sql)
            raise
        found, is_ours = service.requests.accept(key, ask_request, price, UNFINISHED)
        if is_ours:
            service.worker.run(found)
            return found
    return job(service, principal, key[1])


def job(service: ServiceState, principal: Principal, request: str) -> Job:
    """How far a request of the principal is. One that nobody works on any more is taken over."""
    principal.must_be(ASKERS)
    found = service.requests.find((principal.name, request))
    if found is None:
        raise _unknown(request)
    if found.is_unfinished and service.worker.future(found.key) is None:
        if not service.requests.is_held(found):
            service.worker.take_over()
        service.worker.watch()
    return found


def ask(
    service: ServiceState, principal: Principal, ask_request: AskRequest, request: str | None = None
) -> StoredAnswer:
    """The private answer, however long it takes; refused questions raise."""
    found = start(service, principal, ask_request, request)
    while found.is_unfinished:
        found = finished(service, principal, found.request, 60.0)
    return _kept(service, found)


def finished(service: ServiceState, principal: Principal, request: str, seconds: float) -> Job:
    """The request when it is finished, or as it is after some seconds."""
    end = time.monotonic() + seconds
    found = job(service, principal, request)
    while found.is_unfinished and (left := end - time.monotonic()) > 0:
        if service.worker.is_closed:
            raise StoreError("the service is closing", None, "ask again with the same request id")
        future = service.worker.future(found.key)
        if future is not None:
            wait([future], left)
        else:
            time.sleep(min(left, ELSEWHERE))
        found = job(service, principal, request)
    return found


def answers(service: ServiceState, principal: Principal, limit: int = 50, before: str | None = None) -> list[Job]:
    """What the principal asked, newest first; ``before`` is the id of the last one that was seen."""
    principal.must_be(ASKERS)
    return service.requests.page(principal.name, limit, before)


def answer(service: ServiceState, principal: Principal, request: str) -> StoredAnswer:
    """The answer to a request of the principal, as it was first given."""
    return _kept(service, job(service, principal, request))


def certificate(service: ServiceState, principal: Principal, request: str) -> dict[str, Any]:
    """The paper that proves an answer; questions about public tables alone have none."""
    found = answer(service, principal, request).answer.certificate
    if not found:
        raise NotFound("an answer about protected tables has a certificate", request)
    return found


def _kept(service: ServiceState, found: Job) -> StoredAnswer:
    if found.state is State.REFUSED:
        raise choose_fault(found.problem or {})
    data = service.requests.answer(found.key)
    if data is None:
        raise NotFound("the request must be answered", found.request, "it is being answered; look again later")
    return StoredAnswer(found, data)


def _unknown(request: str) -> NotFound:
    return NotFound("there must be such a request of yours", request)


MOST_WAITING = 4 * UNFINISHED
"""Requests of one member that wait at the same time. Each holds a connection, of which the service has some hundreds:
whoever has so many hears at once how far a question is, and looks again later."""
_WAITING: Counter[str] = Counter()


async def wait_finished(service: ServiceState, principal: Principal, request: str, seconds: float) -> Job:
    """The request when it is finished, or as it is after some seconds. Who stops waiting stops nothing else."""
    if _WAITING[principal.name] >= MOST_WAITING:
        return await run_in_threadpool(job, service, principal, request)
    _WAITING[principal.name] += 1
    try:
        return await _wait(service, principal, request, time.monotonic() + seconds)
    finally:
        _WAITING[principal.name] -= 1
        if not _WAITING[principal.name]:
            del _WAITING[principal.name]


async def _wait(service: ServiceState, principal: Principal, request: str, end: float) -> Job:
    found = await run_in_threadpool(job, service, principal, request)
    while found.is_unfinished and not service.worker.is_closed and (left := end - time.monotonic()) > 0:
        future = service.worker.future(found.key)
        if future is None:
            await asyncio.sleep(min(left, ELSEWHERE))
        else:
            await asyncio.wait([asyncio.wrap_future(future)], timeout=left)
        found = await run_in_threadpool(job, service, principal, request)
    return found
