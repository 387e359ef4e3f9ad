"""A chain of records in which each one carries the hash of the one before it.

Changing, removing or reordering a record changes every hash after it, so knowing the last hash is knowing that
nothing before it was touched.

>>> first = link(GENESIS, {"kind": "start"})
>>> link(first, {"b": 1, "a": 2}) == link(first, {"a": 2, "b": 1})
True

The rows of a ledger: accounts, records in a chain, and what is known of a request.

Texts as the index of any database takes them: PostgreSQL's takes 2,704 bytes of a row, and no text with NUL.

The records of the chain hold texts as they are; what is kept beside them to be found again has such a key.

>>> index_key("surgery")
'surgery'
>>> len(index_key("x" * 10_000))
71

Under which name the ledger keeps a question: one for everybody, or one for each analyst.

Where answers are shared, a question that anybody asked before is free, and so tells that it was asked. Where they are
not, names are those of one analyst alone: another's question, and another's request id, cannot be met.

>>> plan_key("ab12", None, shared=False), plan_key("ab12", "ann", shared=True)
('ab12', 'ab12')
>>> plan_key("ab12", "ann", shared=False) == plan_key("ab12", "bob", shared=False)
False
>>> request_key("r1", "ann", shared=False)
'["ann", "r1"]'
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from fractions import Fraction
from functools import lru_cache
from typing import Any

from discreet.catalog.names import check_text
from discreet.curator.ledger.account_names import AccountKind
from discreet.curator.ledger.units import Allowance, BudgetMeasure, in_epsilon
from discreet.errors import InvalidValue
from discreet.privacy.loss import Pure, ZeroConcentrated
from discreet.storage.database import Database

__all__ = [
    "ACCOUNTS",
    "GENESIS",
    "HEAD",
    "KNOWN",
    "KNOWN_WITHIN",
    "RECORDS",
    "Account",
    "AccountKind",
    "Entry",
    "Head",
    "Question",
    "Receipt",
    "account_of_row",
    "answers",
    "append",
    "canonical",
    "check_request",
    "entry_of_row",
    "head",
    "index_key",
    "key_id",
    "link",
    "plan_key",
    "publication_id",
    "read_head",
    "read_receipt",
    "remember",
    "request_key",
]


GENESIS = bytes(32)
"""What the first record carries in place of a hash."""


def canonical(record: Mapping[str, Any]) -> bytes:
    """The one spelling of a record that is hashed."""
    text = json.dumps(record, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return text.encode()


def link(previous: bytes, record: Mapping[str, Any] | bytes) -> bytes:
    """The hash of a record and everything before it."""
    body = record if isinstance(record, bytes) else canonical(record)
    return hashlib.sha256(previous + body).digest()


ACCOUNTS = (
    "SELECT name, measure, cap, delta_cap, cap_pure, alpha, spent, delta_spent, spent_pure, impure, places, unit,"
    " (SELECT own.name FROM account_2 AS own WHERE own.name = one.unit) FROM account_2 AS one"
)
RECORDS = "SELECT position, body, hash FROM entry"
HEAD = "SELECT position, hash FROM entry ORDER BY position DESC LIMIT 1"
KNOWN = (
    "SELECT body_hash, charge, answer, bytes, hash, CASE WHEN bytes IS NULL THEN body END"
    " FROM request LEFT JOIN entry ON position = answer WHERE id = ?"
)
"""The record that ends a request is read where it is no answer: it says which end it is."""

KNOWN_WITHIN = KNOWN.replace("SELECT ", "SELECT id, ", 1).replace("id = ?", "id > ? AND id < ? ORDER BY charge")
"""The same of all requests whose ids lie between two others."""

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
    """What the worst-off unit was charged, in ε or ρ."""
    delta_spent: int
    places: int = 1
    """How many portions of a column one neighbour can touch."""
    spent_pure: int = 0
    """What the worst-off unit was charged in ε, where both are counted."""
    impure: int = 0
    """How many charges were not pure, where both are counted: while there are any, the sum of ε says nothing."""
    unit: str | None = None
    """For a table, the account of its people; None where nobody has said yet whose rows they are."""
    open_unit: str | None = None
    """The same, where that account was opened, so that it must be charged too."""

    @property
    def kind(self) -> AccountKind:
        """Whose limit it is."""
        return AccountKind.of(self.name)

    @property
    def counts_epsilon(self) -> bool:
        """Whether amounts are told in ε: of pure budgets, where more is left of it than of ρ, or nothing is capped."""
        allowance = self.allowance
        if allowance.measure is not BudgetMeasure.EITHER:
            return allowance.measure is BudgetMeasure.PURE
        is_more = allowance.is_counted or self.spent_pure * allowance.cap < self.spent * allowance.cap_pure
        return not self.impure and is_more

    @property
    def granted(self) -> Pure | ZeroConcentrated:
        """What may be spent in all."""
        return self._loss(self.allowance.cap_pure, self.allowance.cap)

    @property
    def was_spent(self) -> Pure | ZeroConcentrated:
        """What was spent."""
        return self._loss(self.spent_pure, self.spent)

    @property
    def left(self) -> Pure | ZeroConcentrated:
        """What may still be spent."""
        return self._loss(self.allowance.cap_pure - self.spent_pure, max(0, self.allowance.cap - self.spent))

    def charged(self, loss: int, delta: int, pure: int, impure: int) -> Account:
        """The account when so much more was taken from it."""
        spent, spent_delta = self.spent + loss, self.delta_spent + delta
        sums = (spent, spent_delta, self.places, self.spent_pure + pure, self.impure + impure)
        return Account(self.name, self.allowance, *sums, self.unit, self.open_unit)

    def _loss(self, epsilon: int, units: int) -> Pure | ZeroConcentrated:
        is_either = self.allowance.measure is BudgetMeasure.EITHER
        if is_either and self.counts_epsilon:
            return in_epsilon(epsilon)
        return self.allowance.loss(units)


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
    name, measure, cap, delta_cap, cap_pure, order, spent, delta_spent, pure, impure, places, unit, open_unit = row
    allowance = _allowance(measure, cap, delta_cap, cap_pure, order)
    return Account(name, allowance, spent, delta_spent, places, pure, impure, unit, open_unit)


@lru_cache(maxsize=1024)
def _allowance(measure: str, cap: int, delta_cap: int, cap_pure: int, order: str | None) -> Allowance:
    """Many accounts, such as those of periods, have the same."""
    return Allowance(BudgetMeasure(measure), cap, delta_cap, cap_pure, None if order is None else Fraction(order))


def entry_of_row(row: tuple[Any, ...]) -> Entry:
    """A record as `RECORDS` finds it."""
    position, body, digest = row
    return Entry(position, json.loads(body), digest)


def read_receipt(request: str, row: tuple[Any, ...]) -> Receipt:
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
    return read_head(database.execute(HEAD).fetchall())


def read_head(rows: list[Head]) -> Head:
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


_LONGEST = 700
"""Bytes, so that the name of an account and two texts fit."""


def index_key(text: str) -> str:
    """The text, or the hash of one that is long. Who spells such a hash is taken for both, and so charged for both."""
    spelled = text.encode()
    if len(spelled) <= _LONGEST and b"\0" not in spelled:
        return text
    return f"sha256:{hashlib.sha256(spelled).hexdigest()}"


_LONGEST_REQUEST = 250
"""Characters, so that the id with a name beside it, all escapes, fits the index of any database."""


def plan_key(plan: str, analyst: str | None, *, shared: bool) -> str:
    """The fingerprint of a plan, or of a plan and who asked; the owner's is the plan's."""
    if shared or analyst is None:
        return plan
    return hashlib.sha256(_together(analyst, plan).encode()).hexdigest()


def check_request(request: object) -> str:
    """A request id that every database can keep, or a refusal."""
    text = check_text(request, "a request id")
    if len(text) > _LONGEST_REQUEST or "\x00" in text:
        rule = f"a request id must have at most {_LONGEST_REQUEST} characters, and no NUL"
        raise InvalidValue(rule, text, "choose a short one of letters and digits")
    return text


def request_key(request: str, analyst: str | None, *, shared: bool) -> str:
    """The id of a request, or the id and who sent it."""
    return request if shared else _together(analyst, request)


def _together(analyst: str | None, text: str) -> str:
    """Both in one text from which no other two can be read."""
    return json.dumps([analyst, text], ensure_ascii=False)
