"""The ledger as people read it: one record for each question, account and publication, kept as it was read.

The ledger only grows, so what was read once is not read again.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from threading import Lock
from typing import Any
from weakref import WeakKeyDictionary

from discreet.curator.allowance import Portion, Price
from discreet.curator.ledger import Entry, Ledger
from discreet.curator.spending import total

__all__ = ["ACCOUNT", "QUESTION", "START", "Record", "at_worst", "last_prices_of", "records_of"]

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
    """A question, an account, a cap, an analyst, a publication, or the start."""
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
        if entry.body["kind"] != "answer":
            record = _record(entry)
            if record is not None:
                self._found[entry.position] = record
                self._last |= record.prices or {}
        elif entry.body["charge"] in self._found:
            asked = self._found[entry.body["charge"]]
            self._found[asked.position] = Record(**{**vars(asked), "answered": entry.position})


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
    return Record(entry.position, body["time"], body["kind"], entry.hash, _words(body), tables=_tables(body))


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
        case "publication":
            return f"published {name} without differential privacy: infinite loss, approved by {body['approved_by']}"
    return str(name)


def _tables(body: dict[str, Any]) -> tuple[str, ...]:
    """The table of an account or a permission; account names hold a table and perhaps an analyst."""
    named = body.get("table") or (body.get("name", "").partition("/")[0] if body["kind"] in ("account", "cap") else "")
    return (str(named).replace("%2F", "/").replace("%25", "%"),) if named else ()


def _question(entry: Entry, body: dict[str, Any]) -> Record:
    note, portions = body["note"], body.get("portions", {})
    prices = {
        account: Price(loss, delta, tuple(Portion(*each) for each in portions.get(account, [])))
        for account, (loss, delta) in body["prices"].items()
    }
    tables = tuple(sorted(note.get("versions", {})))
    known = entry.position, body["time"], QUESTION, entry.hash, note["sql"], note.get("analyst"), tables
    return Record(*known, prices)
