"""The ledger as people read it: one record for each question, account and publication, kept as it was read.

The ledger only grows, so what was read once is not read again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from threading import Lock
from typing import Any
from weakref import WeakKeyDictionary

from discreet.curator.allowance import Portion, Price
from discreet.curator.ledger import Entry, Ledger

__all__ = ["ACCOUNT", "QUESTION", "START", "Record", "records_of"]

QUESTION, ACCOUNT, START = "question", "account", "start"
"""Kinds of records; what other rooms write keeps the name that they gave it."""


@dataclass(frozen=True)
class Record:
    """One thing that the ledger knows."""

    position: int
    """Where it stands in the ledger."""
    time: str
    """When it was written, in universal time."""
    kind: str
    """A question, an account, a publication, or the start."""
    hash: bytes
    """The hash of the ledger up to here."""
    text: str = ""
    """The question, or what the record is about."""
    analyst: str | None = None
    """Who asked; None for the owner, and where nobody asked."""
    tables: tuple[str, ...] = ()
    """The protected tables that it is about."""
    prices: Mapping[str, Price] | None = None
    """Per account, what was charged; None where nothing could be."""
    answered: int | None = None
    """Where its answer stands in the ledger; None where there is none yet."""


class _Records:
    """The records of one ledger, in their order."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._seen = 0
        self._found: dict[int, Record] = {}
        self._lock = Lock()

    def all(self) -> list[Record]:
        with self._lock:
            for entry in self._ledger.entries(self._seen + 1):
                self._read(entry)
                self._seen = entry.position
            return list(self._found.values())

    def _read(self, entry: Entry) -> None:
        if entry.body["kind"] != "answer":
            record = _record(entry)
            self._found |= {} if record is None else {entry.position: record}
        elif entry.body["charge"] in self._found:
            asked = self._found[entry.body["charge"]]
            self._found[asked.position] = Record(**{**vars(asked), "answered": entry.position})


_KNOWN: WeakKeyDictionary[Ledger, _Records] = WeakKeyDictionary()
_KNOWN_LOCK = Lock()


def records_of(ledger: Ledger) -> list[Record]:
    """Every record of a ledger, oldest first."""
    with _KNOWN_LOCK:
        known = _KNOWN.setdefault(ledger, _Records(ledger))
    return known.all()


def _record(entry: Entry) -> Record | None:
    """An entry as a record; None for one that only ties a request id to a question."""
    body = entry.body
    if body["kind"] == "charge":
        return _question(entry, body) if "sql" in body["note"] else None
    text = str(body.get("name", ""))
    return Record(entry.position, body["time"], body["kind"], entry.hash, text)


def _question(entry: Entry, body: dict[str, Any]) -> Record:
    note, portions = body["note"], body.get("portions", {})
    prices = {
        account: Price(loss, delta, tuple(Portion(*each) for each in portions.get(account, [])))
        for account, (loss, delta) in body["prices"].items()
    }
    tables = tuple(sorted(note.get("versions", {})))
    known = entry.position, body["time"], QUESTION, entry.hash, note["sql"], note.get("analyst"), tables
    return Record(*known, prices)
