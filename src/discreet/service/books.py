"""The books: what was released, to whom and for what, whether the ledger can be believed, and the certificates.

Owners and auditors read everything. For an analyst there is nothing but their own questions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from datetime import date
from itertools import islice
from typing import Any

from discreet.curator.amount import amount
from discreet.curator.answer_arrow import answer_from_arrow
from discreet.curator.certificate import is_by_curator, is_in_ledger
from discreet.curator.chain import canonical
from discreet.curator.ledger import Account
from discreet.curator.verification import Verification
from discreet.curator.verification import verify as replay
from discreet.errors import NotFound
from discreet.service.house import House
from discreet.service.records import FAILURE, QUESTION, Record, at_worst, records_back
from discreet.service.role import EVERYBODY, READERS
from discreet.service.visitor import Visitor

__all__ = ["Checked", "Paper", "Sought", "certificate", "entries", "price_words", "verify"]


@dataclass(frozen=True)
class Sought:
    """Which entries are wanted; what is left out does not matter."""

    analyst: str | None = None
    """Who asked; an empty text means the owner."""
    table: str | None = None
    """The table that it is about."""
    kind: str | None = None
    """The kind of the record, such as question."""
    text: str = ""
    """A part of its text, in capitals or not."""
    since: date | None = None
    """The first day, in universal time."""
    until: date | None = None
    """The last day."""
    before: int | None = None
    """Only what stands before this position in the ledger."""

    def fits(self, record: Record) -> bool:
        """Whether a record is wanted."""
        return self._is_by(record) and self._is_about(record) and self._is_then(record)

    def _is_by(self, record: Record) -> bool:
        if self.kind is not None and record.kind != self.kind:
            return False
        is_somebodys = record.kind in (QUESTION, FAILURE)
        return self.analyst is None or (is_somebodys and (record.analyst or "") == self.analyst)

    def _is_about(self, record: Record) -> bool:
        wanted = self.table
        at = wanted is None or wanted.casefold() in (one.casefold() for one in record.tables)
        return at and self.text.casefold() in record.text.casefold()

    def _is_then(self, record: Record) -> bool:
        day = date.fromisoformat(record.time[:10])
        is_late = self.since is None or day >= self.since
        is_early = self.until is None or day <= self.until
        return is_late and is_early and (self.before is None or record.position < self.before)


@dataclass(frozen=True)
class Checked:
    """What a check of the ledger found."""

    is_sound: bool
    """Whether it can be believed."""
    problems: tuple[str, ...]
    """What is wrong, in words."""
    entries: int
    """How many records were replayed."""
    head: str
    """The hash of the last one."""


@dataclass(frozen=True)
class Paper:
    """A certificate, and what a check of it says."""

    certificate: dict[str, Any]
    """Question, plan, loss and place in the ledger, signed."""
    is_genuine: bool
    """Whether this curator signed it as it stands."""
    is_in_ledger: bool
    """Whether the ledger has this answer at the place that it states."""


def entries(house: House, visitor: Visitor, sought: Sought | None = None, most: int | None = None) -> list[Record]:
    """The wanted records, newest first, ``most`` of them at most; an analyst finds their own questions alone."""
    visitor.must_be(EVERYBODY)
    wanted = Sought() if sought is None else sought
    with house.reading_back:
        found = (one for one in _seen_by(visitor, house, wanted) if wanted.fits(one))
        return list(islice(found, most))


def _seen_by(visitor: Visitor, house: House, wanted: Sought) -> Iterator[Record]:
    released = house.requests.released(visitor.name) if house.settings.release_quantum else None
    name = wanted.analyst if visitor.role in READERS else visitor.name
    holding = canonical({"analyst": name})[1:-1] if name else b""
    for record in records_back(house.curator.ledger, wanted.before, holding):
        if visitor.role in READERS:
            yield record
        elif record.kind == QUESTION and record.analyst == visitor.name:
            # The ledger has an answer as soon as its run ends; with a release quantum that moment is not to be seen.
            yield record if released is None or record.answered in released else replace(record, answered=None)


def price_words(house: House, records: Sequence[Record]) -> list[list[str]]:
    """For each record, what it charged to each table, rounded up; caps of analysts are charged the same."""
    accounts = house.curator.ledger.accounts()
    return [_prices(record, accounts) for record in records]


def _prices(record: Record, accounts: Mapping[str, Account]) -> list[str]:
    charged = {name: price for name, price in (record.prices or {}).items() if "/" not in name}
    words = {
        name: amount(accounts[name].allowance.loss(at_worst(price, accounts[name].places)))
        for name, price in charged.items()
    }
    return [f"{cost} of {name}" if len(words) > 1 else cost for name, cost in words.items()]


def verify(house: House, visitor: Visitor) -> Checked:
    """Replay the whole ledger and say whether it can be believed: for owners and auditors."""
    return checked(verifying(house, visitor).result())


def verifying(house: House, visitor: Visitor) -> Future[Verification]:
    """The replay that is under way, for all who ask meanwhile; or one of a moment ago; or a new one."""
    visitor.must_be(READERS)
    return house.replaying.begin(lambda: replay(house.settings.folder), about=house.curator.ledger.head())


def checked(found: Verification) -> Checked:
    """What is told about a replay."""
    return Checked(found.is_sound, tuple(found.problems), found.entries, found.head.hex())


def certificate(house: House, visitor: Visitor, entry: int) -> Paper:
    """The certificate of the answer at a place in the ledger, checked; others' answers do not exist for an analyst."""
    visitor.must_be(EVERYBODY)
    query = "SELECT answer FROM request WHERE entry = ? AND answer IS NOT NULL"
    values: tuple[Any, ...] = (entry,)
    if visitor.role not in READERS:
        query, values = f"{query} AND member = ?", (entry, visitor.name)
    rows = house.store.rows(f"{query} ORDER BY made LIMIT 1", values)
    if not rows:
        remedy = "answers that were given outside the service have their certificates with them"
        raise NotFound("there must be such an answer, given by this service", entry, remedy)
    paper = answer_from_arrow(rows[0][0]).certificate
    ledger = house.curator.ledger
    return Paper(paper, is_by_curator(paper, ledger), is_in_ledger(paper, ledger))
