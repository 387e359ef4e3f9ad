"""The tables of the service's book, in the words of SQLite and of PostgreSQL: the same columns and triggers in both."""

from __future__ import annotations

__all__ = ["POSTGRES", "SQLITE", "VERSION"]

VERSION = 1
"""Of the tables below."""

SQLITE = """
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

POSTGRES = """
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
