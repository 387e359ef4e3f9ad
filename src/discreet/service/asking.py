"""Asking: what a question would cost, its answer, and the same answer again.

A request has an id, of the member's choice or ours. The same id serves the same answer for one charge: sent twice,
sent at once, sent after a crash or a lost connection. Its answer is kept before anybody sees it, and is served without
a look at the curator, whatever became of the data since. A refusal is not kept for good: it costs nothing, and the same
request may be sent again when the ledger or a policy has changed. A run that failed was charged, and its request stands
for that failure from then on: it is not run again.
"""

from __future__ import annotations

import time
from concurrent.futures import wait
from dataclasses import dataclass
from typing import Any

from discreet.curator.answer import Answer
from discreet.curator.answer_arrow import answer_from_arrow
from discreet.curator.curator import Explanation
from discreet.curator.public_rows import PublicRows
from discreet.errors import DiscreetError, NotFound, StoreError
from discreet.noise.source import fresh_id
from discreet.service.answering import ASKERS
from discreet.service.hidden_tables import check_names
from discreet.service.house import House
from discreet.service.requests import Job, State, check_same
from discreet.service.visitor import Visitor
from discreet.service.wish import Wish
from discreet.web.kinds import fault_of
from discreet.web.request_id import checked_request_id

__all__ = [
    "ELSEWHERE",
    "UNFINISHED",
    "Kept",
    "answer",
    "answers",
    "ask",
    "certificate",
    "explain",
    "finished",
    "job",
    "start",
]

UNFINISHED = 16
"""How many questions of one member may wait at a time."""
ELSEWHERE = 0.2
"""Seconds between two looks at a request that another process works on."""


@dataclass(frozen=True)
class Kept:
    """An answer as it is kept."""

    job: Job
    """The request."""
    arrow: bytes
    """The whole answer as one Arrow stream."""

    @property
    def answer(self) -> Answer:
        """The answer, as the curator gave it when it was first asked."""
        return answer_from_arrow(self.arrow)


def explain(house: House, visitor: Visitor, wish: Wish) -> Explanation:
    """Price, shape and expected error; reads no rows and costs nothing."""
    visitor.must_be(ASKERS)
    try:
        return house.curator.explain(**wish.told(), analyst=visitor.analyst)
    except DiscreetError as fault:
        refusal = fault
    if visitor.analyst is not None:
        public = PublicRows(house.curator.catalog, house.curator.engine)
        check_names(wish.sql, house.curator.catalog, visitor.analyst, public.count_alike)
    raise refusal


def start(house: House, visitor: Visitor, wish: Wish, request: str | None = None) -> Job:
    """Accept a question, or find the one that the id stands for. What can be refused without rows is refused here."""
    visitor.must_be(ASKERS)
    key = visitor.name, fresh_id() if request is None else checked_request_id(request)
    known = house.requests.find(key)
    check_same(known, wish)
    if known is None or (known.state is State.REFUSED and not known.is_failed):
        try:
            price = explain(house, visitor, wish).price
        except DiscreetError as refusal:
            house.note_refusal(visitor.name, refusal, wish.sql)
            raise
        found, is_ours = house.requests.accept(key, wish, price, UNFINISHED)
        if is_ours:
            house.desk.run(found)
            return found
    return job(house, visitor, key[1])


def job(house: House, visitor: Visitor, request: str) -> Job:
    """How far a request of the visitor is. One that nobody works on any more is taken over."""
    visitor.must_be(ASKERS)
    found = house.requests.find((visitor.name, request))
    if found is None:
        raise _unknown(request)
    if found.is_unfinished and house.desk.future(found.key) is None:
        if not house.requests.is_held(found):
            house.desk.take_over()
        house.desk.watch()
    return found


def ask(house: House, visitor: Visitor, wish: Wish, request: str | None = None) -> Kept:
    """The private answer, however long it takes; refused questions raise."""
    found = start(house, visitor, wish, request)
    while found.is_unfinished:
        found = finished(house, visitor, found.request, 60.0)
    return _kept(house, found)


def finished(house: House, visitor: Visitor, request: str, seconds: float) -> Job:
    """The request when it is finished, or as it is after some seconds."""
    end = time.monotonic() + seconds
    found = job(house, visitor, request)
    while found.is_unfinished and (left := end - time.monotonic()) > 0:
        if house.desk.is_closed:
            raise StoreError("the service is closing", None, "ask again with the same request id")
        future = house.desk.future(found.key)
        if future is not None:
            wait([future], left)
        else:
            time.sleep(min(left, ELSEWHERE))
        found = job(house, visitor, request)
    return found


def answers(house: House, visitor: Visitor, limit: int = 50, before: str | None = None) -> list[Job]:
    """What the visitor asked, newest first; ``before`` is the id of the last one that was seen."""
    visitor.must_be(ASKERS)
    return house.requests.page(visitor.name, limit, before)


def answer(house: House, visitor: Visitor, request: str) -> Kept:
    """The answer to a request of the visitor, as it was first given."""
    return _kept(house, job(house, visitor, request))


def certificate(house: House, visitor: Visitor, request: str) -> dict[str, Any]:
    """The paper that proves an answer; questions about public tables alone have none."""
    found = answer(house, visitor, request).answer.certificate
    if not found:
        raise NotFound("an answer about protected tables has a certificate", request)
    return found


def _kept(house: House, found: Job) -> Kept:
    if found.state is State.REFUSED:
        raise fault_of(found.problem or {})
    data = house.requests.answer(found.key)
    if data is None:
        raise NotFound("the request must be answered", found.request, "it is being answered; look again later")
    return Kept(found, data)


def _unknown(request: str) -> NotFound:
    return NotFound("there must be such a request of yours", request)
