"""The ledger: what was spent, on what, and what was answered, in an order that nobody can change.

A charge is durable before any row is read, and an answer is durable before anyone sees it. One request id has one
charge and one answer, whoever asks again, at once or after a crash. Entries are appended under one write lock, each
with the hash of the one before it; triggers refuse to change or delete them; accounts carry CHECK (spent <= cap), so
the database itself refuses to overspend. Nothing is ever refunded.
"""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import apsw

from discreet.books.book import Book, Database
from discreet.books.place import FILE, server_of
from discreet.books.postgres import PostgresBook
from discreet.books.sqlite import SQLiteBook
from discreet.curator.allowance import DELTA_UNITS, Allowance, Measure, Price
from discreet.curator.amount import amount, balance
from discreet.curator.chain import GENESIS, canonical, link
from discreet.curator.ledger_schema import POSTGRES, SQLITE, VERSION
from discreet.curator.spending import largest
from discreet.curator.witness import Witness
from discreet.errors import BudgetExceeded, InvalidValue, LedgerError, RequestConflict

__all__ = ["Account", "Entry", "Ledger", "Receipt", "has_ledger", "publication_id", "server_book", "witness_name"]

_ACCOUNTS = "SELECT name, measure, cap, delta_cap, spent, delta_spent, places FROM account"
_RECORDS = "SELECT position, body, hash FROM entry"
_HEAD = "SELECT position, hash FROM entry ORDER BY position DESC LIMIT 1"
_KNOWN = "SELECT body_hash, charge, answer, bytes, hash FROM request LEFT JOIN entry ON position = answer WHERE id = ?"
_APART = "SELECT key, spent FROM portion WHERE account = ? AND part = ?"
_FIRST_PAGE, _LARGEST_PAGE = 16, 4096
"""How many records are read at a time: nobody holds the file while looking at what was read."""

_Question = tuple[str, tuple[Any, ...]]
"""A statement that reads, and its values."""


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
            position, _ = _append(database, record)
            _remember(database, request, digest, position)
            return position

        entry = self.entry(self.book.write(part, sealed=True, repeatable=True))
        assert entry is not None  # noqa: S101  it was appended above, by us or before us
        return entry

    def publications(self) -> list[Entry]:
        """What was published without differential privacy, from the first on."""
        start, end = "publication:", "publication;"  # the character after the colon
        query = f"{_RECORDS} JOIN request ON position = charge WHERE id > ? AND id < ? ORDER BY position"
        with self.book.reading() as database:
            return [_entry(row) for row in database.execute(query, (start, end))]

    def accounts(self) -> dict[str, Account]:
        """Every account by name."""
        with self.book.reading() as database:
            return {row[0]: _account(row) for row in database.execute(_ACCOUNTS)}

    def affords(self, prices: Mapping[str, Price]) -> bool:
        """Whether a charge would fit now; it may not any more when it comes. What has no account cannot be paid."""
        with self.book.reading() as database:
            standing = _standing(prices, _answers(database, _about(prices)))
        return all(name in standing.accounts and standing.affords(name, price) for name, price in prices.items())

    # The asker's part.

    def charge(self, request: str, body: bytes, prices: Mapping[str, Price], note: Mapping[str, Any]) -> Receipt:
        """Charge all accounts or none, durably; a request that was charged before is not charged again."""
        digest = hashlib.sha256(body).digest()
        units = {name: [price.loss, price.delta] for name, price in prices.items()}
        record = {"kind": "charge", "request": request, "body": digest.hex(), "prices": units, "note": dict(note)}
        apart = {name: [list(p) for p in sorted(price.portions)] for name, price in prices.items() if price.portions}
        record |= {"portions": apart} if apart else {}

        def part(database: Database) -> Receipt:
            known, head, *answers = _answers(database, [(_KNOWN, (request,)), (_HEAD, ()), *_about(prices)])
            if known:
                return _same(request, digest, known[0])
            _take(database, prices, _standing(prices, answers))
            position, _ = _append(database, record, _last(head))
            _remember(database, request, digest, position)
            return Receipt(request, position)

        return self.book.write(part, repeatable=True)

    def settle(self, request: str, answer: bytes) -> Receipt:
        """Store the answer to a charged request and return what is stored: the first answer stored is the only one."""
        digest = hashlib.sha256(answer).hexdigest()

        def part(database: Database) -> Receipt:
            known, head = _answers(database, [(_KNOWN, (request,)), (_HEAD, ())])
            if not known:
                raise InvalidValue("a request must be charged before it is answered", request)
            receipt = _receipt(request, known[0])
            if receipt.position is not None:
                return receipt
            record = {"kind": "answer", "request": request, "charge": receipt.charge, "answer": digest}
            position, hash_there = _append(database, record, _last(head))
            values = (position, answer, request)
            database.execute("UPDATE request SET answer = ?, bytes = ? WHERE id = ?", values)
            return Receipt(request, receipt.charge, answer, position, hash_there)

        return self.book.write(part, sealed=True, repeatable=True)

    def look_up(self, request: str, body: bytes) -> Receipt | None:
        """What is known about a request with this body; another body under the same id is refused."""
        with self.book.reading() as database:
            return _known(database, request, hashlib.sha256(body).digest())

    # The auditor's part.

    def entry(self, position: int) -> Entry | None:
        """The record at a position; None where there is none."""
        with self.book.reading() as database:
            row = _row(database, f"{_RECORDS} WHERE position = ?", position)
        return None if row is None else _entry(row)

    def entries(self, start: int = 1) -> Iterator[Entry]:
        """The records from position ``start`` on."""
        size = _FIRST_PAGE
        while True:
            with self.book.reading() as database:
                rows = database.execute(f"{_RECORDS} WHERE position >= ? ORDER BY position LIMIT {size}", (start,))
                page: list[Any] = rows.fetchall()
            for row in page:
                yield _entry(row)
            if len(page) < size:
                return
            start, size = page[-1][0] + 1, min(8 * size, _LARGEST_PAGE)

    def head(self) -> tuple[int, bytes]:
        """Position and hash of the last record."""
        with self.book.reading() as database:
            return _head(database)


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
    witness.attest(*_head(database))


# How it is kept: these work on the connection of whoever reads or writes ---------------------------------------------


def _row(database: Database, query: str, *values: Any) -> tuple[Any, ...] | None:
    found: tuple[Any, ...] | None = database.execute(query, values).fetchone()
    return found


def _answers(database: Database, questions: Sequence[_Question]) -> list[list[Any]]:
    """The answers to several questions. All are asked before the first is heard: a server is waited for once."""
    found = [database.execute(*question) for question in questions]
    return [rows.fetchall() for rows in found]


def _head(database: Database) -> tuple[int, bytes]:
    return _last(database.execute(_HEAD).fetchall())


def _last(rows: list[tuple[int, bytes]]) -> tuple[int, bytes]:
    """Position and hash of the last record, as `_HEAD` found them."""
    return rows[0] if rows else (0, GENESIS)


def _append(database: Database, record: dict[str, Any], head: tuple[int, bytes] | None = None) -> tuple[int, bytes]:
    """Append a record; ``head`` is the last one, for who knows it already."""
    position, previous = _head(database) if head is None else head
    body = canonical(record | {"time": datetime.now(UTC).isoformat(timespec="seconds")})
    digest = link(previous, body)
    values = (position + 1, body, digest)
    database.execute("INSERT INTO entry (position, body, hash) VALUES (?, ?, ?)", values)
    return position + 1, digest


def _remember(database: Database, request: str, digest: bytes, position: int) -> None:
    database.execute("INSERT INTO request (id, body_hash, charge) VALUES (?, ?, ?)", (request, digest, position))


def _entry(row: tuple[Any, ...]) -> Entry:
    position, body, digest = row
    return Entry(position, json.loads(body), digest)


def _account(row: tuple[Any, ...]) -> Account:
    name, measure, cap, delta_cap, spent, delta_spent, places = row
    return Account(name, Allowance(Measure(measure), cap, delta_cap), spent, delta_spent, places)


def _found(database: Database, name: str) -> Account:
    row = _row(database, f"{_ACCOUNTS} WHERE name = ?", name)
    if row is None:
        raise InvalidValue("a charge must name an existing account", name)
    return _account(row)


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


@dataclass(frozen=True)
class _Standing:
    """How the accounts stand that a charge names."""

    accounts: dict[str, Account]
    """Those that there are."""
    apart: dict[tuple[str, str], dict[str, int]]
    """For each account and part of the price, what each key was charged."""

    def increase(self, name: str, price: Price) -> int:
        """What a price adds for the worst-off unit."""
        places = self.accounts[name].places
        increase = price.loss
        for part in sorted({portion.part for portion in price.portions}):
            spent = dict(self.apart[name, part])
            before = largest(spent.values(), places)
            for portion in price.portions:
                if portion.part == part:
                    spent[portion.key] = spent.get(portion.key, 0) + portion.loss
            increase += largest(spent.values(), places) - before
        return increase

    def affords(self, name: str, price: Price) -> bool:
        """Whether the price fits what is left."""
        account = self.accounts[name]
        delta = account.delta_spent + price.delta
        return self.increase(name, price) <= account.left and delta <= account.allowance.delta_cap


def _about(prices: Mapping[str, Price]) -> list[_Question]:
    """The questions whose answers say how the accounts stand."""
    accounts = [(f"{_ACCOUNTS} WHERE name = ?", (name,)) for name in prices]
    return [*accounts, *((_APART, place) for place in _places(prices))]


def _places(prices: Mapping[str, Price]) -> list[tuple[str, str]]:
    """Every account with every part of its price."""
    return sorted({(name, portion.part) for name, price in prices.items() for portion in price.portions})


def _standing(prices: Mapping[str, Price], answers: list[list[Any]]) -> _Standing:
    """What the answers to `_about` say."""
    accounts = [_account(row) for rows in answers[: len(prices)] for row in rows]
    apart = zip(_places(prices), answers[len(prices) :], strict=True)
    return _Standing({account.name: account for account in accounts}, {place: dict(rows) for place, rows in apart})


def _take(database: Database, prices: Mapping[str, Price], standing: _Standing) -> None:
    """Charge all accounts, after all were looked at: who cannot pay has changed nothing."""
    for name, price in sorted(prices.items()):
        _check_price(name, price, standing)
    for name, price in sorted(prices.items()):
        database.execute(
            "UPDATE account SET spent = spent + ?, delta_spent = delta_spent + ? WHERE name = ?",
            (standing.increase(name, price), price.delta, name),
        )
        for part, key, loss in price.portions:
            database.execute(
                "INSERT INTO portion (account, part, key, spent) VALUES (?, ?, ?, ?)"
                " ON CONFLICT (account, part, key) DO UPDATE SET spent = portion.spent + excluded.spent",
                (name, part, key, loss),
            )


def _check_price(name: str, price: Price, standing: _Standing) -> None:
    account = standing.accounts.get(name)
    if account is None:
        raise InvalidValue("a charge must name an existing account", name)
    increase = standing.increase(name, price)
    if increase > account.left:
        wanted, left = account.allowance.loss(increase), account.allowance.loss(account.left)
        rule = f"the price of {amount(wanted)} must fit what is left for {name}, {balance(left)}"
        raise BudgetExceeded(rule, None, "nothing was spent")
    if account.delta_spent + price.delta > account.allowance.delta_cap:
        left_for_keys = (account.allowance.delta_cap - account.delta_spent) / DELTA_UNITS
        rule = f"the δ for keys that nobody listed must fit what is left of it for {name}, {left_for_keys:g}"
        raise BudgetExceeded(rule, f"{price.delta / DELTA_UNITS:g}", "list the keys; nothing was spent")


def _known(database: Database, request: str, digest: bytes) -> Receipt | None:
    row = _row(database, _KNOWN, request)
    return None if row is None else _same(request, digest, row)


def _same(request: str, digest: bytes, row: tuple[Any, ...]) -> Receipt:
    """What is known of a request, if it was asked with the same body."""
    if row[0] != digest:
        raise RequestConflict("a request id must stand for one question", request, "use a new id")
    return _receipt(request, row)


def _receipt(request: str, row: tuple[Any, ...]) -> Receipt:
    _, charge, position, answer, head = row
    return Receipt(request, charge, answer, position, head or b"")
