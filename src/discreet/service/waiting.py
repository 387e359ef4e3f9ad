"""Waiting for an answer without holding a thread, so that many may wait and others are still served."""

from __future__ import annotations

import asyncio
import time

from starlette.concurrency import run_in_threadpool

from discreet.service import asking
from discreet.service.house import House
from discreet.service.requests import Job
from discreet.service.visitor import Visitor

__all__ = ["finished"]


async def finished(house: House, visitor: Visitor, request: str, seconds: float) -> Job:
    """The request when it is finished, or as it is after some seconds. Who stops waiting stops nothing else."""
    end = time.monotonic() + seconds
    found = await run_in_threadpool(asking.job, house, visitor, request)
    while found.is_unfinished and not house.desk.is_closed and (left := end - time.monotonic()) > 0:
        future = house.desk.future(found.key)
        if future is None:
            await asyncio.sleep(min(left, asking.ELSEWHERE))
        else:
            await asyncio.wait([asyncio.wrap_future(future)], timeout=left)
        found = await run_in_threadpool(asking.job, house, visitor, request)
    return found
