"""Chosen values at the ends of their types: they stay within their bounds, and what was paid for is shown."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from discreet.catalog.column import Column, ColumnType
from discreet.catalog.table import Budget, Table
from discreet.curator.curator import Curator

MOST, LAST = 2**63 - 1, datetime(9999, 12, 31, 23, 59, 59)
CASES: list[tuple[ColumnType, Any, Any]] = [
    (ColumnType.INTEGER, 0, MOST),
    (ColumnType.INTEGER, -MOST, 0),
    (ColumnType.TIMESTAMP, datetime(2020, 1, 1), LAST),
    (ColumnType.REAL, 0, 1),
]


@pytest.mark.parametrize(("kind", "lower", "upper"), CASES)
@pytest.mark.some(2)
def test_the_least_and_the_largest_stay_within_their_bounds(
    kind: ColumnType, lower: Any, upper: Any, tmp_path: Path
) -> None:
    curator = Curator(tmp_path)
    table = Table("t", (Column("x", kind, lower=lower, upper=upper),), budget=Budget(1000))
    for value in (lower, upper):
        curator.protect(pa.table({"x": [value] * 200}), table)
        answer = curator.ask("SELECT MIN(x), MEDIAN(x), MAX(x) FROM t", epsilon=100)
        least, _, most = answer.table.to_pylist()[0].values()  # the middle of integers is a real number
        assert lower <= least <= upper
        assert lower <= most <= upper
        assert answer.to_csv()
