"""A server for a survey: one process, no log of who asked, and a clean end."""

from __future__ import annotations

import signal
import socket
from collections.abc import Callable
from contextlib import suppress

import uvicorn

from discreet.errors import StoreError
from discreet.survey.app import application
from discreet.survey.store import Store
from discreet.web.guarded import GUARDED
from discreet.web.listening import QUIET, address_of, ended_by_signals, listening

__all__ = ["serve"]

_PATIENCE_SECONDS = 10


class _Server(uvicorn.Server):
    """Leaves no order of arrival behind; uvicorn raises the signal that came again, so nothing runs later."""

    def __init__(self, config: uvicorn.Config, store: Store) -> None:
        super().__init__(config)
        self._store = store

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        await super().shutdown(sockets)
        with suppress(StoreError):  # another program may be at work on the file, and the next end tries again
            self._store.forget_order()


def serve(store: Store, host: str, port: int, ready: Callable[[str], object]) -> None:
    """Serve until a signal comes; requests under way are finished first. ``ready`` hears the address."""
    with ended_by_signals(signal.SIGTERM), listening(host, port) as listener:
        ready(address_of(listener))
        _server(store).run(sockets=[listener])


def _server(store: Store) -> _Server:
    """Without a log of requests and without a header that names the software; addresses are in neither."""
    config = uvicorn.Config(
        application(store),
        log_level="warning",
        lifespan="off",
        proxy_headers=False,
        timeout_graceful_shutdown=_PATIENCE_SECONDS,
        **QUIET,
        **GUARDED,
    )
    return _Server(config, store)
