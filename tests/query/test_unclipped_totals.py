"""Totals over groups are of counts as measured: what is cut off at zero never enters them."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

from discreet.privacy.loss import Pure
from discreet.query.answer.answer import Intervals, compute_answer
from discreet.query.question import PlannedQuestion, prepare
from discreet.query.run.measure import Measured
from tests.query.world import CATALOG, nothing_measured

COUNTED = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"


def measured_counts(text: str, counts: list[int]) -> tuple[PlannedQuestion, list[Measured]]:
    """A question, and what was measured where these are the counts of the first groups, and zero those of others."""
    question = prepare(text, CATALOG, Pure(1))
    measured = []
    for plan in question.plans:
        empty, (priced,) = nothing_measured(plan), plan.parts
        steps = np.zeros(len(empty.groups), np.int64)
        steps[: len(counts)] = [round(count / priced.unit) for count in counts]
        measured.append(replace(empty, sums=[[steps]]))
    return question, measured


def _answered(text: str, counts: list[int]) -> tuple[pa.Table, Intervals]:
    question, measured = measured_counts(text, counts)
    return compute_answer(question.split, measured, {}, 0.95, raw=False)


@pytest.mark.parametrize(("text", "total"), [
    (f"SELECT SUM(n) AS x FROM ({COUNTED})", 10),
    (f"SELECT SUM(n) AS x FROM (SELECT ward AS w, n FROM ({COUNTED}))", 10),
    (f"WITH t AS ({COUNTED}) SELECT SUM(n + n) / 2 AS x FROM t", 10),
    (f"SELECT SUM(n) FILTER (WHERE ward IS NOT NULL) AS x FROM ({COUNTED})", 10),
    ("SELECT MAX(r) AS x FROM (SELECT SUM(COUNT(*)) OVER () AS r FROM visits GROUP BY ward)", 10),
    (f"SELECT AVG(n) * COUNT(*) AS x FROM ({COUNTED})", 10),
    (f"SELECT SUM(GREATEST(n, 0)) AS x FROM ({COUNTED})", 15),  # which says itself that it cuts
])  # fmt: skip
def test_a_total_adds_what_was_measured(text: str, total: int) -> None:
    table, intervals = _answered(text, [7, -5, 8])
    (value,) = table["x"].to_pylist()
    assert float(value) == pytest.approx(total)
    for low, high in filter(None, intervals.get("x", [])):
        assert low <= value <= high


def test_a_total_below_zero_is_shown_as_zero_with_a_bar() -> None:
    table, intervals = _answered(f"SELECT SUM(n) AS x, AVG(n) AS y FROM ({COUNTED})", [-7, -500, 8])
    assert table.to_pylist() == [{"x": Decimal(0), "y": 0.0}]
    assert all(low == 0 < high for (low, high) in (intervals["x"][0] or (0, 0), intervals["y"][0] or (0, 0)))


@pytest.mark.parametrize("text", [
    "SELECT ward, COUNT(*) AS n, 1.0 * COUNT(*) / SUM(COUNT(*)) OVER () AS share FROM visits GROUP BY ward",
    f"WITH t AS ({COUNTED}) SELECT ward, n, 1.0 * n / (SELECT SUM(n) FROM t) AS share FROM t",
])  # fmt: skip
def test_shares_add_up_to_one(text: str) -> None:
    table, _ = _answered(text, [7, -5, 8])
    assert sum(table["share"].to_pylist()) == pytest.approx(1)
    assert min(table["n"].to_pylist()) == 0


def test_a_total_over_no_groups_is_missing() -> None:
    table, _ = _answered(f"SELECT SUM(n) AS x FROM ({COUNTED}) WHERE ward = 'nowhere'", [7])
    assert table["x"].to_pylist() == [None]
