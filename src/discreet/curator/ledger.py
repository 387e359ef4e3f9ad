"""The ledger: what was spent, on what, and what was answered, in an order that nobody can change.

A charge is durable before any row is read, and an answer is durable before anyone sees it. One request id has one
charge and one answer, whoever asks again, at once or after a crash. Entries are appended under one write lock, each
with the hash of the one before it; triggers refuse to change or delete them; accounts carry CHECK (spent <= cap), so
the database itself refuses to overspend. Nothing is ever refunded.
"""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import apsw

from discreet.books.book import Book, Database
from discreet.books.place import FILE, server_of
from discreet.books.postgres import PostgresBook
from discreet.books.sqlite import SQLiteBook
from discreet.curator import ledger_records as records
from discreet.curator.allowance import Allowance, Price
from discreet.curator.amount import amount, balance
from discreet.curator.ledger_records import (
    ACCOUNTS,
    KNOWN,
    RECORDS,
    Account,
    Entry,
    Receipt,
    account_of_row,
    answers,
    entry_of_row,
    head,
    remember,
)
from discreet.curator.ledger_schema import POSTGRES, SQLITE, VERSION
from discreet.curator.ledger_standing import Standing
from discreet.curator.ledger_together import Charge, GivenAnswer, answer_all, charge_all, same
from discreet.curator.witness import Witness
from discreet.errors import InvalidValue, LedgerError

__all__ = ["Account", "Entry", "Ledger", "Receipt", "has_ledger", "publication_id", "server_book", "witness_name"]

_FIRST_PAGE, _LARGEST_PAGE = 16, 4096
"""How many records are read at a time: nobody holds the file while looking at what was read."""


class Ledger:
    """A ledger and its witness in a folder. Threads may share one.

    The records are in the file ``ledger.db`` of the folder, or on the PostgreSQL server that its file ``ledger.server``
    names, for curators on several hosts.
    """

    def __init__(self, folder: Path) -> None:
        """Open the ledger; `Ledger.create` starts one."""
        self.path = folder / "ledger.db"
        server = server_of(folder)
        self.witness = Witness(folder / witness_name(server))
        if server is None and not self.path.exists():
            remedy = "put it back, or start one with Ledger.create"
            raise LedgerError("there must be a ledger in the folder", str(folder), remedy)
        if server is not None and self.path.exists():
            rule = "a folder must have one ledger"
            raise LedgerError(rule, "<a file and a server>", "remove ledger.server, or the file that was moved there")
        self.book = _book(self.path, server)
        self.book.seal = partial(_attest, self.witness)  # no part of self, so that who lets go of it closes the file
        if server is not None and not self.witness.path.exists():
            self._join()

    @classmethod
    def create(cls, folder: Path) -> Ledger:
        """Start an empty ledger in a file; a folder that holds one, or a part of one, is refused."""
        if has_ledger(folder):
            raise LedgerError("the folder must not hold a ledger yet", str(folder))
        SQLiteBook.create(folder / "ledger.db", SQLITE, VERSION, _refusal)
        with _explained():
            Witness(folder / witness_name(None)).create()
        ledger = cls(folder)
        ledger.book.write(lambda database: _append(database, {"kind": "start", "version": VERSION}), sealed=True)
        return ledger

    def _join(self) -> None:
        """A host that comes to a server's ledger has a witness of its own, which remembers from here on."""
        if self.head()[0] == 0:
            rule = "there must be a ledger on the server"
            raise LedgerError(rule, "<none>", "put it back, or move one there with discreet ledger move")
        with _explained():
            self.witness.create()
        self.book.write(lambda _: None, sealed=True)

    @property
    def database(self) -> apsw.Connection:
        """The connection that writes to the file."""
        assert isinstance(self.book, SQLiteBook)  # noqa: S101  a server has no file
        return self.book.writer

    def close(self) -> None:
        """Let go of the file."""
        self.book.close()

    # The owner's part.

    def open_account(self, name: str, allowance: Allowance, places: int = 1) -> None:
        """Add an account; its name is taken for good. ``places`` is 2 where neighbours replace one unit by another."""
        record: dict[str, Any] = {"kind": "account", "name": name, "measure": allowance.measure.value}
        record |= {"cap": allowance.cap, "delta_cap": allowance.delta_cap, "places": places}

        def part(database: Database) -> None:
            if _row(database, "SELECT 1 FROM account WHERE name = ?", name):
                raise InvalidValue("an account's name must be new", name)
            values = (name, allowance.measure.value, allowance.cap, allowance.delta_cap, places)
            insert = "INSERT INTO account (name, measure, cap, delta_cap, places) VALUES (?, ?, ?, ?, ?)"
            database.execute(insert, values)
            _append(database, record)

        self.book.write(part)

    def change_cap(self, name: str, allowance: Allowance, by: str | None = None) -> None:
        """Give an analyst's account another cap, not below what was spent; a table's budget is granted for good."""

        def part(database: Database) -> None:
            account = _found(database, name)
            _check_new_cap(account, allowance)
            if account.allowance == allowance:
                return
            values = (allowance.cap, allowance.delta_cap, name)
            database.execute("UPDATE account SET cap = ?, delta_cap = ? WHERE name = ?", values)
            record = {"kind": "cap", "name": name, "cap": allowance.cap, "delta_cap": allowance.delta_cap, "by": by}
            _append(database, record)

        self.book.write(part, sealed=True, repeatable=True)

    def record_analyst(self, table: str, analyst: str, *, may_ask: bool, by: str | None = None) -> None:
        """Write down that somebody may ask about a table from now on, or may not any more."""
        record = {"kind": "analyst", "table": table, "analyst": analyst, "may_ask": may_ask, "by": by}
        self.book.write(lambda database: _append(database, record), sealed=True)

    def publish(self, name: str, sha256: str, approved_by: str, statement: Mapping[str, Any]) -> Entry:
        """Write down what was published without differential privacy; the same bytes under the same name once."""
        request = publication_id(name, sha256)
        digest = hashlib.sha256(request.encode()).digest()
        record: dict[str, Any] = {
            "kind": "publication",
            "request": request,
            "body": digest.hex(),
            "name": name,
            "sha256": sha256,
        }
        record |= {"loss": "infinite", "approved_by": approved_by, "statement": dict(statement)}

        def part(database: Database) -> int:
            known = _known(database, request, digest)
            if known is not None:
                return known.charge
            position = _append(database, record)
            remember(database, request, digest, position)
            return position

        entry = self.entry(self.book.write(part, sealed=True, repeatable=True))
        assert entry is not None  # noqa: S101  it was appended above, by us or before us
        return entry

    def publications(self) -> list[Entry]:
        """What was published without differential privacy, from the first on."""
        start, end = "publication:", "publication;"  # the character after the colon
        query = f"{RECORDS} JOIN request ON position = charge WHERE id > ? AND id < ? ORDER BY position"
        with self.book.reading() as database:
            return [entry_of_row(row) for row in database.execute(query, (start, end))]

    def accounts(self) -> dict[str, Account]:
        """Every account by name."""
        with self.book.reading() as database:
            return {row[0]: account_of_row(row) for row in database.execute(ACCOUNTS)}

    def affords(self, prices: Mapping[str, Price]) -> bool:
        """Whether a charge would fit now; it may not any more when it comes. What has no account cannot be paid."""
        standing = Standing([prices])
        with self.book.reading() as database:
            standing.hear(answers(database, standing.questions()))
        return standing.affords(prices)

    # The asker's part.

    def charge(self, request: str, body: bytes, prices: Mapping[str, Price], note: Mapping[str, Any]) -> Receipt:
        """Charge all accounts or none, durably; a request that was charged before is not charged again."""
        digest = hashlib.sha256(body).digest()
        units = {name: [price.loss, price.delta] for name, price in prices.items()}
        record = {"kind": "charge", "request": request, "body": digest.hex(), "prices": units, "note": dict(note)}
        apart = {name: [list(p) for p in sorted(price.portions)] for name, price in prices.items() if price.portions}
        record |= {"portions": apart} if apart else {}

        charge = Charge(request, digest, prices, record)
        return self.book.write_together(charge_all, charge, repeatable=True)

    def settle(self, request: str, answer: bytes) -> Receipt:
        """Store the answer to a charged request and return what is stored: the first answer stored is the only one."""
        given = GivenAnswer(request, answer, hashlib.sha256(answer).hexdigest())
        return self.book.write_together(answer_all, given, sealed=True, repeatable=True)

    def look_up(self, request: str, body: bytes) -> Receipt | None:
        """What is known about a request with this body; another body under the same id is refused."""
        with self.book.reading() as database:
            return _known(database, request, hashlib.sha256(body).digest())

    # The auditor's part.

    def entry(self, position: int) -> Entry | None:
        """The record at a position; None where there is none."""
        with self.book.reading() as database:
            row = _row(database, f"{RECORDS} WHERE position = ?", position)
        return None if row is None else entry_of_row(row)

    def entries(self, start: int = 1) -> Iterator[Entry]:
        """The records from position ``start`` on."""
        size = _FIRST_PAGE
        while True:
            with self.book.reading() as database:
                rows = database.execute(f"{RECORDS} WHERE position >= ? ORDER BY position LIMIT {size}", (start,))
                page: list[Any] = rows.fetchall()
            for row in page:
                yield entry_of_row(row)
            if len(page) < size:
                return
            start, size = page[-1][0] + 1, min(8 * size, _LARGEST_PAGE)

    def head(self) -> tuple[int, bytes]:
        """Position and hash of the last record."""
        with self.book.reading() as database:
            return head(database)


def publication_id(name: str, sha256: str) -> str:
    """What the ledger calls a publication, so that it is recorded once."""
    return f"publication:{sha256}:{name}"


def has_ledger(folder: Path) -> bool:
    """Whether a folder holds a ledger, or a part of one."""
    return any((folder / name).exists() for name in ("ledger.db", "ledger.witness", FILE))


def witness_name(server: str | None) -> str:
    """The file of a witness; each host that shares a server has one, because their writes must not mix."""
    return "ledger.witness" if server is None else f"ledger.witness.{platform.node() or 'host'}"


# Where it is kept ---------------------------------------------------------------------------------------------------


def _book(path: Path, server: str | None) -> Book:
    return SQLiteBook(path, _refusal) if server is None else server_book(server)


def server_book(server: str) -> PostgresBook:
    """The ledger's tables on a server; they are made where there are none."""
    return PostgresBook(server, "discreet_ledger", POSTGRES, VERSION, _refusal)


def _refusal(what: str) -> LedgerError:
    remedy = "nothing was released; check the disk or the server, then ask again with the same request id"
    return LedgerError("the ledger must be writable and sound", f"<{what}>", remedy)


@contextmanager
def _explained() -> Iterator[None]:
    try:
        yield
    except OSError as fault:
        raise _refusal(type(fault).__name__) from fault


def _attest(witness: Witness, database: Database) -> None:
    """Before anybody hears of what was written, the witness remembers the last record."""
    witness.attest(*head(database))


# How it is kept: these work on the connection of whoever reads or writes ---------------------------------------------


def _row(database: Database, query: str, *values: Any) -> tuple[Any, ...] | None:
    found: tuple[Any, ...] | None = database.execute(query, values).fetchone()
    return found


def _append(database: Database, record: dict[str, Any]) -> int:
    position, _ = records.append(database, record, head(database))
    return position


def _found(database: Database, name: str) -> Account:
    row = _row(database, f"{ACCOUNTS} WHERE name = ?", name)
    if row is None:
        raise InvalidValue("a charge must name an existing account", name)
    return account_of_row(row)


def _check_new_cap(account: Account, allowance: Allowance) -> None:
    if "/" not in account.name:  # a slash stands between table and analyst alone
        raise InvalidValue("a table's budget stays as it was granted", account.name, "change the caps of analysts")
    if allowance.measure is not account.allowance.measure:
        kind = account.allowance.measure.value
        raise InvalidValue(f"the cap of {account.name} must stay {kind}", allowance.measure.value)
    if allowance.cap < account.spent or allowance.delta_cap < account.delta_spent:
        spent, wanted = amount(account.allowance.loss(account.spent)), balance(allowance.loss(allowance.cap))
        rule = f"the cap of {account.name} must not be below what was spent, {spent}"
        raise InvalidValue(rule, f"<{wanted}>", "nothing is refunded; or let them ask no more")


def _known(database: Database, request: str, digest: bytes) -> Receipt | None:
    row = _row(database, KNOWN, request)
    return None if row is None else same(request, digest, row)
