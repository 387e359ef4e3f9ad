"""A book on a PostgreSQL server, for curators on several hosts.

One row is the pen: whoever writes holds it until the commit, on whatever host. A server that does not wait for its
disk, or that only follows another one, is refused. Where a connection breaks at a commit, the outcome is not guessed.
Statements are sent ahead: nobody waits for the server but to hear what was read, and at the commit.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import lru_cache
from importlib import import_module
from selectors import EVENT_READ, DefaultSelector
from typing import TYPE_CHECKING, Any, ClassVar

from discreet.books.book import Book, Database, Rows
from discreet.errors import DiscreetError, MissingExtra

if TYPE_CHECKING:
    import psycopg

__all__ = ["PostgresBook"]

_MOST_IDLE = 4
_LOCK_SECONDS = 60
_CONNECT_SECONDS = 10
_OF_THE_DATA = ("22", "54")
"""Classes of states that say that a value is at fault, also when it is sent again."""
_SETTINGS = {"synchronous_commit": "on", "fsync": "on", "full_page_writes": "on"}

Refusal = Callable[[str], DiscreetError]
"""The error that says what happened, given in a few words."""


class PostgresBook(Book):
    """The tables of one schema of a server, for any number of threads, processes and hosts."""

    pauses: ClassVar[tuple[float, ...]] = (0.05, 0.2, 0.5, 1, 2, 4, 8)

    def __init__(self, url: str, schema: str, tables: str, version: int, refusal: Refusal) -> None:
        """Open the schema, and make its tables where there are none; ``refusal`` tells faults in the owner's words."""
        super().__init__()
        self._library = _psycopg()
        self._url, self._schema = url, schema
        self._refusal = refusal
        self._forget()
        with self._faults():
            self._make(tables, version)

    def _forget(self) -> None:
        self._process = os.getpid()
        self._writer: psycopg.Connection[Any] | None = None
        self._sent_ahead = ExitStack()
        self._idle: list[psycopg.Connection[Any]] = []
        self._idling = threading.Lock()
        self._local = threading.local()

    def check_process(self) -> None:
        """In a forked child, use nothing of the parent's."""
        if self._process != os.getpid():
            _INHERITED.append((self._writer, self._idle, self._local))
            self._renew_locks()
            self._forget()

    def _make(self, tables: str, version: int) -> None:
        connection = self._pen_holder()
        with connection.transaction():
            connection.execute("SELECT pg_advisory_xact_lock(hashtext(%s))", (self._schema,))  # one maker at a time
            connection.execute(_plain(f"CREATE SCHEMA IF NOT EXISTS {self._schema}"))
            if connection.execute("SELECT to_regclass(%s)", (f"{self._schema}.pen",)).fetchone() == (None,):
                connection.execute(_plain("CREATE TABLE pen (version INTEGER NOT NULL)"))
                connection.execute("INSERT INTO pen VALUES (%s)", (version,))
                connection.execute(_plain(tables))
        found = connection.execute("SELECT version FROM pen").fetchone()
        if found != (version,):
            raise self._refusal(f"tables of version {found[0] if found else 'none'} instead of {version}")

    def _connected(self) -> psycopg.Connection[Any]:
        connection: psycopg.Connection[Any] = self._library.connect(
            self._url, autocommit=True, connect_timeout=_CONNECT_SECONDS, application_name="discreet"
        )
        connection.execute(_plain(f"SET search_path TO {self._schema}"))
        connection.execute(_plain(f"SET lock_timeout TO '{_LOCK_SECONDS}s'"))
        connection.execute("SET synchronous_commit TO on")
        # Whoever gets the pen sees what the one before has written.
        connection.execute("SET default_transaction_isolation TO 'read committed'")
        return connection

    # Reading ------------------------------------------------------------------------------------------------------

    @contextmanager
    def reading(self) -> Iterator[Database]:
        """One moment of the book for the whole block; nothing can be written in it."""
        self.check_process()
        within: _Statements | None = getattr(self._local, "within", None)
        if within is not None:
            yield within
            return
        with self._faults(), self._lent() as connection, connection.transaction():
            connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            self._local.within = _Statements(connection)
            try:
                yield self._local.within
            finally:
                self._local.within = None

    @contextmanager
    def _lent(self) -> Iterator[psycopg.Connection[Any]]:
        """A connection that no other thread uses; one that failed is not used again."""
        with self._idling:
            connection = self._idle.pop() if self._idle else None
        if connection is not None and not _is_alive(connection):
            connection = None
        connection = self._connected() if connection is None else connection
        try:
            yield connection
        except self._library.Error:
            connection.close()
            raise
        finally:
            self._take_back(connection)

    def _take_back(self, connection: psycopg.Connection[Any]) -> None:
        with self._idling:
            if not connection.closed and len(self._idle) < _MOST_IDLE:
                self._idle.append(connection)
                return
        connection.close()

    def damage(self) -> str | None:
        """A server looks after its own files."""
        return None

    # Writing ------------------------------------------------------------------------------------------------------

    def _pen_holder(self) -> psycopg.Connection[Any]:
        if self._writer is None or not _is_alive(self._writer):
            self._writer = self._connected()
            self._check_server(self._writer)
        return self._writer

    def _check_server(self, connection: psycopg.Connection[Any]) -> None:
        if connection.execute("SELECT pg_is_in_recovery()").fetchone() != (False,):
            raise self._refusal("a server that only follows another one")
        for name, wanted in _SETTINGS.items():
            found = connection.execute("SELECT current_setting(%s)", (name,)).fetchone()
            if found != (wanted,):
                raise self._refusal(
                    f"a server with {name} {found[0] if found else 'unset'}, which may lose what it said"
                )

    def begin(self, *, ahead: bool) -> Database:
        """Start a transaction as the only writer; who sends ahead has the pen when the first question is answered."""
        connection = self._pen_holder()
        if ahead:
            self._sent_ahead.enter_context(connection.pipeline())
        connection.execute("BEGIN")
        connection.execute("SELECT version FROM pen FOR UPDATE")
        return _Statements(connection)

    def commit(self) -> None:
        """Make it durable; the server skips this where it refused anything that was sent before."""
        assert self._writer is not None  # noqa: S101  it began
        self._writer.execute("COMMIT")
        self._sent_ahead.close()

    def is_refused(self) -> bool:
        """Whether the server said that the transaction failed; where it says nothing, nobody knows."""
        with suppress(Exception):
            self._sent_ahead.close()  # hear the rest
        failed = self._library.pq.TransactionStatus.INERROR
        return self._writer is not None and self._writer.info.transaction_status == failed

    def undo(self) -> None:
        """Give up the transaction and its connection, whose state may be unknown."""
        if self._writer is not None:
            writer, self._writer = self._writer, None
            with suppress(Exception):
                writer.close()
        with suppress(Exception):
            self._sent_ahead.close()

    def is_open(self) -> bool:
        """Whether the transaction is still there."""
        return self._writer is not None and not self._writer.broken and not self._writer.closed

    def is_broken(self, fault: BaseException) -> bool:
        """Whether the connection broke, or the server wants the transaction again."""
        known = (self._library.OperationalError, self._library.InterfaceError)
        return isinstance(fault, known) and _state(fault)[:2] not in _OF_THE_DATA  # a serialization failure is one

    def explained(self, fault: BaseException) -> BaseException:
        """A fault of the server or the connection in words; others as they are."""
        if isinstance(fault, OSError):
            return self._refusal(type(fault).__name__)
        if not isinstance(fault, self._library.Error):
            return fault
        told = self._refusal(_words(fault))
        told.__cause__ = None  # its words may name hosts and users
        return told

    @contextmanager
    def _faults(self) -> Iterator[None]:
        try:
            yield
        except self._library.Error as fault:
            raise self.explained(fault) from None

    def close(self) -> None:
        """Let go of the connections."""
        self.check_process()
        self.undo()
        with self._idling:
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    def __del__(self) -> None:
        with suppress(Exception):
            self.close()


class _Statements:
    """A connection that reads question marks, as SQLite does."""

    def __init__(self, connection: psycopg.Connection[Any]) -> None:
        self._connection = connection

    def execute(self, statement: str, values: Sequence[Any] = (), /) -> Rows:
        return self._connection.execute(_plain(_with_marks(statement)), values or None)


@lru_cache(maxsize=256)
def _with_marks(statement: str) -> str:
    return statement.replace("?", "%s")


def _plain(statement: str) -> Any:
    """A statement of our own, for a library that takes literals of the source alone."""
    return statement.encode()


def _is_alive(connection: psycopg.Connection[Any]) -> bool:
    """Whether a connection can be used; one that the server ended while it was idle cannot."""
    if connection.closed or connection.broken:
        return False
    if not _has_spoken(connection):
        return True
    try:
        connection.execute("SELECT 1")
    except Exception:
        connection.close()
        return False
    return True


def _has_spoken(connection: psycopg.Connection[Any]) -> bool:
    """Whether the server said something that nobody asked for, as it does when it ends a connection."""
    with DefaultSelector() as selector:
        selector.register(connection.fileno(), EVENT_READ)
        return bool(selector.select(0))


def _state(fault: BaseException) -> str:
    """What the server calls the fault; psycopg itself refuses text with NUL, and calls it nothing."""
    state: str | None = getattr(fault, "sqlstate", None)
    return state or ("22000" if type(fault).__name__ == "DataError" else "")


def _words(fault: Exception) -> str:
    state = _state(fault)
    known = {"28": "a user or a password that the server does not take", "3D": "a database that is not there"}
    known |= {"42": "tables that are not as they were made", "53": "a full disk, or too many connections"}
    known |= {"55": "a process that holds it", "25": "a server that only follows another one"}
    known |= dict.fromkeys(_OF_THE_DATA, "a value that the server does not take")
    return known.get(state[:2], f"state {state}" if state else "a server that cannot be reached")


def _psycopg() -> Any:
    try:
        return import_module("psycopg")
    except ImportError:
        raise MissingExtra("this needs psycopg", "<not installed>", "pip install 'discreet[postgres]'") from None


_INHERITED: list[object] = []
"""Connections of a parent process, kept for ever in a forked child: to close them there would end the parent's."""
