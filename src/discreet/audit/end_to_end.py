"""The curator, audited from draws: one question on an owner's own table and on a neighbour of it, measured many times.

A replay compares what noise hides, exactly, and trusts the noise. Here nothing is trusted but the rows: the question is
planned by a real curator for its price and measured again and again, and the noisy integers that an answer is computed
from are audited like the answers of any other mechanism. What the engine returns is read once, because the rows stay as
they are. Nothing is charged, and all of it happens in temporary folders.

>>> import pyarrow as pa
>>> from discreet.catalog.budget import Budget
>>> from discreet.curator.policies import stated_policy
>>> people = pa.table({"person": list(range(40)), "smokes": [k % 4 == 0 for k in range(40)]})
>>> policy = stated_policy(people, table="survey", unit="person", budget=Budget(1))
>>> report = end_to_end(people, policy, "SELECT COUNT(*) FROM survey", epsilon="0.5", draws=4000)
>>> str(report.verdict), report.claim
('consistent', Pure(ε=0.5))
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa

from discreet.audit.audit import audit
from discreet.audit.replay.replay import replay_worlds
from discreet.audit.replay.session import Neighbour, neighbours_of, rows_of
from discreet.audit.report import AuditReport
from discreet.catalog.policy.read import read as read_policy
from discreet.catalog.table import Table
from discreet.curator.curator import Curator
from discreet.curator.preconditions import use_stored_columns
from discreet.errors import InvalidValue
from discreet.exact.rational import Number, positive
from discreet.noise.experiment import experiment
from discreet.privacy.loss import Approximate, Loss, Pure, ZeroConcentrated
from discreet.query.question import PlannedQuestion
from discreet.query.run.measure import Measured

__all__ = ["end_to_end"]


_NEIGHBOURS = 4
_DRAWS = 20_000
_WORDS = "a table", "its neighbour"


class _OftenMeasured(Curator):
    """A curator on a table of an audit, which measures a question again and again."""

    def planned(self, sql: str, epsilon: Number) -> PlannedQuestion:
        """The question as the curator would measure it."""
        return self._planner.question(sql, epsilon)

    def measurements(self, question: PlannedQuestion) -> Any:
        """A function that measures the question anew each time; rows are read the first time."""
        snapshot = self.engine.snapshot()
        plans = [use_stored_columns(plan, snapshot) for plan in question.plans]

        @lru_cache
        def read(statement: str, values: tuple[object, ...]) -> pa.Table:
            return snapshot.run(statement, values)

        def measured() -> tuple[Any, ...]:
            found = [self._measured(plan, lambda statement, values: read(statement, tuple(values))) for plan in plans]
            return tuple(number for one in found for number in _numbers(one))

        return measured


def _numbers(measured: Measured) -> list[Any]:
    """All that a block releases: the noisy integers in the order of its groups, and the keys where noise chose them."""
    keys = [repr(keys) for keys in measured.groups.tuples()] if measured.plan.releases_keys else []
    sums = [int(number) for part in measured.sums for each in part for number in each]
    return [*keys, *sums, *(int(number) for each in measured.chosen for number in each)]


def end_to_end(
    table: Any,
    policy: Table | str | Path,
    sql: str,
    *,
    epsilon: Number = 1,
    draws: int = _DRAWS,
    neighbours: int = _NEIGHBOURS,
    false_alarm: float = 1e-6,
    seed: int = 0,
) -> AuditReport:
    """Audit what a question releases, on a table and on that neighbour of it which the question moves most.

    The neighbour is found by a replay of ``neighbours`` of them. The claim is the price of the question, and the δ that
    pays for keys which are not public.
    """
    stated = policy if isinstance(policy, Table) else read_policy(policy)
    positive(epsilon, "epsilon")
    rows = rows_of(table, stated)
    other = _most_telling(rows, stated, sql, epsilon, neighbours_of(rows, stated, neighbours, experiment(seed)))
    with TemporaryDirectory(prefix="discreet-audit-") as folder:
        curators = [_OftenMeasured(Path(folder) / name) for name in ("here", "there")]
        try:
            for curator, own in zip(curators, (rows, other.rows), strict=True):
                curator.engine.store.share("audit")  # people who are in both choose the same in both
                curator.protect(own, stated, unread=lambda _: None)  # of the source itself the owner was told
            questions = [curator.planned(sql, epsilon) for curator in curators]
            pairs = zip(_WORDS, curators, questions, strict=True)
            measured = {words: curator.measurements(question) for words, curator, question in pairs}
            claim = _claim(questions[0])
            settings: dict[str, Any] = {"draws": draws, "false_alarm": false_alarm, "seed": seed, "name": sql}
            return audit(lambda words: measured[words](), *_WORDS, claim, **settings)
        finally:
            for curator in curators:
                curator.engine.close()
                curator.ledger.close()


def _most_telling(rows: pa.Table, policy: Table, sql: str, epsilon: Number, others: list[Neighbour]) -> Neighbour:
    worlds = [(str(place), [(other.rows, policy)]) for place, other in enumerate(others)]
    (line,) = replay_worlds([(rows, policy)], worlds, [sql], epsilon=epsilon).lines
    if line.claimed is None:
        raise InvalidValue(
            "only an answer about protected rows can be audited", sql, line.refusal or "ask about people"
        )
    return others[int(line.neighbour)] if line.neighbour else others[0]


def _claim(question: PlannedQuestion) -> Loss:
    price, delta = question.price, sum(plan.delta for plan in question.plans)
    if not delta or price is None:
        return price or Pure(0)
    if isinstance(price, ZeroConcentrated):
        spent = delta  # as much again for the conversion: any division is a valid claim
        return Approximate(price.epsilon_at(spent), 2 * delta)
    return Approximate(price.epsilon, delta)
