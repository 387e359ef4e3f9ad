"""The embedded engine: DuckDB over files in the curator's folder.

DuckDB holds the rows and never the ledger. Any number of processes may ask at the same time, also while one takes in
data; see ``store``.
"""

from __future__ import annotations

import math
import os
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import pyarrow as pa

from discreet.catalog.catalog import Catalog
from discreet.catalog.column import ColumnType
from discreet.catalog.period import Period
from discreet.catalog.table import Table
from discreet.engines.duckdb.append import append, begin
from discreet.engines.duckdb.close_period import finish_close, prepare_close, verify_files
from discreet.engines.duckdb.erase import forget
from discreet.engines.duckdb.growing import Appended
from discreet.engines.duckdb.ingest import ingest
from discreet.engines.duckdb.manifest import Manifest, Stored
from discreet.engines.duckdb.snapshot import DuckDBSnapshot, Settings
from discreet.engines.duckdb.store import TableFiles
from discreet.engines.duckdb.workbench import Scratch
from discreet.engines.engine import Capabilities, OwnerLog, Progress, TableStore, Unread, tell
from discreet.engines.interrupt import run_attended
from discreet.engines.parameters import ParameterValue
from discreet.errors import InvalidValue, StoreError

__all__ = ["DuckDBEngine"]


_TRIES = 5
"""How often a file that an ingest removed between two steps is looked for again."""
_MEMORY = 2_500_000_000
"""Bytes for DuckDB where there is plenty. The process needs more than DuckDB counts, and stays under 4 GB."""


def _physical_memory() -> int:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


class DuckDBEngine(TableStore):
    """The store in a folder. Opening it is free; files are read when a question is asked."""

    dialect: ClassVar[str] = DuckDBSnapshot.dialect
    capabilities: ClassVar[Capabilities] = DuckDBSnapshot.capabilities

    def __init__(
        self,
        folder: str | os.PathLike[str],
        *,
        threads: int | None = None,
        memory_limit: str | None = None,
        timeout: float | None = None,
        owner_log: OwnerLog | None = None,
    ) -> None:
        """Name the folder of the curator.

        ``threads`` and ``memory_limit`` (such as "4GB") are DuckDB's own, by default all cores and 2.5 GB, or most of
        the memory where there is less. What does not fit goes to disk, inside the folder, and is removed.
        ``timeout`` in seconds ends a run with the constant error. How long a run takes depends on the rows, so a
        timeout that strikes in ordinary use tells something about them; set it far above.
        ``owner_log`` is called with the database's own words about failures, which can hold values of rows.
        """
        if threads is not None and threads < 1:
            raise InvalidValue("threads must be at least 1", threads)
        if timeout is not None and not 0 < timeout < math.inf:
            raise InvalidValue("timeout must be positive and finite", timeout, "leave it out to wait for ever")
        self.store = TableFiles(Path(folder))
        self.threads = threads
        self.memory_limit = memory_limit
        self.timeout = timeout
        self.owner_log = owner_log
        self._forget()

    def _forget(self) -> None:
        self._lock = threading.Lock()
        self._stamp: tuple[int, int, int] | None = None
        self._snapshot: DuckDBSnapshot | None = None
        self._scratch: Scratch | None = None
        self._process = os.getpid()

    # Reading ------------------------------------------------------------------------------------------------------

    def describe(self, table: str) -> Mapping[str, ColumnType]:
        """The names and types of a table's declared columns, in order."""
        return self.snapshot().describe(table)

    def version(self, table: str) -> str:
        """The ingest that a table came from."""
        return self.snapshot().version(table)

    def _run(self, statement: str, values: Sequence[ParameterValue]) -> pa.Table:
        return self.snapshot()._run(statement, values)

    def snapshot(self) -> DuckDBSnapshot:
        """The store as it is now; the same object until somebody takes in data."""
        if self._process != os.getpid():
            self._abandon()
        with self._lock:
            stamp = self.store.stamp()
            if self._snapshot is not None and stamp != self._stamp and self._shows_all(self._snapshot):
                self._stamp = stamp
            if self._snapshot is None or stamp != self._stamp:
                self._stamp, self._snapshot = self._opened()
            return self._snapshot

    def _shows_all(self, snapshot: DuckDBSnapshot) -> bool:
        """Whether it shows what there is now: rows that were appended show when their period is closed."""
        manifest = self.store.manifest()
        return bool(manifest.growing) and manifest.shows_as(snapshot.manifest)

    def kept(self, versions: Mapping[str, str]) -> DuckDBSnapshot | None:
        """A snapshot of earlier versions, where their files are still there."""
        manifest = self.store.earlier(versions)
        if manifest is None or any(manifest.is_stale(one) for one in map(manifest.find, versions) if one is not None):
            return None
        try:
            return self._open(manifest)
        except Exception as failure:  # they were removed a moment ago
            tell(self.owner_log, failure)
            return None

    def stored(self, table: str) -> Stored:
        """A table as it was taken in: whose rows they are, and what was checked about them."""
        return self.snapshot().stored(table)

    @property
    def secret(self) -> str:
        """What units' own orders are hashed with."""
        return self.snapshot().secret

    def take_in(
        self,
        table: Table,
        source: Any,
        *,
        catalog: Catalog | None = None,
        progress: Progress | None = None,
        unread: Unread | None = None,
    ) -> str:
        """Read ``source`` into the folder; see `ingest`."""
        return ingest(self, table, source, progress, catalog=catalog, unread=unread)

    # Tables that grow ---------------------------------------------------------------------------------------------

    def begin(self, table: Table, source: Any = None, *, catalog: Catalog | None = None) -> None:
        """Make a table that grows; see `discreet.engines.duckdb.append`."""
        begin(self, table, catalog=catalog)

    def append(
        self,
        table: Table,
        source: Any,
        *,
        id: str,  # noqa: A002  as owners say it
        catalog: Catalog | None = None,
        progress: Progress | None = None,
        unread: Unread | None = None,
    ) -> Appended:
        """Take more rows into a file that nobody reads; see `discreet.engines.duckdb.append`."""
        return append(self, table, source, id=id, catalog=catalog, progress=progress, unread=unread)

    def prepare_close(self, table: Table, period: Period, *, catalog: Catalog | None = None) -> str:
        """Make the file of the next period; see `discreet.engines.duckdb.close_period`."""
        return prepare_close(self, table, period, catalog=catalog)

    def finish_close(self, table: str, period: Period) -> None:
        """Have snapshots show the period."""
        finish_close(self, table, period)

    def verify_files(self, table: str) -> None:
        """Read the files of all closed periods, and refuse a store in which one is missing or was changed."""
        verify_files(self.growing(table), self.store.root)

    def forget(self, table: str, unit_value: object) -> None:
        """Have a person forgotten at the next close; see `discreet.engines.duckdb.erase`."""
        forget(self, table, unit_value)

    def stale(self) -> tuple[str, ...]:
        """The tables to take in again, because the table through which people are found was taken in since."""
        manifest = self.store.manifest()
        return tuple(stored.name for stored in manifest.tables.values() if manifest.is_stale(stored))

    def _opened(self) -> tuple[tuple[int, int, int] | None, DuckDBSnapshot]:
        for _ in range(_TRIES):
            stamp = self.store.stamp()
            manifest = self.store.manifest()
            try:
                return stamp, self._open(manifest)
            except Exception as failure:
                tell(self.owner_log, failure)
                if stamp == self.store.stamp():
                    break  # not an ingest that swapped files under our hands
        raise StoreError("the files of the store must be readable", str(self.store.root), "restore or take in again")

    def _open(self, manifest: Manifest) -> DuckDBSnapshot:
        settings = self.settings(self._spill(manifest))
        return run_attended(
            lambda: self._connected(manifest, settings),
            interrupt=lambda: None,  # it is over in milliseconds
        )

    def _connected(self, manifest: Manifest, settings: Settings) -> DuckDBSnapshot:
        """The files of a manifest, opened for questions; an audit opens them in a way that it can watch."""
        return DuckDBSnapshot(manifest, self.store.root, settings, self.timeout, self.owner_log)

    def settings(self, spill: Path | None) -> Settings:
        """DuckDB's settings, with the folder where it may put what does not fit in memory; none means nowhere."""
        found: Settings = {"temp_directory": "" if spill is None else str(spill)}
        if self.threads is not None:
            found["threads"] = self.threads
        if self.memory_limit is not None:
            found["memory_limit"] = self.memory_limit
        elif _physical_memory() > 2 * _MEMORY:
            found["memory_limit"] = f"{_MEMORY}B"
        return found

    def _spill(self, manifest: Manifest) -> Path | None:
        if self._scratch is None and manifest.tables:
            try:
                self._scratch = Scratch(self.store.scratch)
            except OSError:
                return None  # a folder that is read-only can still be asked, within memory
        return None if self._scratch is None else self._scratch.path / "spill"

    # Letting go ---------------------------------------------------------------------------------------------------

    def _abandon(self) -> None:
        """In a forked child: use nothing of the parent's, and do not end it either, for its threads are not here."""
        _INHERITED.append((self._snapshot, self._scratch))
        self._forget()

    def close(self) -> None:
        """Let go of the files; the next question opens them again."""
        if self._process != os.getpid():
            return self._abandon()
        with self._lock:
            for held in (self._snapshot, self._scratch):
                if held is not None:
                    held.close()
            self._snapshot = self._scratch = None
        return None


_INHERITED: list[object] = []
"""Kept for ever in a forked child, because to end a database without its threads is to wait for ever."""
