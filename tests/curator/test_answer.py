"""Answers as people read them."""

from __future__ import annotations

import pyarrow as pa

from discreet.curator.answer import Answer
from discreet.privacy.loss import Pure


def _answer(values: list[int | None], intervals: list[tuple[float, float] | None]) -> Answer:
    return Answer(pa.table({"n": values}), {"n": intervals}, 0.95, Pure(1), True, (), {})


def test_a_bar_that_stops_at_a_bound_still_reaches_its_far_end() -> None:
    shown = _answer([21, 500], [(0.0, 111.0), (410.0, 590.0)])
    assert [shown.cell("n", row) for row in range(2)] == ["21 ± 90", "500 ± 90"]


def test_a_missing_value_is_called_as_in_sql() -> None:
    shown = _answer([None, 3], [None, None])
    assert [shown.cell("n", row) for row in range(2)] == ["NULL", "3"]
