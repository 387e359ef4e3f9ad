"""Tables, checks, indexes and triggers that are not as they were made are found, in a file and on a server."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import psycopg
import pytest

from discreet.curator.ledger.ledger import Ledger
from discreet.curator.ledger.move import move
from discreet.curator.ledger.open import OpenedLedger
from discreet.curator.ledger.schema import MOVED
from discreet.curator.ledger.units import Allowance
from discreet.curator.ledger.verify import verify
from discreet.errors import LedgerError
from discreet.privacy.loss import Pure
from tests.curator.older_ledger import make_older, make_older_there
from tests.servers.fixtures import postgres_server, postgres_url

__all__ = ["postgres_server", "postgres_url"]

_REWRITE = "UPDATE sqlite_schema SET sql = replace(sql, '{}', '{}') WHERE name = '{}'"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    ledger = Ledger.create(tmp_path)
    ledger.open_account("visits", Allowance.of(Pure(1)))
    ledger.close()
    return tmp_path


@pytest.fixture
def on_server(folder: Path, postgres_url: str) -> Iterator[psycopg.Connection[tuple[object, ...]]]:
    move(folder, postgres_url)
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute("SET search_path TO discreet_ledger")
        yield connection


def is_refused(folder: Path, said: str) -> bool:
    """Whether a verification finds it and an opening refuses it."""
    found = verify(folder).problems
    assert any(said in problem for problem in found), found
    with pytest.raises(LedgerError, match="the ledger must be sound"):
        OpenedLedger(Ledger(folder))
    return True


def changed(folder: Path, *statements: str) -> None:
    with closing(sqlite3.connect(folder / "ledger.db", isolation_level=None)) as database:
        database.execute("PRAGMA writable_schema = ON")
        for statement in statements:
            database.execute(statement)


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("DROP TRIGGER entries_stay", "the trigger entries_stay is missing"),
        ("DROP TRIGGER nothing_is_refunded", "the trigger nothing_is_refunded is missing"),
        (
            _REWRITE.format("OLD.answer IS NOT NULL", "0", "answers_stay"),
            "the trigger answers_stay is not as it was made",
        ),
        (
            _REWRITE.format("CHECK (delta_spent <= delta_cap)", "CHECK (1)", "account_2"),
            "the table account_2 is not as it was made",
        ),
        (
            "CREATE TRIGGER mine AFTER INSERT ON entry BEGIN UPDATE account_2 SET spent = 0; END",
            "the trigger mine is not one of the ledger's",
        ),
    ],
)
def test_what_is_not_as_it_was_made_is_found_in_a_file(folder: Path, statement: str, said: str) -> None:
    changed(folder, statement)
    assert is_refused(folder, said)


def test_an_index_that_was_dropped_is_found_in_a_file(folder: Path) -> None:
    with closing(sqlite3.connect(folder / "ledger.db")) as database:
        (made,) = database.execute("SELECT sql FROM sqlite_schema WHERE name = 'request'").fetchone()
        triggers = database.execute("SELECT sql FROM sqlite_schema WHERE tbl_name = 'request' AND type = 'trigger'")
        again = [sql for (sql,) in triggers]
    changed(folder, "DROP TABLE request", made.replace("NOT NULL UNIQUE", "NOT NULL"), *again)
    assert is_refused(folder, "the index sqlite_autoindex_request_3 is missing")


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("DROP TRIGGER entries_stay ON entry", "the trigger entry.entries_stay is missing"),
        ("ALTER TABLE entry DISABLE TRIGGER entries_remain", "the trigger entry.entries_remain is not as it was made"),
        ("ALTER TABLE request DISABLE TRIGGER ALL", "the trigger request of references is not as it was made"),
        (
            "CREATE OR REPLACE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NEW; END $$",
            "the function refuse is not as it was made",
        ),
        (
            (
                "ALTER TABLE account_2 DROP CONSTRAINT account_2_check;"
                " ALTER TABLE account_2 ADD CONSTRAINT account_2_check CHECK (spent <= cap + 1)"
            ),
            "the check account_2.account_2_check is not as it was made",
        ),
        ("ALTER TABLE account_2 DROP CONSTRAINT account_2_check1", "the check account_2.account_2_check1 is missing"),
        ("ALTER TABLE entry DROP CONSTRAINT entry_hash_key", "the index entry_hash_key is missing"),
        ("ALTER TABLE request ALTER COLUMN body_hash DROP NOT NULL", "the column request.body_hash is not as it was"),
        ("ALTER TABLE account_2 ALTER COLUMN spent SET DEFAULT 7", "the column account_2.spent is not as it was made"),
        ("ALTER TABLE portion_2 SET UNLOGGED", "the table portion_2 is not as it was made"),
        ("CREATE RULE mine AS ON UPDATE TO account_2 DO INSTEAD NOTHING", "the rule account_2.mine is not one of"),
    ],
)
@pytest.mark.some(3)
def test_what_is_not_as_it_was_made_is_found_on_a_server(
    folder: Path, on_server: psycopg.Connection[tuple[object, ...]], statement: str, said: str
) -> None:
    on_server.execute(statement.encode())
    assert is_refused(folder, said)


def test_a_server_is_left_as_it_was(folder: Path, on_server: psycopg.Connection[tuple[object, ...]]) -> None:
    assert verify(folder).problems == []
    schemas = on_server.execute("SELECT nspname FROM pg_namespace WHERE nspname LIKE 'discreet%'").fetchall()
    assert schemas == [("discreet_ledger",)]


def test_an_older_file_that_was_upgraded_is_as_a_new_one(folder: Path) -> None:
    make_older(str(folder / "ledger.db"))
    assert verify(folder).problems == []
    changed(folder, MOVED)
    assert verify(folder).problems == []
    changed(folder, "DROP TRIGGER portions_grow")
    assert is_refused(folder, "the trigger portions_grow is missing")


def test_an_older_server_that_was_upgraded_is_as_a_new_one(
    folder: Path, on_server: psycopg.Connection[tuple[object, ...]], postgres_url: str
) -> None:
    make_older_there(postgres_url)
    assert verify(folder).problems == []
    on_server.execute("DROP TRIGGER portions_grow ON portion_2")
    assert is_refused(folder, "the trigger portion_2.portions_grow is missing")
