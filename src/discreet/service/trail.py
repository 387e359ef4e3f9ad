"""The audit trail: who signed in, and who changed what, in a chain that nobody can change.

An event stands in the same book as what it tells of, and is written in the same transaction: there is no token, no
member and no revocation without its event. What is changed elsewhere, such as a policy, is written down before it is
done, and once more when it is refused. Each event carries the hash of the one before it, and triggers refuse to change
or delete one. The last hash goes into the ledger, so that an older copy of the book is noticed.

No event holds a row, a secret or the text of a question: a question that was refused is known by its hash.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from discreet.books.book import Database
from discreet.curator.chain import GENESIS, canonical, link
from discreet.curator.ledger import Ledger
from discreet.curator.trail_marks import last_mark, record_mark
from discreet.errors import DiscreetError, StoreError
from discreet.service.store import Store

__all__ = ["COMMAND", "Event", "Trail", "TrailCheck", "event_words", "head_problems", "note", "record_in_ledger"]

COMMAND = "the command line"
"""Who did what was done on the host itself."""
_HEAD = "SELECT position, hash FROM event ORDER BY position DESC LIMIT 1"
_PAGE = 1000
_TAKING = frozenset({"token revoked", "token exchanged", "member removed", "all tokens revoked"})
_MOST_CHARACTERS = 300
"""Of each text in an event."""


@dataclass(frozen=True)
class Event:
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

    def __init__(self, store: Store) -> None:
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

    def page(self, most: int, before: int | None = None, kind: str | None = None, by: str | None = None) -> list[Event]:
        """Events, newest first; only those before a position, of a kind, by somebody, where that is wanted."""
        found: list[Event] = []
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

    def all(self) -> Iterator[Event]:
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
        """Refuse a book that is older than the ledger knows: it would bring back tokens that were taken back."""
        found = self._behind(ledger)
        if found:
            rule = "the service's database must not be older than the ledger expects, or revoked tokens come back"
            remedy = "put the newer one back; if it is lost, discreet member recover ends every token and goes on"
            raise StoreError(rule, f"<{found[0]}>", remedy)

    def has_taken(self, start: int) -> bool:
        """Whether a right was taken away after this position, which an older book would give back."""
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


def event_words(event: Event) -> str:
    """What happened, by whom, and what else is known of it, in a line."""
    told = ", ".join(f"{name} {_told(value)}" for name, value in sorted(event.facts.items()))
    return f"{event.kind}, by {event.by or 'somebody unknown'}{f': {told}' if told else ''}"


def _told(value: Any) -> str:
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


def _event(row: tuple[Any, ...]) -> Event:
    position, body, digest = row
    facts = json.loads(bytes(body))
    return Event(position, facts.pop("time"), facts.pop("kind"), facts.pop("by"), facts, bytes(digest))
