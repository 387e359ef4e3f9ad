"""Health: whether the service can answer now. It says yes or no, and nothing about why.

It says no where a book cannot be read or written, and where a verification found the ledger wrong.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryFile
from threading import Lock

from discreet.books.book import Database
from discreet.curator.distrust import check_trusted
from discreet.errors import DiscreetError
from discreet.service.house import House

__all__ = ["Health"]

_SECONDS = 1.0
_ROOM = 2**16
"""Bytes that must fit the disk before questions are taken."""


class Health:
    """Whether a house can read and write its books. Anybody may ask, so it looks once a second at most."""

    def __init__(self, house: House, clock: Callable[[], float] = time.monotonic) -> None:
        """Of ``house``."""
        self._house = house
        self._clock = clock
        self._lock = Lock()
        self._looked: float | None = None
        self._found = False

    def is_ready(self) -> bool:
        """Whether the books can be read and written."""
        with self._lock:
            now = self._clock()
            if self._looked is None or now - self._looked >= _SECONDS:
                self._found, self._looked = self._look(), now
            return self._found

    def _look(self) -> bool:
        try:
            self._house.curator.ledger.head()
            check_trusted(self._house.curator.folder)
            self._house.store.write(_change_nothing)
            _write_some(self._house.curator.folder)
        except (DiscreetError, OSError):
            return False
        file = self._house.curator.folder / "ledger.db"
        return not file.exists() or os.access(file, os.W_OK)  # there is none where the ledger is on a server


def _write_some(folder: Path) -> None:
    """What fails on a full disk, where changing nothing does not: as much as a charge and an answer take, durably."""
    with TemporaryFile(dir=folder) as file:
        file.write(bytes(_ROOM))
        file.flush()
        os.fsync(file.fileno())


def _change_nothing(database: Database) -> None:
    """What asks for the right to write."""
    database.execute("UPDATE member SET name = name WHERE 1 = 0")
