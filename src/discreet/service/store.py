"""The service's own book: members, tokens and requests, in one SQLite file beside the ledger.

The ledger alone says what was spent. What is here could be lost without a budget being passed: an answer that is kept
here is one that the ledger has, made readable.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import apsw

from discreet.errors import StoreError

__all__ = ["Store"]

_VERSION = 1
_PATIENCE = 60_000  # milliseconds
_PRAGMAS = {"journal_mode": "wal", "synchronous": 2, "foreign_keys": 1, "trusted_schema": 0}
_SCHEMA = """
CREATE TABLE member (
    name TEXT PRIMARY KEY,
    role TEXT NOT NULL CHECK (role IN ('owner', 'analyst', 'auditor')),
    since REAL NOT NULL,
    removed REAL
) STRICT, WITHOUT ROWID;
CREATE TABLE token (
    id TEXT PRIMARY KEY,
    member TEXT NOT NULL REFERENCES member (name),
    mark TEXT NOT NULL,
    hash TEXT NOT NULL,
    label TEXT NOT NULL,
    once INTEGER NOT NULL CHECK (once IN (0, 1)),
    made REAL NOT NULL,
    expires REAL NOT NULL,
    revoked REAL
) STRICT, WITHOUT ROWID;
CREATE TABLE request (
    member TEXT NOT NULL REFERENCES member (name),
    id TEXT NOT NULL,
    wish TEXT NOT NULL,
    price TEXT,
    made REAL NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('accepted', 'answered', 'refused')),
    lease REAL NOT NULL DEFAULT 0,
    settled REAL,
    entry INTEGER,
    answer BLOB,
    problem TEXT,
    PRIMARY KEY (member, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX request_by_time ON request (member, made);
CREATE INDEX request_unfinished ON request (made) WHERE state = 'accepted';
CREATE INDEX request_by_entry ON request (entry);
CREATE INDEX token_by_member ON token (member, made);
CREATE TRIGGER members_remain BEFORE DELETE ON member BEGIN SELECT RAISE(ABORT, 'a name is taken for good'); END;
CREATE TRIGGER former_members_stay_former BEFORE UPDATE ON member WHEN OLD.removed IS NOT NULL
    BEGIN SELECT RAISE(ABORT, 'who left does not come back'); END;
CREATE TRIGGER tokens_stay_revoked BEFORE UPDATE ON token WHEN OLD.revoked IS NOT NULL
    BEGIN SELECT RAISE(ABORT, 'a token is taken back for good'); END;
CREATE TRIGGER answers_stay BEFORE UPDATE ON request WHEN OLD.state = 'answered'
    BEGIN SELECT RAISE(ABORT, 'an answer is given once'); END;
"""


class Store:
    """The file ``service.db`` in the curator's folder."""

    def __init__(self, folder: Path) -> None:
        """Open the book in ``folder``, or start one there."""
        self.path = folder / "service.db"
        self._local = threading.local()
        with explained():
            os.close(os.open(self.path, os.O_CREAT | os.O_RDWR, 0o600))
            with self.writing() as database:
                version = database.pragma("user_version")
                if version == 0:
                    database.execute(_SCHEMA)
                    database.pragma("user_version", _VERSION)
                elif version != _VERSION:
                    rule = f"the service's book must be of version {_VERSION}"
                    raise StoreError(rule, version, "use the release that made it")

    @property
    def database(self) -> apsw.Connection:
        """The connection of the calling thread."""
        found: apsw.Connection | None = getattr(self._local, "database", None)
        if found is None:
            with explained():
                found = apsw.Connection(str(self.path), flags=apsw.SQLITE_OPEN_READWRITE)
                found.set_busy_timeout(_PATIENCE)
                for name, value in _PRAGMAS.items():
                    found.pragma(name, value)
                    if found.pragma(name) != value:
                        raise StoreError(f"the service's book needs {name} = {value}", found.pragma(name))
            self._local.database = found
        return found

    def rows(self, statement: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """What a question to the book finds."""
        with explained():
            return self.database.execute(statement, values).fetchall()

    @contextmanager
    def writing(self) -> Iterator[apsw.Connection]:
        """One transaction, durable when the block ends; any failure leaves everything as it was."""
        database = self.database
        with explained():
            database.execute("BEGIN IMMEDIATE")
            try:
                yield database
                database.execute("COMMIT")
            except BaseException:
                if database.in_transaction:
                    database.execute("ROLLBACK")
                raise


@contextmanager
def explained() -> Iterator[None]:
    """Turn faults of the disk or the database into one error without their words."""
    try:
        yield
    except (apsw.Error, OSError) as fault:
        raise StoreError("the service's book must be readable and writable", f"<{type(fault).__name__}>") from None
