"""The ledger: what was released, to whom and for what, whether the ledger can be believed, and the certificates.

Owners and auditors read everything. For an analyst there is nothing but their own questions.

People read one record for each question, account and publication. Records are read from the newest on, a page at a
time, and not kept: a ledger may have a million of them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from datetime import date
from itertools import islice
from threading import Lock
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from discreet.curator.answers.arrow import answer_from_arrow
from discreet.curator.certificates.certificate import is_by_curator, is_in_ledger
from discreet.curator.charge import find_table
from discreet.curator.ledger.chain import AccountKind, canonical
from discreet.curator.ledger.ledger import Account, Entry, Ledger
from discreet.curator.ledger.maintenance import upkeep_words
from discreet.curator.ledger.remaining import LastPrices, worst_of
from discreet.curator.ledger.units import LedgerPrice, amount, in_epsilon, prices_in
from discreet.curator.ledger.verify import Verification
from discreet.curator.ledger.verify import verify as replay
from discreet.curator.suspensions import ending_words
from discreet.errors import NotFound
from discreet.service.auth.roles import PEOPLE, READERS, Principal
from discreet.service.state import ServiceState

__all__ = [
    "ACCOUNT",
    "FAILURE",
    "KINDS",
    "QUESTION",
    "START",
    "Charged",
    "Checked",
    "Paper",
    "Record",
    "Sought",
    "certificate",
    "charges_to",
    "entries",
    "list_last_prices",
    "price_words",
    "records_back",
    "verify",
]


QUESTION, ACCOUNT, START, FAILURE = "question", "account", "start", "failure"
"""Kinds of records; what other packages write keeps the name that they gave it."""
KINDS = (
    *(ACCOUNT, "analyst", "cap", "close", FAILURE, "key", "lift", "publication", QUESTION, "repair", "replan", "rerun"),
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
    prices: Mapping[str, LedgerPrice] | None = None
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
    price: LedgerPrice
    """What it took."""


class _LedgerSummary:
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


_KNOWN: WeakKeyDictionary[Ledger, _LedgerSummary] = WeakKeyDictionary()
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


def list_last_prices(ledger: Ledger) -> dict[str, LedgerPrice]:
    """Per account, what the last question charged to it; accounts that nobody charged are not listed."""
    return _of(ledger).last_prices.now()


def _of(ledger: Ledger) -> _LedgerSummary:
    with _KNOWN_LOCK:
        return _KNOWN.setdefault(ledger, _LedgerSummary(ledger))


def _asked_prices(entry: Entry) -> dict[str, LedgerPrice]:
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
    named = body.get("table") or (find_table(body["name"]) if body["kind"] in ("account", "cap") else "")
    return (str(named),) if named else ()


def _question(entry: Entry, body: dict[str, Any]) -> Record:
    note = body["note"]
    tables = tuple(sorted(note.get("versions", {})))
    known = entry.position, body["time"], QUESTION, entry.hash, note["sql"], note.get("analyst"), tables
    return Record(*known, prices_in(body))


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


def entries(
    service: ServiceState, principal: Principal, sought: Sought | None = None, most: int | None = None
) -> list[Record]:
    """The wanted records, newest first, ``most`` of them at most; an analyst finds their own questions alone."""
    principal.must_be(PEOPLE)
    wanted = Sought() if sought is None else sought
    with service.reading_back:
        found = (one for one in _seen_by(principal, service, wanted) if wanted.fits(one))
        return list(islice(found, most))


def _seen_by(principal: Principal, service: ServiceState, wanted: Sought) -> Iterator[Record]:
    released = service.requests.released(principal.name) if service.settings.release_quantum else None
    name = wanted.analyst if principal.role in READERS else principal.name
    holding = canonical({"analyst": name})[1:-1] if name else b""
    for record in records_back(service.curator.ledger, wanted.before, holding):
        if principal.role in READERS:
            yield record
        elif record.kind == QUESTION and record.analyst == principal.name:
            # The ledger has an answer as soon as its run ends; with a release quantum that moment is not to be seen.
            yield record if released is None or record.answered in released else replace(record, answered=None)


def price_words(service: ServiceState, records: Sequence[Record]) -> list[list[str]]:
    """For each record, what it charged to each table, rounded up; caps of analysts are charged the same."""
    accounts = service.curator.ledger.accounts()
    return [_prices(record, accounts) for record in records]


def _prices(record: Record, accounts: Mapping[str, Account]) -> list[str]:
    charged = (record.prices or {}).items()
    words = {name: _cost(price, accounts[name]) for name, price in charged if accounts[name].kind is AccountKind.TABLE}
    return [f"{cost} of {name}" if len(words) > 1 else cost for name, cost in words.items()]


def _cost(price: LedgerPrice, account: Account) -> str:
    worst = worst_of(price, account.places)
    return amount(account.allowance.loss(worst.loss) if worst.pure is None else in_epsilon(worst.pure))


def verify(service: ServiceState, principal: Principal) -> Checked:
    """Replay the whole ledger and say whether it can be believed: for owners and auditors."""
    return checked(verifying(service, principal).result())


def verifying(service: ServiceState, principal: Principal) -> Future[Verification]:
    """The replay that is under way, for all who ask meanwhile; or one of a moment ago; or a new one."""
    principal.must_be(READERS)
    return service.replaying.begin(lambda: replay(service.settings.folder), about=service.curator.ledger.head())


def checked(found: Verification) -> Checked:
    """What is told about a replay."""
    return Checked(found.is_sound, tuple(found.problems), found.entries, found.head.hex())


def certificate(service: ServiceState, principal: Principal, entry: int) -> Paper:
    """The certificate of the answer at a place in the ledger, checked; others' answers do not exist for an analyst."""
    principal.must_be(PEOPLE)
    query = "SELECT answer FROM request WHERE entry = ? AND answer IS NOT NULL"
    values: tuple[Any, ...] = (entry,)
    if principal.role not in READERS:
        query, values = f"{query} AND member = ?", (entry, principal.name)
    rows = service.store.rows(f"{query} ORDER BY made LIMIT 1", values)
    if not rows:
        remedy = "answers that were given outside the service have their certificates with them"
        raise NotFound("there must be such an answer, given by this service", entry, remedy)
    paper = answer_from_arrow(rows[0][0]).certificate
    ledger = service.curator.ledger
    return Paper(paper, is_by_curator(paper, ledger), is_in_ledger(paper, ledger))
