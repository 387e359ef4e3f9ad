"""Classes are the rows with equal codes, however many columns there are."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.anonymize.equivalence_classes import ClassHistogram, EquivalenceClasses
from discreet.anonymize.table import CodedColumn
from discreet.errors import InvalidValue
from tests.thoroughness import many

codes = st.integers(0, 3)
rows = st.lists(st.tuples(codes, codes, codes), min_size=1, max_size=40)


def of_rows(table: list[tuple[int, ...]], scale: int = 1) -> EquivalenceClasses:
    columns = np.array(table, dtype=np.int32).T * scale
    return EquivalenceClasses.of(list(columns))


@settings(deadline=None, max_examples=many(40, 100))
@given(table=rows, scale=st.sampled_from([1, 10**3, 2**29]))
def test_classes_are_the_distinct_rows_in_their_order(table: list[tuple[int, ...]], scale: int) -> None:
    """Scales of a thousand make keys that are hashed instead of tabled, 2^29 makes them overflow."""
    classes = of_rows(table, scale)
    distinct = sorted(set(table))
    assert [distinct[number] for number in classes.number] == table
    assert classes.sizes.tolist() == [Counter(table)[row] for row in distinct]
    assert (classes.count, classes.rows) == (len(distinct), len(table))
    assert [table[place] for place in classes.representatives()] == distinct


@pytest.mark.parametrize("differing", [0, 30, 59])
def test_sixty_columns_of_a_thousand_values_do_not_overflow(differing: int) -> None:
    generator = np.random.default_rng(7)
    columns = [np.repeat(generator.integers(0, 1000, 500), 2).astype(np.int32) for _ in range(60)]
    assert EquivalenceClasses.of(columns).sizes.tolist() == [2] * 500
    columns[differing][1::2] += 1000
    assert EquivalenceClasses.of(columns).sizes.tolist() == [1] * 1000


@settings(deadline=None, max_examples=many(20, 60))
@given(table=rows, data=st.data())
def test_a_histogram_counts_what_occurs(table: list[tuple[int, ...]], data: st.DataObject) -> None:
    chosen = data.draw(st.lists(st.booleans(), min_size=len(set(table)), max_size=len(set(table))))
    cells = data.draw(st.lists(st.sampled_from(["a", "b", "c", None]), min_size=len(table), max_size=len(table)))
    classes = of_rows(table).suppressing(np.array(chosen))
    column = CodedColumn.of("s", pa.array(cells, pa.string()))
    histogram = classes.histogram(column)
    kept = [row for row, lost in zip(sorted(set(table)), chosen, strict=True) if not lost]
    found = {
        (kept[number], histogram.domain[value]): count
        for number, value, count in zip(histogram.classes, histogram.values, histogram.counts, strict=True)
    }
    assert found == Counter((row, cell) for row, cell in zip(table, cells, strict=True) if row in kept)
    assert {column.values[code]: n for code, n in enumerate(histogram.table.tolist())} == Counter(cells)
    assert [histogram.classes[start] for start in histogram.starts] == list(range(classes.count))
    assert classes.sizes.tolist() == [table.count(row) for row in kept]
    assert [row in kept for row in table] == (classes.number >= 0).tolist()


@settings(deadline=None, max_examples=many(20, 60))
@given(table=rows, order=st.randoms(use_true_random=False))
def test_the_order_of_rows_plays_no_part(table: list[tuple[int, ...]], order: object) -> None:
    places = list(range(len(table)))
    order.shuffle(places)  # type: ignore[attr-defined]
    classes, moved = of_rows(table), of_rows([table[place] for place in places])
    assert moved.sizes.tolist() == classes.sizes.tolist()
    assert moved.number.tolist() == classes.number[places].tolist()


def test_many_values_are_counted_without_a_table_of_all_pairs() -> None:
    column = CodedColumn.of("s", range(3000))
    classes = EquivalenceClasses.of([np.arange(3000, dtype=np.int32) // 2])
    histogram = ClassHistogram.of(classes, column)
    assert histogram.counts.tolist() == [1] * 3000
    weighted = EquivalenceClasses.of([np.arange(3000, dtype=np.int32) // 2], np.full(3000, 5))
    assert ClassHistogram.of(weighted, column).counts.tolist() == [5] * 3000


def test_rows_that_were_suppressed_stay_so() -> None:
    classes = of_rows([(0, 0, 0), (1, 0, 0), (2, 0, 0)]).suppressing(np.array([True, False, False]))
    assert classes.suppressing(np.array([False, True])).number.tolist() == [-1, 0, -1]


def test_classes_need_a_column() -> None:
    with pytest.raises(InvalidValue, match="must be made by a column"):
        EquivalenceClasses.of([])


def test_a_table_without_rows_has_no_classes() -> None:
    classes = EquivalenceClasses.of([np.zeros(0, dtype=np.int32)])
    assert (classes.count, classes.rows) == (0, 0)
