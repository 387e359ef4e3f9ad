"""Marks of the audit trail in the ledger: how far the trail of a service had come, and with which hash.

The ledger has a witness and may have heads off the host; the book of a service has neither. So the ledger remembers it.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from discreet.books.book import Database
from discreet.curator import ledger_records as records
from discreet.curator.ledger import Ledger
from discreet.curator.ledger_records import RECORDS, entry_of_row

__all__ = ["Mark", "last_mark", "mark_id", "record_mark"]

_LAST = f"{RECORDS} JOIN request ON position = charge WHERE id > ? AND id < ? ORDER BY charge DESC LIMIT 1"
_ALL = ("trail:", "trail;")  # the character after the colon


@dataclass(frozen=True)
class Mark:
    """What the ledger saw of a trail."""

    record: int
    """Where the ledger says so."""
    position: int
    """How many events there were."""
    head: bytes
    """The hash of the last one."""


def mark_id(head: str) -> str:
    """What the ledger calls a mark, so that it is recorded once."""
    return f"trail:{head}"


def last_mark(ledger: Ledger) -> Mark | None:
    """The latest mark; None where there is none."""
    with ledger.book.reading() as database:
        return _last(database)


def _last(database: Database) -> Mark | None:
    row = database.execute(_LAST, _ALL).fetchone()
    if row is None:
        return None
    entry = entry_of_row(row)
    return Mark(entry.position, entry.body["position"], bytes.fromhex(entry.body["head"]))


def record_mark(ledger: Ledger, position: int, head: bytes, *, afresh: bool = False) -> None:
    """Write down how far a trail has come, unless the ledger knows of as much; ``afresh``: also after it was cut."""
    name = mark_id(head.hex())
    record = {"kind": "trail", "position": position, "head": head.hex()}

    def part(database: Database) -> None:
        last = _last(database)
        if last is not None and (last.head == head or (last.position >= position and not afresh)):
            return
        place, _ = records.append(database, record, records.head(database))
        records.remember(database, name, hashlib.sha256(name.encode()).digest(), place)

    ledger.book.write(part, sealed=True, repeatable=True)
