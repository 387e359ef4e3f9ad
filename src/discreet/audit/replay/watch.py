"""A curator with somebody who looks on: real questions to a real curator, and all that happens written down.

What is written down is of two kinds. Facts must not depend on anybody's rows: refusals, plans, prices, statements in
their order, columns, notes, laws of noise, balances. The rest is what noise hides.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from discreet.curator.answers.answer import Answer, notes_on_values
from discreet.curator.curator import Curator
from discreet.curator.notes import is_on_noise
from discreet.curator.prepare import Prepared
from discreet.engines.duckdb.engine import DuckDBEngine
from discreet.engines.duckdb.manifest import Manifest
from discreet.engines.duckdb.snapshot import DuckDBSnapshot, Settings
from discreet.engines.parameters import ParameterValue, quote
from discreet.errors import DiscreetError, EngineFailure
from discreet.query.plan.sensitivity import AggregationPlan
from discreet.query.question import PlannedQuestion
from discreet.query.run.measure import Measured, NoiseObservation, Run, SelectionObservation, measure

__all__ = ["NamedIds", "RecordedQuestion", "RunRecord", "Watched", "WatchedCurator", "WatchedEngine", "record_question"]


@dataclass(frozen=True)
class Watched:
    """One measurement: what was hidden, and what was released."""

    plan: AggregationPlan
    """What was planned."""
    hidden: list[NoiseObservation] = field(default_factory=list)
    """Sums, and the noise on them."""
    chosen: list[SelectionObservation] = field(default_factory=list)
    """Weights, and what was chosen by them."""
    released: list[Measured] = field(default_factory=list)
    """The noisy integers that the ledger keeps of it; nothing where it failed."""

    def saw(self, event: NoiseObservation | SelectionObservation) -> None:
        """Write down what noise hides."""
        if isinstance(event, NoiseObservation):
            self.hidden.append(event)
        else:
            self.chosen.append(event)

    def sums(self, part: int) -> list[NoiseObservation]:
        """The integers of one part."""
        return [one for one in self.hidden if one.part == part]


@dataclass(frozen=True)
class RecordedQuestion:
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
    """Why there is no answer, in the curator's own words."""
    failed: bool
    """Whether that is a fault after the price was charged, and not a refusal."""


@dataclass
class RunRecord:
    """What was written down since the last question."""

    statements: list[tuple[str, str]] = field(default_factory=list)
    measured: list[Watched] = field(default_factory=list)
    released: list[Measured] = field(default_factory=list)


class _WatchedSnapshot(DuckDBSnapshot):
    record: RunRecord

    def _run(self, statement: str, values: Sequence[ParameterValue]) -> pa.Table:
        self.record.statements.append((statement, repr(list(values))))
        return super()._run(statement, values)


class WatchedEngine(DuckDBEngine):
    """The engine as it is; the statements that it runs are written down."""

    def __init__(self, folder: Path, record: RunRecord) -> None:
        super().__init__(folder, threads=1)  # the tables of an audit are small
        self.record = record

    def _connected(self, manifest: Manifest, settings: Settings) -> DuckDBSnapshot:
        snapshot = _WatchedSnapshot(manifest, self.store.root, settings, self.timeout, self.owner_log)
        snapshot.record = self.record
        return snapshot


class WatchedCurator(Curator):
    """The curator as it is, but with somebody who looks on."""

    def __init__(self, folder: Path) -> None:
        self.record = RunRecord()
        super().__init__(folder, engine=self.open_watched(folder))

    def open_watched(self, folder: Path) -> WatchedEngine:
        """The engine that is looked at."""
        return WatchedEngine(folder, self.record)

    def take_record(self) -> RunRecord:
        """What was written down, and an empty record from here on."""
        full = RunRecord(*(list(getattr(self.record, name)) for name in ("statements", "measured", "released")))
        for name in ("statements", "measured", "released"):
            getattr(self.record, name).clear()
        return full

    def _measured(self, plan: AggregationPlan, run: Run) -> Measured:
        watched = Watched(plan)
        self.record.measured.append(watched)
        return measure(plan, run, self._source, watched.saw)

    def _settled(self, ready: Prepared, *more: Any) -> Any:
        before = len(self.record.measured)
        settled = super()._settled(ready, *more)
        for watched, plan in zip(self.record.measured[before:], ready.plans, strict=True) if settled.is_new else ():
            watched.released.append(settled.measured[id(plan)])
        return settled

    def _answer(self, sql: str, question: PlannedQuestion, measured: list[Measured], told: Any) -> Answer:
        self.record.released.extend(measured)
        return super()._answer(sql, question, measured, told)


def record_question(curator: WatchedCurator, sql: str, **terms: Any) -> RecordedQuestion:
    """Ask for the price, and then the question, and write down what is seen; ``terms`` are those of `Curator.ask`."""
    facts: dict[str, Any] = {}
    refusal, failed, early = None, False, list[str]()
    try:
        facts["plan"] = curator.explain(sql, **terms)
        early = [statement for statement, _ in curator.record.statements if _is_private(statement, curator)]
        facts |= _facts_of(curator.ask(sql, **terms))
    except DiscreetError as refused:
        facts["refusal"] = refusal = str(refused)
        failed = isinstance(refused, EngineFailure)
    except Exception as failure:
        # A fault must not end the audit: whether it depends on a row is what is to be found out.
        facts["refusal"] = refusal = f"{type(failure).__name__}: {failure}"
        failed = True
    record = curator.take_record()
    facts["statements"] = record.statements
    facts["noise"] = [repr((one.part, one.place, one.law)) for watched in record.measured for one in watched.hidden]
    facts["choices"] = [repr((one.place, one.choice)) for watched in record.measured for one in watched.chosen]
    facts["groups"] = [None if one.plan.releases_keys else len(one.groups) for one in record.released]
    facts["balance"] = curator.budget()
    return RecordedQuestion(sql, facts, record.measured, record.released, early, refusal, failed)


def _is_private(statement: str, curator: Curator) -> bool:
    names = [quote(table.name) for table in curator.catalog if not table.public]
    return any(name in statement or f"{name[:-1]}@" in statement for name in names)


def _facts_of(answer: Answer) -> dict[str, Any]:
    from_noise = notes_on_values(answer.table)
    notes = [note for note in answer.notes if note not in from_noise and not is_on_noise(note)]
    return {
        "price": (answer.price, answer.charged),
        "certificate": _certified(answer),
        "columns": [*zip(answer.table.schema.names, answer.table.schema.types, strict=True), tuple(answer.error)],
        "notes": notes,
    }


def _certified(answer: Answer) -> str:
    """What a certificate states, but for hashes of what noise made, and groups that are shown where noise decides."""
    facts = dict(answer.certificate) | {"answer": None}
    if "plan" in facts:
        blocks = [
            {**one, "groups": {**one["groups"], "released": None}} if "threshold" in one["groups"] else one
            for one in facts["plan"]["blocks"]
        ]
        facts["plan"] = {**facts["plan"], "blocks": blocks}
        facts["periods"] = {name: {**one, "answer": None} for name, one in facts.get("periods", {}).items()}
    return NamedIds().spell(facts)


_ID = re.compile(r"[0-9a-f]{32,}")


class NamedIds:
    """Ids that are drawn at random, and hashes of noise: each is called by when it appeared first.

    >>> NamedIds().spell([f"1-{'ab' * 16}", "cd" * 32, "ab" * 16])
    "['1-<id 1>', '<id 2>', '<id 1>']"
    """

    def __init__(self) -> None:
        self._known: dict[str, int] = {}

    def spell(self, fact: object) -> str:
        """A fact as text, in which ids have their names."""
        return _ID.sub(lambda found: f"<id {self._known.setdefault(found[0], len(self._known) + 1)}>", str(fact))
