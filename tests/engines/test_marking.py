"""Marks of keys: each is what somebody finds who looks at one unit after the other."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.catalog.budget import Budget
from discreet.catalog.column import Column, ColumnType
from discreet.catalog.table import Table
from discreet.engines.duckdb import precompute_bounds as marking
from discreet.engines.duckdb.engine import DuckDBEngine
from discreet.engines.duckdb.ingest import ingest
from discreet.engines.duckdb.precompute_bounds import marks, numbers_alike
from discreet.errors import DiscreetError

OWN = {1: 4, 2: 1, 3: 4, 4: 2, 5: 9}
"""The places of keys in a unit's own order; two share one, and are told apart by their numbers."""
PAIRS = st.tuples(st.integers(-3, 12), st.integers(1, 5))
ROWS = st.lists(PAIRS, max_size=60).map(lambda rows: sorted(rows, key=lambda row: row[0]))


def _expected(rows: list[tuple[int, int]], most: int) -> list[int]:
    keys_of = {
        unit: sorted({key for other, key in rows if other == unit}, key=lambda key: (OWN[key], key))[:most]
        for unit, _ in rows
    }
    found, seen = [], set()
    for unit, key in rows:
        kept = sum(other == unit and theirs in keys_of[unit] for other, theirs in rows)
        found.append(0 if key not in keys_of[unit] else -kept if (unit, key) in seen else kept)
        seen.add((unit, key))
    return found


def _columns(rows: list[tuple[int, int]]) -> tuple[np.ndarray, np.ndarray]:
    return np.array([unit for unit, _ in rows], np.int64), np.array([key for _, key in rows], np.int64)


def _marks(units: np.ndarray, keys: np.ndarray, most: int) -> np.ndarray:
    return marks(units, np.array([OWN[key] for key in keys.tolist()], np.int64), keys, most)


@given(ROWS, st.integers(1, 4))
def test_marks_are_what_one_unit_after_the_other_shows(rows: list[tuple[int, int]], most: int) -> None:
    assert _marks(*_columns(rows), most).tolist() == _expected(rows, most)


@given(ROWS)
def test_rows_with_the_same_key_are_counted_within_their_unit(rows: list[tuple[int, int]]) -> None:
    assert numbers_alike(*_columns(rows)).tolist() == [rows.count(row) for row in rows]


@given(ROWS, st.lists(st.integers(1, 7), min_size=60, max_size=60), st.integers(1, 4))
def test_pieces_hold_whole_units_wherever_batches_end(rows: list[tuple[int, int]], sizes: list[int], most: int) -> None:
    pieces = list(marking._pieces(_batches(rows, sizes)))
    units = [frozenset(piece["_unit"].to_pylist()) for piece in pieces]
    assert sum(map(len, units)) == len(frozenset().union(*units))
    found = [mark for piece in pieces for mark in _marks(*(piece[name].to_numpy() for name in ("_unit", "k")), most)]
    assert found == _expected(rows, most)


def _batches(rows: list[tuple[int, int]], sizes: list[int]) -> Iterator[pa.Table]:
    units, keys = _columns(rows)
    start = 0
    for size in sizes:
        if start < len(rows):
            yield pa.table({"_unit": units[start : start + size], "k": keys[start : start + size]})
        start += size


@pytest.mark.parametrize("batches", [[[1, 2, 1]], [[1, 2], [1, 3]]])
def test_rows_that_are_not_sorted_are_refused(batches: list[list[int]]) -> None:
    """A unit in two places would keep twice as many keys as it may."""
    tables = (pa.table({"_unit": np.array(units, np.int64)}) for units in batches)
    with pytest.raises(AssertionError, match="sorted by unit"):
        list(marking._pieces(tables))


@pytest.mark.parametrize("name", ["rowid", "RowID", "c0", "c1", "C2", "k0", "s0_0", "one", "place", "number", "key"])
@pytest.mark.some(3)
def test_no_name_of_a_column_makes_rows_of_others_come_or_go(tmp_path: Path, name: str) -> None:
    """In DuckDB a column called rowid hides the places of rows, by which pieces were read once."""
    columns = (
        Column("who", ColumnType.INTEGER),
        Column("tea", ColumnType.TEXT),
        Column("ward", ColumnType.TEXT, keys=("a", "b"), rows_per_key=1),
        Column(name, ColumnType.INTEGER, lower=0, upper=5),
    )
    budget = Budget(3, delta="1e-6", delta_for_keys="5e-7")
    engine = DuckDBEngine(tmp_path)
    ours = {"who": [1, 1, 2, 3, 3], "tea": ["x", "y", "x", None, "x"], "ward": ["a", "b", "a", "a", "a"]}
    ingest(
        engine,
        Table("t", columns, unit="who", rows_per_unit=2, budget=budget),
        pa.table({**ours, name: [0, 5, 1000, None, -1]}),
    )
    found = engine.run(f'SELECT who, tea, ward, "{name}" AS value FROM t', []).to_pylist()
    rows = sorted((tuple(row.values()) for row in found), key=repr)
    assert rows == sorted(zip(*ours.values(), [0, 5, 1000, None, -1], strict=True), key=repr)


def test_an_ingest_that_loses_a_row_on_the_way_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Which row is lost may depend on the rows of others, so nothing that is asked of the rest would be bounded."""
    columns = (Column("who", ColumnType.INTEGER), Column("tea", ColumnType.TEXT, rows_per_key=1))
    table = Table("t", columns, unit="who", rows_per_unit=2, budget=Budget(1, delta="1e-6"))
    monkeypatch.setattr(marking, "_pieces", lambda batches: (batch.slice(1) for batch in batches))
    with pytest.raises(DiscreetError, match="could not be taken in"):
        ingest(DuckDBEngine(tmp_path), table, pa.table({"who": [1, 1, 2], "tea": ["x", "y", "x"]}))
