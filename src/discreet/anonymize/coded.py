"""Columns as small integers: every distinct value gets a number, and all heavy work is done on the numbers.

Missing cells (None, NaN, NaT) are one value of their own, the last one. No row is ever dropped because of them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyarrow import compute

from discreet.anonymize.roles import refuse_duplicate_names
from discreet.anonymize.source import arrow_table
from discreet.catalog.suggestion import suggestion
from discreet.errors import InvalidType, InvalidValue

__all__ = ["MISSING", "CodedColumn", "CodedTable", "Codes", "label_of"]

Codes = npt.NDArray[np.int32]
"""One small integer per row, or per value."""

MISSING = "(missing)"
"""How a missing value is written."""

_WITHOUT_VIEWS = {pa.string_view(): pa.large_string(), pa.binary_view(): pa.large_binary()}
"""Types that Arrow does not sort or decode, and types with the same values that it does."""


@dataclass(frozen=True, eq=False)
class CodedColumn:
    """A column: its distinct values, and for every row the place of its value among them."""

    name: str
    """The name of the column."""
    codes: Codes
    """For every row the place of its value in ``values``."""
    values: tuple[Any, ...]
    """The distinct values in order (numbers, dates, text); None, the missing value, comes last."""

    @classmethod
    def of(cls, name: str, cells: Any) -> CodedColumn:
        """The column of an Arrow array, or of a sequence of Python values."""
        found = _comparable(name, _arrow(name, cells)).dictionary_encode().combine_chunks()
        order = compute.array_sort_indices(found.dictionary).to_numpy()
        rank = np.empty(len(order) + 1, dtype=np.int32)
        rank[order] = np.arange(len(order), dtype=np.int32)
        rank[-1] = len(order)  # where the missing cells go
        places = found.indices.fill_null(len(order)).to_numpy(zero_copy_only=False)
        missing = (None,) if found.null_count else ()
        return cls(name, rank[places], tuple(found.dictionary.take(pa.array(order)).to_pylist()) + missing)

    @property
    def has_missing(self) -> bool:
        """Whether a cell is missing."""
        return bool(self.values) and self.values[-1] is None

    @property
    def labels(self) -> tuple[str, ...]:
        """How every value is written."""
        return tuple(label_of(value) for value in self.values)


@dataclass(frozen=True, eq=False)
class CodedTable:
    """The columns of a table as numbers."""

    columns: dict[str, CodedColumn]
    """The columns by name."""
    rows: int
    """How many rows there are."""

    @classmethod
    def of(cls, source: Any, names: Sequence[str] | None = None) -> CodedTable:
        """The columns ``names`` of a table, or all of them. Rows are taken in their order, whatever their index."""
        if isinstance(source, CodedTable):
            return source
        table = arrow_table(source)
        wanted = table.column_names if names is None else list(names)
        refuse_duplicate_names(wanted)
        for name in wanted:
            if name not in table.column_names:
                raise InvalidValue("a column must be in the table", name, suggestion(name, table.column_names))
        return cls({name: CodedColumn.of(name, table.column(name)) for name in wanted}, table.num_rows)

    def __getitem__(self, name: str) -> CodedColumn:
        if name not in self.columns:
            raise InvalidValue("a column must be in the table", name, suggestion(name, self.columns))
        return self.columns[name]


def label_of(value: Any) -> str:
    """How a value is written: 39.0 as 39, so that a column of whole numbers reads the same with and without gaps.

    >>> label_of(39.0), label_of("130**"), label_of(None)
    ('39', '130**', '(missing)')
    """
    if value is None:
        return MISSING
    if isinstance(value, float) and math.isfinite(value) and value == int(value):
        return str(int(value))
    return value.isoformat(sep=" ") if isinstance(value, datetime) else str(value)


def _arrow(name: str, cells: Any) -> pa.ChunkedArray:
    if isinstance(cells, pa.ChunkedArray):
        return cells
    try:
        return pa.chunked_array([cells if isinstance(cells, pa.Array) else pa.array(cells, from_pandas=True)])
    except (pa.ArrowException, OverflowError, TypeError):
        kinds = " and ".join(sorted({type(cell).__name__ for cell in cells}))
        raise InvalidType(f"column '{name}' must hold values of one type", f"<{kinds}>") from None


def _comparable(name: str, cells: pa.ChunkedArray) -> pa.ChunkedArray:
    """Cells of a type with an order, in which equal values are equal bits."""
    kind = cells.type
    if pa.types.is_dictionary(kind):
        return _comparable(name, _decoded(cells))
    if pa.types.is_null(kind):
        return cells.cast(pa.string())
    if pa.types.is_floating(kind):
        return _one_zero_no_nan(cells.cast(pa.float64()))
    if pa.types.is_timestamp(kind):
        return _to_the_microsecond(name, cells)
    _refuse_unordered(name, kind)
    return cells.cast(_WITHOUT_VIEWS[kind]) if kind in _WITHOUT_VIEWS else cells


def _refuse_unordered(name: str, kind: pa.DataType) -> None:
    if pa.types.is_nested(kind) or pa.types.is_interval(kind) or isinstance(kind, pa.BaseExtensionType):
        remedy = "write it as numbers, text or dates"
        raise InvalidType(f"column '{name}' must hold single values that have an order", f"<{kind}>", remedy)


def _decoded(cells: pa.ChunkedArray) -> pa.ChunkedArray:
    kind = _WITHOUT_VIEWS.get(cells.type.value_type, cells.type.value_type)
    pieces = [chunk.dictionary.cast(kind).take(chunk.indices) for chunk in cells.chunks]
    return pa.chunked_array(pieces, kind)


def _one_zero_no_nan(cells: pa.ChunkedArray) -> pa.ChunkedArray:
    numbers = compute.add(cells, 0.0)  # -0.0 + 0.0 is 0.0
    return compute.if_else(compute.is_nan(numbers), pa.scalar(None, pa.float64()), numbers)


def _to_the_microsecond(name: str, cells: pa.ChunkedArray) -> pa.ChunkedArray:
    try:
        return cells.cast(pa.timestamp("us", cells.type.tz))
    except pa.ArrowInvalid:
        remedy = "round it to microseconds"
        raise InvalidValue(f"column '{name}' must not be finer than a microsecond", None, remedy) from None
