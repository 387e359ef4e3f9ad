"""The fuse: a run that fails after rows could have been read ends the analyst's questions there, until the owner looks.

Whether a run fails is one bit that no price was paid for. Statements are written so that no row can decide it; should
one be found that does, a single bit is all that an analyst gets. For every question and every reason of a failure:

- the analyst hears the one constant error, and the charge stays;
- a failure is recorded, and who asked is suspended at the tables of the question until the owner lifts it. Whoever
  named no analyst suspends those who name none. What ran beside it ends in the same refusal, whatever came of it;
- the plan is not run again for that charge. Each charge is an attempt with a number: after a failure, or a return,
  the same plan is the next attempt, at its full price. The same request id goes on standing for the failed one.

A return is for the other case. The engine says that the statement was not sent, this question made the charge itself,
nobody else worked on it, and no other statement ran for it: then no row was read, and a record gives back exactly what
was charged. A process that is killed, or interrupted from outside, leaves its attempt open: nobody heard anything of
it, so whoever asks next runs it for the charge that was made. That is bounded, because a run can end its own process,
as where memory is out: after `MOST_RUNS` of them were killed the attempt has failed, and all who ran it are suspended.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from functools import partial
from time import sleep
from types import TracebackType
from typing import Any, Self

import pyarrow as pa

from discreet.curator.ledger.balance import PeopleNotCharged
from discreet.curator.ledger.checkpoint import check_trusted
from discreet.curator.ledger.ledger import Ledger, Receipt
from discreet.curator.ledger.requests import BoundRequest, attempt, attempts, bind
from discreet.curator.ledger.unanswered import Begun, are_touched
from discreet.curator.ledger.units import LedgerPrice
from discreet.engines.engine import Engine, tell
from discreet.errors import (
    DiscreetError,
    EngineFailure,
    EngineUnavailable,
    LedgerError,
    RequestConflict,
    Suspended,
)
from discreet.noise.source import fresh_id
from discreet.query.run.measure import Run

__all__ = ["MOST_RUNS", "Fuse", "Moved", "PlannedCharge", "check_suspended", "open_attempt"]


MOST_RUNS = 3
"""How often a charge is run, where the process is killed each time: once, and twice again."""
_AFTER_A_KILL = "a run after a killed one"
_PAUSE = 0.05
"""Seconds between two looks whether another such run is over."""
Work = Callable[[Run], bytes]
"""Measures with the help of a run, and returns what is to be stored."""
Hold = Callable[[], object]
"""Waits before anything is written down about rows."""


class Moved(Exception):
    """The data, or what a request stands for, is another one by now: plan again."""


@dataclass(frozen=True)
class PlannedCharge:
    """A planned question, as it is charged."""

    plan: str
    """What the ledger calls its plan."""
    prices: Mapping[str, LedgerPrice]
    """What each account pays."""
    note: Mapping[str, Any]
    """What is written beside the charge."""
    versions: Mapping[str, str]
    """Per table, the version that it is planned for."""
    question: str
    """A fingerprint of what was asked for."""
    request: str | None
    """The id that stands for it; None where there is none."""
    check: Callable[[], None]
    """Refuses what would fail whatever the rows are; what is stored needs no such look."""


def check_suspended(ledger: Ledger, analyst: str | None, tables: Collection[str]) -> None:
    """Refuse an analyst who is suspended at one of these tables."""
    failure = ledger.suspended_by(analyst, tables)
    if failure is not None:
        raise _suspended(failure.position, failure.body["tables"], tables)


def _suspended(record: int, failed: Collection[str], tables: Collection[str]) -> Suspended:
    return Suspended.since(record, next(name for name in sorted(tables) if are_touched(failed, [name])))


def open_attempt(ledger: Ledger, plan: str, start: int = 0) -> tuple[int, Receipt | None]:
    """The first attempt at a plan that did not end without an answer, and what is known of it."""
    for number, name in enumerate(attempts(plan, start), start):
        known = ledger.look_up(name, plan.encode())
        if known is None or known.end in (None, "answer"):
            return number, known
    raise AssertionError("numbers have no end")


class Fuse:
    """One question on its way from the charge to what is stored of it; inside the block its process is seen at work."""

    def __init__(self, ledger: Ledger, engine: Engine, analyst: str | None, tables: Collection[str]) -> None:
        """Asked by an analyst, or by nobody with a name, about protected ``tables``, which ``engine`` reads."""
        self._ledger, self._engine = ledger, engine
        self._analyst, self._tables = analyst, tables
        self._run_name = fresh_id()
        self._working_on: str | None = None
        self._presence = ExitStack()
        self._is_killed = self._has_turn = False
        self._is_read = False
        self._is_unread = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """A run that leaves its request open, and lives to say so, was not killed."""
        try:
            if kind is not None and self._working_on is not None:
                with suppress(DiscreetError):
                    self._ledger.stop(self._working_on, self._run_name)
        finally:
            self._presence.close()

    def charged(self, wanted: PlannedCharge, known: BoundRequest | None) -> Receipt:
        """The charge for a plan, made now or before; a request stands for the attempt that it met first."""
        check_trusted(self._ledger.folder)
        is_tied = known is not None and known.plan == wanted.plan
        if known is not None and is_tied and known.receipt is not None and known.receipt.end == "failure":
            raise EngineFailure
        check_suspended(self._ledger, self._analyst, self._tables)
        number, receipt = self._attempted(wanted.plan, known.number if known is not None and is_tied else 0)
        if receipt is None or receipt.end is None:
            self._engine.reach()
            wanted.check()
            self._presence.enter_context(self._ledger.present(self._run_name))
        if wanted.request is not None and not is_tied:
            self._tie(wanted, wanted.request, 0 if known is None else known.tied, number)
        return self._charged(wanted, number)

    def _attempted(self, plan: str, start: int) -> tuple[int, Receipt | None]:
        """The attempt that is open, or the next one; one whose runs were all killed is so no more."""
        while True:
            number, receipt = open_attempt(self._ledger, plan, start)
            if receipt is None or receipt.end is not None or self.check_killed(receipt.request) is not None:
                return number, receipt

    def _tie(self, wanted: PlannedCharge, request: str, tied: int, number: int) -> None:
        try:
            bind(self._ledger, request, tied, wanted.plan, number, wanted.versions, wanted.question)
        except RequestConflict:  # somebody tied the same id to another plan meanwhile: perhaps to the same question
            raise Moved from None

    def _charged(self, wanted: PlannedCharge, number: int) -> Receipt:
        while True:
            name, body = attempt(wanted.plan, number), wanted.plan.encode()
            try:
                receipt = self._ledger.charge(name, body, wanted.prices, wanted.note, self._run_name)
            except PeopleNotCharged:  # their account was opened while the question was planned
                raise Moved from None
            if receipt.end is None and not receipt.is_new:
                receipt = self._again(receipt)
            if receipt.end is None:
                self._working_on = receipt.request
            if receipt.end in (None, "answer"):
                return receipt
            if receipt.end == "replan":
                raise Moved
            if receipt.end == "failure" and wanted.request is not None:
                raise EngineFailure  # from now on the id stands for it
            number, _ = open_attempt(self._ledger, wanted.plan, number)  # another one ended it meanwhile

    def _again(self, receipt: Receipt) -> Receipt:
        """Work on a charge that another made; where its run was killed, when nobody else works on such a one.

        One of them may be what kills processes. If they ran side by side, the others would be counted as killed too.
        """
        while True:
            told = self.check_killed(receipt.request)
            is_ready = told is None or not self._is_killed or self._is_alone()
            found = self._ledger.rerun(receipt.request, self._run_name, self._analyst, told) if is_ready else None
            if found is not None:
                return found
            now = self._ledger.known(receipt.request)
            if now is not None and now.end is not None:
                return now
            sleep(0.0 if is_ready else _PAUSE)

    def _is_alone(self) -> bool:
        """Whether nobody else runs what was killed before; from now until the end of the block, that is so."""
        if not self._has_turn and self._ledger.storage.presence.hold(_AFTER_A_KILL):
            self._has_turn = True
            self._presence.callback(self._ledger.storage.presence.release, _AFTER_A_KILL)
        return self._has_turn

    def replan(self, request: str, wanted: Sequence[PlannedCharge]) -> None:
        """Let the first of some plans be run for an open charge, which pays for it; whoever asks then meets it."""
        check_suspended(self._ledger, self._analyst, self._tables)
        if self.check_killed(request) is None:
            raise Moved
        for one in wanted:
            self._ledger.replan(request, partial(attempts, one.plan), one.plan, one.prices, one.note)
            raise Moved

    def check_killed(self, request: str) -> int | None:
        """How much is told of the runs for a charge; None where too many were killed, so that it has failed now.

        Who asks is refused where one of those runs was theirs.
        """
        killed, told = self._ledger.killed_runs(request)
        self._is_killed = bool(killed)
        if len(killed) < MOST_RUNS:
            return told
        self._give_up(request, killed)
        return None

    def _give_up(self, request: str, killed: Collection[Begun]) -> None:
        who = list(dict.fromkeys(one.analyst for one in killed))
        for one in who:
            record = self._ledger.fail(request, one, self._tables)
            if isinstance(record, int):
                words = f"the process was killed in {len(killed)} runs of this question"
                self._tell(record, one, words)
        if self._analyst in who:
            raise EngineFailure

    def _tell(self, record: int, analyst: str | None, words: str = "") -> None:
        who = "whoever names no analyst" if analyst is None else analyst
        said = f"record {record} of the ledger: {who} is suspended at {', '.join(self._tables)} until you lift it"
        tell(self._engine.owner_log, Suspended(f"{said}; {words}" if words else said))

    def settled(self, receipt: Receipt, work: Work, hold: Hold | None) -> Receipt:
        """What is stored of an open attempt once ``work`` measured it; ``hold`` is called when that is over."""
        found: bytes | None = None
        try:
            found = work(self._run)
        except (EngineFailure, EngineUnavailable):
            pass  # the engine has told the owner
        except Exception as failure:  # of what is computed from exact values
            tell(self._engine.owner_log, failure)
        finally:
            if hold is not None:
                hold()
        # Outside the block above: what is raised from here on must not have the failure in its context.
        if found is None:
            return self._returned(receipt) if self._is_unread else self._failed(receipt)
        check_suspended(self._ledger, self._analyst, self._tables)  # a failure beside this run hides what came of it
        stored = self._ledger.settle(receipt.request, found)
        if stored.end == "replan":
            raise Moved
        if stored.answer is None:  # another's run of the same attempt failed first
            raise EngineFailure
        return stored

    def _run(self, statement: str, parameters: list[object]) -> pa.Table:
        """A run that remembers whether it is certain that nothing was read for this charge."""
        try:
            found = self._engine.run(statement, parameters)
        except EngineUnavailable:
            self._is_unread = not self._is_read
            raise
        self._is_read = True
        return found

    def _returned(self, receipt: Receipt) -> Receipt:
        """Give back what this question was charged; a charge that another made stays, for they may have read rows."""
        if receipt.is_new:
            try:
                self._ledger.give_back(receipt.request)
            except LedgerError as refusal:  # then it stays as well, and pays for the same question later
                tell(self._engine.owner_log, refusal)
        raise EngineUnavailable

    def _failed(self, receipt: Receipt) -> Receipt:
        """Record the failure; where another's run of the same attempt was answered meanwhile, that is the answer."""
        record = self._ledger.fail(receipt.request, self._analyst, self._tables)
        if isinstance(record, Receipt):
            return record
        self._tell(record, self._analyst)
        first = self._ledger.suspended_by(self._analyst, self._tables)
        if first is not None and first.position < record:
            raise _suspended(first.position, first.body["tables"], self._tables)
        raise EngineFailure
