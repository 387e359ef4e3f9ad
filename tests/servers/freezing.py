"""Freezing a PostgreSQL server: all its processes stop, as on a host that hangs; its sockets stay open."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tests.servers.postgres import PostgresServer
from tests.servers.stopping import stop_processes

__all__ = ["frozen"]


def _processes(parent: int) -> list[int]:
    """A process and those that it started."""
    found = [parent]
    for place in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            fields = (place / "stat").read_text().rpartition(")")[2].split()
            if int(fields[1]) == parent:
                found.append(int(place.name))
    return found


@contextmanager
def frozen(server: PostgresServer) -> Iterator[None]:
    """While the block runs, the server does nothing at all."""
    stopped = _processes(server.process)
    try:
        stop_processes(stopped)
        yield
    finally:
        for one in reversed(stopped):
            with suppress(ProcessLookupError):
                os.kill(one, signal.SIGCONT)
