"""Columns as numbers: in order, whatever the index, with missing cells as a value of their own."""

from __future__ import annotations

import datetime as dt
import uuid
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import parquet

from discreet.anonymize.table import CodedColumn, CodedTable, label_of
from discreet.errors import InvalidType, InvalidValue
from tests.thoroughness import many


def decoded(column: CodedColumn) -> list[Any]:
    return [column.values[code] for code in column.codes]


CELLS = {
    "whole": [3, 1, 2, 1],
    "text": ["b", "a", "é", "z"],
    "floats": [0.5, -1.0, 2.0, 0.5],
    "dates": [dt.date(2020, 1, 2), dt.date(2019, 1, 1), dt.date(2020, 1, 2), dt.date(1900, 1, 1)],
    "times": [dt.datetime(2020, 1, 2, 3), dt.datetime(2019, 1, 1), dt.datetime(2020, 1, 2), dt.datetime(1999, 1, 1)],
    "flags": [True, False, True, True],
    "decimals": [Decimal("1.50"), Decimal("0.25"), Decimal("1.50"), Decimal("3.00")],
}


@pytest.mark.parametrize("kind", CELLS)
@pytest.mark.parametrize("gaps", [False, True])
def test_values_are_in_order_and_missing_comes_last(kind: str, gaps: bool) -> None:
    cells = [*CELLS[kind], None] if gaps else CELLS[kind]
    column = CodedColumn.of("c", cells)
    assert decoded(column) == cells
    assert column.values == (*sorted(set(CELLS[kind])), *([None] if gaps else []))
    assert column.has_missing == gaps
    assert column.codes.dtype == np.int32


@settings(deadline=None, max_examples=many(40, 100))
@given(cells=st.lists(st.one_of(st.text(), st.none())))
def test_any_text_survives(cells: list[str | None]) -> None:
    column = CodedColumn.of("c", pa.array(cells, pa.string()))
    assert decoded(column) == cells
    assert list(column.values) == sorted(set(cells) - {None}) + ([None] if None in cells else [])


def test_none_nan_and_nat_are_one_missing_value() -> None:
    frame = pd.DataFrame({"x": [1.0, np.nan, 1.0, None], "d": [pd.Timestamp("2020-01-01"), pd.NaT, None, pd.NaT]})
    table = CodedTable.of(frame)
    assert table["x"].values == (1.0, None)
    assert table["x"].codes.tolist() == [0, 1, 0, 1]
    assert table["d"].values == (dt.datetime(2020, 1, 1), None)
    assert CodedColumn.of("x", pa.array([1.0, float("nan"), None], from_pandas=False)).values == (1.0, None)


def test_the_two_zeros_are_one() -> None:
    assert CodedColumn.of("x", [0.0, -0.0]).codes.tolist() == [0, 0]


@pytest.mark.parametrize("index", [[3, 2, 1, 0], ["a", "b", "a", "b"], [10, 10, 10, 10]])
def test_a_pandas_index_plays_no_part(index: list[Any]) -> None:
    frame = pd.DataFrame({"q": [1, 2, 1, 2], "s": ["a", "b", "c", "d"]})
    moved = frame.set_axis(index, axis=0)
    for name in frame.columns:
        assert CodedTable.of(moved)[name].codes.tolist() == CodedTable.of(frame)[name].codes.tolist()
    assert list(CodedTable.of(moved).columns) == ["q", "s"]


def test_every_kind_of_source_gives_the_same_codes(tmp_path: Any) -> None:
    cells = {"q": [1, 2, None, 2], "s": ["b", None, "a", "b"]}
    table = pa.table(cells)
    parquet.write_table(table, tmp_path / "t.parquet")
    (tmp_path / "t.csv").write_text("q;s\n1;b\n2;\n;a\n2;b\n")
    sources = [
        table,
        table.to_batches()[0],
        pd.DataFrame(cells),
        pl.DataFrame(cells),
        pl.LazyFrame(cells),
        table.set_column(1, "s", table["s"].dictionary_encode()),
        pd.DataFrame(cells).astype({"s": "category"}),
        tmp_path / "t.parquet",
        str(tmp_path / "t.csv"),
    ]
    for source in sources:
        coded = CodedTable.of(source)
        assert coded.rows == 4
        assert coded["q"].values == (1, 2, None)
        assert coded["s"].values == ("a", "b", None)
        assert [coded[name].codes.tolist() for name in "qs"] == [[0, 1, 2, 1], [1, 2, 0, 1]]


@pytest.mark.parametrize("encoded", [False, True])
def test_a_column_in_pieces_is_one_column(encoded: bool) -> None:
    pieces = [pa.array(piece, pa.string()) for piece in (["b", "a"], [], [None, "c"], ["a"])]
    cells = pa.chunked_array([piece.dictionary_encode() for piece in pieces] if encoded else pieces)
    assert decoded(CodedColumn.of("c", cells)) == ["b", "a", None, "c", "a"]
    assert CodedColumn.of("c", pa.chunked_array([], cells.type)).values == ()


def test_a_constant_and_an_all_missing_column_have_one_value() -> None:
    table = CodedTable.of(pd.DataFrame({"c": [7, 7], "m": [None, None], "n": [np.nan, np.nan]}))
    assert table["c"].values == (7,)
    assert table["m"].values == (None,) == table["n"].values
    assert table["m"].codes.tolist() == [0, 0]


def test_a_table_without_rows_has_no_values() -> None:
    table = CodedTable.of(pa.table({"a": pa.array([], pa.int64())}))
    assert (table.rows, table["a"].values) == (0, ())


@pytest.mark.parametrize(
    "cells", [[1, "a"], ["a", b"a"], [dt.date(2020, 1, 1), dt.datetime(2020, 1, 1, 13)], [1, True]]
)
def test_mixed_types_are_refused_by_name(cells: list[Any]) -> None:
    frame = pd.DataFrame({"mix": pd.Series(cells, dtype=object)})
    with pytest.raises(InvalidType, match="column 'mix' must hold values of one type"):
        CodedTable.of(frame)


def test_whole_numbers_and_fractions_are_numbers() -> None:
    frame = pd.DataFrame({"x": pd.Series([1, 2.5, None], dtype=object)})
    assert CodedTable.of(frame)["x"].values == (1.0, 2.5, None)


UNORDERED = {
    "lists": pa.table({"x": [[1], [2]]}),
    "structs": pa.table({"x": [{"a": 1}]}),
    "periods": pd.DataFrame({"x": pd.period_range("2020", periods=3, freq="M")}),
    "identifiers": pd.DataFrame({"x": [uuid.UUID(int=1)]}),
    "spans": pa.table({"x": pa.array([(1, 2, 3)], pa.month_day_nano_interval())}),
    "polars lists": pl.DataFrame({"x": [[1], [2]]}),
}


@pytest.mark.parametrize("kind", UNORDERED)
def test_cells_without_an_order_are_refused_by_name(kind: str) -> None:
    with pytest.raises(InvalidType, match="column 'x' must hold single values that have an order"):
        CodedTable.of(UNORDERED[kind])


def test_objects_and_types_that_arrow_does_not_know_are_refused() -> None:
    with pytest.raises(InvalidType, match=r"must hold values and not objects, got \['x'\]"):
        CodedTable.of(pl.DataFrame({"x": pl.Series([object()], dtype=pl.Object)}))
    with pytest.raises(InvalidType, match="must be readable through Arrow"):
        CodedTable.of(pl.DataFrame({"x": pl.Series([1], dtype=pl.Int128)}))
    with pytest.raises(InvalidType, match="must be readable through Arrow, got <Series>; pass a table, not a column"):
        CodedTable.of(pl.Series([1]))
    for cells in ([10**30, 1], [1j]):
        with pytest.raises(InvalidType, match="column 'x' must hold values of one type"):
            CodedTable.of(pd.DataFrame({"x": pd.Series(cells, dtype=object)}))


@pytest.mark.parametrize("kind", [pl.Categorical, pl.Enum(["b", "a"]), pl.String])
def test_text_of_polars_is_text(kind: Any) -> None:
    column = CodedTable.of(pl.DataFrame({"x": pl.Series(["b", None, "a"], dtype=kind)}))["x"]
    assert (column.values, column.codes.tolist()) == (("a", "b", None), [1, 2, 0])


def test_scalars_of_numpy_are_their_values() -> None:
    frame = pd.DataFrame({"x": pd.Series([np.int64(1), 2], dtype=object), "y": pd.Series([np.str_("a"), "b"])})
    assert CodedTable.of(frame)["x"].values == (1, 2)
    assert CodedTable.of(frame)["y"].values == ("a", "b")


def test_views_are_their_values() -> None:
    cells = {"s": pa.array(["b", "a"], pa.string_view()), "b": pa.array([b"b", None], pa.binary_view())}
    table = CodedTable.of(pa.table(cells))
    assert (table["s"].values, table["b"].values) == (("a", "b"), (b"b", None))


def test_nanoseconds_are_refused_instead_of_cut() -> None:
    cells = pa.array([1, 2], pa.timestamp("ns"))
    with pytest.raises(InvalidValue, match="must not be finer than a microsecond"):
        CodedColumn.of("when", cells)


def test_duplicate_column_names_are_refused() -> None:
    twice = pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["a", "a"])
    frame = pd.DataFrame([[1, 2]], columns=["a", "a"])
    for source in (twice, frame):
        with pytest.raises(InvalidValue, match=r"every column must have a name of its own, got \['a'\]"):
            CodedTable.of(source)


def test_an_unknown_column_is_refused_with_a_suggestion() -> None:
    with pytest.raises(InvalidValue, match="did you mean 'age'"):
        CodedTable.of(pa.table({"age": [1]}), ["agee"])
    with pytest.raises(InvalidValue, match="did you mean 'age'"):
        _ = CodedTable.of(pa.table({"age": [1]}))["agee"]


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (39, "39"),
        (39.0, "39"),
        (0.1, "0.1"),
        (float("inf"), "inf"),
        (None, "(missing)"),
        (dt.date(2020, 1, 2), "2020-01-02"),
        (dt.datetime(2020, 1, 2, 3, 4), "2020-01-02 03:04:00"),
        (True, "True"),
    ],
)
def test_values_are_written_as_people_write_them(value: Any, written: str) -> None:
    assert label_of(value) == written
