"""A lock between processes that is gone when its holder is gone, however it died."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

__all__ = ["FileLock"]


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
