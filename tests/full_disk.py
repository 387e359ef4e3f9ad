"""Disks that are nearly full: a real one of a few megabytes where that can be mounted, or a limit on files."""

from __future__ import annotations

import errno
import os
import resource
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

__all__ = ["SmallDisk", "can_mount", "files_of_at_most", "small_disk"]

_BLOCK = 4096
"""As on most disks. With smaller blocks, a full disk ends processes by SIGBUS: SQLite takes pages of 4,096 bytes."""


@contextmanager
def files_of_at_most(size: int) -> Iterator[None]:
    """A write past the limit is a short one, and the next fails."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@dataclass(frozen=True)
class SmallDisk:
    """A file system of its own, which a ballast fills as far as one likes."""

    root: Path
    kind: str
    """ext4 or tmpfs."""

    @property
    def _ballast(self) -> Path:
        return self.root / "ballast"

    def fill(self, room: int) -> None:
        """Leave about so many bytes free."""
        most = 2**20
        with self._ballast.open("ab", buffering=0) as file:
            while most >= _BLOCK and (found := self.free() - room) >= _BLOCK:
                try:
                    file.write(bytes(min(found // _BLOCK * _BLOCK, most)))
                    os.fsync(file.fileno())
                except OSError as fault:
                    if fault.errno != errno.ENOSPC:
                        raise
                    most //= 2

    def empty(self) -> None:
        """Make room again."""
        self._ballast.unlink(missing_ok=True)
        os.sync() if self.kind == "ext4" else None

    def free(self) -> int:
        """Bytes that can still be written."""
        found = os.statvfs(self.root)
        return found.f_bavail * found.f_frsize


def can_mount() -> bool:
    """Whether this user may mount a disk here, at least in memory."""
    with suppress(OSError, subprocess.CalledProcessError), small_disk(2**21):
        return True
    return False


@contextmanager
def small_disk(size: int) -> Iterator[SmallDisk]:
    """A disk of ``size`` bytes: ext4 in a file where loop devices work, tmpfs elsewhere; both need root."""
    place = Path(tempfile.mkdtemp(prefix="small-disk-"))
    root = place / "disk"
    root.mkdir()
    try:
        kind = _mounted(place / "image", root, size)
        try:
            yield SmallDisk(root, kind)
        finally:
            subprocess.run(["umount", "--lazy", str(root)], check=True, capture_output=True)
    finally:
        shutil.rmtree(place, ignore_errors=True)


def _mounted(image: Path, root: Path, size: int) -> str:
    with image.open("wb") as file:
        file.truncate(size)
    try:
        words = ["-q", "-m", "0", "-b", str(_BLOCK), "-O", "^has_journal", str(image)]
        _run("mkfs.ext4", *words)
        _run("mount", "-o", "loop", str(image), str(root))
    except (OSError, subprocess.CalledProcessError):
        _run("mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(root))
        return "tmpfs"
    return "ext4"


def _run(*words: str) -> None:
    path = f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"
    subprocess.run(words, check=True, capture_output=True, env={**os.environ, "PATH": path})
