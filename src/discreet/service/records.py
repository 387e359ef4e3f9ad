"""The ledger as people read it: one record for each question, account and publication.

Records are read from the newest on, a page at a time, and not kept: a ledger may have a million of them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from threading import Lock
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from discreet.curator.allowance import Price
from discreet.curator.charging import table_of
from discreet.curator.ledger import Entry, Ledger
from discreet.curator.ledger_ends import prices_in
from discreet.curator.remaining import LastPrices
from discreet.curator.restore_records import upkeep_words
from discreet.curator.spending import total
from discreet.curator.suspensions import ending_words

__all__ = [
    "ACCOUNT",
    "FAILURE",
    "KINDS",
    "QUESTION",
    "START",
    "Charged",
    "Record",
    "at_worst",
    "charges_to",
    "last_prices_of",
    "records_back",
]

QUESTION, ACCOUNT, START, FAILURE = "question", "account", "start", "failure"
"""Kinds of records; what other rooms write keeps the name that they gave it."""
KINDS = (
    *(ACCOUNT, "analyst", "cap", FAILURE, "key", "lift", "publication", QUESTION, "repair", "replan", "rerun"),
    *("restore", "return", START, "stop", "trail"),
)
"""All kinds that there are."""
_PAGE = 100


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


class Charged(NamedTuple):
    """What one question took from one account."""

    position: int
    """Where it stands in the ledger."""
    time: str
    """When, in universal time."""
    analyst: str | None
    """Who asked; None for the owner."""
    price: Price
    """What it took."""


class _Told:
    """What is kept of one ledger, as far as it was asked for: of each charge a few words, and no record."""

    def __init__(self, ledger: Ledger) -> None:
        self.last_prices = LastPrices(ledger, _asked_prices)
        self._charges: dict[str, dict[int, Charged]] = defaultdict(dict)
        self._same: dict[Any, Any] = {}
        """One of each name and price, which many charges share."""
        self._next = 1
        self._lock = Lock()

    def charges(self, ledger: Ledger, account: str) -> list[Charged]:
        with self._lock:
            for entry in ledger.entries(self._next):
                self._read(entry)
                self._next = entry.position + 1
            return list(self._charges[account].values())

    def _read(self, entry: Entry) -> None:
        if entry.body["kind"] == "return":
            for known in self._charges.values():
                known.pop(entry.body["charge"], None)
        for name, price in _asked_prices(entry).items():
            analyst = entry.body["note"].get("analyst")
            same = self._same.setdefault(analyst, analyst), self._same.setdefault(price, price)
            self._charges[name][entry.position] = Charged(entry.position, entry.body["time"], *same)


_KNOWN: WeakKeyDictionary[Ledger, _Told] = WeakKeyDictionary()
_KNOWN_LOCK = Lock()


def records_back(ledger: Ledger, before: int | None = None, holding: bytes = b"") -> Iterator[Record]:
    """The records before a position, newest first, a page at a time; or those alone whose text holds some bytes."""
    found = (_record(entry) for entry in ledger.entries_back(before, holding))
    wanted = (one for one in found if one is not None)
    while page := list(islice(wanted, _PAGE)):
        yield from _with_ends(ledger, page)


def charges_to(ledger: Ledger, account: str) -> list[Charged]:
    """What every question took from an account, oldest first; what was returned is not listed."""
    return _of(ledger).charges(ledger, account)


def last_prices_of(ledger: Ledger) -> dict[str, Price]:
    """Per account, what the last question charged to it; accounts that nobody charged are not listed."""
    return _of(ledger).last_prices.now()


def _of(ledger: Ledger) -> _Told:
    with _KNOWN_LOCK:
        return _KNOWN.setdefault(ledger, _Told(ledger))


def _asked_prices(entry: Entry) -> dict[str, Price]:
    """What a question charged; nothing for a record that only ties a request id to a question."""
    is_question = entry.body["kind"] == "charge" and "sql" in entry.body["note"]
    return prices_in(entry.body) if is_question else {}


def _with_ends(ledger: Ledger, records: list[Record]) -> list[Record]:
    """These records, each question with where its answer is, and without a price where that was returned."""
    ends = ledger.ends([one.position for one in records if one.kind == QUESTION])
    return [_with_end(ledger, one, ends.get(one.position)) for one in records]


def _with_end(ledger: Ledger, record: Record, end: Entry | None) -> Record:
    while end is not None and end.body["kind"] == "replan":  # what another plan answered was paid by this charge
        receipt = ledger.known(end.body["request"])
        end = None if receipt is None or receipt.position is None else ledger.entry(receipt.position)
    kind = None if end is None else end.body["kind"]
    if end is not None and kind == "answer":
        return replace(record, answered=end.position)
    return replace(record, prices=None) if kind == "return" else record


def at_worst(price: Price, places: int) -> int:
    """What a price is for the person whom it concerns most, where a neighbour touches ``places`` keys."""
    apart: dict[str, dict[str, int]] = defaultdict(dict)
    for part, key, loss in price.portions:
        apart[part][key] = loss
    return total(price.loss, apart, places)


def _record(entry: Entry) -> Record | None:
    """An entry as a record; None for an answer, and for what only ties a request id to a question."""
    body = entry.body
    if body["kind"] == "answer":
        return None  # it is told with its question
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
