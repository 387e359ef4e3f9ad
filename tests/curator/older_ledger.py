"""Ledgers as the version before made them: one of today is taken back to that, with all that it holds."""

from __future__ import annotations

import apsw
import psycopg

__all__ = ["make_older", "make_older_there"]

_SQLITE = """
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
"""
_POSTGRES = """
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
"""
_COPY = """
INSERT INTO account (name, measure, places, cap, delta_cap, spent, delta_spent)
    SELECT name, measure, places, cap, delta_cap, spent, delta_spent FROM account_2;
INSERT INTO portion (account, part, key, spent) SELECT account, part, key, spent FROM portion_2;
DROP TABLE portion_2;
DROP TABLE account_2;
"""
_WITH_RETURNS = (
    """CREATE TRIGGER nothing_is_refunded BEFORE UPDATE ON account
    WHEN (NEW.spent < OLD.spent OR NEW.delta_spent < OLD.delta_spent)
        AND (SELECT json_extract(CAST(body AS TEXT), '$.kind')
            FROM entry ORDER BY position DESC LIMIT 1) IS NOT 'return'
    BEGIN SELECT RAISE(ABORT, 'nothing is refunded'); END""",
    """CREATE TRIGGER accounts_stay BEFORE UPDATE ON account
    WHEN NEW.name <> OLD.name OR NEW.measure <> OLD.measure OR NEW.places <> OLD.places
    BEGIN SELECT RAISE(ABORT, 'accounts are never changed'); END""",
    """CREATE TRIGGER portions_grow BEFORE UPDATE ON portion
    WHEN NEW.spent < OLD.spent
        AND (SELECT json_extract(CAST(body AS TEXT), '$.kind')
            FROM entry ORDER BY position DESC LIMIT 1) IS NOT 'return'
    BEGIN SELECT RAISE(ABORT, 'nothing is refunded'); END""",
    """CREATE TRIGGER portions_stay BEFORE UPDATE ON portion
    WHEN NEW.account <> OLD.account OR NEW.part <> OLD.part OR NEW.key <> OLD.key
    BEGIN SELECT RAISE(ABORT, 'portions are never changed'); END""",
)
_WITHOUT_RETURNS = (
    """CREATE TRIGGER nothing_is_refunded BEFORE UPDATE ON account
    WHEN NEW.spent < OLD.spent OR NEW.delta_spent < OLD.delta_spent
        OR NEW.name <> OLD.name OR NEW.measure <> OLD.measure OR NEW.places <> OLD.places
    BEGIN SELECT RAISE(ABORT, 'nothing is refunded'); END""",
    """CREATE TRIGGER portions_grow BEFORE UPDATE ON portion
    WHEN NEW.spent < OLD.spent OR NEW.account <> OLD.account OR NEW.part <> OLD.part OR NEW.key <> OLD.key
    BEGIN SELECT RAISE(ABORT, 'nothing is refunded'); END""",
)
_WITH_RETURNS_THERE = (
    """CREATE TRIGGER nothing_is_refunded BEFORE UPDATE ON account FOR EACH ROW
    WHEN (NEW.spent < OLD.spent OR NEW.delta_spent < OLD.delta_spent) EXECUTE FUNCTION refuse_refund()""",
    """CREATE TRIGGER accounts_stay BEFORE UPDATE ON account FOR EACH ROW
    WHEN (NEW.name <> OLD.name OR NEW.measure <> OLD.measure OR NEW.places <> OLD.places)
    EXECUTE FUNCTION refuse('accounts are never changed')""",
    """CREATE TRIGGER portions_grow BEFORE UPDATE ON portion FOR EACH ROW
    WHEN (NEW.spent < OLD.spent) EXECUTE FUNCTION refuse_refund()""",
    """CREATE TRIGGER portions_stay BEFORE UPDATE ON portion FOR EACH ROW
    WHEN (NEW.account <> OLD.account OR NEW.part <> OLD.part OR NEW.key <> OLD.key)
    EXECUTE FUNCTION refuse('portions are never changed')""",
)
_WITHOUT_RETURNS_THERE = (
    """CREATE TRIGGER nothing_is_refunded BEFORE UPDATE ON account FOR EACH ROW
    WHEN (NEW.spent < OLD.spent OR NEW.delta_spent < OLD.delta_spent
        OR NEW.name <> OLD.name OR NEW.measure <> OLD.measure OR NEW.places <> OLD.places)
    EXECUTE FUNCTION refuse('nothing is refunded')""",
    """CREATE TRIGGER portions_grow BEFORE UPDATE ON portion FOR EACH ROW
    WHEN (NEW.spent < OLD.spent OR NEW.account <> OLD.account OR NEW.part <> OLD.part OR NEW.key <> OLD.key)
    EXECUTE FUNCTION refuse('nothing is refunded')""",
)


def make_older(file: str, *, returns: bool = True) -> None:
    """Take the ledger of a file back to version 1, from after or before there were returns."""
    connection = apsw.Connection(file)
    connection.pragma("foreign_keys", 0)
    with connection:
        connection.execute(_SQLITE + _COPY)
        for statement in _WITH_RETURNS if returns else _WITHOUT_RETURNS:
            connection.execute(statement)
        connection.pragma("user_version", 1)
    connection.close()


def make_older_there(url: str, *, returns: bool = True) -> None:
    """Take the ledger of a server back to version 1."""
    with psycopg.connect(url) as connection:
        connection.execute("SET search_path TO discreet_ledger")
        for statement in (_POSTGRES + _COPY).split(";\n"):
            connection.execute(statement.encode())
        if not returns:
            connection.execute("DROP FUNCTION refuse_refund")
        for statement in _WITH_RETURNS_THERE if returns else _WITHOUT_RETURNS_THERE:
            connection.execute(statement.encode())
        connection.execute("UPDATE pen SET version = 1")
