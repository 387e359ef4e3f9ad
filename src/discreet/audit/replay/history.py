"""Histories: tables that grow, are asked, are erased from and break down, in two worlds that differ in one unit.

A history is a list of steps that an owner and analysts take. It is taken in two worlds: in each, an append also brings
the rows that the unit x has there. Everything that is seen but noise must be the same to the letter. What noise hides
gives the exact loss of x in every release, and all losses together must be within every account that counts them: of
the table in the period of x, of its people in that period, and of a person over all periods. Random ids and roots are
called by when they appeared.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import pyarrow as pa

from discreet.audit.replay.watch import (
    NamedIds,
    RecordedQuestion,
    RunRecord,
    WatchedCurator,
    WatchedEngine,
    record_question,
)
from discreet.catalog.catalog import Catalog
from discreet.catalog.period import Period
from discreet.catalog.table import Table
from discreet.curator.ledger.chain import Account
from discreet.errors import DiscreetError

__all__ = [
    "Append",
    "Ask",
    "Close",
    "CloseDue",
    "Crash",
    "Forget",
    "Lived",
    "Moment",
    "Reopen",
    "WorldHistory",
    "live",
]


Crash = str
"""Where a close is cut off: ``prepared``, before the ledger has it; ``recorded``, before the store shows it; or
``shown``, before anything else is done."""


class _Killed(BaseException):
    """Stands for the end of the process."""


@dataclass(frozen=True)
class Append:
    """Rows come; those of x are in one world or the other."""

    table: str
    others: pa.Table
    """The rows of everybody else."""
    here: pa.Table
    """The rows of x in the first world."""
    there: pa.Table
    """The rows of x in the second world."""
    id: str
    place: int = 0
    """Before which row of the others those of x come."""

    def take(self, life: _Life) -> None:
        """Append them."""
        own = self.here if life.is_here else self.there
        parts = [self.others.slice(0, self.place), own, self.others.slice(self.place)]
        life.curator.append(self.table, pa.concat_tables(parts), id=self.id, unread=lambda _: None)


@dataclass(frozen=True)
class Close:
    """The owner closes periods of a table."""

    table: str
    through: str
    crash: Crash | None = None

    def take(self, life: _Life) -> object:
        """Close them, or die on the way."""
        return life.dying(
            self.crash, lambda: [one.name for one in life.curator.close(self.table, through=self.through)]
        )


@dataclass(frozen=True)
class CloseDue:
    """The calendar closes periods of all tables."""

    now: datetime
    crash: Crash | None = None

    def take(self, life: _Life) -> object:
        """Close them, or die on the way."""
        return life.dying(self.crash, lambda: sorted(life.curator.close_due(self.now).items()))


@dataclass(frozen=True)
class Forget:
    """The owner has somebody forgotten."""

    table: str
    unit: object

    def take(self, life: _Life) -> None:
        """At the next close."""
        life.curator.forget(self.table, self.unit)


@dataclass(frozen=True)
class Reopen:
    """The process ends in peace, and another one begins."""

    def take(self, life: _Life) -> None:
        """Open the folder again."""
        life.reopen()


@dataclass(frozen=True)
class Ask:
    """Somebody asks a question."""

    sql: str
    terms: Mapping[str, Any] = field(default_factory=dict)
    """What it is asked for: those of `Curator.ask`."""

    def take(self, life: _Life) -> RecordedQuestion:
        """First for its price, then for its answer."""
        return record_question(life.curator, self.sql, **self.terms)


Step = Append | Close | CloseDue | Forget | Reopen | Ask


@dataclass(frozen=True)
class WorldHistory:
    """What happens in two worlds."""

    tables: Sequence[tuple[Table, pa.Table]]
    """The tables in the order in which they are protected, each with the rows that it begins with: none of x."""
    steps: Sequence[Step]
    """What happens then."""
    period: str | None = None
    """The period that x is in, where a unit is in one alone; None for a whole person."""


@dataclass(frozen=True)
class Moment:
    """A step, and what was seen of it."""

    step: Step
    seen: dict[str, str]
    """All that must be the same in both worlds, by name."""
    asked: RecordedQuestion | None = None


@dataclass(frozen=True)
class Lived:
    """A history as it went in one world."""

    moments: list[Moment]
    accounts: Mapping[str, Account]
    """What the ledger counts in the end."""
    catalog: Catalog


def live(folder: Path, history: WorldHistory, *, is_here: bool) -> Lived:
    """Let a history happen in one of its worlds, in a folder of its own."""
    life = _Life(folder, is_here)
    try:
        for table, rows in history.tables:
            life.curator.protect(rows, table, unread=lambda _: None)
        life.curator.take_record()
        moments = [life.moment(step) for step in history.steps]
        return Lived(moments, life.curator.ledger.accounts(), life.curator.catalog)
    finally:
        life.end()


class _MortalEngine(WatchedEngine):
    def __init__(self, folder: Path, record: RunRecord) -> None:
        super().__init__(folder, record)
        self.crash: Crash | None = None

    def prepare_close(self, table: Table, period: Period, *, catalog: Catalog | None = None) -> str:
        root = super().prepare_close(table, period, catalog=catalog)
        self._die_at("prepared")
        return root

    def finish_close(self, table: str, period: Period) -> None:
        self._die_at("recorded")
        super().finish_close(table, period)
        self._die_at("shown")

    def _die_at(self, point: Crash) -> None:
        if self.crash == point:
            raise _Killed


class _MortalCurator(WatchedCurator):
    mortal: _MortalEngine

    def open_watched(self, folder: Path) -> WatchedEngine:
        self.mortal = _MortalEngine(folder, self.record)
        return self.mortal


class _Life:
    """A world while it goes on."""

    def __init__(self, folder: Path, is_here: bool) -> None:
        self.is_here = is_here
        self._folder, self._names, self._records = folder, NamedIds(), 0
        self.curator = _MortalCurator(folder)
        self.curator.engine.store.share("audit")  # people who are in both worlds choose the same in both

    def moment(self, step: Step) -> Moment:
        """Take a step, and look around."""
        seen: dict[str, object] = {}
        found: object = None
        try:
            found = step.take(self)
            seen["result"] = None if isinstance(found, RecordedQuestion) else found
        except DiscreetError as refused:
            seen["refusal"] = str(refused)
        except Exception as failure:  # whether it depends on a row is what is to be found out
            seen["refusal"] = f"{type(failure).__name__}: {failure}"
        asked = found if isinstance(found, RecordedQuestion) else None
        self.curator.take_record()
        seen |= {} if asked is None else asked.facts
        return Moment(step, {name: self._spell(fact) for name, fact in {**seen, **self._surroundings()}.items()}, asked)

    def _surroundings(self) -> dict[str, object]:
        """What anybody can look up: balances, periods, records."""
        curator = self.curator
        entries = list(curator.ledger.entries())[self._records :]
        self._records += len(entries)
        growing = [table.name for table in curator.catalog if table.time is not None]
        return {
            "balance": curator.budget(),
            "periods": [one.to_dict() for name in growing for one in curator.periods(name)],
            "records": [(one.position, {**one.body, "time": None, "answer": None}) for one in entries],
        }

    def _spell(self, fact: object) -> str:
        return self._names.spell(vars(fact) if hasattr(fact, "__dataclass_fields__") else fact)

    def dying(self, crash: Crash | None, work: Callable[[], object]) -> object:
        """Do some work; where it is cut off, another process takes over."""
        self.curator.mortal.crash = crash
        try:
            return work()
        except _Killed:
            self.reopen()
            return "killed"
        finally:
            self.curator.mortal.crash = None

    def reopen(self) -> None:
        """Let another process take over."""
        self.end()
        self.curator = _MortalCurator(self._folder)

    def end(self) -> None:
        """Close what is open."""
        with suppress(Exception):
            self.curator.engine.close()
        self.curator.ledger.close()
