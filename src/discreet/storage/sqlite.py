"""A database in one file of this host, kept by SQLite.

One connection writes. Every thread reads through a connection of its own, so that it sees what is durable and never
what another thread is about to write and may take back.

One moment of the file can be held while others go on writing, and copied as a whole.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TypeVar
from weakref import WeakSet

import apsw

from discreet.errors import DiscreetError, StoreError
from discreet.storage.database import Database, GroupCommitDatabase, Part, Shape
from discreet.storage.files import keep_name
from discreet.storage.presence import FilePresence
from discreet.time_limits import SQLITE_BUSY, SQLITE_LOOK

__all__ = ["SQLiteStorage", "Snapshot", "read_version", "write_anew"]


_PRAGMAS = {"journal_mode": "wal", "synchronous": 2, "foreign_keys": 1, "trusted_schema": 0}
_KNOWN_FAULTS = {
    "FullError": "a full disk",
    "BusyError": "a process that holds it",
    "CorruptError": "a damaged file",
    "NotADBError": "a damaged file",
    "ReadOnlyError": "a read-only file",
    "CantOpenError": "a file that cannot be opened or written",
    "InterruptedError": "a writer that was interrupted",
}

Result = TypeVar("Result")
Refusal = Callable[[str], DiscreetError]
"""The error that says what happened, given in a few words."""


class SQLiteStorage(GroupCommitDatabase):
    """The database in a file, for any number of threads and processes of one host."""

    def __init__(self, path: Path, refusal: Refusal) -> None:
        """Open the file, which must be there; ``refusal`` tells faults of the disk in the words of its owner."""
        super().__init__()
        self.path = path
        self._refusal = refusal
        self.presence = FilePresence(path.with_name(f"running.{path.stem}"))
        self._open()

    @classmethod
    def create(cls, path: Path, schema: str, version: int, refusal: Refusal) -> None:
        """Make the file with its tables; fails where there is one."""
        cls.draft(path, schema, version, refusal, lambda _: None)
        cls.finish(path)

    @staticmethod
    def draft(path: Path, schema: str, version: int, refusal: Refusal, fill: Part[Result]) -> Result:
        """Make the file, with tables and first rows, beside its place, where `finish` puts it: whole or not at all."""
        if path.exists():
            raise FileExistsError(path)
        draft = _draft(path)
        for ending in ("-journal", ""):  # of one who was killed
            draft.with_name(draft.name + ending).unlink(missing_ok=True)
        try:
            os.close(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
            connection = apsw.Connection(str(draft), flags=apsw.SQLITE_OPEN_READWRITE)
            with closing(connection), connection:
                connection.execute(schema)
                connection.pragma("user_version", version)
                first = fill(connection)
        except (apsw.Error, OSError) as fault:
            raise _explain(fault, refusal) from fault
        return first

    @staticmethod
    def finish(path: Path) -> bool:
        """Give a draft its name, durably; whether there was one."""
        draft = _draft(path)
        if not draft.exists():
            return False
        draft.rename(path)
        keep_name(path)
        return True

    @staticmethod
    def put_aside(path: Path) -> None:
        """Keep a file that is no longer the database, under another name."""
        for ending in ("-wal", "-shm", ""):  # the log first: without it the file would be another one
            part = path.with_name(path.name + ending)
            if part.exists():
                part.rename(path.with_name(f"{path.name}.moved{ending}"))

    def _open(self) -> None:
        self._process = os.getpid()
        self._local = threading.local()
        self._readers: WeakSet[apsw.Connection] = WeakSet()
        self._writer = self._connected()

    def _connected(self) -> apsw.Connection:
        with self._faults():
            connection = apsw.Connection(str(self.path), flags=apsw.SQLITE_OPEN_READWRITE)
            connection.set_busy_handler(_Patience(SQLITE_BUSY))
            for name, value in _PRAGMAS.items():
                connection.pragma(name, value)
                if connection.pragma(name) != value:
                    raise self._refusal(f"{name} = {connection.pragma(name)} instead of {value}")
            return connection

    def check_process(self) -> None:
        """In a forked child, use nothing of the parent's."""
        if self._process != os.getpid():
            _INHERITED.append((self._writer, self._local, list(self._readers)))
            self._renew_locks()
            self._open()

    @property
    def version(self) -> int:
        """The version of its tables."""
        return int(self._writer.pragma("user_version"))

    def upgrade(self, upgrades: Mapping[int, str]) -> None:
        """Make tables of today out of older ones, in one step; ``upgrades`` makes the next version of each."""

        def part(database: Database) -> None:
            while self.version in upgrades:  # another process may have been here first
                database.execute(upgrades[self.version])
                self._writer.pragma("user_version", self.version + 1)

        if self.version in upgrades:
            self.write(part)

    # Reading ------------------------------------------------------------------------------------------------------

    @contextmanager
    def reading(self) -> Iterator[Database]:
        """One moment of the database for the whole block; nothing can be written in it."""
        with self._faults():
            reader = self._reader()
            with reader:
                yield reader

    def _reader(self) -> apsw.Connection:
        self.check_process()
        found: apsw.Connection | None = getattr(self._local, "reader", None)
        if found is None:
            found = self._local.reader = self._connected()
            found.pragma("query_only", 1)
            self._readers.add(found)
        return found

    def damage(self) -> str | None:
        """What SQLite says where the file is damaged; None where it is sound."""
        with self._faults():
            found = self._reader().pragma("integrity_check")
        return None if found == "ok" else "the database file is damaged"

    def shape(self) -> Shape:
        """What SQLite keeps of the statements that made the tables."""
        with self._faults():
            return _shape(self._reader())

    def shape_of(self, tables: str) -> Shape:
        """The shape of tables that are made in memory for it."""
        memory = apsw.Connection(":memory:")
        try:
            memory.execute(tables)
            return _shape(memory)
        finally:
            memory.close()

    # Writing ------------------------------------------------------------------------------------------------------

    @property
    def writer(self) -> apsw.Connection:
        """The connection that writes, for whoever must look at the file itself."""
        self.check_process()
        return self._writer

    def begin(self, *, ahead: bool) -> Database:
        """Start a transaction as the only writer, after those of other processes; every statement is taken at once."""
        self._writer.execute("BEGIN IMMEDIATE")
        return self._writer

    def commit(self) -> None:
        """Make it durable."""
        self._writer.execute("COMMIT")

    def undo(self) -> None:
        """Give up the transaction, if there still is one."""
        if self.is_open():
            self._writer.execute("ROLLBACK")

    def is_open(self) -> bool:
        """Whether the transaction is still there."""
        return self._writer.in_transaction

    def explained(self, fault: BaseException) -> BaseException:
        """A fault of the disk or of SQLite in words; others as they are."""
        return _explain(fault, self._refusal) if isinstance(fault, (apsw.Error, OSError)) else fault

    @contextmanager
    def _faults(self) -> Iterator[None]:
        try:
            yield
        except (apsw.Error, OSError) as fault:
            raise self.explained(fault) from fault

    def close(self) -> None:
        """Let go of the file."""
        self.check_process()
        self.presence.close()
        for connection in (self._writer, *self._readers):
            connection.close()
        self._local = threading.local()


def _shape(connection: apsw.Connection) -> Shape:
    rows = connection.execute("SELECT type, name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite_stat%'")
    return {f"{kind} {name}": " ".join((sql or "").split()) for kind, name, sql in rows}


def _draft(path: Path) -> Path:
    return path.with_name(f".{path.name}.new")


def _explain(fault: Exception, refusal: Refusal) -> DiscreetError:
    error = refusal(_KNOWN_FAULTS.get(type(fault).__name__, type(fault).__name__))
    error.__cause__ = fault
    return error


_INHERITED: list[object] = []
"""Connections of a parent process, kept for ever in a forked child: to close them there would disturb the parent."""


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
        time.sleep(SQLITE_LOOK)
        return time.monotonic() < self._end


class Snapshot:
    """A moment of a file: from when it is made until it is closed, whatever is written meanwhile."""

    def __init__(self, path: Path) -> None:
        """Of the file at ``path``, now."""
        self.path = path
        with _explain_copy(path):
            self._connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
            self._connection.set_busy_timeout(60_000)
            self._connection.pragma("query_only", 1)
            self._connection.execute("BEGIN")
            self._connection.execute("SELECT count(*) FROM sqlite_schema").fetchall()  # now it holds this moment

    def write(self, target: Path) -> None:
        """Copy it into a new file, durably."""
        os.close(os.open(target, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        with _explain_copy(target):
            copy = apsw.Connection(str(target), flags=apsw.SQLITE_OPEN_READWRITE)
            try:
                with copy.backup("main", self._connection, "main") as made:
                    made.step(-1)
                copy.pragma("journal_mode", "delete")  # so that all of it is in this one file
            finally:
                copy.close()

    def close(self) -> None:
        """Let go of it."""
        self._connection.close()


def write_anew(path: Path, target: Path) -> None:
    """Copy a file with its rows in the order of their keys, whatever order they came in."""
    with _explain_copy(path):
        connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
        try:
            connection.execute("VACUUM INTO ?", (str(target),))
        finally:
            connection.close()
    target.chmod(0o600)


def read_version(path: Path) -> int:
    """The version of the tables in a file, which is left as it is."""
    with _explain_copy(path):
        connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
        try:
            return int(connection.pragma("user_version"))
        finally:
            connection.close()


@contextmanager
def _explain_copy(path: Path) -> Iterator[None]:
    try:
        yield
    except apsw.Error as fault:
        raise StoreError(f"{path.name} must be readable and sound", f"<{type(fault).__name__}>") from None
