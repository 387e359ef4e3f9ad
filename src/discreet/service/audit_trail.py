"""The audit trail: who signed in, and who changed what, in a chain that nobody can change.

An event stands in the same database as what it tells of, and is written in the same transaction: there is no token, no
member and no revocation without its event. What is changed elsewhere, such as a policy, is written down before it is
done, and once more when it is refused. Each event carries the hash of the one before it, and triggers refuse to change
or delete one. The last hash goes into the ledger, so that an older copy of the database is noticed.

No event holds a row, a secret or the text of a question: a question that was refused is known by its hash.

Of what principals do without being let, the first stands in the trail at once, the rest as counts. Whoever fails to
sign in a million times, or asks a million questions that are refused, writes a few events and a number. Where the trail
cannot be written, nobody is let in or kept out because of it: what changes something writes its event in its own
transaction, and is not counted here.
"""

from __future__ import annotations

import json
import logging
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from threading import Lock
from typing import Any

from discreet.curator.ledger.chain import GENESIS, canonical, link
from discreet.curator.ledger.ledger import Ledger
from discreet.curator.ledger.maintenance import last_mark, record_mark
from discreet.errors import DiscreetError, StoreError
from discreet.service.logs import log_event
from discreet.service.storage import ServiceStore
from discreet.storage.database import Database

__all__ = [
    "COMMAND",
    "RefusalCounts",
    "Trail",
    "TrailCheck",
    "TrailEvent",
    "event_words",
    "head_problems",
    "note",
    "record_in_ledger",
]


COMMAND = "the command line"
"""Who did what was done on the host itself."""
_HEAD = "SELECT position, hash FROM event ORDER BY position DESC LIMIT 1"
_PAGE = 1000
_TAKING = frozenset({"token revoked", "token exchanged", "member removed", "all tokens revoked"})
_MOST_CHARACTERS = 300
"""Of each text in an event."""


@dataclass(frozen=True)
class TrailEvent:
    """One thing that happened."""

    position: int
    """Where it stands in the trail."""
    time: str
    """When it was written, in universal time."""
    kind: str
    """What happened, such as ``token made``."""
    by: str | None
    """Who did it: a member, or the command line; None for somebody who showed no good token."""
    facts: dict[str, Any]
    """What else is known of it."""
    hash: bytes
    """The hash of the trail up to here."""


@dataclass(frozen=True)
class TrailCheck:
    """What a check of the trail found."""

    events: int
    """How many there are."""
    head: bytes
    """The hash of the last one."""
    problems: tuple[str, ...]
    """What is wrong, in words; empty where it can be believed."""

    @property
    def is_sound(self) -> bool:
        """Whether nothing is wrong."""
        return not self.problems


def note(database: Database, kind: str, by: str | None, **facts: Any) -> int:
    """Write an event behind the last one, in the transaction of what it tells of; its position."""
    position, previous = _head(database)
    record = {"kind": kind, "by": by, "time": datetime.now(UTC).isoformat(timespec="seconds")}
    record |= {name: _short(value) for name, value in facts.items() if value is not None}
    body = canonical(record)
    values = (position + 1, body, link(previous, body))
    database.execute("INSERT INTO event (position, body, hash) VALUES (?, ?, ?)", values)
    return position + 1


def _short(value: Any) -> Any:
    """Texts are cut and have no lone surrogates, so that long or strange ones fill and break nothing."""
    if isinstance(value, dict):
        return {_short(name): _short(one) for name, one in value.items()}
    return value[:_MOST_CHARACTERS].encode("utf-8", "replace").decode() if isinstance(value, str) else value


def _head(database: Database) -> tuple[int, bytes]:
    rows = database.execute(_HEAD).fetchall()
    return (rows[0][0], bytes(rows[0][1])) if rows else (0, GENESIS)


class Trail:
    """The events in a store."""

    def __init__(self, store: ServiceStore) -> None:
        """In ``store``."""
        self._store = store

    def write(self, kind: str, by: str | None, **facts: Any) -> int:
        """Write an event, durably; its position."""
        return self._store.write(lambda database: note(database, kind, by, **facts))

    @contextmanager
    def act(self, kind: str, by: str, **facts: Any) -> Iterator[None]:
        """Write down what somebody is about to do elsewhere; where it is refused, that too, and by which rule."""
        position = self.write(kind, by, **facts)
        try:
            yield
        except DiscreetError as refusal:
            with suppress(StoreError):
                self.write("refused", by, event=position, rule=refusal.rule)
            raise

    def head(self) -> tuple[int, bytes]:
        """Position and hash of the last event."""
        rows = self._store.rows(_HEAD)
        return (rows[0][0], bytes(rows[0][1])) if rows else (0, GENESIS)

    def hash_at(self, position: int) -> bytes | None:
        """The hash at a position; None where there is none."""
        rows = self._store.rows("SELECT hash FROM event WHERE position = ?", (position,))
        return bytes(rows[0][0]) if rows else None

    def page(
        self, most: int, before: int | None = None, kind: str | None = None, by: str | None = None
    ) -> list[TrailEvent]:
        """Events, newest first; only those before a position, of a kind, by somebody, where that is wanted."""
        found: list[TrailEvent] = []
        end = before if before is not None else self.head()[0] + 1
        while end > 1 and len(found) < most:
            rows = self._store.rows(
                "SELECT position, body, hash FROM event WHERE position < ? ORDER BY position DESC LIMIT ?",
                (end, _PAGE),
            )
            if not rows:
                break
            found += [one for one in map(_event, rows) if kind in (None, one.kind) and by in (None, one.by)]
            end = rows[-1][0]
        return found[:most]

    def all(self) -> Iterator[TrailEvent]:
        """Every event, from the first on, a page at a time."""
        for row in self._rows():
            yield _event(row)

    def verify(self, ledger: Ledger | None = None) -> TrailCheck:
        """Replay the chain; with a ``ledger``, also look whether the trail is as long as the ledger has seen it."""
        count, head, problems = 0, GENESIS, []
        for position, body, digest in self._rows():
            if position != count + 1:
                problems.append(f"event {count + 1} is missing")
            if link(head, bytes(body)) != bytes(digest):
                problems.append(f"event {position} does not follow from the one before it")
            count, head = position, bytes(digest)
        problems += [] if ledger is None else self._behind(ledger)
        return TrailCheck(count, head, tuple(problems))

    def _behind(self, ledger: Ledger) -> list[str]:
        mark = last_mark(ledger)
        if mark is None or self.hash_at(mark.position) == mark.head:
            return []
        return [f"event {mark.position} is not the one that record {mark.record} of the ledger has seen"]

    def check(self, ledger: Ledger) -> None:
        """Refuse a database that is older than the ledger knows: it would bring back tokens that were taken back."""
        found = self._behind(ledger)
        if found:
            rule = "the service's database must not be older than the ledger expects, or revoked tokens come back"
            remedy = "put the newer one back; if it is lost, discreet member recover ends every token and goes on"
            raise StoreError(rule, f"<{found[0]}>", remedy)

    def has_taken(self, start: int) -> bool:
        """Whether a right was taken away after this position, which an older database would give back."""
        return any(_event(row).kind in _TAKING for row in self._rows(start))

    def _rows(self, start: int = 0) -> Iterator[tuple[Any, ...]]:
        while True:
            query = "SELECT position, body, hash FROM event WHERE position > ? ORDER BY position LIMIT ?"
            rows = self._store.rows(query, (start, _PAGE))
            yield from rows
            if len(rows) < _PAGE:
                return
            start = rows[-1][0]


def head_problems(trail: Trail, document: Mapping[str, Any]) -> list[str]:
    """What a signed head, which was found genuine, says against a trail."""
    stated = document.get("trail")
    if stated is None or stated["position"] == 0 or trail.hash_at(stated["position"]) == bytes.fromhex(stated["head"]):
        return []
    return [f"event {stated['position']} of the audit trail is not the one that the head saw"]


def event_words(event: TrailEvent) -> str:
    """What happened, by whom, and what else is known of it, in a line."""
    facts_text = ", ".join(f"{name} {_format_fact(value)}" for name, value in sorted(event.facts.items()))
    return f"{event.kind}, by {event.by or 'somebody unknown'}{f': {facts_text}' if facts_text else ''}"


def _format_fact(value: Any) -> str:
    return "; ".join(f"{name} {count}" for name, count in value.items()) if isinstance(value, dict) else str(value)


def record_in_ledger(trail: Trail, ledger: Ledger, *, always: bool = True) -> None:
    """Let the ledger know how far the trail has come; a trail that is older than it knows is refused.

    Unless ``always``, only where a right was taken away since the ledger heard of it last.
    """
    trail.check(ledger)
    mark, (position, head) = last_mark(ledger), trail.head()
    seen = 0 if mark is None else mark.position
    if position > seen and (always or trail.has_taken(seen)):
        record_mark(ledger, position, head)


def _event(row: tuple[Any, ...]) -> TrailEvent:
    position, body, digest = row
    facts = json.loads(bytes(body))
    return TrailEvent(position, facts.pop("time"), facts.pop("kind"), facts.pop("by"), facts, bytes(digest))


_WINDOW = 600.0
"""Seconds after which what was only counted is written."""
_FEW_BY_ANYBODY, _FEW_BY_A_MEMBER = 5, 20
"""Events of a kind in that time that are written one by one: of all who are not signed in together, and of a member."""
_MOST_NAMES = 20
"""Addresses or rules that are counted by name; the others are counted together."""
_DAY = 86_400.0
_MOST_TOKENS = 10_000

Key = tuple[str, str | None]
"""What happened, and by whom."""


@dataclass
class _Window:
    """What was seen of one kind since some moment."""

    since: float
    written: int = 0
    counted: Counter[str] = field(default_factory=Counter)

    def add(self, detail: str) -> None:
        name = detail if detail in self.counted or len(self.counted) < _MOST_NAMES else "others"
        self.counted[name] += 1


class RefusalCounts:
    """Counts for one process."""

    def __init__(self, trail: Trail, clock: Callable[[], float] = time.monotonic) -> None:
        """Into ``trail``; ``clock`` tells seconds that never run backwards."""
        self._trail = trail
        self._clock = clock
        self._windows: dict[Key, _Window] = {}
        self._tokens: dict[str, float] = {}
        self._lock = Lock()

    def count(self, kind: str, by: str | None, detail: str, **facts: Any) -> None:
        """Write an event, or count it where there were many; ``detail`` is by what they are told apart, such as a rule.

        Whoever ``by`` is must be a member, or None: their number is the owner's.
        """
        with self._lock:
            window = self._windows.setdefault((kind, by), _Window(self._clock()))
            is_few = window.written < (_FEW_BY_ANYBODY if by is None else _FEW_BY_A_MEMBER)
            if is_few:
                window.written += 1
            else:
                window.add(detail)
        if is_few:
            self.write(kind, by, detail=detail, **facts)
        self.flush()

    def flush(self, *, everything: bool = False) -> None:
        """Write what was counted in windows that are over, or in all."""
        now = self._clock()
        with self._lock:
            over = [key for key, one in self._windows.items() if everything or now - one.since >= _WINDOW]
            ended = [(key, self._windows.pop(key)) for key in over]
        for (kind, by), window in ended:
            if window.counted:
                seconds = round(now - window.since)
                self.write(kind, by, count=window.counted.total(), details=dict(window.counted), seconds=seconds)

    def is_new(self, token: str) -> bool:
        """Whether a token was not used here for a day."""
        now = self._clock()
        with self._lock:
            if now - self._tokens.get(token, -_DAY) < _DAY:
                return False
            if len(self._tokens) >= _MOST_TOKENS:
                self._tokens.clear()
            self._tokens[token] = now
            return True

    def write(self, kind: str, by: str | None, **facts: Any) -> None:
        """Write an event; where that fails, the log says so."""
        try:
            self._trail.write(kind, by, **facts)
        except DiscreetError as fault:
            log_event("an event could not be written", logging.ERROR, error=type(fault).__name__)
