"""The folder of the embedded store: one DuckDB file per version of a table, and a manifest that names the current ones.

DuckDB lets one process write a file, or several read it, never both. So a file is never written again once the
manifest names it: processes that answer questions read the old file while an ingest writes a new one, and the swap is
the replacement of the manifest. ``units.duckdb``, which maps people to ids, is opened by ingests alone.

A version that was replaced is kept while a question was charged for it and has no answer; `Store.in_use` says so. It is
kept no longer than until its table is taken in once more: at most one earlier version of each table is there.

Processes exclude each other by a lock that is gone when its holder is gone, however it died.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

from discreet.catalog.names import suggestion
from discreet.engines.duckdb.growing import Growing
from discreet.engines.duckdb.manifest import Manifest, Stored
from discreet.errors import DiscreetError, InvalidValue, StoreError
from discreet.noise.source import fresh_id
from discreet.storage.files import force_to_disk, keep_name

__all__ = ["FileLock", "TableFiles"]


class FileLock:
    """An exclusive lock on a file. The operating system lets go of it when the process ends, also by kill -9."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._descriptor: int | None = None

    def acquire(self, *, wait: bool) -> bool:
        """Whether the lock is now held; without ``wait`` a lock held elsewhere is not waited for."""
        descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            return False
        except BaseException:
            os.close(descriptor)
            raise
        self._descriptor = descriptor
        return True

    def release(self) -> None:
        """Let go."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


class TableFiles:
    """Where the files are."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "store"
        self.units = self.root / "units.duckdb"
        self.scratch = self.root / "scratch"
        self.in_use: Callable[[], Collection[str]] = tuple
        """Which versions questions were charged for that have no answer yet; the curator knows."""
        self._manifest = self.root / "manifest.json"
        self._earlier = self.root / "earlier.json"
        self._charging = self.root / "charging.lock"
        self._read: tuple[tuple[int, int, int] | None, Manifest] = (None, Manifest())
        """The manifest as it was read last, and when that was."""

    def manifest(self) -> Manifest:
        """The tables as they are now."""
        stamp, (seen, known) = self.stamp(), self._read
        if stamp is None or stamp != seen:
            known = Manifest.read(self._manifest)
            self._read = (stamp if stamp == self.stamp() else None, known)
        return known

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
            self._read = (None, Manifest())  # who writes starts from what is there, not from what was seen
            self._forget_unused()
            yield
        finally:
            lock.release()

    @contextmanager
    def charging(self) -> Iterator[None]:
        """While a question is charged for the data as it is, nobody decides which earlier versions are unused."""
        try:
            descriptor = os.open(self._charging, os.O_RDONLY | os.O_CLOEXEC)
        except OSError:  # nothing was taken in since there are locks, so that there is nothing to decide
            yield
            return
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH)
            yield
        finally:
            os.close(descriptor)

    def earlier(self, versions: Mapping[str, str]) -> Manifest | None:
        """The tables as they were in these versions, others as they are now; None where one is no longer kept."""
        now, before = self.manifest(), Manifest.read(self._earlier)
        tables = dict(now.tables)
        for name, version in versions.items():
            found = [one for one in (now.find(name), before.find(name)) if one is not None and one.version == version]
            if not found:
                return None
            tables[name.casefold()] = found[0]
        return replace(now, tables=tables)

    def forget_unused(self) -> None:
        """Remove the earlier versions that no question waits for; where somebody takes in data, they do so."""
        with suppress(DiscreetError, OSError), self.writing():
            pass

    def secret(self) -> str:
        """What units' own orders are hashed with: the folder's for ever, or a fresh one where it has none yet."""
        return self.manifest().secret or fresh_id()

    def share(self, secret: str) -> None:
        """Write down a secret: an audit compares neighbours in which people who are in both choose the same."""
        with self.writing():
            self._write(replace(self.manifest(), secret=secret))

    def publish(self, stored: Stored, fresh: Path, secret: str) -> None:
        """Make a finished file the current version of its table. Only for who is `writing`."""
        manifest = replace(self.manifest(), secret=secret)
        replaced = manifest.find(stored.name)
        if replaced is not None:  # instead of the one before it
            Manifest.read(self._earlier).with_table(replaced).write(self._earlier)
        fresh.replace(self.root / stored.file)
        self._write(manifest.with_table(stored))
        self._forget_unused()

    def publish_growing(
        self, growing: Growing, fresh: Mapping[str, Path] | None = None, *, is_new: bool = False
    ) -> None:
        """Put finished files in their places, durably, and then make this what is known of a table that grows.

        Only for who is `writing`.
        """
        for name, file in (fresh or {}).items():
            force_to_disk(file)
            file.replace(self.root / name)
        keep_name(self._manifest)
        manifest = replace(self.manifest(), secret=self.secret())
        manifest = replace(manifest, ingests=manifest.ingests + is_new)
        self._write(manifest.with_growing(growing))
        self._forget_unused()

    def remember(self, stored: Stored) -> None:
        """Make this the current version of a table that stays on a server. Only for who is `writing`."""
        manifest = replace(self.manifest(), secret=self.secret())
        self._write(manifest.with_table(stored))

    def _write(self, manifest: Manifest) -> None:
        manifest.write(self._manifest)
        self._read = (None, Manifest())

    def _forget_unused(self) -> None:
        """Keep those earlier versions that a question waits for. Who charges for one now has done so, or plans anew."""
        lock = FileLock(self._charging)
        lock.acquire(wait=True)
        try:
            before = Manifest.read(self._earlier)
            used = frozenset(self.in_use()) if before.tables else frozenset[str]()
            kept = {name: stored for name, stored in before.tables.items() if stored.version in used}
            if len(kept) < len(before.tables):
                replace(before, tables=kept).write(self._earlier)
            self._sweep()
        finally:
            lock.release()

    def _sweep(self) -> None:
        """Remove the files that nothing names: old versions, and what was left by an ingest that was killed."""
        manifests = self.manifest(), Manifest.read(self._earlier)
        named = manifests[0].files() | manifests[1].files()
        for file in (*self.root.glob("rows-*"), *self.root.glob("open-*")):
            if file.name.removesuffix(".wal") not in named:
                with suppress(OSError):  # some systems do not remove what a reader has open; the next ingest will
                    file.unlink()


def lookup(manifest: Manifest, table: str) -> Stored:
    """The table with this name, or a refusal that suggests one."""
    stored = manifest.find(table)
    if stored is None:
        known = [one.name for one in manifest.tables.values()] + [one.name for one in manifest.growing.values()]
        raise InvalidValue("the store must hold the table", table, suggestion(table, known))
    if manifest.is_stale(stored):
        rule = f"{stored.name}: people are found through {stored.parent}, which was taken in again since"
        raise StoreError(rule, None, f"take in {stored.name} again")
    return stored
