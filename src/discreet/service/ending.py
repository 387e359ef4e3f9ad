"""The end of a process: questions that read rows are finished within a limit, and the rest waits for the next start."""

from __future__ import annotations

import os
from threading import Thread

from starlette.concurrency import run_in_threadpool
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from discreet.service.house import House
from discreet.service.logs import log_event

__all__ = ["Ending"]


class Ending:
    """Closes the house once its application has answered everything that was under way."""

    def __init__(self, app: ASGIApp, house: House) -> None:
        """Around an application of ``house``."""
        self.app = app
        self._house = house

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass everything on; before the end is reported, close the house."""

        async def send_after_closing(message: Message) -> None:
            if message["type"] == "lifespan.shutdown.complete":
                await run_in_threadpool(self._close)
            await send(message)

        await self.app(scope, receive, send_after_closing if scope["type"] == "lifespan" else send)

    def _close(self) -> None:
        """Close the house; a question that takes too long was charged, and is answered after the next start."""
        closing = Thread(target=self._house.close, daemon=True)
        closing.start()
        closing.join(self._house.settings.shutdown_seconds)
        if closing.is_alive():
            log_event("ended while a question was read; it is answered after the next start")
            os._exit(0)  # Python would wait for its threads
        log_event("ended")
