"""One moment of a SQLite file, held while others go on writing, and copied as a whole."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw

from discreet.errors import StoreError

__all__ = ["Snapshot", "version_of", "write_anew"]


class Snapshot:
    """A moment of a file: from when it is made until it is closed, whatever is written meanwhile."""

    def __init__(self, path: Path) -> None:
        """Of the file at ``path``, now."""
        self.path = path
        with _explained(path):
            self._connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
            self._connection.set_busy_timeout(60_000)
            self._connection.pragma("query_only", 1)
            self._connection.execute("BEGIN")
            self._connection.execute("SELECT count(*) FROM sqlite_schema").fetchall()  # now it holds this moment

    def write(self, target: Path) -> None:
        """Copy it into a new file, durably."""
        os.close(os.open(target, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        with _explained(target):
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
    with _explained(path):
        connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
        try:
            connection.execute("VACUUM INTO ?", (str(target),))
        finally:
            connection.close()
    target.chmod(0o600)


def version_of(path: Path) -> int:
    """The version of the tables in a file, which is left as it is."""
    with _explained(path):
        connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
        try:
            return int(connection.pragma("user_version"))
        finally:
            connection.close()


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    try:
        yield
    except apsw.Error as fault:
        raise StoreError(f"{path.name} must be readable and sound", f"<{type(fault).__name__}>") from None
