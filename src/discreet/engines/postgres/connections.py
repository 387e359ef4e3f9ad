"""Connections to the server: a few are kept for the next question, each is used by one thread at a time.

A connection that the server ended while nobody used it is made anew, for nothing was sent on it. One that fails in the
middle is given up, and so is the question.

Another thread can end what waits for an answer. The server is asked to give up the statement. A server that hangs, or
that nobody reaches any more, does not hear that; so after a moment the line is cut on this side, and whatever waits for
an answer ends.
"""

from __future__ import annotations

import math
import os
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import psycopg
from psycopg import Connection, RawCursor

from discreet.engines.postgres.columns import register
from discreet.time_limits import ROWS_CANCEL, ROWS_CONNECT

__all__ = ["Connections", "ServerConnection"]


class ServerConnection:
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
            self._last = time.monotonic() + ROWS_CANCEL if self._last is None else self._last
            if self._held is None:
                return
            connection, plug = self._held
            with suppress(Exception):  # what was asked of a server that is gone ends by itself
                if time.monotonic() < self._last:
                    connection.cancel_safe(timeout=ROWS_CANCEL)
                else:
                    self.is_cut = True
                    plug.shutdown(socket.SHUT_RDWR)


_MOST_IDLE = 4


class Connections:
    """Connections with one address, for any number of threads."""

    def __init__(self, server: str, timeout: float | None = None) -> None:
        """Name the server; who waits no longer than ``timeout`` is connected by then, or not at all."""
        self._server = server
        self._seconds = ROWS_CONNECT if timeout is None else min(ROWS_CONNECT, math.ceil(timeout))
        self._forget()

    def _forget(self) -> None:
        self._process = os.getpid()
        self._idle: list[Connection[Any]] = []
        self._idling = threading.Lock()

    @contextmanager
    def lent(self, line: ServerConnection) -> Iterator[Connection[Any]]:
        """A connection that no other thread uses; what is asked on it can be ended by its line."""
        if self._process != os.getpid():
            _INHERITED.append(self._idle)
            self._forget()
        connection = self._alive(line) or self._connected()
        try:
            with line.to(connection):
                yield connection
        except BaseException:
            with suppress(Exception):
                connection.close()
            raise
        self._take_back(connection)

    def _connected(self) -> Connection[Any]:
        connection: Connection[Any] = psycopg.connect(
            self._server,
            autocommit=True,
            connect_timeout=self._seconds,
            application_name="discreet",
            client_encoding="utf-8",
            prepare_threshold=None,  # a plan is made for its values
            cursor_factory=RawCursor,
        )
        register(connection)
        return connection

    def _alive(self, line: ServerConnection) -> Connection[Any] | None:
        """A connection that was kept and still answers."""
        while True:
            with self._idling:
                if not self._idle:
                    return None
                connection = self._idle.pop()
            try:
                with line.to(connection):
                    connection.execute("SELECT 1")
            except psycopg.Error:
                connection.close()
                if line.is_cut:
                    raise
            else:
                return connection

    def _take_back(self, connection: Connection[Any]) -> None:
        with self._idling:
            if not connection.closed and len(self._idle) < _MOST_IDLE:
                self._idle.append(connection)
                return
        connection.close()

    def close(self) -> None:
        """Let go of those that are kept; in a forked child they are the parent's."""
        if self._process != os.getpid():
            return
        with self._idling:
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    def __del__(self) -> None:
        with suppress(Exception):
            self.close()


_INHERITED: list[object] = []
"""Connections of a parent process, kept for ever in a forked child: to close them there would end the parent's."""
