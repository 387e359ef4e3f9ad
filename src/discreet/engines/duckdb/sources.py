"""What can be taken in, and how DuckDB reads it: files, tables in memory, and streams.

Files are CSV, Parquet and tables of other DuckDB files. They are grouped by shape, so that a folder whose files differ
in the order or the types of their columns is read right, and a file that lacks a declared column is refused instead of
read as missing.

Tables and streams are Arrow, pandas, Polars, and whatever speaks Arrow's stream interface. A stream is read once, batch
by batch, so it may be larger than memory.

A source has parts: rows of one shape that DuckDB can read, with the columns in them that a policy declares.
"""

from __future__ import annotations

import codecs
import csv
import glob
import io
import os
import shutil
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import duckdb
import pyarrow as pa
from pyarrow import parquet

from discreet.catalog.column import ColumnType
from discreet.catalog.names import suggestion
from discreet.catalog.policy.csv_format import CSVFormat
from discreet.catalog.table import Table
from discreet.engines.casts import total_cast
from discreet.engines.duckdb.unreadable import look
from discreet.engines.parameters import quote, quote_text
from discreet.errors import InvalidType, InvalidValue, StoreError, UnreadableSource

__all__ = [
    "CSVFiles",
    "CSVReading",
    "Cast",
    "DuckDBTable",
    "SourceColumn",
    "SourcePart",
    "csv_files_parts",
    "declare_columns",
    "duckdb_parts",
    "file_parts",
    "frame_parts",
    "read_parts",
    "selection",
    "unreadable",
]


@dataclass(frozen=True)
class SourceColumn:
    """A column of a source."""

    name: str
    """As the source spells it."""
    label: str
    """What DuckDB calls it, which differs where the source has one name twice."""
    native: str
    """DuckDB's word for its type."""


@dataclass(frozen=True)
class SourcePart:
    """Rows of one shape."""

    columns: tuple[SourceColumn, ...]
    """The columns that can be read."""
    relation: str
    """What to select from."""
    patient_relation: str | None = None
    """A slower way to read the same rows that gets past rows with too few fields."""
    open_quotes: str | None = None
    """A query for the files in which a quote is not closed. The slower way would take all that follows for one value,
    and lose every row in it without a word."""
    names: tuple[str, ...] = ()
    """Every name there is, for suggestions."""
    spelled: CSVFormat | None = None
    """How texts spell values, where the policy says so; of CSV files alone."""


def declare_columns(table: Table) -> frozenset[str]:
    """The folded names of the columns that a policy declares."""
    return frozenset(column.name.casefold() for column in table.columns)


Cast = Callable[[SourceColumn, ColumnType], str | None]
"""An expression that cannot fail, for a column of a source as another type; None where they have nothing in common."""


def selection(table: Table, part: SourcePart, total: Cast | None = None) -> list[str]:
    """One total cast per declared column, in the order of the policy; or a refusal that names the column."""

    def embedded(given: SourceColumn, wanted: ColumnType) -> str | None:
        return total_cast(quote(given.label), given.native, wanted, part.spelled)

    total = total or embedded
    chosen = [_chosen(table, name, part) for name in (column.name for column in table.columns)]
    casts = []
    for column, given in zip(table.columns, chosen, strict=True):
        cast = total(given, column.type)
        if cast is None:
            rule = f"{table.name}.{column.name}: the source must hold what can be read as {column.type.value}"
            raise InvalidType(rule, f"<{given.native}>", "declare another type, or convert it first")
        casts.append(cast)
    return casts


def unreadable(table: Table, part: SourcePart, casts: Sequence[str]) -> list[str]:
    """Per declared column, how a value looks that its cast turns into nothing; see `look`."""
    given = [_chosen(table, column.name, part) for column in table.columns]
    is_stated = part.spelled is not None and bool(part.spelled.decimal or part.spelled.thousands)
    return [
        look(quote(one.label), one.native, column.type, cast, is_stated=is_stated)
        for column, one, cast in zip(table.columns, given, casts, strict=True)
    ]


def _chosen(table: Table, name: str, part: SourcePart) -> SourceColumn:
    found = [given for given in part.columns if given.name.casefold() == name.casefold()]
    if not found:
        known: Sequence[str] = part.names or tuple(given.name for given in part.columns)
        raise InvalidValue(f"{table.name}: the source must have the declared columns", name, suggestion(name, known))
    if len(found) > 1:
        spelled = ", ".join(given.name for given in found)
        rule = f"{table.name}: a declared column must be in the source once, without regard to case"
        raise InvalidValue(rule, f"<{spelled}>", "rename all but one")
    return found[0]


def frame_parts(source: Any, wanted: frozenset[str], connection: duckdb.DuckDBPyConnection) -> list[SourcePart]:
    """The rows of a table in memory, or of a stream."""
    names, reader = _opened(source, wanted)
    if not reader.schema.names:
        return [SourcePart((), "source_stream", names=tuple(names))]  # DuckDB registers nothing without columns
    connection.register("source_stream", reader)
    described = connection.execute("DESCRIBE FROM source_stream").fetchall()
    given = tuple(
        SourceColumn(name, label, native)
        for name, (label, native, *_) in zip(_kept(names, wanted), described, strict=True)
    )
    return [SourcePart(given, "source_stream", names=tuple(names))]


def _kept(names: Sequence[str], wanted: frozenset[str]) -> list[str]:
    return [names[place] for place in _places(names, wanted)]


def _places(names: Sequence[str], wanted: frozenset[str]) -> list[int]:
    """Where the declared columns are: others may be of types that DuckDB does not know, and are never stored."""
    return [place for place, name in enumerate(names) if name.casefold() in wanted]


def _opened(source: Any, wanted: frozenset[str]) -> tuple[list[str], pa.RecordBatchReader]:
    library = type(source).__module__.partition(".")[0]
    if library == "pandas" and hasattr(source, "iloc") and hasattr(source, "columns"):
        return _pandas(source, wanted)
    if library == "polars" and hasattr(source, "collect_schema"):
        return _polars(source, wanted)
    if hasattr(source, "scanner"):  # an Arrow dataset
        source = source.scanner().to_reader()
    if isinstance(source, pa.RecordBatch):
        source = pa.Table.from_batches([source])
    if not hasattr(source, "__arrow_c_stream__"):
        remedy = "pass a path, a DuckDBTable, an Arrow table or reader, or a pandas or Polars frame"
        raise InvalidType("a source must be something that holds rows", f"<{type(source).__name__}>", remedy)
    reader = pa.RecordBatchReader.from_stream(source)
    return reader.schema.names, _projected(reader, _places(reader.schema.names, wanted))


def _pandas(frame: Any, wanted: frozenset[str]) -> tuple[list[str], pa.RecordBatchReader]:
    names = [str(name) for name in frame.columns]
    places = _places(names, wanted)
    arrays = [_pandas_array(frame.iloc[:, place]) for place in places]
    table = pa.Table.from_arrays(arrays, names=[f"s{place}" for place in range(len(places))])
    return names, _projected(table.to_reader(), range(len(places)))


def _pandas_array(series: Any) -> Any:
    try:
        return pa.array(series, from_pandas=True)
    except (pa.ArrowException, OverflowError, TypeError):
        # A column of mixed objects, or of integers past 64 bits: as text, so that each cell is cast on its own.
        missing = series.isna()
        return pa.array([None if gone else str(cell) for cell, gone in zip(series, missing, strict=True)], pa.string())


def _polars(frame: Any, wanted: frozenset[str]) -> tuple[list[str], pa.RecordBatchReader]:
    import polars  # noqa: PLC0415  # loaded already by whoever made the frame, and needed by nobody else

    schema = frame.collect_schema()
    names = list(schema.names())
    wide = (polars.Int128, polars.UInt128)  # Arrow has no such type
    columns = [
        polars.col(name).cast(polars.String) if schema[name] in wide else polars.col(name)
        for name in _kept(names, wanted)
    ]
    table = frame.lazy().select(columns).collect(engine="streaming")
    return names, _projected(pa.RecordBatchReader.from_stream(table), range(len(columns)))


def _projected(reader: pa.RecordBatchReader, places: Sequence[int]) -> pa.RecordBatchReader:
    """The columns at some places under names of our own, because DuckDB takes A and a for one name."""
    fields = [(f"s{number}", _readable(reader.schema.types[place])) for number, place in enumerate(places)]
    schema = pa.schema(fields)

    def batches() -> Iterator[pa.RecordBatch]:
        for batch in reader:
            arrays = [_as(batch.column(place), kind) for place, (_, kind) in zip(places, fields, strict=True)]
            yield pa.RecordBatch.from_arrays(arrays, schema=schema)

    return pa.RecordBatchReader.from_batches(schema, batches())


def _as(array: pa.Array, kind: pa.DataType) -> pa.Array:
    return array if array.type == kind else array.cast(kind)


def _readable(kind: pa.DataType) -> pa.DataType:
    """A type that DuckDB reads and that holds the same values."""
    if pa.types.is_float16(kind):
        return pa.float32()
    return pa.string() if pa.types.is_decimal256(kind) else kind


_CSV = (".csv", ".tsv", ".txt")
_PARQUET = (".parquet", ".pq")
_EXCEL = (".xlsx",)
_PACKED = (".gz", ".zst")
_DELIMITERS = ",;\t|"
_LONGEST_HEADER = 2**20
_CHUNK = 2**20
_NO_DELIMITER = "\x01"
Shape = TypeVar("Shape", bound=Hashable)


@dataclass(frozen=True)
class CSVFiles:
    """CSV files with a delimiter that the header does not give away."""

    path: str | os.PathLike[str]
    """A file, a folder or a pattern."""
    delimiter: str
    """One character."""


@dataclass(frozen=True)
class CSVReading:
    """What is known about how CSV files are to be read, beside what their header tells."""

    spelled: CSVFormat | None
    """What the policy says."""
    scratch: Path
    """Where a file goes that must be written anew in UTF-8."""
    delimiter: str | None = None
    """What the caller says."""

    @property
    def delimiters(self) -> str:
        """What may separate fields."""
        return self.delimiter or (self.spelled and self.spelled.delimiter) or _DELIMITERS

    @property
    def encoding(self) -> str | None:
        """How letters are encoded, where DuckDB must not read the file as it is."""
        return None if self.spelled is None or self.spelled.is_utf8 else self.spelled.encoding


@dataclass(frozen=True)
class DuckDBTable:
    """A table of another DuckDB file."""

    path: str | os.PathLike[str]
    """The file."""
    table: str
    """The table, ``visits`` or ``schema.visits``."""


def file_parts(
    path: str | os.PathLike[str], wanted: frozenset[str], connection: duckdb.DuckDBPyConnection, reading: CSVReading
) -> list[SourcePart]:
    """The rows of a file, of all files of a folder, or of all files that match a pattern."""
    files = _files(os.fspath(path))
    kinds = {_kind(file) for file in files}
    if len(kinds) > 1:
        raise InvalidValue("the files of a source must be of one kind", os.fspath(path), "CSV or Parquet, not both")
    if kinds == {"parquet"}:
        return _parquet_parts(files, connection)
    return excel_parts(files, wanted, connection) if kinds == {"excel"} else _csv_parts(files, wanted, reading)


def _files(path: str) -> list[Path]:
    place = Path(path)
    if place.is_dir():
        found = [file for file in sorted(place.rglob("*")) if file.is_file() and _kind(file, strict=False)]
    elif place.exists():
        found = [place]
    else:
        found = [Path(file) for file in sorted(glob.glob(path, recursive=True)) if Path(file).is_file()]
    if not found:
        raise InvalidValue("a source must be there", path, "name a file, a folder or a pattern")
    return found


def _kind(file: Path, *, strict: bool = True) -> str | None:
    suffixes = [suffix.lower() for suffix in file.suffixes]
    last = suffixes[-2:-1] if suffixes[-1:] and suffixes[-1] in _PACKED else suffixes[-1:]
    if last and last[0] in _PARQUET:
        return "parquet"
    if last and last[0] in _CSV:
        return "csv"
    if last and last[0] in _EXCEL:
        return "excel"
    if strict:
        remedy = "for a DuckDB file name its table: DuckDBTable(path, table), or --table"
        raise InvalidValue("a source must be a .csv, .tsv, .parquet or .xlsx file", str(file), remedy)
    return None


def _grouped(pairs: Iterable[tuple[Shape, Path]]) -> dict[Shape, list[Path]]:
    groups: defaultdict[Shape, list[Path]] = defaultdict(list)
    for shape, file in pairs:
        groups[shape].append(file)
    return dict(groups)


def _listed(files: Iterable[Path]) -> str:
    """Paths as DuckDB reads them, which takes brackets and stars for patterns."""
    return "[" + ", ".join(quote_text(glob.escape(str(file))) for file in files) + "]"


# Parquet ----------------------------------------------------------------------------------------------------------


def _parquet_parts(files: list[Path], connection: duckdb.DuckDBPyConnection) -> list[SourcePart]:
    return [
        _parquet_part(names, group, connection)
        for (names, _), group in _grouped((_parquet_shape(file), file) for file in files).items()
    ]


def _parquet_shape(file: Path) -> tuple[tuple[str, ...], tuple[str, ...]]:
    try:
        schema = parquet.read_schema(file)
    except (pa.ArrowException, OSError):
        raise UnreadableSource("a source must be readable as Parquet", str(file)) from None
    return tuple(schema.names), tuple(str(kind) for kind in schema.types)


def _parquet_part(names: tuple[str, ...], files: list[Path], connection: duckdb.DuckDBPyConnection) -> SourcePart:
    relation = f"read_parquet({_listed(files)})"
    described = connection.execute(f"DESCRIBE FROM {relation}").fetchall()
    labels = [(label, native) for label, native, *_ in described]
    # By place, because DuckDB renames what occurs twice; what comes after was read from folder names (ward=A/).
    spelled = [*names, *(label for label, _ in labels[len(names) :])]
    return SourcePart(tuple(SourceColumn(name, *label) for name, label in zip(spelled, labels, strict=True)), relation)


# CSV --------------------------------------------------------------------------------------------------------------


def csv_files_parts(source: CSVFiles, wanted: frozenset[str], reading: CSVReading) -> list[SourcePart]:
    """The rows of CSV files with a stated delimiter."""
    if len(source.delimiter) != 1:
        raise InvalidValue("a delimiter must be one character", source.delimiter)
    return _csv_parts(_files(os.fspath(source.path)), wanted, replace(reading, delimiter=source.delimiter))


def _csv_parts(files: list[Path], wanted: frozenset[str], reading: CSVReading) -> list[SourcePart]:
    if reading.encoding is not None:
        files = [_in_utf8(file, reading.encoding, reading.scratch / f"{k}.csv") for k, file in enumerate(files)]
    shapes = ((_header(file, wanted, reading.delimiters), file) for file in files)
    return [_csv_part(mark, names, group, reading.spelled) for (mark, names), group in _grouped(shapes).items()]


def _in_utf8(file: Path, encoding: str, target: Path) -> Path:
    """The same file in UTF-8, in a folder that goes with the ingest: DuckDB knows few encodings by itself."""
    try:
        with codecs.getreader(encoding)(pa.input_stream(str(file))) as text, target.open("wb") as written:
            shutil.copyfileobj(text, codecs.getwriter("utf-8")(written), _CHUNK)
    except UnicodeError:
        raise UnreadableSource(f"a CSV file must be text in {encoding}, as the policy says", str(file)) from None
    except (OSError, pa.ArrowException):
        raise StoreError("a source must be readable, and the store have room for it", str(file)) from None
    return target


def _header(file: Path, wanted: frozenset[str], delimiters: str) -> tuple[str, tuple[str, ...]]:
    """The delimiter and the names. The header alone decides, so that no row can change how the others are read."""
    try:
        with io.TextIOWrapper(pa.input_stream(str(file)), encoding="utf-8-sig", newline="") as text:
            start = text.read(_LONGEST_HEADER)
    except UnicodeDecodeError:
        remedy = "say csv: {encoding: latin-1} in the policy, or save it as UTF-8"
        raise UnreadableSource("a CSV file must be text in UTF-8", str(file), remedy) from None
    except (OSError, pa.ArrowException):
        raise StoreError("a source must be readable", str(file)) from None
    found = [(mark, _first_row(start, mark)) for mark in delimiters]
    return max(found, key=lambda one: (len(wanted & {name.casefold() for name in one[1]}), len(one[1])))


def _first_row(start: str, delimiter: str) -> tuple[str, ...]:
    try:
        return tuple(name.strip() for name in next(csv.reader(io.StringIO(start), delimiter=delimiter), []))
    except csv.Error:
        return ()


def _csv_part(delimiter: str, names: tuple[str, ...], files: list[Path], spelled: CSVFormat | None) -> SourcePart:
    labels = [f"s{place}" for place in range(len(names))]
    columns = "{" + ", ".join(f"{label}: 'VARCHAR'" for label in labels) + "}"
    nulls = ", ".join(quote_text(word) for word in ("", *(spelled.nulls if spelled is not None else ())))
    # Nothing is sniffed: sniffed comments, quotes or skipped lines would let some rows decide about others.
    settings = (
        f"auto_detect = false, header = true, delim = {quote_text(delimiter)}, quote = '\"', escape = '\"', "
        f"comment = '', "
        f"nullstr = [{nulls}], allow_quoted_nulls = false, hive_partitioning = false, columns = {columns}"
    )
    relation = f"read_csv({_listed(files)}, {settings})"
    patient = f"read_csv({_listed(files)}, {settings}, null_padding = true, parallel = false)"
    given = tuple(SourceColumn(name, label, "VARCHAR") for name, label in zip(names, labels, strict=True))
    return SourcePart(given, relation, patient, _open_quotes(files), spelled=spelled)


def _open_quotes(files: list[Path]) -> str:
    """Files whose quotes do not come in pairs: every field that is closed has two, and every escaped one is doubled."""
    lines = (
        f"read_csv({_listed(files)}, auto_detect = false, header = false, delim = {quote_text(_NO_DELIMITER)}, "
        f"quote = '', escape = '', comment = '', columns = {{line: 'VARCHAR'}}, filename = true, "
        f"hive_partitioning = false)"
    )
    quotes = """sum(length(line) - length(replace(line, '"', '')))"""
    return f"SELECT filename FROM {lines} GROUP BY filename HAVING {quotes} % 2 = 1"


# Excel ------------------------------------------------------------------------------------------------------------


def excel_parts(files: list[Path], wanted: frozenset[str], connection: duckdb.DuckDBPyConnection) -> list[SourcePart]:
    """The first sheet of an Excel file, every cell as text, read by DuckDB's extension where that is installed."""
    if len(files) > 1:
        raise InvalidValue("a source must be one Excel file", f"<{len(files)} files>", "or save them as CSV")
    with duckdb.connect(":memory:") as reader:
        try:
            reader.execute("LOAD excel")
        except duckdb.Error:
            remedy = "save it as CSV, or install it: python -c \"import duckdb; duckdb.sql('INSTALL excel')\""
            raise StoreError("an Excel file needs DuckDB's extension excel", "<not installed>", remedy) from None
        try:
            # A type that is guessed from cells would let one row decide how others are read.
            query = "SELECT * FROM read_xlsx(?, header = true, all_varchar = true)"
            rows = reader.execute(query, [str(files[0])]).to_arrow_table()
        except duckdb.Error:
            raise UnreadableSource("a source must be readable as an Excel file", str(files[0])) from None
    return frame_parts(rows, wanted, connection)


# DuckDB -----------------------------------------------------------------------------------------------------------


def duckdb_parts(source: DuckDBTable, connection: duckdb.DuckDBPyConnection) -> list[SourcePart]:
    """The rows of a table in another DuckDB file, which is opened read-only."""
    path = Path(source.path)
    if not path.is_file():
        raise InvalidValue("a source must be there", str(path))
    try:
        connection.execute(f"ATTACH {quote_text(str(path))} AS source_file (READ_ONLY)")
    except duckdb.Error:
        remedy = "close it where it is open for writing"
        raise UnreadableSource("a source must be readable as a DuckDB file", str(path), remedy) from None
    schema, _, table = source.table.rpartition(".")
    relation = f"source_file.{quote(schema or 'main')}.{quote(table)}"
    try:
        described = connection.execute(f"DESCRIBE FROM {relation}").fetchall()
    except duckdb.Error:
        raise InvalidValue("a source must be a table of the DuckDB file", source.table) from None
    return [SourcePart(tuple(SourceColumn(name, name, native) for name, native, *_ in described), relation)]


def read_parts(
    source: Any,
    wanted: frozenset[str],
    connection: duckdb.DuckDBPyConnection,
    *,
    scratch: Path,
    spelled: CSVFormat | None = None,
) -> list[SourcePart]:
    """The parts of a source, ready to be selected from on ``connection``. ``wanted`` are folded names of columns.

    ``spelled`` says how CSV files spell values; one that is not in UTF-8 is written anew in the folder ``scratch``.
    """
    match source:
        case str() | os.PathLike():
            return file_parts(source, wanted, connection, CSVReading(spelled, scratch))
        case CSVFiles():
            return csv_files_parts(source, wanted, CSVReading(spelled, scratch))
        case DuckDBTable():
            return duckdb_parts(source, connection)
    return frame_parts(source, wanted, connection)
