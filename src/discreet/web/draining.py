"""A refusal that comes before the body was read: the rest of it is taken in, so that the refusal is heard.

A server that closes a connection with unread bytes resets it, and the sender may lose the answer.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress

from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = ["Draining"]

_SECONDS = 5.0


class Draining:
    """Reads what is left of a body before an answer leaves, up to a size and within a time."""

    def __init__(self, app: ASGIApp, most: int) -> None:
        """Around an application; at most about ``most`` bytes are read in vain."""
        self.app = app
        self._most = most

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, and its answer back once the request is here."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        is_whole = False

        async def receive_and_note() -> Message:
            nonlocal is_whole
            message = await receive()
            is_whole = is_whole or not message.get("more_body", False)
            return message

        async def send_when_whole(message: Message) -> None:
            if message["type"] == "http.response.start" and not is_whole:
                await self._drain(receive_and_note)
            await send(message)

        await self.app(scope, receive_and_note, send_when_whole)

    async def _drain(self, receive: Receive) -> None:
        left = self._most
        with suppress(TimeoutError):
            async with asyncio.timeout(_SECONDS):
                while left > 0:
                    message = await receive()
                    left -= len(message.get("body", b""))
                    if not message.get("more_body", False):
                        return
