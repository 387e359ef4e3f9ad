"""The tables of the service's book, in the words of SQLite and of PostgreSQL: the same columns and triggers in both."""

from __future__ import annotations

__all__ = ["ADDED", "POSTGRES", "SQLITE", "UPGRADES", "VERSION"]

VERSION = 3
"""Of the tables below."""
ADDED = {1: "the table of the audit trail", 2: "the table of sessions"}
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

SQLITE = (
    """
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
    """
CREATE TABLE member (
    name TEXT COLLATE "C" PRIMARY KEY,
    role TEXT NOT NULL CHECK (role IN ('owner', 'analyst', 'auditor')),
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
    "sqlite": {1: _SQLITE_TRAIL, 2: _SQLITE_SESSIONS},
    "postgres": {1: _POSTGRES_TRAIL, 2: _POSTGRES_SESSIONS},
}
"""Per kind of book and older version, what makes the next version of it. Nothing that is there is changed, so that an
older book is opened and gets what it lacks in one transaction."""
