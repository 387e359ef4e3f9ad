"""Tables that an owner brings to the page: a file, read once from a folder that is gone afterwards, or an example."""

from __future__ import annotations

import csv
import tempfile
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
from pyarrow import parquet

from discreet.anonymize.source import arrow_table
from discreet.attacks.hospital import patients
from discreet.errors import DiscreetError, InvalidValue
from discreet.service.table_files import ENDINGS, PARQUET, checked_schema

__all__ = ["LARGEST_FILE", "MOST_CELLS", "Brought", "brought", "example"]

LARGEST_FILE = 64_000_000
"""How many bytes a file may have."""
MOST_CELLS = 50_000_000
"""How many cells a table may have: a packed file of a few kilobytes can unpack to any size."""
_MOST_UNPACKED = 8 * LARGEST_FILE
_EXAMPLE_ROWS = 3000
_MOST_COLUMNS = 2000
_MARKS = ",;\t|"


@dataclass(frozen=True, eq=False)
class Brought:
    """A table to work on."""

    name: str
    """What it is called: the name of its file without the ending."""
    table: pa.Table
    """Its rows."""


def brought(file: str, content: bytes) -> Brought:
    """The table in a file of this name; what is no table, or too large, is refused in words about the file."""
    path = Path(file.replace("\\", "/"))
    if path.suffix.lower() not in ENDINGS:
        raise InvalidValue("a table must be a .csv, .tsv or .parquet file", path.name)
    if len(content) > LARGEST_FILE:
        raise InvalidValue(f"a file must have at most {LARGEST_FILE:,} bytes", len(content), "use the command line")
    with tempfile.TemporaryDirectory(prefix="discreet-publish-") as folder:
        kept = Path(folder) / f"table{path.suffix.lower()}"
        kept.write_bytes(content)
        try:
            _refuse_columns(kept)
            _refuse_unpacking(kept)
            table = arrow_table(kept)
        except DiscreetError as refusal:
            raise _about(refusal, str(kept), path.name) from None
    _refuse_cells(table.num_rows, table.num_columns)
    if not table.num_rows:
        raise InvalidValue("a table must have rows", 0)
    return Brought(path.stem or "table", table)


def example() -> Brought:
    """The made-up hospital with a number for each patient, so that there is a column of every role."""
    people = patients(_EXAMPLE_ROWS)
    numbers = pa.array([f"P-{10_000 + 7919 * row % 90_000}" for row in range(people.num_rows)])
    return Brought("patients", people.add_column(0, "patient", numbers))


def _refuse_columns(path: Path) -> None:
    """Refuse a text of very many columns, each of which takes more memory than its few letters in the file."""
    if path.suffix in PARQUET:
        return
    with path.open(encoding="utf-8-sig", errors="replace", newline="") as text:
        mark = max(_MARKS, key=text.readline().count)
        text.seek(0)
        try:
            names = next(csv.reader(text, delimiter=mark), [])
        except csv.Error:
            raise InvalidValue("a table must have names of columns that can be read", path.name) from None
    if len(names) > _MOST_COLUMNS:
        raise InvalidValue(f"a table must have at most {_MOST_COLUMNS:,} columns", len(names), "use the command line")


def _refuse_unpacking(path: Path) -> None:
    """Refuse a Parquet file that unpacks to too much, before its rows are."""
    if path.suffix in PARQUET:
        checked_schema(path, _MOST_UNPACKED)
        footer = parquet.read_metadata(path)
        _refuse_cells(footer.num_rows, footer.num_columns)


def _refuse_cells(rows: int, columns: int) -> None:
    if rows * columns > MOST_CELLS:
        raise InvalidValue(f"a table must have at most {MOST_CELLS:,} cells", rows * columns, "use the command line")


def _about(refusal: DiscreetError, path: str, name: str) -> InvalidValue:
    """The refusal with the name that the owner knows in place of a path on this machine."""
    value = name if refusal.value in (path, Path(path).name) else refusal.value
    return InvalidValue(refusal.rule.replace(path, name), value, refusal.remedy.replace(path, name))
