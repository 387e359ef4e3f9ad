"""Bodies of requests within limits, on every route: a sender can keep a server neither full nor waiting.

What arrives is counted as it arrives, whatever the headers say about it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from http import HTTPStatus

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from discreet.web.problem import problem

__all__ = ["BodyLimit"]

_SECONDS = 20.0
_BYTES_A_SECOND = 10_000.0
_LONGEST_NUMBER = 18
_CLOSE = {"Connection": "close"}  # what is left of the body is not read


class BodyLimit:
    """Ends a request whose body is too long or too slow; whoever was reading it stops there."""

    def __init__(self, app: ASGIApp, most: Callable[[Scope], Awaitable[int]], seconds: float = _SECONDS) -> None:
        """Around an application; ``most`` says how many bytes a request may have.

        A body must arrive within ``seconds`` and a second more for every 10,000 bytes.
        """
        self.app = app
        self._most = most
        self._seconds = seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, with a body that is watched."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        body = _Body(receive, await self._most(scope), self._seconds)
        begun = False

        async def watched(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        try:
            body.check_stated(Headers(scope=scope).get("content-length"))
            await self.app(scope, body.receive, watched)
        except _Refused as refusal:
            if begun:
                raise
            await problem(HTTPStatus(refusal.status_code), refusal.detail, _CLOSE)(scope, receive, send)


class _Refused(HTTPException):
    """A body that is not read to its end; a web application answers it as it answers all such exceptions."""

    def __init__(self, status: HTTPStatus, words: str) -> None:
        super().__init__(status.value, words, _CLOSE)


class _Body:
    def __init__(self, receive: Receive, most: int, seconds: float) -> None:
        self._receive = receive
        self._most = most
        self._seconds = seconds
        self._began = asyncio.get_running_loop().time()
        self._length = 0
        self._is_whole = False

    def check_stated(self, stated: str | None) -> None:
        """Refuse a body before any of it is here, where its sender says how long it is."""
        if stated is None:
            return
        if not stated.isdecimal() or len(stated) > _LONGEST_NUMBER or int(stated) > self._most:
            raise self._too_long()

    async def receive(self) -> Message:
        """The next part, in time."""
        if self._is_whole:  # what comes now is no part of the body
            return await self._receive()
        end = self._began + self._seconds + self._length / _BYTES_A_SECOND
        try:
            async with asyncio.timeout_at(end):
                message = await self._receive()
        except TimeoutError:
            words = f"A body must arrive within {self._seconds:g} seconds, and a second more for every 10,000 bytes."
            raise _Refused(HTTPStatus.REQUEST_TIMEOUT, words) from None
        self._length += len(message.get("body", b""))
        self._is_whole = not message.get("more_body", False)
        if self._length > self._most:
            raise self._too_long()
        return message

    def _too_long(self) -> _Refused:
        return _Refused(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"The body must have at most {self._most:,} bytes.")
