"""A workbench for one ingest: a DuckDB of its own that may read files, and scratch files that nobody else sees.

The database of an ingest is never the one that answers questions: this one may open files, that one may not.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

import duckdb
import pyarrow as pa

from discreet.engines.attended import attended
from discreet.engines.duckdb_snapshot import CLOSED_TO_EXTENSIONS, Settings
from discreet.engines.engine import Progress
from discreet.engines.identifier import literal

__all__ = ["Build"]

T = TypeVar("T")

_SETTINGS = (
    "SET TimeZone = 'UTC'",
    "SET preserve_insertion_order = false",
    "SET enable_progress_bar = true",  # without it DuckDB does not count
    "SET enable_progress_bar_print = false",
)


class Build:
    """The databases of one ingest: ``stage`` for rows as they come, ``fresh`` for the finished table, ``units``."""

    def __init__(self, scratch: Path, units: Path, settings: Settings, progress: Progress | None = None) -> None:
        self.fresh = scratch / "fresh.duckdb"
        self._progress = progress
        self.done = 0.0
        """The fraction of the whole ingest that is done."""
        self._shown = 0.0
        self.connection = duckdb.connect(":memory:", config={**settings, **CLOSED_TO_EXTENSIONS})
        try:
            for statement in _SETTINGS:
                self.connection.execute(statement)
            for name, file in {"stage": scratch / "stage.duckdb", "fresh": self.fresh, "units": units}.items():
                self.connection.execute(f"ATTACH {literal(str(file))} AS {name}")
        except BaseException:
            self.connection.close()
            raise

    def run(self, statement: str, parameters: list[Any] | None = None, *, until: float | None = None) -> list[Any]:
        """The rows of a statement. ``until`` is the fraction of the whole ingest that is done when it ends."""
        share = 0.0 if until is None else until - self.done
        rows = self._attended(lambda: self.connection.execute(statement, parameters or []).fetchall(), share)
        if until is not None:
            self.report(until)
        return rows

    def arrow(self, statement: str) -> pa.Table:
        """The rows of a statement, as Arrow has them."""
        return self._attended(lambda: self.connection.sql(statement).to_arrow_table())

    def insert(self, table: str, rows: pa.Table) -> None:
        """Put rows at the end of a table, in their order."""
        self.connection.register("_inserted", rows)
        self.run(f"INSERT INTO {table} FROM _inserted")
        self.connection.unregister("_inserted")

    def report(self, done: float) -> None:
        """Say that this fraction of the whole ingest is done."""
        self.done = done
        self._tell(0.0)

    def _attended(self, work: Callable[[], T], share: float = 0.0) -> T:
        tick = None if self._progress is None else lambda: self._tell(share)
        return attended(work, self.connection.interrupt, tick=tick)

    def _tell(self, share: float) -> None:
        if self._progress is not None:
            percent = min(max(self.connection.query_progress(), 0.0), 100.0)  # −1 where DuckDB cannot tell
            self._shown = max(self._shown, self.done + share * percent / 100)
            self._progress(self._shown)

    def finish(self) -> Path:
        """Write everything out and let go of the finished file."""
        self.run("CHECKPOINT fresh")
        self.run("DETACH fresh")
        self.run("CHECKPOINT units")
        return self.fresh

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.connection.close()
