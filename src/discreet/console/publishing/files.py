"""A release as the bytes of a file."""

from __future__ import annotations

import io

import pyarrow as pa
from pyarrow import csv, parquet

__all__ = ["csv_bytes", "parquet_bytes"]


def csv_bytes(table: pa.Table) -> bytes:
    """The rows as CSV in UTF-8."""
    kept = io.BytesIO()
    csv.write_csv(table, kept)
    return kept.getvalue()


def parquet_bytes(table: pa.Table) -> bytes:
    """The rows as Parquet."""
    kept = io.BytesIO()
    parquet.write_table(table, kept)
    return kept.getvalue()
