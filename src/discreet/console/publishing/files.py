"""A release as the bytes of a file."""

from __future__ import annotations

import io

import pyarrow as pa
from pyarrow import csv, parquet

from discreet.errors import InvalidValue

__all__ = ["csv_bytes", "parquet_bytes"]


def csv_bytes(table: pa.Table) -> bytes:
    """The rows as CSV in UTF-8; refused where a column has a type that CSV cannot write."""
    kept = io.BytesIO()
    try:
        csv.write_csv(table, kept)
    except pa.ArrowException:
        raise InvalidValue("CSV must be able to write every column", table.column_names, "take Parquet") from None
    return kept.getvalue()


def parquet_bytes(table: pa.Table) -> bytes:
    """The rows as Parquet."""
    kept = io.BytesIO()
    parquet.write_table(table, kept)
    return kept.getvalue()
