"""Tables from anywhere, with their columns as small integers.

They come from Arrow, pandas, Polars, and paths of CSV and Parquet files. A pandas index is never read: it is no column,
and it must not find its way into a release.

Every distinct value of a column gets a number, and all heavy work is done on the numbers. Missing cells (None, NaN,
NaT) are one value of their own, the last one. No row is ever dropped because of them.
"""

from __future__ import annotations

import csv
import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyarrow import compute, parquet
from pyarrow import csv as arrow_csv

from discreet.anonymize.roles import refuse_duplicate_names
from discreet.catalog.names import suggestion
from discreet.errors import InvalidType, InvalidValue

__all__ = ["MISSING", "CodedColumn", "CodedTable", "Codes", "arrow_table", "label_of"]


_DELIMITERS = ",;\t|"
_PARQUET = (".parquet", ".pq")
_A_CODE = r"^(\+|-?0\d|-?\d{16,}$)"  # what a number would not give back as it was written
_CSV = (".csv", ".tsv", ".txt")


def arrow_table(source: Any) -> pa.Table:
    """The rows of ``source`` as an Arrow table, whose columns have names of their own."""
    table = _opened(source)
    refuse_duplicate_names(table.column_names)
    return table


def _opened(source: Any) -> pa.Table:
    if isinstance(source, pa.Table):
        return source
    if isinstance(source, (str, os.PathLike)):
        return _file(Path(source))
    library = type(source).__module__.partition(".")[0]
    if library == "pandas" and hasattr(source, "iloc") and hasattr(source, "columns"):
        return _pandas(source)
    if isinstance(source, pa.RecordBatch):
        return pa.Table.from_batches([source])
    if library == "polars" and hasattr(source, "collect_schema"):
        return _stream(_polars(source))
    if not hasattr(source, "__arrow_c_stream__"):
        remedy = "pass a path, an Arrow table, or a pandas or Polars frame"
        raise InvalidType("a table must be something that holds rows", f"<{type(source).__name__}>", remedy)
    return _stream(source)


def _stream(source: Any) -> pa.Table:
    try:
        return pa.RecordBatchReader.from_stream(source).read_all()
    except pa.ArrowException:
        remedy = "pass a table, not a column, whose types Arrow knows"
        raise InvalidType("a table must be readable through Arrow", f"<{type(source).__name__}>", remedy) from None


def _polars(frame: Any) -> Any:
    """The frame itself. Objects are refused: in their place Polars would hand out addresses in memory."""
    objects = [name for name, kind in frame.collect_schema().items() if str(kind) == "Object"]
    if objects:
        raise InvalidType("columns must hold values and not objects", objects, "write them as text")
    return frame.lazy().collect()


def _file(path: Path) -> pa.Table:
    if not path.is_file():
        raise InvalidValue("a table must be there", str(path), "name a .csv or .parquet file")
    suffix = path.suffix.lower()
    if suffix in _PARQUET:
        return _parquet(path)
    if suffix in _CSV:
        return _csv(path)
    raise InvalidValue("a table must be a .csv, .tsv or .parquet file", str(path))


def _parquet(path: Path) -> pa.Table:
    try:
        return parquet.read_table(path)
    except (pa.ArrowException, OSError):
        raise InvalidValue("a table must be readable as Parquet", str(path)) from None


# CSV --------------------------------------------------------------------------------------------------------------


def _csv(path: Path) -> pa.Table:
    try:
        with path.open(encoding="utf-8-sig", newline="") as text:
            header = text.readline()
        names = next(csv.reader([header], delimiter=_delimiter(header)), [])
        if not names:
            raise InvalidValue("a CSV file must have a header", str(path))
        refuse_duplicate_names(names)
        return _typed(_text_table(path, names, _delimiter(header)))
    except UnicodeDecodeError:
        raise InvalidValue("a CSV file must be text in UTF-8", str(path), "save it as UTF-8") from None
    except pa.ArrowInvalid as problem:
        raise InvalidValue("every line of a CSV file must have the same columns", str(path), str(problem)) from None


def _delimiter(header: str) -> str:
    """The mark that occurs most often in the header."""
    return max(_DELIMITERS, key=header.count)


def _text_table(path: Path, names: list[str], delimiter: str) -> pa.Table:
    types = dict.fromkeys(names, pa.string())
    return arrow_csv.read_csv(
        path,
        parse_options=arrow_csv.ParseOptions(delimiter=delimiter, newlines_in_values=True),
        convert_options=arrow_csv.ConvertOptions(column_types=types, null_values=[""], strings_can_be_null=True),
    )


def _typed(table: pa.Table) -> pa.Table:
    columns = [_narrow(column) for column in table.columns]
    return pa.Table.from_arrays(columns, names=table.column_names)


def _narrow(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Numbers and dates where every cell is one. 02139 and +49 stay text: as numbers they would change."""
    distinct = column.unique().drop_null()
    for kind in (pa.int64(), pa.float64(), pa.date32()):
        if len(distinct) and _reads_as(distinct, kind):
            return column.cast(kind)
    return column


def _reads_as(distinct: pa.Array, kind: pa.DataType) -> bool:
    try:
        read = distinct.cast(kind)
    except pa.ArrowInvalid:
        return False
    if pa.types.is_integer(kind):
        return bool(compute.all(compute.equal(read.cast(pa.string()), distinct)).as_py())
    return not compute.any(compute.match_substring_regex(distinct, _A_CODE)).as_py()


# pandas -----------------------------------------------------------------------------------------------------------


def _pandas(frame: Any) -> pa.Table:
    names = [str(name) for name in frame.columns]
    refuse_duplicate_names(names)
    arrays = [_pandas_column(name, frame.iloc[:, place]) for place, name in enumerate(names)]
    return pa.Table.from_arrays(arrays, names=names)


def _pandas_column(name: str, series: Any) -> pa.Array:
    if series.dtype == object:
        _refuse_mixed(name, series)
    try:
        return pa.array(series, from_pandas=True)
    except (pa.ArrowException, OverflowError, TypeError):
        raise _mixed(name, sorted({type(cell).__name__ for cell in series})) from None


def _refuse_mixed(name: str, series: Any) -> None:
    """Arrow would cut the time off a date beside dates, or read text beside bytes as bytes."""
    if len(set(map(type, series))) <= 1:
        return
    kinds = {_plain(kind) for kind in set(map(type, series[series.notna()]))}
    if len(kinds) > 1 and not kinds <= {int, float}:
        raise _mixed(name, sorted(kind.__name__ for kind in kinds))


def _plain(kind: type) -> type:
    """The type of Python that a type of NumPy stands for."""
    return type(np.zeros((), kind).item()) if issubclass(kind, np.generic) else kind


def _mixed(name: str, kinds: list[str]) -> InvalidType:
    found = f"<{' and '.join(kinds)}>"
    return InvalidType(
        f"column '{name}' must hold values of one type", found, "write all of them as text, or as numbers of 64 bits"
    )


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
        return _comparable(name, _decode(cells))
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


def _decode(cells: pa.ChunkedArray) -> pa.ChunkedArray:
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
