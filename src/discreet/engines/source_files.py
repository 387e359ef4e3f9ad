"""Files as sources: CSV, Parquet and tables of other DuckDB files.

Files are grouped by shape, so that a folder whose files differ in the order or the types of their columns is read
right, and a file that lacks a declared column is refused instead of read as missing.
"""

from __future__ import annotations

import codecs
import csv
import glob
import io
import os
import shutil
from collections import defaultdict
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

import duckdb
import pyarrow as pa
from pyarrow import parquet

from discreet.catalog.csv_format import CSVFormat
from discreet.engines.identifier import literal, quoted
from discreet.engines.part import Given, Part
from discreet.engines.source_frames import frame_parts
from discreet.errors import InvalidValue, StoreError, UnreadableSource

__all__ = ["CSVFiles", "CSVReading", "DuckDBTable", "csv_files_parts", "duckdb_parts", "file_parts"]

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
) -> list[Part]:
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
    return "[" + ", ".join(literal(glob.escape(str(file))) for file in files) + "]"


# Parquet ----------------------------------------------------------------------------------------------------------


def _parquet_parts(files: list[Path], connection: duckdb.DuckDBPyConnection) -> list[Part]:
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


def _parquet_part(names: tuple[str, ...], files: list[Path], connection: duckdb.DuckDBPyConnection) -> Part:
    relation = f"read_parquet({_listed(files)})"
    described = connection.execute(f"DESCRIBE FROM {relation}").fetchall()
    labels = [(label, native) for label, native, *_ in described]
    # By place, because DuckDB renames what occurs twice; what comes after was read from folder names (ward=A/).
    spelled = [*names, *(label for label, _ in labels[len(names) :])]
    return Part(tuple(Given(name, *label) for name, label in zip(spelled, labels, strict=True)), relation)


# CSV --------------------------------------------------------------------------------------------------------------


def csv_files_parts(source: CSVFiles, wanted: frozenset[str], reading: CSVReading) -> list[Part]:
    """The rows of CSV files with a stated delimiter."""
    if len(source.delimiter) != 1:
        raise InvalidValue("a delimiter must be one character", source.delimiter)
    return _csv_parts(_files(os.fspath(source.path)), wanted, replace(reading, delimiter=source.delimiter))


def _csv_parts(files: list[Path], wanted: frozenset[str], reading: CSVReading) -> list[Part]:
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


def _csv_part(delimiter: str, names: tuple[str, ...], files: list[Path], spelled: CSVFormat | None) -> Part:
    labels = [f"s{place}" for place in range(len(names))]
    columns = "{" + ", ".join(f"{label}: 'VARCHAR'" for label in labels) + "}"
    nulls = ", ".join(literal(word) for word in ("", *(spelled.nulls if spelled is not None else ())))
    # Nothing is sniffed: sniffed comments, quotes or skipped lines would let some rows decide about others.
    settings = (
        f"auto_detect = false, header = true, delim = {literal(delimiter)}, quote = '\"', escape = '\"', comment = '', "
        f"nullstr = [{nulls}], allow_quoted_nulls = false, hive_partitioning = false, columns = {columns}"
    )
    relation = f"read_csv({_listed(files)}, {settings})"
    patient = f"read_csv({_listed(files)}, {settings}, null_padding = true, parallel = false)"
    given = tuple(Given(name, label, "VARCHAR") for name, label in zip(names, labels, strict=True))
    return Part(given, relation, patient, _open_quotes(files), spelled=spelled)


def _open_quotes(files: list[Path]) -> str:
    """Files whose quotes do not come in pairs: every field that is closed has two, and every escaped one is doubled."""
    lines = (
        f"read_csv({_listed(files)}, auto_detect = false, header = false, delim = {literal(_NO_DELIMITER)}, "
        f"quote = '', escape = '', comment = '', columns = {{line: 'VARCHAR'}}, filename = true, "
        f"hive_partitioning = false)"
    )
    quotes = """sum(length(line) - length(replace(line, '"', '')))"""
    return f"SELECT filename FROM {lines} GROUP BY filename HAVING {quotes} % 2 = 1"


# Excel ------------------------------------------------------------------------------------------------------------


def excel_parts(files: list[Path], wanted: frozenset[str], connection: duckdb.DuckDBPyConnection) -> list[Part]:
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


def duckdb_parts(source: DuckDBTable, connection: duckdb.DuckDBPyConnection) -> list[Part]:
    """The rows of a table in another DuckDB file, which is opened read-only."""
    path = Path(source.path)
    if not path.is_file():
        raise InvalidValue("a source must be there", str(path))
    try:
        connection.execute(f"ATTACH {literal(str(path))} AS source_file (READ_ONLY)")
    except duckdb.Error:
        remedy = "close it where it is open for writing"
        raise UnreadableSource("a source must be readable as a DuckDB file", str(path), remedy) from None
    schema, _, table = source.table.rpartition(".")
    relation = f"source_file.{quoted(schema or 'main')}.{quoted(table)}"
    try:
        described = connection.execute(f"DESCRIBE FROM {relation}").fetchall()
    except duckdb.Error:
        raise InvalidValue("a source must be a table of the DuckDB file", source.table) from None
    return [Part(tuple(Given(name, name, native) for name, native, *_ in described), relation)]
