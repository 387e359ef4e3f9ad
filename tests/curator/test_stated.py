"""A policy stated in the call that takes the data in."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet.catalog.budget import Budget
from discreet.catalog.column import ColumnType
from discreet.curator.curator import Curator
from discreet.errors import DiscreetError

ROWS = {"patient_id": [1, 1, 2, 3], "ward": ["a", "b", "a", "a"], "age": [30, 31, 50, 70]}
FACTS: dict[str, Any] = {
    "unit": "patient_id",
    "budget": Budget(3),
    "rows_per_unit": 2,
    "columns": {"ward": {"keys": ["a", "b"]}, "age": {"lower": 0, "upper": 110}},
}


def _sources(folder: Path) -> list[Any]:
    table = pa.table(ROWS)
    pq.write_table(table, folder / "visits.parquet")
    return [folder / "visits.parquet", str(folder / "visits.parquet"), table, pd.DataFrame(ROWS), pl.DataFrame(ROWS)]


@pytest.mark.parametrize("kind", range(5))
def test_every_source_with_types_can_be_protected_in_one_call(tmp_path: Path, kind: int) -> None:
    source = _sources(tmp_path)[kind]
    curator = Curator(tmp_path / "curator")
    more = {} if kind < 2 else {"table": "visits"}
    table = curator.protect(source, **FACTS, **more)
    assert [column.type for column in table.columns] == [ColumnType.INTEGER, ColumnType.TEXT, ColumnType.INTEGER]
    assert curator.ask("SELECT ward, AVG(age) AS a FROM visits GROUP BY ward", epsilon=1).table.num_rows == 2
    assert Curator(tmp_path / "curator").catalog.table("visits") == table


def test_a_csv_states_no_types_so_the_owner_does(tmp_path: Path) -> None:
    path = tmp_path / "visits.csv"
    pd.DataFrame(ROWS).to_csv(path, index=False)
    columns = {"patient_id": {"type": "integer"}, "age": {"type": "integer", "lower": 0, "upper": 110}}
    table = Curator(tmp_path / "curator").protect(path, unit="row", budget=Budget(1), columns=columns)
    assert table.unit is None
    assert [column.type for column in table.columns] == [ColumnType.INTEGER, ColumnType.TEXT, ColumnType.INTEGER]


@pytest.mark.parametrize(
    ("changed", "rule"),
    [
        ({"unit": None}, "whose privacy is protected must be said"),
        ({"columns": {"agee": {"lower": 0}}}, "there is no such column, got 'agee'; did you mean 'age'"),
        ({"columns": {"age": {"lwer": 0}}}, "a column has no such fact, got 'lwer'; did you mean 'lower'"),
        ({"rows_per_units": 3}, "a policy has no such field, got 'rows_per_units'; did you mean 'rows_per_unit'"),
        ({"budget": None}, "must have a budget"),
        ({"unit": "nobody"}, "the unit must be one of the columns"),
        ({"table": None}, "a table must have a name"),
    ],
)
def test_what_is_missing_or_misspelled_is_refused_and_nothing_is_kept(
    tmp_path: Path, changed: dict[str, Any], rule: str
) -> None:
    curator = Curator(tmp_path / "curator")
    with pytest.raises(DiscreetError, match=rule):
        curator.protect(pa.table(ROWS), **(FACTS | {"table": "visits"} | changed))
    assert not list(curator.catalog)


def test_a_policy_and_stated_facts_do_not_mix(tmp_path: Path) -> None:
    curator = Curator(tmp_path / "curator")
    table = curator.protect(pa.table(ROWS), table="visits", **FACTS)
    with pytest.raises(DiscreetError, match="passed whole or stated in words, not both"):
        curator.protect(pa.table(ROWS), table, rows_per_unit=3)
