"""Waiting for an answer without holding a thread, so that many may wait and others are still served."""

from __future__ import annotations

import asyncio
import time
from collections import Counter

from starlette.concurrency import run_in_threadpool

from discreet.service import asking
from discreet.service.house import House
from discreet.service.requests import Job
from discreet.service.visitor import Visitor

__all__ = ["MOST_WAITING", "finished"]

MOST_WAITING = 4 * asking.UNFINISHED
"""Requests of one member that wait at the same time. Each holds a connection, of which the service has some hundreds:
whoever has so many hears at once how far a question is, and looks again later."""
_WAITING: Counter[str] = Counter()


async def finished(house: House, visitor: Visitor, request: str, seconds: float) -> Job:
    """The request when it is finished, or as it is after some seconds. Who stops waiting stops nothing else."""
    if _WAITING[visitor.name] >= MOST_WAITING:
        return await run_in_threadpool(asking.job, house, visitor, request)
    _WAITING[visitor.name] += 1
    try:
        return await _waited(house, visitor, request, time.monotonic() + seconds)
    finally:
        _WAITING[visitor.name] -= 1
        if not _WAITING[visitor.name]:
            del _WAITING[visitor.name]


async def _waited(house: House, visitor: Visitor, request: str, end: float) -> Job:
    found = await run_in_threadpool(asking.job, house, visitor, request)
    while found.is_unfinished and not house.desk.is_closed and (left := end - time.monotonic()) > 0:
        future = house.desk.future(found.key)
        if future is None:
            await asyncio.sleep(min(left, asking.ELSEWHERE))
        else:
            await asyncio.wait([asyncio.wrap_future(future)], timeout=left)
        found = await run_in_threadpool(asking.job, house, visitor, request)
    return found
