"""The ledger as people read it: one record for each question, account and publication, kept as it was read.

The ledger only grows, so what was read once is not read again.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from threading import Lock
from typing import Any
from weakref import WeakKeyDictionary

from discreet.curator.allowance import Price
from discreet.curator.charging import table_of
from discreet.curator.ledger import Entry, Ledger
from discreet.curator.ledger_ends import prices_in
from discreet.curator.restore_records import upkeep_words
from discreet.curator.spending import total
from discreet.curator.suspensions import ending_words

__all__ = ["ACCOUNT", "FAILURE", "QUESTION", "START", "Record", "at_worst", "last_prices_of", "records_of"]

QUESTION, ACCOUNT, START, FAILURE = "question", "account", "start", "failure"
"""Kinds of records; what other rooms write keeps the name that they gave it."""


@dataclass(frozen=True)
class Record:
    """One thing that the ledger knows."""

    position: int
    """Where it stands in the ledger."""
    time: str
    """When it was written, in universal time."""
    kind: str
    """A question, its failure, lift or return, an account, a cap, an analyst, a publication, or the start."""
    hash: bytes
    """The hash of the ledger up to here."""
    text: str = ""
    """The question, or what the record is about."""
    analyst: str | None = None
    """Who asked, or is suspended; None for the owner, and where nobody asked."""
    tables: tuple[str, ...] = ()
    """The protected tables that it is about."""
    prices: Mapping[str, Price] | None = None
    """Per account, what was charged; None where nothing could be, or where it was returned."""
    answered: int | None = None
    """Where its answer stands in the ledger; None where there is none yet."""


class _Records:
    """The records of one ledger, in their order."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._seen = 0
        self._found: dict[int, Record] = {}
        self._last: dict[str, Price] = {}
        self._lock = Lock()

    def all(self) -> list[Record]:
        with self._lock:
            self._catch_up()
            return list(self._found.values())

    def last_prices(self) -> dict[str, Price]:
        with self._lock:
            self._catch_up()
            return dict(self._last)

    def _catch_up(self) -> None:
        for entry in self._ledger.entries(self._seen + 1):
            self._read(entry)
            self._seen = entry.position

    def _read(self, entry: Entry) -> None:
        kind, asked = entry.body["kind"], self._found.get(entry.body.get("charge", 0))
        if kind != "answer":
            record = _record(entry)
            if record is not None:
                self._found[entry.position] = record
                self._last |= record.prices or {}
        if asked is not None and kind == "answer":
            self._found[asked.position] = replace(asked, answered=entry.position)
        if asked is not None and kind == "return":
            self._found[asked.position] = replace(asked, prices=None)


_KNOWN: WeakKeyDictionary[Ledger, _Records] = WeakKeyDictionary()
_KNOWN_LOCK = Lock()


def records_of(ledger: Ledger) -> list[Record]:
    """Every record of a ledger, oldest first."""
    return _of(ledger).all()


def last_prices_of(ledger: Ledger) -> dict[str, Price]:
    """Per account, what the last question charged to it; accounts that nobody charged are not listed."""
    return _of(ledger).last_prices()


def _of(ledger: Ledger) -> _Records:
    with _KNOWN_LOCK:
        return _KNOWN.setdefault(ledger, _Records(ledger))


def at_worst(price: Price, places: int) -> int:
    """What a price is for the person whom it concerns most, where a neighbour touches ``places`` keys."""
    apart: dict[str, dict[str, int]] = defaultdict(dict)
    for part, key, loss in price.portions:
        apart[part][key] = loss
    return total(price.loss, apart, places)


def _record(entry: Entry) -> Record | None:
    """An entry as a record; None for one that only ties a request id to a question."""
    body = entry.body
    if body["kind"] == "charge":
        return _question(entry, body) if "sql" in body["note"] else None
    known = entry.position, body["time"], body["kind"], entry.hash, _words(body)
    analyst = body["analyst"] if body["kind"] == FAILURE else None
    return Record(*known, analyst, _tables(body))


def _words(body: dict[str, Any]) -> str:
    """What the owner did, in words."""
    name, by = body.get("name", ""), f", by {body['by']}" if body.get("by") else ""
    match body["kind"]:
        case "account":
            return f"opened {name}"
        case "cap":
            return f"changed the cap of {name}{by}"
        case "analyst":
            may = "may ask" if body["may_ask"] else "may not ask any more"
            return f"{body['analyst']} {may} about {body['table']}{by}"
        case "key":
            return f"the key {body['fingerprint'][:16]}… signs certificates from here on{by}"
        case "publication":
            return f"published {name} without differential privacy: infinite loss, approved by {body['approved_by']}"
    return ending_words(body) or upkeep_words(body) or str(name)


def _tables(body: dict[str, Any]) -> tuple[str, ...]:
    """The tables of a failure, an account or a permission."""
    if body["kind"] == FAILURE:
        return tuple(body["tables"])
    named = body.get("table") or (table_of(body["name"]) if body["kind"] in ("account", "cap") else "")
    return (str(named),) if named else ()


def _question(entry: Entry, body: dict[str, Any]) -> Record:
    note = body["note"]
    tables = tuple(sorted(note.get("versions", {})))
    known = entry.position, body["time"], QUESTION, entry.hash, note["sql"], note.get("analyst"), tables
    return Record(*known, prices_in(body))
