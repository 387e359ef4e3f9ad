"""Faults at the n-th write of this process: it dies there, or the power is cut, or the disk is full from there on.

Every way by which Python and SQLite change files is counted: written bytes, forced writes, truncated, renamed, linked
and removed files. SQLite is watched by a VFS of its own, and files of Python go through ``_pyio``, which writes by
``os.write``. What other libraries write by themselves (DuckDB, while it takes in rows) is not seen.

A cut of the power is acted out: what was not forced to the disk is taken back before the process dies. Names that were
not forced either survive (then files may be empty), or are taken back too, as the disk pleases.
"""

from __future__ import annotations

import _pyio
import builtins
import errno
import io
import os
import signal
import time
from collections.abc import Callable
from enum import Enum
from pathlib import Path
from typing import Any

import apsw

__all__ = ["Fault", "Faults"]


class Fault(Enum):
    """What happens at the chosen write."""

    NONE = "none"
    """Nothing: the writes are counted."""
    KILL = "killed before it"
    TORN = "killed in the middle of it"
    CUT = "power cut before it, names survive"
    CUT_NAMES = "power cut before it, names are lost"
    FULL = "disk full from there on, then freed"


def _die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(60)


class Faults:
    """Counts the writes of this process from the moment that it is made, and lets one of them go wrong."""

    def __init__(self, fault: Fault = Fault.NONE, at: int = 0) -> None:
        self.count = 0
        self._fault, self._at = fault, at
        self._is_full = False
        self._disk = _Disk()
        self._real = {name: getattr(os, name) for name in _WATCHED}
        for name, real in self._real.items():
            setattr(os, name, getattr(self, f"_{name}")(real))
        io.open = builtins.open = _pyio.open  # type: ignore[assignment]
        self._vfs = _Files(self)

    def free(self) -> None:
        """There is room again."""
        self._is_full = False
        self._at = 0

    def happens(self, half: Callable[[], object] = lambda: None) -> bool:
        """Count one write; ``half`` does a part of it. Whether the disk is full."""
        self.count += 1
        if self.count == self._at:
            match self._fault:
                case Fault.KILL:
                    _die()
                case Fault.TORN:
                    half()
                    _die()
                case Fault.CUT | Fault.CUT_NAMES:
                    self._disk.lose(self._real, names=self._fault is Fault.CUT_NAMES)
                    _die()
                case Fault.FULL:
                    self._is_full = True
                    half()
        return self._is_full

    # What Python does to files ----------------------------------------------------------------------------------------

    def _open(self, real: Any) -> Any:
        def opened(path: Any, flags: int, *rest: Any, **named: Any) -> int:
            if flags & (os.O_WRONLY | os.O_RDWR):
                is_new = bool(flags & os.O_CREAT) and not os.path.exists(path)
                if is_new and self.happens():
                    raise _full()
                self._disk.opened(str(path), is_new)
            return int(real(path, flags, *rest, **named))

        return opened

    def _write(self, real: Any) -> Any:
        def written(descriptor: int, data: Any) -> int:
            if _is_file(descriptor):
                short = bytes(data)[: len(data) // 2]
                if self.happens(lambda: real(descriptor, short)):
                    if short and self.count == self._at:
                        return len(short)  # a full disk takes a part, and the next write fails
                    raise _full()
            return int(real(descriptor, data))

        return written

    def _sync(self, real: Any) -> Any:
        def synced(descriptor: int) -> None:
            if self.happens():
                raise _full()
            real(descriptor)
            self._disk.synced(os.readlink(f"/proc/self/fd/{descriptor}"))

        return synced

    _fsync = _fdatasync = _sync

    def _ftruncate(self, real: Any) -> Any:
        def cut(descriptor: int, length: int) -> None:
            self.happens()  # a full disk lets go of what it has
            real(descriptor, length)

        return cut

    def _renamed(self, real: Any) -> Any:
        def renamed(old: Any, new: Any) -> None:
            self.happens()
            self._disk.renamed(str(old), str(new))
            real(old, new)

        return renamed

    _rename = _replace = _renamed

    def _link(self, real: Any) -> Any:
        def linked(old: Any, new: Any, **named: Any) -> None:
            self.happens()
            real(old, new, **named)
            self._disk.linked(str(old), str(new))

        return linked

    def _unlink(self, real: Any) -> Any:
        def unlinked(path: Any, **named: Any) -> None:
            self.happens()
            self._disk.removed(str(path))
            real(path, **named)

        return unlinked

    # What SQLite does -------------------------------------------------------------------------------------------------

    @property
    def disk(self) -> _Disk:
        return self._disk


_WATCHED = ("open", "write", "fsync", "fdatasync", "ftruncate", "rename", "replace", "link", "unlink")


def _full() -> OSError:
    return OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def _is_file(descriptor: int) -> bool:
    return os.readlink(f"/proc/self/fd/{descriptor}").startswith("/")


class _Disk:
    """What would be on the disk after the power was cut now."""

    def __init__(self) -> None:
        self._kept: dict[str, bytes | None] = {}
        """Per file that was opened to be written: what of it was forced; None where not even the name was."""
        self._names: list[tuple[str, bytes | None]] = []
        """Names that were changed and not forced, in order, and what they stood for before."""

    def opened(self, path: str, is_new: bool) -> None:
        if is_new:
            self._names.append((path, None))
            self._kept[path] = b""
        elif path not in self._kept:
            self._kept[path] = _content(path)

    def synced(self, path: str) -> None:
        if os.path.isdir(path):
            self._names = [(name, before) for name, before in self._names if os.path.dirname(name) != path]
            return
        self._kept[path] = _content(path)
        if (path, None) in self._names:  # the usual file systems keep the name of a new file with it
            self._names.remove((path, None))

    def renamed(self, old: str, new: str) -> None:
        self._names += [(old, self._kept.get(old, _content(old))), (new, self._kept.get(new, _content(new)))]
        self._kept[new] = self._kept.pop(old, _content(old))

    def linked(self, old: str, new: str) -> None:
        self._names.append((new, None))
        self._kept[new] = self._kept.get(old, _content(old))

    def removed(self, path: str) -> None:
        if os.path.exists(path):
            self._names.append((path, self._kept.pop(path, _content(path))))

    def lose(self, real: dict[str, Any], *, names: bool) -> None:
        """Take back what was not forced."""
        for path, kept in self._kept.items():
            if os.path.exists(path):
                _put(path, kept or b"", real)
        for path, before in reversed(self._names if names else []):
            if not os.path.isdir(os.path.dirname(path)):
                continue  # of a scratch folder that is gone as a whole
            if before is not None:
                _put(path, before, real)
            elif os.path.exists(path):
                real["unlink"](path)


def _content(path: str) -> bytes | None:
    return Path(path).read_bytes() if os.path.isfile(path) else None


def _put(path: str, content: bytes, real: dict[str, Any]) -> None:
    descriptor = real["open"](path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    real["write"](descriptor, content)
    os.close(descriptor)


class _Files(apsw.VFS):
    """The files of SQLite."""

    def __init__(self, faults: Faults) -> None:
        self.faults = faults
        super().__init__("faulty", "unix", makedefault=True)

    def xOpen(self, name: Any, flags: list[int]) -> Any:  # noqa: N802
        path = name.filename() if isinstance(name, apsw.URIFilename) else name
        is_kept = path is not None and not path.endswith("-shm")
        if is_kept:
            is_new = not os.path.exists(path)
            if is_new and self.faults.happens():
                raise apsw.CantOpenError("no room for a new file")
            self.faults.disk.opened(path, is_new)
            return _File(self.faults, path, name, flags, is_new and not path.endswith(".db"))
        return _File(self.faults, None, name, flags, False)

    def xDelete(self, name: str, syncdir: bool) -> None:  # noqa: N802
        self.faults.happens()
        self.faults.disk.removed(name)
        super().xDelete(name, syncdir)


class _File(apsw.VFSFile):
    def __init__(self, faults: Faults, path: str | None, name: Any, flags: list[int], is_new_log: bool) -> None:
        self.faults, self.path, self._is_new_log = faults, path, is_new_log
        super().__init__("unix", name, flags)

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802
        if self.faults.happens(lambda: super(_File, self).xWrite(data[: len(data) // 2], offset)):
            raise apsw.FullError("a full disk")
        super().xWrite(data, offset)

    def xSync(self, flags: int) -> None:  # noqa: N802
        if self.faults.happens():
            raise apsw.IOError("a full disk")
        super().xSync(flags)
        if self.path is not None:
            self.faults.disk.synced(self.path)
            if self._is_new_log:  # with a log that it made, SQLite forces the folder as well
                self.faults.disk.synced(os.path.dirname(self.path))
                self._is_new_log = False

    def xTruncate(self, size: int) -> None:  # noqa: N802
        self.faults.happens()
        super().xTruncate(size)
