"""The schema of a source: names and types of columns, found without reading a row.

A Parquet file, an Arrow table and a DuckDB table state their types. A CSV file states none, so only its first line is
read, and every column counts as text until its owner says otherwise. The names in that line are taken to be public;
a first line that looks like a row is refused.
"""

from __future__ import annotations

import csv as csv_files
import io
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb

from discreet.catalog.csv_format import CSVFormat
from discreet.errors import InvalidType, InvalidValue

__all__ = ["Schema", "schema_of", "schema_of_arrow", "schema_of_csv", "schema_of_duckdb", "schema_of_parquet"]

_LONGEST_HEADER = 2**20
_DELIMITERS = ",;\t|"
_NUMBER = re.compile(r"\s*[+-]?(\d[\d.,]*|\.\d+)([eE][+-]?\d+)?\s*")
_COLUMNS_OF_TABLE = """
    SELECT column_name, data_type FROM duckdb_columns()
    WHERE database_name = current_database()
      AND lower(schema_name) = lower(CASE ? WHEN '' THEN current_schema() ELSE ? END) AND lower(table_name) = lower(?)
    ORDER BY column_index"""
_CSV_SUFFIXES = (".csv", ".tsv", ".txt")


@dataclass(frozen=True)
class Schema:
    """Names and types of columns, in order."""

    columns: Mapping[str, str]
    """DuckDB's word for the type of each column."""
    types_are_stated: bool = True
    """Whether the source states its types; a CSV file does not."""


def schema_of(source: str | os.PathLike[str] | Any, csv: CSVFormat | None = None) -> Schema:
    """The schema of a CSV or Parquet file, by its suffix, or of an Arrow object."""
    if not isinstance(source, (str, os.PathLike)):
        return schema_of_arrow(source)
    suffix = Path(source).suffix.lower()
    if suffix in _CSV_SUFFIXES:
        stated = CSVFormat() if csv is None else csv
        return schema_of_csv(source, stated.delimiter, stated.encoding)
    if suffix in (".parquet", ".pq"):
        return schema_of_parquet(source)
    raise InvalidValue("a source must be a .csv, .tsv or .parquet file", str(source), "or pass an Arrow table")


def schema_of_csv(path: str | os.PathLike[str], delimiter: str | None = None, encoding: str = "utf-8") -> Schema:
    """The names in the first line of a CSV file; no other line is read."""
    names = _names(_first_line(Path(path), "utf-8-sig" if encoding == "utf-8" else encoding), delimiter)
    _refuse_a_row(names)
    return Schema(dict.fromkeys(names, "VARCHAR"), types_are_stated=False)


def schema_of_parquet(path: str | os.PathLike[str]) -> Schema:
    """The names and types in the footer of a Parquet file; no row group is read."""
    with duckdb.connect() as connection:
        return _described(connection, "SELECT * FROM read_parquet(?)", [os.fspath(path)])


def schema_of_duckdb(connection: duckdb.DuckDBPyConnection, table: str) -> Schema:
    """The names and types of a DuckDB table or view, ``visits`` or ``main.visits``."""
    schema, _, name = table.rpartition(".")
    # The system's own list, because FROM "visits" could also find a file or a Python variable of that name.
    rows = connection.execute(_COLUMNS_OF_TABLE, [schema, schema, name]).fetchall()
    if not rows:
        raise InvalidValue("a source must be a table of the database", table)
    return Schema(dict(rows))


def schema_of_arrow(source: Any) -> Schema:
    """The names and types of an Arrow table, reader, dataset or schema, asked of a table without rows."""
    schema = getattr(source, "schema", source)
    if not hasattr(schema, "empty_table"):
        raise InvalidType("a source must be a path or an Arrow table", f"<{type(source).__name__}>")
    with duckdb.connect() as connection:
        connection.register("source", schema.empty_table())
        return _described(connection, "FROM source")


def _described(connection: duckdb.DuckDBPyConnection, query: str, values: list[str] | None = None) -> Schema:
    try:
        rows = connection.execute(f"DESCRIBE {query}", values or []).fetchall()
    except duckdb.Error as wrong:
        first, *_ = str(wrong).splitlines()
        raise InvalidValue("a source must be there and state its columns", f"<{first}>") from None
    return Schema({name: kind for name, kind, *_ in rows})


# The first line of a CSV file -------------------------------------------------------------------------------------


def _first_line(path: Path, encoding: str) -> str:
    with path.open("rb") as file:
        start = io.BytesIO(file.readline(_LONGEST_HEADER) if encoding == "utf-8-sig" else file.read(_LONGEST_HEADER))
    try:
        line = io.TextIOWrapper(start, encoding=encoding, newline="").readline()
    except UnicodeDecodeError:
        rule = f"a CSV file must be text in {encoding.removesuffix('-sig').upper()}"
        raise InvalidValue(rule, "<something else>", "say csv: {encoding: latin-1}, or save it as UTF-8") from None
    if len(line) == _LONGEST_HEADER:
        raise InvalidValue("the first line of a CSV file must be shorter than 1 MiB", "<a longer one>")
    return line.rstrip("\r\n")


def _names(header: str, delimiter: str | None) -> list[str]:
    # The delimiter is guessed from the header alone; guessing from rows would let a row change the names.
    mark = delimiter or max(_DELIMITERS, key=header.count)
    try:
        return next(csv_files.reader([header], delimiter=mark, strict=True), [])
    except csv_files.Error:
        raise InvalidValue(
            "the names in a CSV file must be on its first line, with their quotes closed", None
        ) from None


def _refuse_a_row(names: list[str]) -> None:
    """A file without a header would publish its first row as names."""
    for place, name in enumerate(names, start=1):
        if not name.strip() or _NUMBER.fullmatch(name):
            remedy = "add a line with the names of the columns"
            raise InvalidValue(
                "a CSV file must start with the names of its columns", f"<a value in place {place}>", remedy
            )
    if not names or len(set(names)) != len(names):
        raise InvalidValue("a CSV file must start with different names, at least one", f"<{len(names)} names>")
