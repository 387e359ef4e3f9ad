"""Tables that grow, behind a service: what is sent to it, and what it says, as the objects of a local curator."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa
from pyarrow import parquet

from discreet.catalog.period import Period
from discreet.curator.ledger.units import from_json
from discreet.curator.periods import PeriodState
from discreet.engines.duckdb.growing import Appended
from discreet.errors import InvalidType, InvalidValue

__all__ = ["as_file", "read_appended", "read_period", "read_period_state"]


def as_file(source: Any) -> tuple[str, Callable[[], BinaryIO]]:
    """The name of a file that holds the rows of a source, and what opens it: a path, or a table in memory.

    >>> name, opened = as_file(pa.table({"x": [1, 2]}))
    >>> name, parquet.read_table(opened()).num_rows
    ('rows.parquet', 2)
    """
    if isinstance(source, (str, os.PathLike)):
        path = Path(source)
        if not path.is_file():
            raise InvalidValue("rows to append must be in a file that can be read", str(source))
        return path.name, lambda: path.open("rb")
    try:
        table = pa.table(source)
    except (TypeError, ValueError, pa.ArrowException):
        rule = "rows to append must be a path, or a table that Arrow can read"
        raise InvalidType(rule, source, "pass a .csv or .parquet file, or a frame of pandas or Polars") from None
    held = io.BytesIO()
    parquet.write_table(table, held)
    return "rows.parquet", lambda: io.BytesIO(held.getvalue())


def read_appended(said: Mapping[str, Any]) -> Appended:
    """What became of the rows of an append."""
    set_aside = {str(reason): int(count) for reason, count in said["set_aside"].items()}
    return Appended(str(said["id"]), int(said["rows"]), set_aside, bool(said["is_repeated"]))


def read_period(said: Mapping[str, Any]) -> Period:
    """A period."""
    start, end = (datetime.fromisoformat(said[name]) for name in ("start", "end"))
    return Period(str(said["name"]), start, end)


def read_period_state(said: Mapping[str, Any]) -> PeriodState:
    """A period, and what may be spent on it in one's own name."""
    one = read_period(said)
    spent, left = (None if said[name] is None else from_json(said[name]) for name in ("spent", "left"))
    return PeriodState(one.name, one.start, one.end, str(said["state"]), spent, left)
