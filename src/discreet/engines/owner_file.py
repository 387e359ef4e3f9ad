"""The owner's log: a file in the curator's folder that says why a run failed, in the database's own words.

They can hold values of rows. So the file is for the owner alone, as the rows beside it are, and nothing of it reaches
an analyst, the log of a service or a metric. It is cut in two before it grows large: the older part is ``owner.log.1``.
"""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

__all__ = ["FILE", "OwnerFile"]

FILE = "owner.log"
_LARGEST = 2**20


class OwnerFile:
    """Writes each failure on one line, behind the time; several processes may."""

    def __init__(self, folder: Path) -> None:
        """Nothing is there before the first failure."""
        self._path = folder / FILE

    def __call__(self, words: str) -> None:
        """Write words down."""
        line = f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ} {' '.join(words.split())}\n"
        number = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        with open(number, "ab") as file:
            file.write(line.encode("utf-8", "backslashreplace"))
            is_large = file.tell() > _LARGEST
        if is_large:
            self._path.replace(self._path.with_name(f"{FILE}.1"))
