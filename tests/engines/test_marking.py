"""Marks of keys: each is what somebody finds who looks at one unit after the other."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.engines import marking
from discreet.engines.marking import marks, numbers_alike

PAIRS = st.tuples(st.integers(-3, 12), st.integers(1, 5))
ROWS = st.lists(PAIRS, max_size=60).map(lambda rows: sorted(rows, key=lambda row: row[0]))


def _expected(rows: list[tuple[int, int]], most: int) -> list[int]:
    keys_of = {unit: sorted({key for other, key in rows if other == unit})[:most] for unit, _ in rows}
    found, seen = [], set()
    for unit, key in rows:
        kept = sum(other == unit and theirs in keys_of[unit] for other, theirs in rows)
        found.append(0 if key not in keys_of[unit] else -kept if (unit, key) in seen else kept)
        seen.add((unit, key))
    return found


def _columns(rows: list[tuple[int, int]]) -> tuple[np.ndarray, np.ndarray]:
    return np.array([unit for unit, _ in rows], np.int64), np.array([key for _, key in rows], np.int64)


@given(ROWS, st.integers(1, 4))
def test_marks_are_what_one_unit_after_the_other_shows(rows: list[tuple[int, int]], most: int) -> None:
    assert marks(*_columns(rows), most).tolist() == _expected(rows, most)


@given(ROWS)
def test_rows_with_the_same_key_are_counted_within_their_unit(rows: list[tuple[int, int]]) -> None:
    assert numbers_alike(*_columns(rows)).tolist() == [rows.count(row) for row in rows]


@given(ROWS, st.lists(st.integers(1, 7), min_size=60, max_size=60), st.integers(1, 4))
def test_pieces_hold_whole_units_wherever_batches_end(rows: list[tuple[int, int]], sizes: list[int], most: int) -> None:
    pieces = list(marking._pieces(_batches(rows, sizes)))
    units = [frozenset(piece["_unit"].to_pylist()) for piece in pieces]
    assert sum(map(len, units)) == len(frozenset().union(*units))
    found = [mark for piece in pieces for mark in marks(*(piece[name].to_numpy() for name in ("_unit", "k")), most)]
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
