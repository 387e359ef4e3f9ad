"""Where a policy bounds nothing, an answer without its noise is what a plain database says to the same text.

Counts must be equal. Sums and means lie on grids, so they may be off by a step for every row. What a plain database
fails at is left out; there is nothing to compare it with. Groups without rows are shown by one of them alone.
"""

from __future__ import annotations

import math
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import duckdb
import numpy as np

from discreet.curator.preconditions import use_stored_columns
from discreet.errors import DiscreetError
from discreet.query.aggregates.statistics import Moments, PlainSum
from discreet.query.answer.intervals import noisy_table
from discreet.query.answer.sandbox import post_process
from discreet.query.plan.sensitivity import AggregationPlan
from discreet.query.question import PlannedQuestion
from discreet.query.run.measure import Measured, exact_sums, public_groups
from tests.fuzz.finding import Broken, Finding
from tests.fuzz.places import Pair, Side
from tests.fuzz.worlds import FuzzWorld, as_arrow

__all__ = ["PlainDatabase", "compare_meaning"]


class PlainDatabase:
    """The rows of a world as anybody would keep them."""

    def __init__(self, world: FuzzWorld) -> None:
        self.connection = duckdb.connect(":memory:", config={"threads": 1})
        for table in world.catalog:
            self.connection.register("given", as_arrow(table, world.here[table.name]))
            self.connection.execute(f"CREATE TABLE {table.name} AS SELECT * FROM given")
            self.connection.unregister("given")

    def rows(self, sql: str) -> list[tuple[Any, ...]] | None:
        """What it answers; None where it fails."""
        try:
            return self.connection.execute(sql).fetchall()
        except (duckdb.Error, ValueError, OverflowError):
            return None


def compare_meaning(pair: Pair, plain: PlainDatabase, sql: str) -> Finding | None:
    """How the answer to a question differs from the plain one, if it does."""
    side = pair.here
    try:
        question = side.planner.question(sql, "20")
    except DiscreetError:
        return None
    if any(plan.choices or plan.rule or plan.top for plan in question.plans) or len(question.plans) != 1:
        return None
    wanted = plain.rows(sql)
    if wanted is None:
        return None
    found, names = _answer(question, side)
    keys = sum(name.startswith("k") for name in names)
    answers = {tuple(map(_key, row[:keys])): row[keys:] for row in found}
    slack = _slack(question.plans[0])
    for row in wanted:
        mine = answers.pop(tuple(map(_key, row[:keys])), None)
        if mine is None or not all(_is_close(a, b, slack) for a, b in zip(mine, row[keys:], strict=True)):
            return Finding(Broken.MEANING, sql, f"{row} in a plain database, and here {mine}")
    if any(
        count for row in answers.values() for name, count in zip(names[keys:], row, strict=True) if _counts(sql, name)
    ):
        return Finding(Broken.MEANING, sql, f"here alone: {answers}"[:300])
    return None


def _counts(sql: str, name: str) -> bool:
    """Whether a column is a count, which is zero where there is no row."""
    before = sql.split(f" AS {name}", maxsplit=1)[0]
    return "COUNT" in before[-60:].rpartition(", ")[2] or before.endswith("COUNT(*)")


def _answer(question: PlannedQuestion, side: Side) -> tuple[list[tuple[Any, ...]], list[str]]:
    (plan,), (block,) = question.plans, question.split.blocks
    plan = use_stored_columns(plan, side.engine)
    groups = public_groups(plan)
    measured = Measured(plan, groups, exact_sums(plan, groups, side.run), [])
    table = post_process(question.split.above, {block.name: noisy_table(measured, 0.95, raw=True, block=block)})
    columns = [column.to_pylist() for column in table.columns]
    return list(zip(*columns, strict=True)), table.column_names


def _slack(plan: AggregationPlan) -> float:
    """How far rows together may be off by the grids of their values."""
    steps = [
        float(one.scale.step) for one in plan.parts if isinstance(one.part, (Moments, PlainSum)) and one.part.degree
    ]
    return 1e-6 + max(steps, default=0.0) * 300


def _key(value: Any) -> Any:
    if isinstance(value, datetime):
        return value
    if isinstance(value, date):
        return datetime(value.year, value.month, value.day)
    return float(value) if isinstance(value, (int, float, Decimal)) and not isinstance(value, bool) else value


def _is_close(mine: Any, theirs: Any, slack: float) -> bool:
    if mine is None or theirs is None:  # means of nothing, which a plain database leaves out
        return theirs is None or (isinstance(theirs, float) and not math.isfinite(theirs))
    if isinstance(theirs, float) and not math.isfinite(theirs):
        return True
    one, two = float(mine), float(theirs)
    return bool(np.isnan(one)) or math.isclose(one, two, rel_tol=1e-6, abs_tol=slack)
