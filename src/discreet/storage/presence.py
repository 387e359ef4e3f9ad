"""Who is still there: marks that a process holds while it works, and that are gone when it is, however it ended.

Promise. For every name: while the process that holds it lives, everybody sees it held; after it let go, or was killed,
nobody does. A file of this host is held by a lock of the operating system, and on a server by a lock of a session,
which the server drops with the connection.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from discreet.time_limits import PRESENCE_AGAIN, PRESENCE_LOOK

__all__ = ["FilePresence", "Presence", "ServerPresence"]


class Presence(ABC):
    """Names that are held by whoever works under them, for any number of threads."""

    @abstractmethod
    def hold(self, name: str) -> bool:
        """Hold a name, unless somebody does; whether we hold it now."""

    @abstractmethod
    def release(self, name: str) -> None:
        """Let go of a name."""

    @abstractmethod
    def held(self, names: Collection[str]) -> set[str]:
        """Which of these are held by somebody, in whatever process."""

    @abstractmethod
    def close(self) -> None:
        """Let go of everything."""


class FilePresence(Presence):
    """Names held in a folder of this host, each a locked file of its own."""

    def __init__(self, folder: Path) -> None:
        """In ``folder``, which is made where there is none."""
        self._folder = folder
        self._files: dict[str, tuple[int, int]] = {}
        """By name, the process that holds it and its open file."""

    def hold(self, name: str) -> bool:
        """Hold a name: the file is there and locked."""
        self._folder.mkdir(mode=0o700, exist_ok=True)
        path = self._folder / _spell(name)
        while True:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                os.close(descriptor)
                return False
            if _is_at(path, descriptor):
                self._files[name] = os.getpid(), descriptor
                return True
            os.close(descriptor)  # whoever held it removed the file a moment ago

    def release(self, name: str) -> None:
        """Let go: the file is gone."""
        process, descriptor = self._files.pop(name, (0, -1))
        if process == os.getpid():  # in a forked child it is the parent's
            with suppress(OSError):
                (self._folder / _spell(name)).unlink()
            os.close(descriptor)

    def held(self, names: Collection[str]) -> set[str]:
        """Those whose file is locked; what a killed process left is removed."""
        return {name for name in names if self._is_held(self._folder / _spell(name))}

    def _is_held(self, path: Path) -> bool:
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        except FileNotFoundError:
            return False
        try:
            # Shared, so that two who look at once do not take each other for the holder.
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        finally:
            os.close(descriptor)
        with suppress(OSError):
            path.unlink()
        return False

    def close(self) -> None:
        """Let go of everything."""
        for name in list(self._files):
            self.release(name)


class ServerPresence(Presence):
    """Names held on a PostgreSQL server, for processes on several hosts, over one connection of each process."""

    def __init__(self, connect: Callable[[], Any], is_alive: Callable[[Any], bool]) -> None:
        """Over a connection that ``connect`` makes when it is needed, and anew where it is no longer ``is_alive``."""
        self._connect, self._is_alive = connect, is_alive
        self._forget()

    def _forget(self) -> None:
        self._process = os.getpid()
        self._connection: Any = None
        self._names: set[str] = set()
        self._missing: set[str] = set()
        """Of these, the ones that a new connection could not hold yet."""
        self._turn = threading.Lock()

    def hold(self, name: str) -> bool:
        """Hold a name by a lock of our session."""
        with self._alive() as connection:
            if name in self._names:  # a session would get its own lock twice
                return False
            found = connection.execute("SELECT pg_try_advisory_lock(%s)", (_key(name),)).fetchone()
            if found[0]:
                self._names.add(name)
            return bool(found[0])

    def release(self, name: str) -> None:
        """Let go; where the server is gone, it has let go by itself."""
        with suppress(Exception), self._alive() as connection:
            self._names.discard(name)
            connection.execute("SELECT pg_advisory_unlock(%s)", (_key(name),))

    def held(self, names: Collection[str]) -> set[str]:
        """Those of which some session has the lock."""
        if not names:
            return set()
        with self._alive() as connection:
            rows = connection.execute(
                "SELECT (classid::int8 << 32) | objid::int8 FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 1"
                " AND granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
            ).fetchall()
        found = {row[0] for row in rows}
        return {name for name in names if _key(name) in found}

    @contextmanager
    def _alive(self) -> Iterator[Any]:
        """A connection that answers, for one thread at a time; all that we hold is held again on a new one."""
        if self._process != os.getpid():
            _INHERITED.append(self._connection)
            self._forget()
        with self._turn:
            if self._connection is None or not self._is_alive(self._connection):
                self._connection = self._connect()
                self._missing = set(self._names)
                self._hold_again(time.monotonic() + PRESENCE_AGAIN)
            elif self._missing:
                self._hold_again(time.monotonic())
            yield self._connection

    def _hold_again(self, end: float) -> None:
        """Hold on a new connection what we held; the server may not have seen yet that the one before has ended."""
        while True:
            self._missing = {name for name in self._missing & self._names if not self._is_locked(name)}
            if not self._missing or time.monotonic() >= end:
                return
            time.sleep(PRESENCE_LOOK)

    def _is_locked(self, name: str) -> bool:
        return bool(self._connection.execute("SELECT pg_try_advisory_lock(%s)", (_key(name),)).fetchone()[0])

    def close(self) -> None:
        """Let go of the connection, and so of everything; in a forked child it is the parent's."""
        if self._process != os.getpid():
            return
        with self._turn:
            connection, self._connection = self._connection, None
            self._names.clear()
        if connection is not None:
            with suppress(Exception):
                connection.close()


def _spell(name: str) -> str:
    """A name as that of a file."""
    return hashlib.sha256(name.encode()).hexdigest()[:32]


def _is_at(path: Path, descriptor: int) -> bool:
    """Whether an open file is the one at a path."""
    try:
        return os.path.samestat(os.stat(path), os.fstat(descriptor))
    except FileNotFoundError:
        return False


def _key(name: str) -> int:
    """A name as the 64-bit number of a lock."""
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big", signed=True)


_INHERITED: list[object] = []
"""Connections of a parent process, kept for ever in a forked child: to close them there would end the parent's."""
