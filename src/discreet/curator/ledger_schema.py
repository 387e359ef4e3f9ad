"""The tables of a ledger, in the words of SQLite and of PostgreSQL: the same columns, checks and triggers in both."""

from __future__ import annotations

__all__ = ["POSTGRES", "SQLITE", "VERSION"]

VERSION = 1
"""Of the tables below."""

SQLITE = """
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

POSTGRES = """
CREATE TABLE account (
    name TEXT COLLATE "C" PRIMARY KEY,
    measure TEXT NOT NULL CHECK (measure IN ('pure', 'concentrated')),
    places BIGINT NOT NULL CHECK (places IN (1, 2)),
    cap BIGINT NOT NULL CHECK (cap >= 0),
    delta_cap BIGINT NOT NULL CHECK (delta_cap >= 0),
    spent BIGINT NOT NULL DEFAULT 0 CHECK (spent >= 0),
    delta_spent BIGINT NOT NULL DEFAULT 0 CHECK (delta_spent >= 0),
    CHECK (spent <= cap),
    CHECK (delta_spent <= delta_cap)
);
CREATE TABLE portion (
    account TEXT COLLATE "C" NOT NULL REFERENCES account (name),
    part TEXT COLLATE "C" NOT NULL,
    key TEXT COLLATE "C" NOT NULL,
    spent BIGINT NOT NULL CHECK (spent >= 0),
    PRIMARY KEY (account, part, key)
);
CREATE TABLE entry (
    position BIGINT PRIMARY KEY CHECK (position >= 1),
    body BYTEA NOT NULL,
    hash BYTEA NOT NULL UNIQUE
);
CREATE TABLE request (
    id TEXT COLLATE "C" PRIMARY KEY,
    body_hash BYTEA NOT NULL,
    charge BIGINT NOT NULL UNIQUE REFERENCES entry (position),
    answer BIGINT UNIQUE REFERENCES entry (position),
    bytes BYTEA
);
CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION '%', TG_ARGV[0]; END $$;
CREATE TRIGGER entries_stay BEFORE UPDATE ON entry FOR EACH ROW EXECUTE FUNCTION refuse('entries are never changed');
CREATE TRIGGER entries_remain BEFORE DELETE OR TRUNCATE ON entry EXECUTE FUNCTION refuse('entries are never deleted');
CREATE TRIGGER requests_remain BEFORE DELETE OR TRUNCATE ON request
    EXECUTE FUNCTION refuse('requests are never deleted');
CREATE TRIGGER answers_stay BEFORE UPDATE ON request FOR EACH ROW WHEN (OLD.answer IS NOT NULL)
    EXECUTE FUNCTION refuse('an answer is given once');
CREATE TRIGGER accounts_remain BEFORE DELETE OR TRUNCATE ON account
    EXECUTE FUNCTION refuse('accounts are never deleted');
CREATE TRIGGER nothing_is_refunded BEFORE UPDATE ON account FOR EACH ROW
    WHEN (NEW.spent < OLD.spent OR NEW.delta_spent < OLD.delta_spent
        OR NEW.name <> OLD.name OR NEW.measure <> OLD.measure OR NEW.places <> OLD.places)
    EXECUTE FUNCTION refuse('nothing is refunded');
CREATE TRIGGER portions_remain BEFORE DELETE OR TRUNCATE ON portion
    EXECUTE FUNCTION refuse('portions are never deleted');
CREATE TRIGGER portions_grow BEFORE UPDATE ON portion FOR EACH ROW
    WHEN (NEW.spent < OLD.spent OR NEW.account <> OLD.account OR NEW.part <> OLD.part OR NEW.key <> OLD.key)
    EXECUTE FUNCTION refuse('nothing is refunded');
"""
