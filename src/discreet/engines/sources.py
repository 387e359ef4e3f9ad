"""What can be taken in, and how DuckDB reads it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import duckdb

from discreet.catalog.csv_format import CSVFormat
from discreet.engines.part import Part
from discreet.engines.source_files import CSVFiles, CSVReading, DuckDBTable, csv_files_parts, duckdb_parts, file_parts
from discreet.engines.source_frames import frame_parts

__all__ = ["CSVFiles", "DuckDBTable", "parts_of"]


def parts_of(
    source: Any,
    wanted: frozenset[str],
    connection: duckdb.DuckDBPyConnection,
    *,
    scratch: Path,
    spelled: CSVFormat | None = None,
) -> list[Part]:
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
