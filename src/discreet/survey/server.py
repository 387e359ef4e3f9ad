"""A server for a survey: one process, no log of who asked, and a clean end."""

from __future__ import annotations

import socket
from collections.abc import Callable
from contextlib import suppress

import uvicorn

from discreet.errors import StoreError
from discreet.survey.app import application
from discreet.survey.store import Store
from discreet.web.listening import QUIET, address_of, listening

__all__ = ["serve"]

_MOST_AT_ONCE = 512
_PATIENCE_SECONDS = 10


class _Server(uvicorn.Server):
    """Leaves no order of arrival behind; uvicorn ends the process by the signal that came, so nothing runs later."""

    def __init__(self, config: uvicorn.Config, store: Store) -> None:
        super().__init__(config)
        self._store = store

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        await super().shutdown(sockets)
        with suppress(StoreError):  # another program may be at work on the file, and the next end tries again
            self._store.forget_order()


def serve(store: Store, host: str, port: int, ready: Callable[[str], object]) -> None:
    """Serve until a signal comes; requests under way are finished first. ``ready`` hears the address."""
    with listening(host, port) as listener:
        ready(address_of(listener))
        _server(store).run(sockets=[listener])


def _server(store: Store) -> _Server:
    """Without a log of requests and without a header that names the software; addresses are in neither."""
    config = uvicorn.Config(
        application(store),
        log_level="warning",
        lifespan="off",
        proxy_headers=False,
        limit_concurrency=_MOST_AT_ONCE,
        timeout_graceful_shutdown=_PATIENCE_SECONDS,
        **QUIET,
    )
    return _Server(config, store)
