"""Where a server listens, how it ends, and how uvicorn is told to keep quiet about principals."""

from __future__ import annotations

import errno
import signal
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from discreet.errors import InvalidValue

__all__ = ["LOOPBACK", "QUIET", "end_by_signals", "format_address", "listening"]


LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})
"""Addresses that only this computer reaches."""
QUIET: dict[str, Any] = {"access_log": False, "server_header": False}
"""Uvicorn's settings of every server of the service: no log of requests, no header that names the software."""


def listening(host: str, port: int) -> socket.socket:
    """A socket that listens at an address; 0 takes a free port."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=1024)
    except (OSError, OverflowError) as fault:
        known = {
            errno.EADDRINUSE: "another program uses it; pass another --port",
            errno.EACCES: "pass a --port above 1023",
        }
        remedy = known.get(getattr(fault, "errno", None) or 0, "pass another --host or --port")
        raise InvalidValue("the server must be able to listen at its address", f"{host}:{port}", remedy) from None


def format_address(listener: socket.socket, scheme: str = "http") -> str:
    """Where a browser on this computer reaches it."""
    place, number = listener.getsockname()[:2]
    return f"{scheme}://{f'[{place}]' if ':' in place else place}:{number}"


@contextmanager
def end_by_signals(*signals: signal.Signals) -> Iterator[None]:
    """Until a server listens to signals itself, and after it has ended because of one, they mean a clean end."""

    def end(*_: object) -> None:
        raise SystemExit(0)

    before = {one: signal.signal(one, end) for one in signals}
    try:
        yield
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)
