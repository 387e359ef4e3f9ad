"""Totals over groups are called as they are written, also where they are computed from counts as measured."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from discreet.curator.curator import Curator

GROUPS = "(SELECT age, COUNT(*) AS n FROM people GROUP BY age)"


@pytest.mark.parametrize(
    ("columns", "names"),
    [("SUM(n), MAX(n)", ["sum(n)", "max(n)"]), ("age, n / SUM(n) OVER ()", ["age", "n / sum(n) over ()"])],
)
def test_a_column_without_a_name_is_called_by_its_text(tmp_path: Path, columns: str, names: list[str]) -> None:
    curator = Curator(tmp_path)
    rows = pa.table({"person": range(30), "age": [k % 3 for k in range(30)]})
    curator.protect(rows, table="people", unit="person", budget=9, columns={"age": (0, 2)})
    assert curator.ask(f"SELECT {columns} FROM {GROUPS}", epsilon=1).table.column_names == names
