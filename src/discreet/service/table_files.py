"""Files that hold a table: which kinds there are, what their columns are, and whether they unpack to too much."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pyarrow as pa
from pyarrow import compute, parquet

from discreet.catalog.schema import Schema, schema_of
from discreet.errors import DiscreetError, InvalidValue

__all__ = ["ENDINGS", "PARQUET", "checked_schema"]

PARQUET = (".parquet", ".pq")
"""Endings of Parquet files."""
ENDINGS = (".csv", ".tsv", ".txt", *PARQUET)
"""Endings of files that hold a table."""
_LONGEST_HEADER = 2**20
_MOST_COLUMNS = 2000
_ROWS_AT_ONCE = 2**16


def checked_schema(path: Path, most: int | None = None) -> Schema:
    """The names and types of the columns of a file; ``most`` is how many bytes its values may have when unpacked."""
    is_parquet = path.suffix.lower() in PARQUET
    try:
        if is_parquet and most is not None:
            _check_unpacked(path, most)
        if not is_parquet:
            _check_header(path)
        schema = schema_of(path)
    except DiscreetError as refusal:
        raise _about_the_file(refusal, path) from None
    except (duckdb.Error, pa.ArrowException, OSError, ValueError, csv.Error):
        kind = "Parquet" if is_parquet else "CSV with the names of its columns in the first line"
        raise InvalidValue(f"a table must be readable as {kind}", path.name) from None
    if len(schema.columns) > _MOST_COLUMNS:
        raise InvalidValue(f"a table must have at most {_MOST_COLUMNS:,} columns", len(schema.columns))
    return schema


def _about_the_file(refusal: DiscreetError, path: Path) -> DiscreetError:
    """The refusal with the name of the file in place of its path, which is nobody's business."""
    value = path.name if refusal.value == str(path) else refusal.value
    return InvalidValue(refusal.rule.replace(str(path), path.name), value, refusal.remedy)


def _check_header(path: Path) -> None:
    with path.open("rb") as file:
        line = file.readline(_LONGEST_HEADER)
    if len(line) == _LONGEST_HEADER and not line.endswith(b"\n"):
        rule = f"the names of the columns must have at most {_LONGEST_HEADER:,} bytes"
        raise InvalidValue(rule, "<a longer first line>", "end the first line after the names")


# What a Parquet file unpacks to -----------------------------------------------------------------------------------


def _check_unpacked(path: Path, most: int) -> None:
    """Refuse by the footer first, then by the lengths of texts, of which one may stand for a million rows."""
    with parquet.ParquetFile(path) as file:
        size, texts = _stated_size(file.metadata), _texts(file.metadata)
    if size > most:
        raise _too_large(most)
    size = 0
    for length in _lengths(path, texts) if texts else ():
        size += length
        if size > most:
            raise _too_large(most)


def _stated_size(footer: parquet.FileMetaData) -> int:
    """What the columns have at least when they are unpacked, as the footer says."""
    widths = [max(footer.schema.column(c).length, 1) for c in range(footer.num_columns)]  # of values of a fixed length
    groups = [footer.row_group(g) for g in range(footer.num_row_groups)]
    chunks = [(group.column(c), width) for group in groups for c, width in enumerate(widths)]
    stated = sum(max(chunk.total_uncompressed_size, chunk.num_values * width) for chunk, width in chunks)
    return int(max(stated, footer.num_rows * footer.num_columns))


def _texts(footer: parquet.FileMetaData) -> list[str]:
    """The columns whose values have lengths of their own."""
    columns = [footer.schema.column(c) for c in range(footer.num_columns)]
    return [one.path for one in columns if one.physical_type == "BYTE_ARRAY" and one.max_repetition_level == 0]


def _lengths(path: Path, texts: list[str]) -> Iterator[int]:
    """How many bytes the texts of each part of the file have, found from each different text once."""
    with parquet.ParquetFile(path, read_dictionary=texts) as file:
        for batch in file.iter_batches(batch_size=_ROWS_AT_ONCE, columns=texts):
            for column in batch.columns:
                if pa.types.is_dictionary(column.type):  # all but those inside of others, which no policy can name
                    lengths = compute.binary_length(column.dictionary)
                    yield compute.sum(lengths.take(column.indices)).as_py() or 0


def _too_large(most: int) -> InvalidValue:
    rule = f"an upload must have at most {most:,} bytes, also when it is unpacked"
    return InvalidValue(rule, "<more>", "put it on the server and protect it by its path")
