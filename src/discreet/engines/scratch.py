"""Scratch folders: where a process spills rows that do not fit in memory, and what it leaves behind when it is killed.

Each folder is held by a lock of its process. Whoever makes a new one first removes those that nobody holds any more, so
that rows spilled by a process that was killed do not stay on the disk.
"""

from __future__ import annotations

import os
import shutil
import weakref
from contextlib import suppress
from pathlib import Path

from discreet.engines.file_lock import FileLock
from discreet.noise.source import fresh_id

__all__ = ["Scratch"]


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
