"""Tables from anywhere: Arrow, pandas, Polars, and paths of CSV and Parquet files.

A pandas index is never read: it is no column, and it must not find its way into a release.
"""

from __future__ import annotations

import csv
import os
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import compute, parquet
from pyarrow import csv as arrow_csv

from discreet.anonymize.roles import refuse_duplicate_names
from discreet.errors import InvalidType, InvalidValue

__all__ = ["arrow_table"]

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
    columns = [_narrowed(column) for column in table.columns]
    return pa.Table.from_arrays(columns, names=table.column_names)


def _narrowed(column: pa.ChunkedArray) -> pa.ChunkedArray:
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
