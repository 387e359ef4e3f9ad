"""Small files that are there as a whole or not at all, whatever happens while they are written.

A file is written beside its place, forced to the disk, and given its name in one step; then the name is forced too. A
full disk, a kill or a power cut leaves the file as it was, or as it shall be. What a killed process left beside it has
a name that nobody reads, and is in nobody's way.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import get_ident

__all__ = ["alone_in", "force_to_disk", "keep_name", "write_whole"]


def write_whole(path: Path, content: bytes, mode: int = 0o600) -> None:
    """Make ``content`` the file at ``path``, durably; where that fails, the file is as it was."""
    draft = path.with_name(f".new-{os.getpid()}-{get_ident()}")
    draft.unlink(missing_ok=True)
    try:
        with open(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, mode), "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
    keep_name(path)


def force_to_disk(path: Path) -> None:
    """Force what was written to a file to the disk: a name that outlives a power cut shall not name less."""
    file = os.open(path, os.O_RDONLY)
    try:
        os.fsync(file)
    finally:
        os.close(file)


def keep_name(path: Path) -> None:
    """Force the folder of a file to the disk: without that, a power cut can take a new name back."""
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


@contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    """Be the only one who starts something in a folder, as far as its file system knows locks."""
    opened = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):  # some file systems lock no folders
            fcntl.flock(opened, fcntl.LOCK_EX)
        yield
    finally:
        os.close(opened)
