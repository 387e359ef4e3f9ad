"""The file of a ledger: its tables and triggers, its connections, and how its faults are told.

One connection writes, one transaction at a time. Every thread reads through a connection of its own, so that it sees
what is durable and never what another thread is about to write and may take back.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from weakref import WeakSet

import apsw

from discreet.errors import LedgerError

__all__ = ["VERSION", "LedgerFile", "explained"]

VERSION = 1
"""Of the tables below."""
_PATIENCE_SECONDS = 60.0
_STEP_SECONDS = 0.001
_SCHEMA = """
CREATE TABLE account (
    name TEXT PRIMARY KEY,
    measure TEXT NOT NULL CHECK (measure IN ('pure', 'concentrated')),
    places INTEGER NOT NULL CHECK (places IN (1, 2)),
    cap INTEGER NOT NULL CHECK (cap >= 0),
    delta_cap INTEGER NOT NULL CHECK (delta_cap >= 0),
    spent INTEGER NOT NULL DEFAULT 0 CHECK (spent >= 0),
    delta_spent INTEGER NOT NULL DEFAULT 0 CHECK (delta_spent >= 0),
    CHECK (spent <= cap),
    CHECK (delta_spent <= delta_cap)
) STRICT, WITHOUT ROWID;
CREATE TABLE portion (
    account TEXT NOT NULL REFERENCES account (name),
    part TEXT NOT NULL,
    key TEXT NOT NULL,
    spent INTEGER NOT NULL CHECK (spent >= 0),
    PRIMARY KEY (account, part, key)
) STRICT, WITHOUT ROWID;
CREATE TABLE entry (
    position INTEGER PRIMARY KEY CHECK (position >= 1),
    body BLOB NOT NULL,
    hash BLOB NOT NULL UNIQUE
) STRICT;
CREATE TABLE request (
    id TEXT PRIMARY KEY,
    body_hash BLOB NOT NULL,
    charge INTEGER NOT NULL UNIQUE REFERENCES entry (position),
    answer INTEGER UNIQUE REFERENCES entry (position),
    bytes BLOB
) STRICT, WITHOUT ROWID;
CREATE TRIGGER entries_stay BEFORE UPDATE ON entry BEGIN SELECT RAISE(ABORT, 'entries are never changed'); END;
CREATE TRIGGER entries_remain BEFORE DELETE ON entry BEGIN SELECT RAISE(ABORT, 'entries are never deleted'); END;
CREATE TRIGGER requests_remain BEFORE DELETE ON request BEGIN SELECT RAISE(ABORT, 'requests are never deleted'); END;
CREATE TRIGGER answers_stay BEFORE UPDATE ON request WHEN OLD.answer IS NOT NULL
    BEGIN SELECT RAISE(ABORT, 'an answer is given once'); END;
CREATE TRIGGER accounts_remain BEFORE DELETE ON account BEGIN SELECT RAISE(ABORT, 'accounts are never deleted'); END;
CREATE TRIGGER nothing_is_refunded BEFORE UPDATE ON account
    WHEN NEW.spent < OLD.spent OR NEW.delta_spent < OLD.delta_spent
        OR NEW.name <> OLD.name OR NEW.measure <> OLD.measure OR NEW.places <> OLD.places
    BEGIN SELECT RAISE(ABORT, 'nothing is refunded'); END;
CREATE TRIGGER portions_remain BEFORE DELETE ON portion BEGIN SELECT RAISE(ABORT, 'portions are never deleted'); END;
CREATE TRIGGER portions_grow BEFORE UPDATE ON portion
    WHEN NEW.spent < OLD.spent OR NEW.account <> OLD.account OR NEW.part <> OLD.part OR NEW.key <> OLD.key
    BEGIN SELECT RAISE(ABORT, 'nothing is refunded'); END;
"""


class LedgerFile:
    """The database in a file, for any number of threads."""

    def __init__(self, path: Path) -> None:
        """Open the file, which must be there."""
        self.path = path
        self._open()

    @classmethod
    def create(cls, path: Path) -> None:
        """Make the file with its tables; fails where there is one."""
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        with explained():
            connection = _connect(path)
            with connection:
                connection.execute(_SCHEMA)
                connection.execute(f"PRAGMA user_version = {VERSION}")
            connection.close()

    def _open(self) -> None:
        self._process = os.getpid()
        self._writing = threading.Lock()  # one transaction at a time on one connection, whatever the threads do
        self._writer = _connect(self.path)
        self._local = threading.local()
        self._readers: WeakSet[apsw.Connection] = WeakSet()

    def _check_process(self) -> None:
        if self._process != os.getpid():
            _INHERITED.append((self._writer, self._local, list(self._readers)))
            self._open()

    @property
    def writer(self) -> apsw.Connection:
        """The connection that writes; for threads other than the one inside `writing` it is not to be read."""
        self._check_process()
        return self._writer

    @property
    def reader(self) -> apsw.Connection:
        """The connection of this thread alone, which cannot write."""
        self._check_process()
        found: apsw.Connection | None = getattr(self._local, "reader", None)
        if found is None:
            found = self._local.reader = _connect(self.path)
            found.pragma("query_only", 1)
            self._readers.add(found)
        return found

    @contextmanager
    def reading(self) -> Iterator[apsw.Connection]:
        """The connection of this thread, at one moment of the ledger for the whole block."""
        with explained():
            reader = self.reader
            with reader:
                yield reader

    @contextmanager
    def writing(self) -> Iterator[apsw.Connection]:
        """One writer at a time, and durable when the block ends; any failure leaves everything as it was."""
        self._check_process()
        with self._writing, explained():
            self._writer.execute("BEGIN IMMEDIATE")
            try:
                yield self._writer
                self._writer.execute("COMMIT")
            except BaseException:
                if self._writer.in_transaction:
                    self._writer.execute("ROLLBACK")
                raise

    def close(self) -> None:
        """Let go of the file."""
        self._check_process()
        for connection in (self._writer, *self._readers):
            connection.close()
        self._local = threading.local()


_INHERITED: list[object] = []
"""Connections of a parent process, kept for ever in a forked child: to close them there would disturb the parent."""


def _connect(path: Path) -> apsw.Connection:
    with explained():
        connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
        connection.set_busy_handler(_Patience(_PATIENCE_SECONDS))
        wanted = {"journal_mode": "wal", "synchronous": 2, "foreign_keys": 1, "trusted_schema": 0}
        for name, value in wanted.items():
            connection.pragma(name, value)
            if connection.pragma(name) != value:
                raise LedgerError(f"the ledger needs {name} = {value}", connection.pragma(name))
        return connection


class _Patience:
    """Waits for other writers in short steps, up to a limit.

    SQLite's own steps grow to a tenth of a second, and whoever has written last starts again before anybody wakes up:
    with many writers some are never served.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._end = 0.0

    def __call__(self, times: int) -> bool:
        """Whether to try again, after having waited ``times`` times."""
        if times == 0:
            self._end = time.monotonic() + self._seconds
        time.sleep(_STEP_SECONDS)
        return time.monotonic() < self._end


@contextmanager
def explained() -> Iterator[None]:
    """Turn faults of the disk or the database into one error that says nothing was released."""
    try:
        yield
    except (apsw.Error, OSError) as fault:
        remedy = "nothing was released; check the disk and the file, then ask again with the same request id"
        raise LedgerError("the ledger must be writable and sound", _told(fault), remedy) from fault


def _told(fault: Exception) -> str:
    """What happened, in words that help whoever keeps the disk."""
    known = {"FullError": "a full disk", "BusyError": "a process that holds it", "CorruptError": "a damaged file"}
    known |= {"ReadOnlyError": "a read-only file", "CantOpenError": "a file that cannot be opened or written"}
    return f"<{known.get(type(fault).__name__, type(fault).__name__)}>"
