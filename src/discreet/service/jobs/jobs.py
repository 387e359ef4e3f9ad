"""Requests: what each member asked under which id, how far it is, and the answer that is kept for asking again.

A request is a question with the price or the error that is wanted for it, exact and comparable. It is worked on under a
lease, which its worker renews. A lease that ended, or that ends further ahead than any lease does because the clock was
set back, is anybody's to take over; two workers on one request do no harm, because the ledger charges once and keeps
one answer.

>>> AskRequest("SELECT COUNT(*) FROM visits", epsilon=0.1) == AskRequest("SELECT COUNT(*) FROM visits", epsilon="1/10")
True
>>> AskRequest.read(AskRequest("SELECT 1", within="10").written()).within
Fraction(10, 1)
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import Any

from discreet.catalog.names import check_text
from discreet.curator.ledger.units import as_json, from_json
from discreet.curator.question_terms import QuestionTerms
from discreet.errors import EngineFailure, InvalidType, InvalidValue, RequestConflict, TooManyRequests
from discreet.exact.rational import Number, positive, rational
from discreet.http.problems import choose_fault
from discreet.noise.law import open_probability
from discreet.privacy.loss import Pure, ZeroConcentrated
from discreet.query.parse.clock import AsOf
from discreet.service.storage import ServiceStore
from discreet.storage.database import Database
from discreet.storage.presence import Presence
from discreet.time_limits import LEASE

__all__ = ["LONGEST_QUESTION", "AskRequest", "Job", "Key", "Requests", "State"]


LONGEST_QUESTION = 100_000
"""Characters of a question, at most."""
_FIELDS = {"sql": "sql", "epsilon": "epsilon", "within": "within", "confidence": "confidence", "raw": "raw"}
"""What a written request calls its parts, and the fields that hold them: a field may be renamed, a name may not."""


@dataclass(frozen=True)
class AskRequest:
    """What somebody asks for. Numbers are exact: 0.1, "0.1" and "1/10" are one request."""

    sql: str
    """The question."""
    epsilon: Number | None = None
    """The price, kept as a rational; None where the error is named."""
    within: Number | None = None
    """The wanted error, kept as a rational; None where the price is named."""
    part: Number | None = None
    """The part of the budget to pay, kept as a rational; None where a price or an error is named."""
    as_of: str | None = None
    """The day or moment that CURRENT_DATE means."""
    confidence: Number = Fraction(95, 100)
    """How often an interval covers the truth, at least."""
    raw: bool = False
    """Whether values are shown as they were drawn, also where they make no sense."""

    def __post_init__(self) -> None:
        """Refuse what no curator could price, and make numbers exact."""
        if len(check_text(self.sql, "a question")) > LONGEST_QUESTION:
            raise InvalidValue(f"a question must have at most {LONGEST_QUESTION:,} characters", f"<{len(self.sql):,}>")
        QuestionTerms(self.epsilon, self.within, self.part)
        if self.as_of is not None:
            object.__setattr__(self, "as_of", str(AsOf.of(check_text(self.as_of, "as_of"))))
        if not isinstance(self.raw, bool):
            raise InvalidType("raw must be true or false", self.raw)
        if self.epsilon is not None:
            object.__setattr__(self, "epsilon", positive(self.epsilon, "epsilon"))
        if self.within is not None:
            object.__setattr__(self, "within", positive(self.within, "the wanted error"))
        if self.part is not None:
            object.__setattr__(self, "part", rational(self.part, "part"))
        object.__setattr__(self, "confidence", open_probability(self.confidence, "confidence"))

    def as_ask_arguments(self) -> dict[str, Any]:
        """The request as the arguments of `Curator.ask` and `Curator.explain`."""
        assert not isinstance(self.within, str)  # noqa: S101  it was made a rational
        return {
            "sql": self.sql,
            "epsilon": self.epsilon,
            "within": None if self.within is None else float(self.within),
            "part": self.part,
            "as_of": self.as_of,
            "confidence": float(self.confidence),
        }

    def written(self) -> str:
        """The request as text; equal requests are written alike."""
        found = {name: getattr(self, field) for name, field in _FIELDS.items()}
        later = {"part": self.part, "as_of": self.as_of}  # written where they are named, as before they could be
        found |= {name: value for name, value in later.items() if value is not None}
        exact = {name: str(value) if isinstance(value, Fraction) else value for name, value in found.items()}
        return json.dumps(exact, ensure_ascii=False, sort_keys=True)

    @staticmethod
    def read(text: str) -> AskRequest:
        """The request that was written."""
        return AskRequest(**{_FIELDS.get(name, name): value for name, value in json.loads(text).items()})


Key = tuple[str, str]
"""The name of a member and the id of a request: ids of different members never meet."""
_HEADER = "member, id, wish, price, made, state, lease, settled, entry, problem"
_ONE = f"SELECT {_HEADER} FROM request WHERE member = ? AND id = ?"  # noqa: S608  names of our own
_UNFINISHED = f"SELECT {_HEADER} FROM request WHERE state = 'accepted' ORDER BY made, id"  # noqa: S608


class State(StrEnum):
    """How far a request is."""

    ACCEPTED = "accepted"
    """It waits, or it is being answered."""
    ANSWERED = "answered"
    """Its answer is kept."""
    REFUSED = "refused"
    """It was refused, and the same request may be sent again; or it failed, and stays so."""


@dataclass(frozen=True)
class Job:
    """A request as its member sees it: nothing here depends on rows."""

    member: str
    """Who asked."""
    request: str
    """The id."""
    ask_request: AskRequest
    """What was asked for."""
    price: Pure | ZeroConcentrated | None
    """What it costs; None for public tables alone."""
    made: float
    """When it came, in seconds since 1970."""
    state: State
    """How far it is."""
    lease: float
    """Until when its worker holds it."""
    settled: float | None
    """When it was answered or refused; None before."""
    entry: int | None
    """Where the ledger has its answer."""
    problem: dict[str, Any] | None
    """Why it was refused, in the shape of problems."""

    @property
    def key(self) -> Key:
        """Whose it is, and its id."""
        return self.member, self.request

    @property
    def sql(self) -> str:
        """The question."""
        return self.ask_request.sql

    @property
    def is_failed(self) -> bool:
        """Whether its run over rows failed, which stays so: the same request is not run again."""
        return self.state is State.REFUSED and isinstance(choose_fault(self.problem or {}), EngineFailure)

    @property
    def is_unfinished(self) -> bool:
        """Whether it waits or is being answered."""
        return self.state is State.ACCEPTED


class Requests:
    """The requests in a store."""

    def __init__(self, store: ServiceStore, clock: Callable[[], float] = time.time) -> None:
        """In ``store``; ``clock`` tells seconds since 1970."""
        self._store = store
        self.clock = clock

    @property
    def presence(self) -> Presence:
        """What workers hold while they work, in whatever process."""
        return self._store.presence

    def find(self, key: Key) -> Job | None:
        """What is known of a request."""
        return _only(self._store.rows(_ONE, key))

    def accept(
        self, key: Key, ask_request: AskRequest, price: Pure | ZeroConcentrated | None, most: int
    ) -> tuple[Job, bool]:
        """The request, now accepted unless it was before; and whether the caller is who works on it.

        An id that stands for another request is refused, and so is one more than ``most`` that are unfinished.
        """
        stated = None if price is None else json.dumps(as_json(price))

        def part(database: Database) -> tuple[Job, bool]:
            known = _found(database, key)
            check_same(known, ask_request)
            if known is not None and known.state is not State.REFUSED:
                return known, False
            _check_unfinished(database, key[0], most)
            now = self.clock()
            database.execute(
                "INSERT INTO request (member, id, wish, price, made, state, lease)"
                " VALUES (?, ?, ?, ?, ?, 'accepted', ?)"
                " ON CONFLICT (member, id) DO UPDATE SET price = excluded.price, made = excluded.made,"
                " state = 'accepted', lease = excluded.lease, settled = NULL, problem = NULL",
                (*key, ask_request.written(), stated, now, now + LEASE),
            )
            job = _found(database, key)
            assert job is not None  # noqa: S101  it was written above
            return job, True

        return self._store.write(part)

    def keep(self, key: Key, answer: bytes, entry: int | None) -> None:
        """Keep the answer, before anybody sees it; the first one that is kept is the only one."""
        statement = (
            "UPDATE request SET state = 'answered', answer = ?, entry = ?, settled = ?, problem = NULL"
            " WHERE member = ? AND id = ? AND state <> 'answered'"
        )
        self._do(statement, (answer, entry, self.clock(), *key))

    def refuse(self, key: Key, problem: dict[str, Any]) -> None:
        """Write down why there is no answer."""
        statement = (
            "UPDATE request SET state = 'refused', problem = ?, settled = ?"
            " WHERE member = ? AND id = ? AND state = 'accepted'"
        )
        self._do(statement, (json.dumps(problem, ensure_ascii=False), self.clock(), *key))

    def answer(self, key: Key) -> bytes | None:
        """The answer that is kept."""
        rows = self._store.rows("SELECT answer FROM request WHERE member = ? AND id = ?", key)
        return rows[0][0] if rows else None

    def renew(self, keys: Iterable[Key]) -> None:
        """Hold on to these."""
        self._hold(keys, self.clock() + LEASE)

    def release(self, keys: Iterable[Key]) -> None:
        """Let go of these, so that others may take them over at once."""
        self._hold(keys, 0.0)

    def _hold(self, keys: Iterable[Key], end: float) -> None:
        held = list(keys)

        def part(database: Database) -> None:
            for key in held:
                database.execute(
                    "UPDATE request SET lease = ? WHERE member = ? AND id = ? AND state = 'accepted'", (end, *key)
                )

        if held:
            self._store.write(part, repeatable=True)

    def _do(self, statement: str, values: tuple[Any, ...]) -> None:
        """One change that does nothing when it is done again."""
        self._store.write(lambda database: database.execute(statement, values), repeatable=True)

    def is_held(self, job: Job) -> bool:
        """Whether somebody works on it; a lease that ends too far ahead is of a clock that was set back since.

        Clocks of several hosts may differ by the length of a lease.
        """
        now = self.clock()
        return now < job.lease <= now + 2 * LEASE

    def take_over(self) -> list[Job]:
        """Requests whose worker let go of them, oldest first; they are the caller's from now on."""

        def part(database: Database) -> list[Job]:
            jobs = [_job(row) for row in database.execute(_UNFINISHED)]
            found = [job for job in jobs if not self.is_held(job)]
            end = self.clock() + LEASE
            for job in found:
                database.execute("UPDATE request SET lease = ? WHERE member = ? AND id = ?", (end, *job.key))
            return found

        return self._store.write(part)

    def unfinished(self) -> list[Job]:
        """Everything that is accepted, of all members, oldest first."""
        return [_job(row) for row in self._store.rows(_UNFINISHED)]

    def released(self, member: str) -> set[int]:
        """Where the ledger has the answers that a member may see by now."""
        return {
            entry
            for (entry,) in self._store.rows("SELECT entry FROM request WHERE member = ? AND entry > 0", (member,))
        }

    def page(self, member: str, most: int, before: str | None) -> list[Job]:
        """What a member asked, newest first; ``before`` is the id of the last one that was seen."""
        where = "member = ?"
        values: tuple[str, ...] = (member,)
        if before is not None:
            where += " AND (made, id) < (SELECT made, id FROM request WHERE member = ? AND id = ?)"
            values += (member, before)
        statement = f"SELECT {_HEADER} FROM request WHERE {where} ORDER BY made DESC, id DESC LIMIT {most:d}"  # noqa: S608
        return [_job(row) for row in self._store.rows(statement, values)]


def check_same(known: Job | None, ask_request: AskRequest) -> None:
    """Refuse a request under an id that stands for another."""
    if known is not None and known.ask_request != ask_request:
        raise RequestConflict("a request id must stand for one question", known.request, "use a new id")


def _check_unfinished(database: Database, member: str, most: int) -> None:
    query = "SELECT COUNT(*) FROM request WHERE member = ? AND state = 'accepted'"
    (unfinished,) = database.execute(query, (member,)).fetchone()
    if unfinished >= most:
        raise TooManyRequests(
            f"at most {most} questions of one member wait at a time", None, "wait until one of yours is answered"
        )


def _found(database: Database, key: Key) -> Job | None:
    return _only(database.execute(_ONE, key).fetchall())


def _only(rows: list[Any]) -> Job | None:
    return _job(rows[0]) if rows else None


def _job(row: tuple[Any, ...]) -> Job:
    member, request, ask_request, price, made, state, lease, settled, entry, problem = row
    return Job(
        member,
        request,
        AskRequest.read(ask_request),
        None if price is None else from_json(json.loads(price)),
        made,
        State(state),
        lease,
        settled,
        entry,
        None if problem is None else json.loads(problem),
    )
