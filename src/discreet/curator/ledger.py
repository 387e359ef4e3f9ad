"""The ledger: what was spent, on what, and what was answered, in an order that nobody can change.

A charge is durable before any row is read, and an answer is durable before anyone sees it. One request id has one
charge and one answer, whoever asks again, at once or after a crash. Entries are appended under one write lock, each
with the hash of the one before it; triggers refuse to change or delete them; accounts carry CHECK (spent <= cap), so
the database itself refuses to overspend. Nothing is ever refunded.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock
from typing import Any

import apsw

from discreet.curator.allowance import DELTA_UNITS, Allowance, Measure, Price
from discreet.curator.chain import GENESIS, canonical, link
from discreet.curator.spending import largest
from discreet.curator.witness import Witness
from discreet.errors import BudgetExceeded, InvalidValue, LedgerError, RequestConflict

__all__ = ["Account", "Entry", "Ledger", "Receipt"]

_VERSION = 1
_PATIENCE_SECONDS = 60.0
_STEP_SECONDS = 0.001
_ACCOUNTS = "SELECT name, measure, cap, delta_cap, spent, delta_spent, places FROM account"
_SCHEMA = """
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


@dataclass(frozen=True)
class Account:
    """An allowance and what was taken from it."""

    name: str
    allowance: Allowance
    spent: int
    """What the worst-off unit was charged."""
    delta_spent: int
    places: int = 1
    """How many portions of a column one neighbour can touch."""

    @property
    def left(self) -> int:
        """Units of ε or ρ that may still be spent."""
        return self.allowance.cap - self.spent


@dataclass(frozen=True)
class Entry:
    """One record of the ledger."""

    position: int
    body: dict[str, Any]
    hash: bytes


@dataclass(frozen=True)
class Receipt:
    """What the ledger knows about a request."""

    request: str
    charge: int
    """Position of its charge."""
    answer: bytes | None = None
    """The stored answer; None while it has not been given."""
    position: int | None = None
    """Position of the answer."""
    head: bytes = b""
    """Hash of the ledger at that position."""


class Ledger:
    """A ledger in a folder: ``ledger.db`` and its witness ``ledger.witness``."""

    def __init__(self, folder: Path) -> None:
        """Open the ledger in ``folder``; `Ledger.create` starts one."""
        self.path = folder / "ledger.db"
        self.witness = Witness(folder / "ledger.witness")
        if not self.path.exists():
            remedy = "put it back, or start one with Ledger.create"
            raise LedgerError("there must be a ledger in the folder", str(folder), remedy)
        self.database = _connect(self.path)
        self._writer = Lock()  # one transaction at a time on one connection, whatever the threads do

    @classmethod
    def create(cls, folder: Path) -> Ledger:
        """Start an empty ledger; a folder that holds one, or a part of one, is refused."""
        path, witness = folder / "ledger.db", Witness(folder / "ledger.witness")
        if path.exists() or witness.path.exists():
            raise LedgerError("the folder must not hold a ledger yet", str(folder))
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        witness.create()
        with _explained():
            connection = _connect(path)
            with connection:
                connection.execute(_SCHEMA)
                connection.execute(f"PRAGMA user_version = {_VERSION}")
            connection.close()
        ledger = cls(folder)
        with ledger._writing():
            position, head = ledger._append({"kind": "start", "version": _VERSION})
        with _explained():
            witness.attest(position, head)
        return ledger

    def close(self) -> None:
        """Let go of the file."""
        self.database.close()

    # The owner's part.

    def open_account(self, name: str, allowance: Allowance, places: int = 1) -> None:
        """Add an account; its name is taken for good. ``places`` is 2 where neighbours replace one unit by another."""
        record: dict[str, Any] = {"kind": "account", "name": name, "measure": allowance.measure.value}
        record |= {"cap": allowance.cap, "delta_cap": allowance.delta_cap, "places": places}
        with self._writing():
            known = self._row("SELECT 1 FROM account WHERE name = ?", name)
            if known:
                raise InvalidValue("an account's name must be new", name)
            values = (name, allowance.measure.value, allowance.cap, allowance.delta_cap, places)
            insert = "INSERT INTO account (name, measure, cap, delta_cap, places) VALUES (?, ?, ?, ?, ?)"
            self.database.execute(insert, values)
            self._append(record)

    def accounts(self) -> dict[str, Account]:
        """Every account by name."""
        rows = self.database.execute(_ACCOUNTS)
        return {row[0]: _account(row) for row in rows}

    def affords(self, prices: Mapping[str, Price]) -> bool:
        """Whether a charge would fit now; it may not any more when it comes."""
        accounts = self.accounts()
        return all(self._fits(accounts[name], price) for name, price in prices.items())

    # The asker's part.

    def charge(self, request: str, body: bytes, prices: Mapping[str, Price], note: Mapping[str, Any]) -> Receipt:
        """Charge all accounts or none, durably; a request that was charged before is not charged again."""
        digest = hashlib.sha256(body).digest()
        with self._writing():
            known = self._known(request, digest)
            if known is not None:
                return known
            for name, price in sorted(prices.items()):
                self._take(name, price)
            units = {name: [price.loss, price.delta] for name, price in prices.items()}
            record = {"kind": "charge", "request": request, "body": digest.hex(), "prices": units, "note": dict(note)}
            apart = {
                name: [list(p) for p in sorted(price.portions)] for name, price in prices.items() if price.portions
            }
            record |= {"portions": apart} if apart else {}
            position, _ = self._append(record)
            self.database.execute(
                "INSERT INTO request (id, body_hash, charge) VALUES (?, ?, ?)", (request, digest, position)
            )
        return Receipt(request, position)

    def settle(self, request: str, answer: bytes) -> Receipt:
        """Store the answer to a charged request and return what is stored: the first answer stored is the only one."""
        with self._writing():
            row = self._row("SELECT charge, answer FROM request WHERE id = ?", request)
            if row is None:
                raise InvalidValue("a request must be charged before it is answered", request)
            if row[1] is None:
                record = {"kind": "answer", "request": request, "charge": row[0]}
                position, _ = self._append(record | {"answer": hashlib.sha256(answer).hexdigest()})
                values = (position, answer, request)
                self.database.execute("UPDATE request SET answer = ?, bytes = ? WHERE id = ?", values)
        receipt = self._receipt(request)
        assert receipt.position is not None  # noqa: S101  it was stored above, by us or before us
        with _explained():
            self.witness.attest(receipt.position, receipt.head)
        return receipt

    def look_up(self, request: str, body: bytes) -> Receipt | None:
        """What is known about a request with this body; another body under the same id is refused."""
        with _explained():
            return self._known(request, hashlib.sha256(body).digest())

    # The auditor's part.

    def entries(self, start: int = 1) -> Iterator[Entry]:
        """The records from position ``start`` on."""
        rows = self.database.execute(
            "SELECT position, body, hash FROM entry WHERE position >= ? ORDER BY position", (start,)
        )
        for position, body, digest in rows:
            yield Entry(position, json.loads(body), digest)

    def head(self) -> tuple[int, bytes]:
        """Position and hash of the last record."""
        row = self._row("SELECT position, hash FROM entry ORDER BY position DESC LIMIT 1")
        return (row[0], row[1]) if row else (0, GENESIS)

    # How it is kept.

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """One writer at a time, and durable when the block ends; any failure leaves everything as it was."""
        with self._writer, _explained():
            self.database.execute("BEGIN IMMEDIATE")
            try:
                yield
                self.database.execute("COMMIT")
            except BaseException:
                if self.database.in_transaction:
                    self.database.execute("ROLLBACK")
                raise

    def _append(self, record: dict[str, Any]) -> tuple[int, bytes]:
        position, previous = self.head()
        body = canonical(record | {"time": datetime.now(UTC).isoformat(timespec="seconds")})
        digest = link(previous, body)
        values = (position + 1, body, digest)
        self.database.execute("INSERT INTO entry (position, body, hash) VALUES (?, ?, ?)", values)
        return position + 1, digest

    def _take(self, name: str, price: Price) -> None:
        row = self._row(f"{_ACCOUNTS} WHERE name = ?", name)
        if row is None:
            raise InvalidValue("a charge must name an existing account", name)
        account = _account(row)
        increase = self._increase(account, price)
        if increase > account.left:
            wanted, left = account.allowance.loss(increase), account.allowance.loss(account.left)
            raise BudgetExceeded(f"the price must fit what is left for {name}, {left!r}", wanted, "nothing was spent")
        if account.delta_spent + price.delta > account.allowance.delta_cap:
            left_for_keys = (account.allowance.delta_cap - account.delta_spent) / DELTA_UNITS
            rule = f"the δ for keys that nobody listed must fit what is left of it for {name}, {left_for_keys:g}"
            raise BudgetExceeded(rule, f"{price.delta / DELTA_UNITS:g}", "list the keys; nothing was spent")
        self.database.execute(
            "UPDATE account SET spent = spent + ?, delta_spent = delta_spent + ? WHERE name = ?",
            (increase, price.delta, name),
        )
        for part, key, loss in price.portions:
            self.database.execute(
                "INSERT INTO portion (account, part, key, spent) VALUES (?, ?, ?, ?)"
                " ON CONFLICT (account, part, key) DO UPDATE SET spent = spent + excluded.spent",
                (name, part, key, loss),
            )

    def _fits(self, account: Account, price: Price) -> bool:
        delta = account.delta_spent + price.delta
        return self._increase(account, price) <= account.left and delta <= account.allowance.delta_cap

    def _increase(self, account: Account, price: Price) -> int:
        """What a price adds for the worst-off unit."""
        increase = price.loss
        for part in sorted({portion.part for portion in price.portions}):
            rows = self.database.execute(
                "SELECT key, spent FROM portion WHERE account = ? AND part = ?", (account.name, part)
            )
            spent: dict[str, int] = dict(rows)
            before = largest(spent.values(), account.places)
            for portion in price.portions:
                if portion.part == part:
                    spent[portion.key] = spent.get(portion.key, 0) + portion.loss
            increase += largest(spent.values(), account.places) - before
        return increase

    def _known(self, request: str, digest: bytes) -> Receipt | None:
        row = self._row("SELECT body_hash FROM request WHERE id = ?", request)
        if row is None:
            return None
        if row[0] != digest:
            raise RequestConflict("a request id must stand for one question", request, "use a new id")
        return self._receipt(request)

    def _receipt(self, request: str) -> Receipt:
        row = self._row(
            "SELECT charge, answer, bytes, hash FROM request LEFT JOIN entry ON position = answer WHERE id = ?", request
        )
        assert row is not None  # noqa: S101  callers checked
        return Receipt(request, row[0], row[2], row[1], row[3] or b"")

    def _row(self, query: str, *values: Any) -> tuple[Any, ...] | None:
        found: tuple[Any, ...] | None = self.database.execute(query, values).fetchone()
        return found


def _account(row: tuple[Any, ...]) -> Account:
    name, measure, cap, delta_cap, spent, delta_spent, places = row
    return Account(name, Allowance(Measure(measure), cap, delta_cap), spent, delta_spent, places)


def _connect(path: Path) -> apsw.Connection:
    with _explained():
        connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
        connection.set_busy_handler(_Patience(_PATIENCE_SECONDS))
        wanted = {"journal_mode": "wal", "synchronous": 2, "foreign_keys": 1, "trusted_schema": 0}
        for name, value in wanted.items():
            connection.pragma(name, value)
            if connection.pragma(name) != value:
                raise LedgerError(f"the ledger needs {name} = {value}", connection.pragma(name))
        return connection


class _Patience:
    """Waits for other writers in short steps, up to a limit.

    SQLite's own steps grow to a tenth of a second, and whoever has written last starts again before anybody wakes up:
    with many writers some are never served.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._end = 0.0

    def __call__(self, times: int) -> bool:
        """Whether to try again, after having waited ``times`` times."""
        if times == 0:
            self._end = time.monotonic() + self._seconds
        time.sleep(_STEP_SECONDS)
        return time.monotonic() < self._end


@contextmanager
def _explained() -> Iterator[None]:
    """Turn faults of the disk or the database into one error that says nothing was released."""
    try:
        yield
    except (apsw.Error, OSError) as fault:
        remedy = "nothing was released; check the disk and the file, then ask again with the same request id"
        raise LedgerError("the ledger must be writable and sound", _told(fault), remedy) from fault


def _told(fault: Exception) -> str:
    """What happened, in words that help whoever keeps the disk."""
    known = {"FullError": "a full disk", "BusyError": "a process that holds it", "CorruptError": "a damaged file"}
    known |= {"ReadOnlyError": "a read-only file", "CantOpenError": "a file that cannot be opened or written"}
    return f"<{known.get(type(fault).__name__, type(fault).__name__)}>"
