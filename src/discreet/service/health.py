"""Health: whether the service can answer now. It says yes or no, and nothing about why."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from threading import Lock

from discreet.books.book import Database
from discreet.errors import DiscreetError
from discreet.service.house import House

__all__ = ["Health"]

_SECONDS = 1.0


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
            self._house.store.write(_change_nothing)
        except DiscreetError:
            return False
        file = self._house.curator.folder / "ledger.db"
        return not file.exists() or os.access(file, os.W_OK)  # there is none where the ledger is on a server


def _change_nothing(database: Database) -> None:
    """What asks for the right to write."""
    database.execute("UPDATE member SET name = name WHERE 1 = 0")
