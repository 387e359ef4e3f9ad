"""The folder of the embedded store: one DuckDB file per version of a table, and a manifest that names the current ones.

DuckDB lets one process write a file, or several read it, never both. So a file is never written again once the
manifest names it: processes that answer questions read the old file while an ingest writes a new one, and the swap is
the replacement of the manifest. ``units.duckdb``, which maps people to ids, is opened by ingests alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from discreet.catalog.suggestion import suggestion
from discreet.engines.file_lock import FileLock
from discreet.engines.manifest import Manifest, Stored
from discreet.errors import InvalidValue, StoreError

__all__ = ["Store"]


class Store:
    """Where the files are."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "store"
        self.units = self.root / "units.duckdb"
        self.scratch = self.root / "scratch"
        self._manifest = self.root / "manifest.json"

    def manifest(self) -> Manifest:
        """The tables as they are now."""
        return Manifest.read(self._manifest)

    def stamp(self) -> tuple[int, int, int] | None:
        """Changes whenever the manifest is replaced; cheap enough to look at before every question."""
        try:
            found = self._manifest.stat()
        except FileNotFoundError:
            return None
        return found.st_ino, found.st_mtime_ns, found.st_size

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Be the only process that takes in data, or be refused."""
        try:
            self.root.mkdir(mode=0o700, parents=True, exist_ok=True)
            lock = FileLock(self.root / "ingest.lock")
            is_free = lock.acquire(wait=False)
        except OSError:
            raise StoreError("the store's folder must be writable", str(self.root)) from None
        if not is_free:
            raise StoreError("one ingest at a time", f"<another one into {self.root}>", "wait until it has finished")
        try:
            self._sweep()
            yield
        finally:
            lock.release()

    def publish(self, stored: Stored, fresh: Path) -> None:
        """Make a finished file the current version of its table. Only for who is `writing`."""
        fresh.replace(self.root / stored.file)
        self.manifest().with_table(stored).write(self._manifest)
        self._sweep()

    def remember(self, stored: Stored) -> None:
        """Make this the current version of a table that stays on a server. Only for who is `writing`."""
        self.manifest().with_table(stored).write(self._manifest)

    def _sweep(self) -> None:
        """Remove the files that no manifest names: old versions, and what was left by an ingest that was killed."""
        named = {table.file for table in self.manifest().tables.values()}
        for file in self.root.glob("rows-*"):
            if file.name.removesuffix(".wal") not in named:
                with suppress(OSError):  # some systems do not remove what a reader has open; the next ingest will
                    file.unlink()


def lookup(manifest: Manifest, table: str) -> Stored:
    """The table with this name, or a refusal that suggests one."""
    stored = manifest.find(table)
    if stored is None:
        known = (known.name for known in manifest.tables.values())
        raise InvalidValue("the store must hold the table", table, suggestion(table, known))
    if manifest.is_stale(stored):
        rule = f"{stored.name}: people are found through {stored.parent}, which was taken in again since"
        raise StoreError(rule, None, f"take in {stored.name} again")
    return stored
