"""A client that hands its requests to an application in this process, all on one event loop, as a server has one."""

from __future__ import annotations

import asyncio
from functools import cache
from threading import Thread

import httpx
from starlette.types import ASGIApp

__all__ = ["InProcess"]


@cache
def _loop() -> asyncio.AbstractEventLoop:
    """The loop of this process, which runs until the process ends."""
    loop = asyncio.new_event_loop()
    Thread(target=loop.run_forever, daemon=True).start()
    return loop


class InProcess(httpx.BaseTransport):
    """Requests go to ``app``, and may come from many threads at once; its failures come back as answers."""

    def __init__(self, app: ASGIApp) -> None:
        self._transport = httpx.ASGITransport(app, raise_app_exceptions=False)  # type: ignore[arg-type]

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        return asyncio.run_coroutine_threadsafe(self._answer(request), _loop()).result()

    async def _answer(self, request: httpx.Request) -> httpx.Response:
        body = httpx.ByteStream(request.read())
        sent = httpx.Request(request.method, request.url, headers=request.headers, stream=body)
        answer = await self._transport.handle_async_request(sent)
        return httpx.Response(answer.status_code, headers=answer.headers, content=await answer.aread())
