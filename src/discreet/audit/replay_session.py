"""A recorded session: real questions to a real curator in a folder of its own, and all that happens written down.

What is written down is of two kinds. Facts must not depend on anybody's rows: refusals, plans, prices, statements in
their order, columns, notes, laws of noise, balances, the ledger. The rest is what noise hides, seen by an onlooker.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from discreet.catalog.table import Table
from discreet.curator.answer import Answer, notes_on_values
from discreet.curator.curator import Curator
from discreet.curator.notes import is_on_noise
from discreet.engines.duckdb import DuckDBEngine
from discreet.engines.duckdb_snapshot import DuckDBSnapshot, Settings
from discreet.engines.identifier import quoted
from discreet.engines.manifest import Manifest
from discreet.engines.parameters import Bound
from discreet.errors import DiscreetError, EngineFailure
from discreet.exact.rational import Number
from discreet.query.measure import Measured, Run, measure
from discreet.query.onlooker import Chosen, Hidden
from discreet.query.plan import BlockPlan
from discreet.query.question import Question

__all__ = ["Asked", "Session", "Watched", "World", "recorded"]

World = Sequence[tuple[Any, Table]]
"""Tables with their policies, in the order in which they are taken in."""


@dataclass(frozen=True)
class Watched:
    """One measurement: what was hidden, and what was released."""

    plan: BlockPlan
    """What was planned."""
    hidden: list[Hidden] = field(default_factory=list)
    """Sums, and the noise on them."""
    chosen: list[Chosen] = field(default_factory=list)
    """Weights, and what was chosen by them."""

    def saw(self, event: Hidden | Chosen) -> None:
        """Write down what noise hides."""
        if isinstance(event, Hidden):
            self.hidden.append(event)
        else:
            self.chosen.append(event)

    def sums(self, part: int) -> list[Hidden]:
        """The integers of one part."""
        return [one for one in self.hidden if one.part == part]


@dataclass(frozen=True)
class Asked:
    """One question, and all that could be seen of it but the noisy values."""

    sql: str
    """The question."""
    facts: dict[str, Any]
    """What must be the same whoever is in the table, by name."""
    measured: list[Watched]
    """What was measured for it; nothing where it was refused or asked before."""
    released: list[Measured]
    """The noisy integers that the ledger keeps and the answer is computed from."""
    read_too_early: list[str]
    """Statements over protected tables that were run when only a price was asked for."""
    refusal: str | None
    """Why there is no answer, in the door's own words."""
    failed: bool
    """Whether that is a fault after the price was charged, and not a refusal."""


@dataclass(frozen=True)
class Session:
    """Several questions to one curator."""

    asked: list[Asked]
    """The questions in their order."""
    accounts: dict[str, Any]
    """What the ledger and the budgets say afterwards."""


@dataclass
class _Tape:
    """What was written down since the last question."""

    statements: list[tuple[str, str]] = field(default_factory=list)
    measured: list[Watched] = field(default_factory=list)
    released: list[Measured] = field(default_factory=list)


class _WatchedSnapshot(DuckDBSnapshot):
    tape: _Tape

    def _run(self, statement: str, values: Sequence[Bound]) -> pa.Table:
        self.tape.statements.append((statement, repr(list(values))))
        return super()._run(statement, values)


class _WatchedEngine(DuckDBEngine):
    def __init__(self, folder: Path, tape: _Tape) -> None:
        super().__init__(folder)
        self.tape = tape

    def _connected(self, manifest: Manifest, settings: Settings) -> DuckDBSnapshot:
        snapshot = _WatchedSnapshot(manifest, self.store.root, settings, self.timeout, self.owner_log)
        snapshot.tape = self.tape
        return snapshot


class _WatchedCurator(Curator):
    """The door as it is, but with somebody who looks on."""

    def __init__(self, folder: Path) -> None:
        self.tape = _Tape()
        super().__init__(folder, engine=_WatchedEngine(folder, self.tape))

    def next_tape(self) -> _Tape:
        """What was written down, and an empty tape from here on."""
        full = _Tape(*(list(getattr(self.tape, name)) for name in ("statements", "measured", "released")))
        for name in ("statements", "measured", "released"):
            getattr(self.tape, name).clear()
        return full

    def _measured(self, plan: BlockPlan, run: Run) -> Measured:
        watched = Watched(plan)
        self.tape.measured.append(watched)
        return measure(plan, run, self._source, watched.saw)

    def _answer(self, sql: str, question: Question, measured: list[Measured], told: Any) -> Answer:
        self.tape.released.extend(measured)
        return super()._answer(sql, question, measured, told)


def recorded(folder: Path, world: World, questions: Sequence[str], epsilon: Number) -> Session:
    """Protect these tables by a curator in ``folder``, ask every question for ``epsilon``, and write it all down."""
    curator = _WatchedCurator(folder)
    try:
        curator.engine.store.share("audit")  # people who are in two sessions choose the same in both
        for rows, policy in world:
            curator.protect(rows, policy, unread=lambda _: None)  # values that break are put in on purpose
        curator.next_tape()
        asked = [_asked(curator, sql, epsilon) for sql in questions]
        entries = [(entry.body["kind"], entry.body.get("prices")) for entry in curator.ledger.entries()]
        return Session(asked, {"budget": curator.budget(), "ledger": entries})
    finally:
        curator.engine.close()
        curator.ledger.close()


def _asked(curator: _WatchedCurator, sql: str, epsilon: Number) -> Asked:
    facts: dict[str, Any] = {}
    refusal, failed, early = None, False, list[str]()
    try:
        facts["plan"] = curator.explain(sql, epsilon)
        early = [statement for statement, _ in curator.tape.statements if _is_private(statement, curator)]
        facts |= _facts_of(curator.ask(sql, epsilon))
    except DiscreetError as refused:
        facts["refusal"] = refusal = str(refused)
        failed = isinstance(refused, EngineFailure)
    except Exception as failure:
        # A fault must not end the audit: whether it depends on a row is what is to be found out.
        facts["refusal"] = refusal = f"{type(failure).__name__}: {failure}"
        failed = True
    tape = curator.next_tape()
    facts["statements"] = tape.statements
    facts["noise"] = [repr((one.part, one.place, one.law)) for watched in tape.measured for one in watched.hidden]
    facts["choices"] = [repr((one.place, one.choice)) for watched in tape.measured for one in watched.chosen]
    facts["groups"] = [None if one.plan.releases_keys else len(one.groups) for one in tape.released]
    facts["balance"] = curator.budget()
    return Asked(sql, facts, tape.measured, tape.released, early, refusal, failed)


def _is_private(statement: str, curator: Curator) -> bool:
    return any(quoted(table.name) in statement for table in curator.catalog if not table.public)


def _facts_of(answer: Answer) -> dict[str, Any]:
    from_noise = notes_on_values(answer.table)
    notes = [note for note in answer.notes if note not in from_noise and not is_on_noise(note)]
    return {
        "price": (answer.price, answer.charged),
        "columns": [*zip(answer.table.schema.names, answer.table.schema.types, strict=True), tuple(answer.error)],
        "notes": notes,
    }
