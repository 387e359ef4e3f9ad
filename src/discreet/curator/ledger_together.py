"""Charges and answers of many askers, written together: what they need is read for all, and each is judged in turn.

Whoever is refused has changed nothing, and those before and after are served as if they had come alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from discreet.books.book import Database
from discreet.curator import ledger_records as records
from discreet.curator.allowance import Price
from discreet.curator.ledger_records import HEAD, KNOWN, Head, Receipt, head_of, receipt_of_row
from discreet.curator.ledger_standing import Standing
from discreet.errors import DiscreetError, InvalidValue, RequestConflict

__all__ = ["Charge", "GivenAnswer", "answer_all", "charge_all", "same"]

Item = TypeVar("Item")


@dataclass(frozen=True)
class Charge:
    """One request that is to be charged."""

    request: str
    """Its id."""
    digest: bytes
    """The hash of its body."""
    prices: Mapping[str, Price]
    """What each account pays."""
    record: dict[str, Any]
    """What is written down."""


@dataclass(frozen=True)
class GivenAnswer:
    """An answer that is to be stored."""

    request: str
    """The id of its request."""
    answer: bytes
    """Its bytes."""
    digest: str
    """Their hash."""


class _Known:
    """What is known of some requests, and the last record, while one after the other is written."""

    def __init__(self, requests: Iterable[str]) -> None:
        self.requests = list(dict.fromkeys(requests))
        self.rows: dict[str, tuple[Any, ...]] = {}
        self.last: Head = head_of([])

    def read(self, database: Database, standing: Standing | None = None) -> None:
        """Read all at once: a server is waited for one time."""
        own = [(HEAD, ()), *((KNOWN, (request,)) for request in self.requests)]
        last, *found = records.answers(database, [*own, *(standing.questions() if standing else ())])
        self.last = head_of(last)
        self.rows = {request: rows[0] for request, rows in zip(self.requests, found, strict=False) if rows}
        if standing is not None:
            standing.hear(found[len(self.requests) :])

    def append(self, database: Database, record: dict[str, Any]) -> Head:
        """Write a record behind the last one."""
        self.last = records.append(database, record, self.last)
        return self.last


def charge_all(database: Database, charges: Sequence[Charge]) -> list[Receipt | DiscreetError]:
    """Charge each to all its accounts or to none; a request that was charged before is not charged again."""
    standing = Standing([charge.prices for charge in charges])
    known = _Known(charge.request for charge in charges)
    known.read(database, standing)
    found = _each(charges, lambda charge: _charged(database, charge, known, standing))
    standing.write(database)
    return found


def _charged(database: Database, charge: Charge, known: _Known, standing: Standing) -> Receipt:
    row = known.rows.get(charge.request)
    if row is not None:
        return same(charge.request, charge.digest, row)
    standing.take(charge.prices)
    position, _ = known.append(database, charge.record)
    records.remember(database, charge.request, charge.digest, position)
    known.rows[charge.request] = (charge.digest, position, None, None, None, None)
    return Receipt(charge.request, position, is_new=True)


def same(request: str, digest: bytes, row: tuple[Any, ...]) -> Receipt:
    """What is known of a request, if it was asked with the same body."""
    if row[0] != digest:
        raise RequestConflict("a request id must stand for one question", request, "use a new id")
    return receipt_of_row(request, row)


def answer_all(database: Database, answers: Sequence[GivenAnswer]) -> list[Receipt | DiscreetError]:
    """Store the answers to charged requests and tell what is stored: the first end of a request is the only one."""
    known = _Known(given.request for given in answers)
    known.read(database)
    return _each(answers, lambda given: _answered(database, given, known))


def _answered(database: Database, given: GivenAnswer, known: _Known) -> Receipt:
    row = known.rows.get(given.request)
    if row is None:
        raise InvalidValue("a request must be charged before it is answered", given.request)
    receipt = receipt_of_row(given.request, row)
    if receipt.position is not None:
        return receipt
    record = {"kind": "answer", "request": given.request, "charge": receipt.charge, "answer": given.digest}
    position, there = known.append(database, record)
    values = (position, given.answer, given.request)
    database.execute("UPDATE request SET answer = ?, bytes = ? WHERE id = ?", values)
    known.rows[given.request] = (row[0], receipt.charge, position, given.answer, there, None)
    return receipt_of_row(given.request, known.rows[given.request])


def _each(items: Sequence[Item], serve: Callable[[Item], Receipt]) -> list[Receipt | DiscreetError]:
    """What comes of each, one after the other; a refusal is its own alone."""
    found: list[Receipt | DiscreetError] = []
    for item in items:
        try:
            found.append(serve(item))
        except DiscreetError as refusal:
            found.append(refusal)
    return found
