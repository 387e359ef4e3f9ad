"""The tables of a ledger, in the words of SQLite and of PostgreSQL: the same columns, checks and triggers in both."""

from __future__ import annotations

from discreet.storage.database import GroupCommitDatabase, Shape
from discreet.storage.sqlite import SQLiteStorage

__all__ = ["MOVED", "POSTGRES", "RETURNS", "SQLITE", "VERSION", "WITHOUT_RETURNS", "schema_problems"]


VERSION = 1
"""Of the tables below."""

_LAST_KIND = "(SELECT json_extract(CAST(body AS TEXT), '$.kind') FROM entry ORDER BY position DESC LIMIT 1)"
_SQLITE_RETURNS = (
    f"""CREATE TRIGGER nothing_is_refunded BEFORE UPDATE ON account
    WHEN (NEW.spent < OLD.spent OR NEW.delta_spent < OLD.delta_spent)
        AND {_LAST_KIND} IS NOT 'return'
    BEGIN SELECT RAISE(ABORT, 'nothing is refunded'); END""",
    """CREATE TRIGGER accounts_stay BEFORE UPDATE ON account
    WHEN NEW.name <> OLD.name OR NEW.measure <> OLD.measure OR NEW.places <> OLD.places
    BEGIN SELECT RAISE(ABORT, 'accounts are never changed'); END""",
    f"""CREATE TRIGGER portions_grow BEFORE UPDATE ON portion
    WHEN NEW.spent < OLD.spent
        AND {_LAST_KIND} IS NOT 'return'
    BEGIN SELECT RAISE(ABORT, 'nothing is refunded'); END""",
    """CREATE TRIGGER portions_stay BEFORE UPDATE ON portion
    WHEN NEW.account <> OLD.account OR NEW.part <> OLD.part OR NEW.key <> OLD.key
    BEGIN SELECT RAISE(ABORT, 'portions are never changed'); END""",
)
_POSTGRES_RETURNS = (
    """CREATE FUNCTION refuse_refund() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    IF (SELECT convert_from(body, 'UTF8')::json ->> 'kind' FROM entry ORDER BY position DESC LIMIT 1) = 'return'
    THEN RETURN NEW; END IF;
    RAISE EXCEPTION 'nothing is refunded'; END $$""",
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
"""What was spent goes down in the transaction alone whose last record is a return."""

_SQLITE_BEFORE = (
    """CREATE TRIGGER nothing_is_refunded BEFORE UPDATE ON account
    WHEN NEW.spent < OLD.spent OR NEW.delta_spent < OLD.delta_spent
        OR NEW.name <> OLD.name OR NEW.measure <> OLD.measure OR NEW.places <> OLD.places
    BEGIN SELECT RAISE(ABORT, 'nothing is refunded'); END""",
    """CREATE TRIGGER portions_grow BEFORE UPDATE ON portion
    WHEN NEW.spent < OLD.spent OR NEW.account <> OLD.account OR NEW.part <> OLD.part OR NEW.key <> OLD.key
    BEGIN SELECT RAISE(ABORT, 'nothing is refunded'); END""",
)
_POSTGRES_BEFORE = (
    """CREATE TRIGGER nothing_is_refunded BEFORE UPDATE ON account FOR EACH ROW
    WHEN (NEW.spent < OLD.spent OR NEW.delta_spent < OLD.delta_spent
        OR NEW.name <> OLD.name OR NEW.measure <> OLD.measure OR NEW.places <> OLD.places)
    EXECUTE FUNCTION refuse('nothing is refunded')""",
    """CREATE TRIGGER portions_grow BEFORE UPDATE ON portion FOR EACH ROW
    WHEN (NEW.spent < OLD.spent OR NEW.account <> OLD.account OR NEW.part <> OLD.part OR NEW.key <> OLD.key)
    EXECUTE FUNCTION refuse('nothing is refunded')""",
)
"""The same from before there were returns: it never goes down."""

_SQLITE_TABLES = """
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
CREATE TRIGGER portions_remain BEFORE DELETE ON portion BEGIN SELECT RAISE(ABORT, 'portions are never deleted'); END;
"""
SQLITE = _SQLITE_TABLES + ";\n".join((*_SQLITE_RETURNS, ""))

_POSTGRES_TABLES = """
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
CREATE TRIGGER portions_remain BEFORE DELETE OR TRUNCATE ON portion
    EXECUTE FUNCTION refuse('portions are never deleted');
"""
POSTGRES = _POSTGRES_TABLES + ";\n".join((*_POSTGRES_RETURNS, ""))

WITHOUT_RETURNS = {
    "sqlite": "SELECT NOT EXISTS (SELECT 1 FROM sqlite_master WHERE type = 'trigger' AND name = 'accounts_stay')",
    "postgres": "SELECT NOT EXISTS (SELECT 1 FROM pg_trigger WHERE tgrelid = 'account'::regclass"
    " AND tgname = 'accounts_stay')",
}
"""Whether the tables were made before there were returns, so that their triggers refuse every one."""
RETURNS = {
    "sqlite": ("DROP TRIGGER nothing_is_refunded", "DROP TRIGGER portions_grow", *_SQLITE_RETURNS),
    "postgres": (
        "DROP TRIGGER nothing_is_refunded ON account",
        "DROP TRIGGER portions_grow ON portion",
        *_POSTGRES_RETURNS,
    ),
}
"""The triggers of such tables, made anew by the first return; until then they stay as they were made."""

MOVED = "CREATE TRIGGER IF NOT EXISTS moved BEFORE INSERT ON entry BEGIN SELECT RAISE(ABORT, 'it was moved'); END"
"""What closes a file whose records were moved to a server; it stands there alone where the move was cut off."""
_KNOWN = {
    "sqlite": (SQLITE, _SQLITE_TABLES + ";\n".join((*_SQLITE_BEFORE, ""))),
    "postgres": (POSTGRES, _POSTGRES_TABLES + ";\n".join((*_POSTGRES_BEFORE, ""))),
}
"""The tables as they are made today, and as they were made before there were returns."""


def schema_problems(storage: GroupCommitDatabase) -> list[str]:
    """What is not as it was made: tables, columns, checks, indexes and triggers, whichever version made them."""
    found = {name: text for name, text in storage.shape().items() if text != _WHEN_MOVED}
    problems: list[str] = []
    for tables in _KNOWN["sqlite" if isinstance(storage, SQLiteStorage) else "postgres"]:
        differences = _differences(found, storage.shape_of(tables))
        if not differences:
            return []
        problems = problems or differences
    return problems


def _differences(found: Shape, wanted: Shape) -> list[str]:
    gone = [f"the {name} is missing" for name in sorted(wanted.keys() - found.keys())]
    more = [f"the {name} is not one of the ledger's" for name in sorted(found.keys() - wanted.keys())]
    both = sorted(found.keys() & wanted.keys())
    return gone + more + [f"the {name} is not as it was made" for name in both if found[name] != wanted[name]]


_WHEN_MOVED = MOVED.replace("IF NOT EXISTS ", "")
