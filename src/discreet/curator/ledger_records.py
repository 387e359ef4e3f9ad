"""The rows of a ledger: accounts, records in a chain, and what is known of a request."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from discreet.books.book import Database
from discreet.curator.allowance import Allowance, Measure
from discreet.curator.chain import GENESIS, canonical, link

__all__ = [
    "ACCOUNTS",
    "HEAD",
    "KNOWN",
    "RECORDS",
    "Account",
    "Entry",
    "Head",
    "Question",
    "Receipt",
    "account_of_row",
    "answers",
    "append",
    "entry_of_row",
    "head",
    "head_of",
    "key_id",
    "publication_id",
    "receipt_of_row",
    "remember",
]

ACCOUNTS = "SELECT name, measure, cap, delta_cap, spent, delta_spent, places FROM account"
RECORDS = "SELECT position, body, hash FROM entry"
HEAD = "SELECT position, hash FROM entry ORDER BY position DESC LIMIT 1"
KNOWN = (
    "SELECT body_hash, charge, answer, bytes, hash, CASE WHEN bytes IS NULL THEN body END"
    " FROM request LEFT JOIN entry ON position = answer WHERE id = ?"
)
"""The record that ends a request is read where it is no answer: it says which end it is."""

Head = tuple[int, bytes]
"""Position and hash of the last record."""
Question = tuple[str, tuple[Any, ...]]
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
    """Position of the record that ended it: of its answer, its failure or its return."""
    head: bytes = b""
    """Hash of the ledger at that position."""
    end: str | None = None
    """The kind of that record: answer, failure or return; None while the request is open."""
    is_new: bool = field(default=False, compare=False)
    """Whether it was charged by this very call."""


def publication_id(name: str, sha256: str) -> str:
    """What the ledger calls a publication, so that it is recorded once."""
    return f"publication:{sha256}:{name}"


def key_id(fingerprint: str) -> str:
    """What the ledger calls a signing key, so that it is recorded once and found without a search."""
    return f"key:{fingerprint}"


def account_of_row(row: tuple[Any, ...]) -> Account:
    """An account as `ACCOUNTS` finds it."""
    name, measure, cap, delta_cap, spent, delta_spent, places = row
    return Account(name, Allowance(Measure(measure), cap, delta_cap), spent, delta_spent, places)


def entry_of_row(row: tuple[Any, ...]) -> Entry:
    """A record as `RECORDS` finds it."""
    position, body, digest = row
    return Entry(position, json.loads(body), digest)


def receipt_of_row(request: str, row: tuple[Any, ...]) -> Receipt:
    """What `KNOWN` finds about a request."""
    _, charge, position, answer, there, body = row
    end = None if position is None else "answer" if answer is not None else json.loads(body)["kind"]
    return Receipt(request, charge, answer, position, there or b"", end)


def answers(database: Database, questions: Sequence[Question]) -> list[list[Any]]:
    """The answers to several questions. All are asked before the first is heard: a server is waited for once."""
    found = [database.execute(*question) for question in questions]
    return [rows.fetchall() for rows in found]


def head(database: Database) -> Head:
    """Position and hash of the last record."""
    return head_of(database.execute(HEAD).fetchall())


def head_of(rows: list[Head]) -> Head:
    """Position and hash of the last record, as `HEAD` finds them."""
    return rows[0] if rows else (0, GENESIS)


def append(database: Database, record: dict[str, Any], last: Head) -> Head:
    """Write a record behind the last one; it is the last one now."""
    position, previous = last
    body = canonical(record | {"time": datetime.now(UTC).isoformat(timespec="seconds")})
    digest = link(previous, body)
    values = (position + 1, body, digest)
    database.execute("INSERT INTO entry (position, body, hash) VALUES (?, ?, ?)", values)
    return position + 1, digest


def remember(database: Database, request: str, digest: bytes, position: int) -> None:
    """From now on this request is known, and stands for one body."""
    database.execute("INSERT INTO request (id, body_hash, charge) VALUES (?, ?, ?)", (request, digest, position))
