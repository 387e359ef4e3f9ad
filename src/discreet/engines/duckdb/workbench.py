"""A workbench for one ingest: a DuckDB of its own that may read files, and scratch files that nobody else sees.

The database of an ingest is never the one that answers questions: this one may open files, that one may not.

Rows that do not fit in memory are spilled into a scratch folder. Each folder is held by a lock of its process. Whoever
makes a new one first removes those that nobody holds any more, so that rows spilled by a process that was killed do not
stay on the disk.
"""

from __future__ import annotations

import os
import shutil
import weakref
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

import duckdb
import pyarrow as pa

from discreet.engines.duckdb.snapshot import CLOSED_TO_EXTENSIONS, Settings
from discreet.engines.duckdb.store import FileLock
from discreet.engines.engine import Progress
from discreet.engines.interrupt import run_attended
from discreet.engines.parameters import quote_text
from discreet.noise.source import fresh_id

__all__ = ["Build", "Scratch"]


T = TypeVar("T")

_SETTINGS = (
    "SET TimeZone = 'UTC'",
    "SET preserve_insertion_order = false",
)
_COUNTING = ("SET enable_progress_bar = true", "SET enable_progress_bar_print = false")


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
            if progress is not None:
                self._count()
            for name, file in {"stage": scratch / "stage.duckdb", "fresh": self.fresh, "units": units}.items():
                self.connection.execute(f"ATTACH {quote_text(str(file))} AS {name}")
        except BaseException:
            self.connection.close()
            raise

    def _count(self) -> None:
        """Have DuckDB count the rows it is through. In Jupyter it needs ipywidgets: without them steps count whole."""
        with suppress(duckdb.InvalidInputException):
            for statement in _COUNTING:
                self.connection.execute(statement)

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
        return run_attended(work, self.connection.interrupt, tick=tick)

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


class Scratch:
    """A folder that this process alone uses; it is removed when it is closed, or by the next process."""

    def __init__(self, parent: Path) -> None:
        parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        gate = FileLock(parent / "gate.lock")
        gate.acquire(wait=True)  # nobody sweeps between the making of a folder and the taking of its lock
        try:
            _sweep(parent)
            name = fresh_id()
            held = FileLock(parent / f"{name}.held")
            held.acquire(wait=False)
            self.path = parent / name
            self.path.mkdir(mode=0o700)
        finally:
            gate.release()
        self._finish = weakref.finalize(self, _remove, self.path, held, os.getpid())

    def close(self) -> None:
        """Remove the folder and everything in it."""
        self._finish()


def _remove(path: Path, held: FileLock, owner: int) -> None:
    if os.getpid() != owner:  # a forked child must not remove what its parent uses
        return
    shutil.rmtree(path, ignore_errors=True)
    with suppress(OSError):
        held.path.unlink()
    held.release()


def _sweep(parent: Path) -> None:
    for file in parent.glob("*.held"):
        left = FileLock(file)
        if left.acquire(wait=False):
            _remove(file.with_suffix(""), left, os.getpid())
