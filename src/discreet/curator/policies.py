"""The policy files of a curator: read when they change, and changed by one owner at a time.

Several processes may serve one folder. Whoever changes a policy does so under a lock between processes; the others
see from names, times and sizes of the files that something changed, and read them again.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from urllib.parse import quote

from discreet.catalog.catalog import Catalog
from discreet.catalog.policy_file import read_folder
from discreet.catalog.policy_file import write as write_policy
from discreet.catalog.table import Table
from discreet.engines.file_lock import FileLock
from discreet.errors import StoreError

__all__ = ["Policies", "Stamp"]

_LONGEST_NAME = 240
"""Letters of a file's name, so that those around it while it is written fit the 255 of most file systems."""

Stamp = tuple[tuple[str, int, int, int], ...]
"""Name, inode, time and size of every policy file: another one whenever a file was changed."""


class Policies:
    """The folder ``policies`` of a curator."""

    def __init__(self, folder: Path) -> None:
        """Below the curator's ``folder``; made where it is missing."""
        self.folder = folder / "policies"
        self.folder.mkdir(parents=True, exist_ok=True)
        self._lock = folder / "policies.lock"

    def stamp(self) -> Stamp:
        """Cheap enough to look at before every question."""
        with os.scandir(self.folder) as found:
            facts = [(entry.name, entry.stat()) for entry in found if not entry.name.startswith(".")]
        return tuple(sorted((name, fact.st_ino, fact.st_mtime_ns, fact.st_size) for name, fact in facts))

    def read(self) -> Catalog:
        """The tables as the files describe them now."""
        return read_folder(self.folder)

    def digest(self) -> str:
        """A hash of the names and bytes of all files."""
        total = sha256()
        for file in sorted(self.folder.glob("*.y*ml")):
            total.update(sha256(file.name.encode()).digest() + sha256(file.read_bytes()).digest())
        return total.hexdigest()

    @contextmanager
    def changing(self) -> Iterator[None]:
        """Be the only one who changes policies, in this process and in others."""
        lock = FileLock(self._lock)
        try:
            lock.acquire(wait=True)
        except OSError:
            raise StoreError("the curator's folder must be writable", str(self._lock.parent)) from None
        try:
            yield
        finally:
            lock.release()

    def write(self, table: Table) -> None:
        """Write the policy of a table; only for who is `changing`."""
        # A power cut does not bring the old policy back, and with it who may ask.
        write_policy(table, self.folder / f"{_file_name(table)}.yaml")


def _file_name(table: Table) -> str:
    """A file of the policies' own folder, whatever the table is called; a colon is in no name that is spelled out."""
    name = quote(table.name, safe="").replace(".", "%2E")
    return name if len(name) <= _LONGEST_NAME else f"sha256:{sha256(table.name.encode()).hexdigest()}"
