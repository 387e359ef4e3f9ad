"""The tables of a ledger, in the words of SQLite and of PostgreSQL: the same columns, checks and triggers in both.

Version 2 counts ε beside ρ where a budget has both, and knows for every table's account whose people it is about. Its
accounts and portions have names of their own, so that a process of the version before, which may have the ledger open
while it is upgraded, fails at its next charge instead of passing by the new accounts.
"""

from __future__ import annotations

from discreet.storage.database import GroupCommitDatabase, Shape
from discreet.storage.sqlite import SQLiteStorage

__all__ = ["MOVED", "POSTGRES", "POSTGRES_UPGRADES", "SQLITE", "SQLITE_UPGRADES", "VERSION", "schema_problems"]


VERSION = 2
"""Of the tables below."""

_LAST_KIND = "(SELECT json_extract(CAST(body AS TEXT), '$.kind') FROM entry ORDER BY position DESC LIMIT 1)"
_SQLITE_TRIGGERS = (
    f"""CREATE TRIGGER nothing_is_refunded BEFORE UPDATE ON account_2
    WHEN (NEW.spent < OLD.spent OR NEW.delta_spent < OLD.delta_spent
        OR NEW.spent_pure < OLD.spent_pure OR NEW.impure < OLD.impure)
        AND {_LAST_KIND} IS NOT 'return'
    BEGIN SELECT RAISE(ABORT, 'nothing is refunded'); END""",
    """CREATE TRIGGER accounts_stay BEFORE UPDATE ON account_2
    WHEN NEW.name <> OLD.name OR NEW.measure <> OLD.measure OR NEW.places <> OLD.places
        OR (NEW.alpha <> OLD.alpha AND OLD.spent > 0) OR NEW.unit <> OLD.unit
    BEGIN SELECT RAISE(ABORT, 'accounts are never changed'); END""",
    f"""CREATE TRIGGER portions_grow BEFORE UPDATE ON portion_2
    WHEN (NEW.spent < OLD.spent OR NEW.spent_pure < OLD.spent_pure)
        AND {_LAST_KIND} IS NOT 'return'
    BEGIN SELECT RAISE(ABORT, 'nothing is refunded'); END""",
    """CREATE TRIGGER portions_stay BEFORE UPDATE ON portion_2
    WHEN NEW.account <> OLD.account OR NEW.part <> OLD.part OR NEW.key <> OLD.key
    BEGIN SELECT RAISE(ABORT, 'portions are never changed'); END""",
    """CREATE TRIGGER accounts_remain BEFORE DELETE ON account_2
    BEGIN SELECT RAISE(ABORT, 'accounts are never deleted'); END""",
    """CREATE TRIGGER portions_remain BEFORE DELETE ON portion_2
    BEGIN SELECT RAISE(ABORT, 'portions are never deleted'); END""",
)
_POSTGRES_TRIGGERS = (
    """CREATE OR REPLACE FUNCTION refuse_refund() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    IF (SELECT convert_from(body, 'UTF8')::json ->> 'kind' FROM entry ORDER BY position DESC LIMIT 1) = 'return'
    THEN RETURN NEW; END IF;
    RAISE EXCEPTION 'nothing is refunded'; END $$""",
    """CREATE TRIGGER nothing_is_refunded BEFORE UPDATE ON account_2 FOR EACH ROW
    WHEN (NEW.spent < OLD.spent OR NEW.delta_spent < OLD.delta_spent
        OR NEW.spent_pure < OLD.spent_pure OR NEW.impure < OLD.impure) EXECUTE FUNCTION refuse_refund()""",
    """CREATE TRIGGER accounts_stay BEFORE UPDATE ON account_2 FOR EACH ROW
    WHEN (NEW.name <> OLD.name OR NEW.measure <> OLD.measure OR NEW.places <> OLD.places
        OR (NEW.alpha <> OLD.alpha AND OLD.spent > 0) OR NEW.unit <> OLD.unit)
    EXECUTE FUNCTION refuse('accounts are never changed')""",
    """CREATE TRIGGER portions_grow BEFORE UPDATE ON portion_2 FOR EACH ROW
    WHEN (NEW.spent < OLD.spent OR NEW.spent_pure < OLD.spent_pure) EXECUTE FUNCTION refuse_refund()""",
    """CREATE TRIGGER portions_stay BEFORE UPDATE ON portion_2 FOR EACH ROW
    WHEN (NEW.account <> OLD.account OR NEW.part <> OLD.part OR NEW.key <> OLD.key)
    EXECUTE FUNCTION refuse('portions are never changed')""",
    """CREATE TRIGGER accounts_remain BEFORE DELETE OR TRUNCATE ON account_2
    EXECUTE FUNCTION refuse('accounts are never deleted')""",
    """CREATE TRIGGER portions_remain BEFORE DELETE OR TRUNCATE ON portion_2
    EXECUTE FUNCTION refuse('portions are never deleted')""",
)
"""What was spent goes down in the transaction alone whose last record is a return."""

_SQLITE_ACCOUNTS = """
CREATE TABLE account_2 (
    name TEXT PRIMARY KEY,
    measure TEXT NOT NULL CHECK (measure IN ('pure', 'either', 'concentrated')),
    places INTEGER NOT NULL CHECK (places IN (1, 2)),
    cap INTEGER NOT NULL CHECK (cap >= 0),
    delta_cap INTEGER NOT NULL CHECK (delta_cap >= 0),
    cap_pure INTEGER NOT NULL DEFAULT 0 CHECK (cap_pure >= 0),
    alpha TEXT CHECK ((alpha IS NOT NULL) = (measure = 'either')),
    unit TEXT,
    spent INTEGER NOT NULL DEFAULT 0 CHECK (spent >= 0),
    delta_spent INTEGER NOT NULL DEFAULT 0 CHECK (delta_spent >= 0),
    spent_pure INTEGER NOT NULL DEFAULT 0 CHECK (spent_pure >= 0),
    impure INTEGER NOT NULL DEFAULT 0 CHECK (impure >= 0),
    CHECK (spent <= cap OR (measure = 'either' AND impure = 0 AND spent_pure <= cap_pure)),
    CHECK (delta_spent <= delta_cap)
) STRICT, WITHOUT ROWID;
CREATE TABLE portion_2 (
    account TEXT NOT NULL REFERENCES account_2 (name),
    part TEXT NOT NULL,
    key TEXT NOT NULL,
    spent INTEGER NOT NULL CHECK (spent >= 0),
    spent_pure INTEGER NOT NULL DEFAULT 0 CHECK (spent_pure >= 0),
    PRIMARY KEY (account, part, key)
) STRICT, WITHOUT ROWID;
"""
_SQLITE_RECORDS = """
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
"""
SQLITE = _SQLITE_ACCOUNTS + _SQLITE_RECORDS + ";\n".join((*_SQLITE_TRIGGERS, ""))

_POSTGRES_ACCOUNTS = """
CREATE TABLE account_2 (
    name TEXT COLLATE "C" PRIMARY KEY,
    measure TEXT NOT NULL CHECK (measure IN ('pure', 'either', 'concentrated')),
    places BIGINT NOT NULL CHECK (places IN (1, 2)),
    cap BIGINT NOT NULL CHECK (cap >= 0),
    delta_cap BIGINT NOT NULL CHECK (delta_cap >= 0),
    cap_pure BIGINT NOT NULL DEFAULT 0 CHECK (cap_pure >= 0),
    alpha TEXT CHECK ((alpha IS NOT NULL) = (measure = 'either')),
    unit TEXT,
    spent BIGINT NOT NULL DEFAULT 0 CHECK (spent >= 0),
    delta_spent BIGINT NOT NULL DEFAULT 0 CHECK (delta_spent >= 0),
    spent_pure BIGINT NOT NULL DEFAULT 0 CHECK (spent_pure >= 0),
    impure BIGINT NOT NULL DEFAULT 0 CHECK (impure >= 0),
    CHECK (spent <= cap OR (measure = 'either' AND impure = 0 AND spent_pure <= cap_pure)),
    CHECK (delta_spent <= delta_cap)
);
CREATE TABLE portion_2 (
    account TEXT COLLATE "C" NOT NULL REFERENCES account_2 (name),
    part TEXT COLLATE "C" NOT NULL,
    key TEXT COLLATE "C" NOT NULL,
    spent BIGINT NOT NULL CHECK (spent >= 0),
    spent_pure BIGINT NOT NULL DEFAULT 0 CHECK (spent_pure >= 0),
    PRIMARY KEY (account, part, key)
);
"""
_POSTGRES_RECORDS = """
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
"""
POSTGRES = _POSTGRES_ACCOUNTS + _POSTGRES_RECORDS + ";\n".join((*_POSTGRES_TRIGGERS, ""))

_COPY = """
INSERT INTO account_2 (name, measure, places, cap, delta_cap, spent, delta_spent)
    SELECT name, measure, places, cap, delta_cap, spent, delta_spent FROM account;
INSERT INTO portion_2 (account, part, key, spent) SELECT account, part, key, spent FROM portion;
DROP TABLE portion;
DROP TABLE account;
"""
SQLITE_UPGRADES = {1: _SQLITE_ACCOUNTS + _COPY + ";\n".join((*_SQLITE_TRIGGERS, ""))}
POSTGRES_UPGRADES = {1: _POSTGRES_ACCOUNTS + _COPY + ";\n".join((*_POSTGRES_TRIGGERS, ""))}
"""What makes the next version of tables of an older one."""

MOVED = "CREATE TRIGGER IF NOT EXISTS moved BEFORE INSERT ON entry BEGIN SELECT RAISE(ABORT, 'it was moved'); END"
"""What closes a file whose records were moved to a server; it stands there alone where the move was cut off."""


def schema_problems(storage: GroupCommitDatabase) -> list[str]:
    """What is not as it was made: tables, columns, checks, indexes and triggers."""
    found = {name: text for name, text in storage.shape().items() if text != _WHEN_MOVED}
    return _differences(found, storage.shape_of(SQLITE if isinstance(storage, SQLiteStorage) else POSTGRES))


def _differences(found: Shape, wanted: Shape) -> list[str]:
    gone = [f"the {name} is missing" for name in sorted(wanted.keys() - found.keys())]
    more = [f"the {name} is not one of the ledger's" for name in sorted(found.keys() - wanted.keys())]
    both = sorted(found.keys() & wanted.keys())
    return gone + more + [f"the {name} is not as it was made" for name in both if found[name] != wanted[name]]


_WHEN_MOVED = MOVED.replace("IF NOT EXISTS ", "")
