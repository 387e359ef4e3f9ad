"""A server for a survey: one process, no log of who asked, and a clean end."""

from __future__ import annotations

import errno
import socket
from collections.abc import Callable
from contextlib import suppress

import uvicorn

from discreet.errors import InvalidValue, StoreError
from discreet.survey.app import application
from discreet.survey.store import Store

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
    with _listening(host, port) as listener:
        place, number = listener.getsockname()[:2]
        ready(f"http://{f'[{place}]' if ':' in place else place}:{number}")
        _server(store).run(sockets=[listener])


def _server(store: Store) -> _Server:
    """Without a log of requests and without a header that names the software; addresses are in neither."""
    config = uvicorn.Config(
        application(store),
        access_log=False,
        log_level="warning",
        lifespan="off",
        server_header=False,
        proxy_headers=False,
        limit_concurrency=_MOST_AT_ONCE,
        timeout_graceful_shutdown=_PATIENCE_SECONDS,
    )
    return _Server(config, store)


def _listening(host: str, port: int) -> socket.socket:
    try:
        return socket.create_server(
            (host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET, backlog=1024
        )
    except (OSError, OverflowError) as fault:
        known = {
            errno.EADDRINUSE: "another program uses it; pass another --port",
            errno.EACCES: "pass a --port above 1023",
        }
        remedy = known.get(getattr(fault, "errno", None) or 0, "pass another --host or --port")
        raise InvalidValue("the server must be able to listen at its address", f"{host}:{port}", remedy) from None
