"""The service's own database: members, tokens and requests, beside the ledger: in a file, or on the ledger's server.

The ledger alone says what was spent. What is here could be lost without a budget being passed: an answer that is kept
here is one that the ledger has, made readable.

Its tables have the same columns and triggers in the words of SQLite and of PostgreSQL. A service can move to a
PostgreSQL server with its members, tokens and requests, and the ledger. Nobody may serve the folder meanwhile: the
ledger refuses late records by itself, but a member who joins at the wrong moment would stay behind.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeVar

from discreet.curator.ledger.move import move as move_ledger
from discreet.errors import StoreError
from discreet.storage.database import Database, GroupCommitDatabase, Part, check_version, copy_database
from discreet.storage.postgres import PostgresStorage, check_server, read_server
from discreet.storage.presence import Presence
from discreet.storage.sqlite import SQLiteStorage

__all__ = [
    "ADDED",
    "POSTGRES",
    "SQLITE",
    "UPGRADES",
    "VERSION",
    "ServiceStore",
    "file_storage",
    "move",
    "server_storage",
]


VERSION = 4
"""Of the tables below."""
ADDED = {1: "the table of the audit trail", 2: "the table of sessions", 3: "the role feeder"}
"""What the version after each of these has beside it."""

_SQLITE_TRAIL = """
CREATE TABLE event (
    position INTEGER PRIMARY KEY CHECK (position >= 1),
    body BLOB NOT NULL,
    hash BLOB NOT NULL UNIQUE
) STRICT;
CREATE TRIGGER events_stay BEFORE UPDATE ON event BEGIN SELECT RAISE(ABORT, 'events are never changed'); END;
CREATE TRIGGER events_remain BEFORE DELETE ON event BEGIN SELECT RAISE(ABORT, 'events are never deleted'); END;
"""

_SQLITE_SESSIONS = """
CREATE TABLE session (
    hash TEXT PRIMARY KEY,
    member TEXT NOT NULL REFERENCES member (name),
    token TEXT NOT NULL,
    ends REAL NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX session_by_member ON session (member, ends);
"""

_ROLES = "CHECK (role IN ('owner', 'analyst', 'auditor', 'feeder'))"
_SQLITE_FEEDERS = """
PRAGMA writable_schema = ON;
UPDATE sqlite_schema SET sql = replace(sql, '''auditor'')', '''auditor'', ''feeder'')') WHERE name = 'member';
CREATE VIEW changed AS SELECT 1;
DROP VIEW changed;
PRAGMA writable_schema = RESET;
"""
"""A CHECK is changed where the table is written down; making a view lets every connection read that again."""
_POSTGRES_FEEDERS = f"ALTER TABLE member DROP CONSTRAINT member_role_check, ADD CONSTRAINT member_role_check {_ROLES}"

SQLITE = (
    f"""
CREATE TABLE member (
    name TEXT PRIMARY KEY,
    role TEXT NOT NULL {_ROLES},
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
    + _SQLITE_TRAIL
    + _SQLITE_SESSIONS
)

_POSTGRES_TRAIL = """
CREATE TABLE event (
    position BIGINT PRIMARY KEY CHECK (position >= 1),
    body BYTEA NOT NULL,
    hash BYTEA NOT NULL UNIQUE
);
CREATE TRIGGER events_stay BEFORE UPDATE ON event FOR EACH ROW EXECUTE FUNCTION refuse('events are never changed');
CREATE TRIGGER events_remain BEFORE DELETE OR TRUNCATE ON event EXECUTE FUNCTION refuse('events are never deleted');
"""

_POSTGRES_SESSIONS = """
CREATE TABLE session (
    hash TEXT COLLATE "C" PRIMARY KEY,
    member TEXT COLLATE "C" NOT NULL REFERENCES member (name),
    token TEXT COLLATE "C" NOT NULL,
    ends DOUBLE PRECISION NOT NULL
);
CREATE INDEX session_by_member ON session (member, ends);
"""

POSTGRES = (
    f"""
CREATE TABLE member (
    name TEXT COLLATE "C" PRIMARY KEY,
    role TEXT NOT NULL {_ROLES},
    since DOUBLE PRECISION NOT NULL,
    removed DOUBLE PRECISION
);
CREATE TABLE token (
    id TEXT COLLATE "C" PRIMARY KEY,
    member TEXT COLLATE "C" NOT NULL REFERENCES member (name),
    mark TEXT NOT NULL,
    hash TEXT NOT NULL,
    label TEXT NOT NULL,
    once BIGINT NOT NULL CHECK (once IN (0, 1)),
    made DOUBLE PRECISION NOT NULL,
    expires DOUBLE PRECISION NOT NULL,
    revoked DOUBLE PRECISION
);
CREATE TABLE request (
    member TEXT COLLATE "C" NOT NULL REFERENCES member (name),
    id TEXT COLLATE "C" NOT NULL,
    wish TEXT NOT NULL,
    price TEXT,
    made DOUBLE PRECISION NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('accepted', 'answered', 'refused')),
    lease DOUBLE PRECISION NOT NULL DEFAULT 0,
    settled DOUBLE PRECISION,
    entry BIGINT,
    answer BYTEA,
    problem TEXT,
    PRIMARY KEY (member, id)
);
CREATE INDEX request_by_time ON request (member, made);
CREATE INDEX request_unfinished ON request (made) WHERE state = 'accepted';
CREATE INDEX request_by_entry ON request (entry);
CREATE INDEX token_by_member ON token (member, made);
CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION '%', TG_ARGV[0]; END $$;
CREATE TRIGGER members_remain BEFORE DELETE OR TRUNCATE ON member EXECUTE FUNCTION refuse('a name is taken for good');
CREATE TRIGGER former_members_stay_former BEFORE UPDATE ON member FOR EACH ROW WHEN (OLD.removed IS NOT NULL)
    EXECUTE FUNCTION refuse('who left does not come back');
CREATE TRIGGER tokens_stay_revoked BEFORE UPDATE ON token FOR EACH ROW WHEN (OLD.revoked IS NOT NULL)
    EXECUTE FUNCTION refuse('a token is taken back for good');
CREATE TRIGGER answers_stay BEFORE UPDATE ON request FOR EACH ROW WHEN (OLD.state = 'answered')
    EXECUTE FUNCTION refuse('an answer is given once');
"""
    + _POSTGRES_TRAIL
    + _POSTGRES_SESSIONS
)

UPGRADES = {
    "sqlite": {1: _SQLITE_TRAIL, 2: _SQLITE_SESSIONS, 3: _SQLITE_FEEDERS},
    "postgres": {1: _POSTGRES_TRAIL, 2: _POSTGRES_SESSIONS, 3: _POSTGRES_FEEDERS},
}
"""Per kind of database and older version, what makes the next version of it. No row that is there is changed, so that
an older database is opened and gets what it lacks in one transaction."""


Result = TypeVar("Result")


class ServiceStore:
    """The file ``service.db`` in the curator's folder, or tables on the server that holds its ledger."""

    def __init__(self, folder: Path) -> None:
        """Open the database of ``folder``, or start one there."""
        self.path = folder / "service.db"
        server = read_server(folder)
        self._storage = file_storage(self.path) if server is None else server_storage(server)

    @property
    def presence(self) -> Presence:
        """What processes hold while they live."""
        return self._storage.presence

    def rows(self, statement: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """What a question to the database finds."""
        with self._storage.reading() as database:
            return database.execute(statement, values).fetchall()

    def write(self, part: Part[Result], *, repeatable: bool = False) -> Result:
        """Do ``part`` in a transaction, durably; where it raises, nothing of it was done."""
        return self._storage.write(part, repeatable=repeatable)

    def close(self) -> None:
        """Let go of the file or the server."""
        self._storage.close()


def _refusal(what: str) -> StoreError:
    return StoreError("the service's database must be readable and writable", f"<{what}>")


def file_storage(path: Path) -> GroupCommitDatabase:
    """The database in a file, which is made where there is none."""
    try:
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
    except OSError as fault:
        raise _refusal(type(fault).__name__) from None
    storage = SQLiteStorage(path, _refusal)
    try:
        storage.write(_make)
    except StoreError:
        storage.close()
        raise
    return storage


def _make(database: Database) -> None:
    """Make the tables of a file that has none; whoever comes at the same moment finds them made."""
    (version,) = database.execute("PRAGMA user_version").fetchone()
    if version == 0:
        database.execute(SQLITE)
        database.execute(f"PRAGMA user_version = {VERSION}")
    check_version("service.db", version, VERSION)
    for before in range(version, VERSION) if version else ():
        database.execute(UPGRADES["sqlite"][before])
        database.execute(f"PRAGMA user_version = {before + 1}")


def server_storage(server: str) -> GroupCommitDatabase:
    """The database on a server, whose tables are made where there are none."""
    return PostgresStorage(server, "discreet_service", POSTGRES, VERSION, _refusal, UPGRADES["postgres"])


_COLUMNS = {
    "member": "name, role, since, removed",
    "token": "id, member, mark, hash, label, once, made, expires, revoked",
    "request": "member, id, wish, price, made, state, lease, settled, entry, answer, problem",
    "event": "position, body, hash",
}
"""In the order of their references."""


def move(folder: Path, url: str) -> int:
    """Move the databases of ``folder`` to the server at ``url``; returns how many records of the ledger went there."""
    file = folder / "service.db"
    if file.exists() and read_server(folder) is None:
        _move_members(file, check_server(url))
    records = move_ledger(folder, url)
    if file.exists():
        SQLiteStorage.put_aside(file)
    return records


def _move_members(file: Path, url: str) -> None:
    storage, server = file_storage(file), server_storage(url)
    try:
        storage.write(lambda database: server.write(lambda there: _copied(database, there)))
    finally:
        storage.close()
        server.close()


def _copied(database: Database, server: Database) -> None:
    if not copy_database(database, server, _COLUMNS):
        remedy = "name another database; after a move that was cut off, drop the schema discreet_service"
        raise StoreError("the server must not hold the members of another service", "<others>", remedy)
