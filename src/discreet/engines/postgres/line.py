"""The line to the server on which one question is asked, so that another thread can end what waits for an answer.

The server is asked to give up the statement. A server that hangs, or that nobody reaches any more, does not hear that;
so after a moment the line is cut on this side, and whatever waits for an answer ends.
"""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from psycopg import Connection

__all__ = ["Line"]

_GRACE = 1.0
"""Seconds in which a server that is well gives up a statement."""


class Line:
    """One connection at a time, and the way to end what is asked on it."""

    def __init__(self) -> None:
        """To nowhere yet."""
        self._turn = threading.Lock()
        self._held: tuple[Connection[Any], socket.socket] | None = None
        self._last: float | None = None
        """When the server may be asked for the last time."""
        self.is_cut = False
        """Whether a server did not hear that it should give up."""

    @contextmanager
    def to(self, connection: Connection[Any]) -> Iterator[None]:
        """While the block asks something on a connection."""
        with socket.socket(fileno=os.dup(connection.fileno())) as plug:  # of our own: theirs may be another's by then
            with self._turn:
                self._held = connection, plug
            try:
                yield
            finally:
                with self._turn:
                    self._held = None

    def interrupt(self) -> None:
        """End what is asked now; to be called again for as long as something is."""
        with self._turn:
            self._last = time.monotonic() + _GRACE if self._last is None else self._last
            if self._held is None:
                return
            connection, plug = self._held
            with suppress(Exception):  # what was asked of a server that is gone ends by itself
                if time.monotonic() < self._last:
                    connection.cancel_safe(timeout=_GRACE)
                else:
                    self.is_cut = True
                    plug.shutdown(socket.SHUT_RDWR)
