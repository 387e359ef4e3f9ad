"""The witness: a second file that remembers how far the ledger had come.

A copy of the ledger from last week is consistent in itself. The witness is not in that copy: before any answer leaves,
one line with the ledger's position and hash is appended here and forced to disk. A ledger that is shorter than its
witness, or disagrees with it, has been rolled back.
"""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["Witness"]


class Witness:
    """An append-only file of positions and hashes."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def create(self) -> None:
        """Start an empty witness; fails where one exists."""
        os.close(os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))

    def attest(self, position: int, head: bytes) -> None:
        """Remember, durably, that the ledger reached ``position`` with this hash."""
        line = f"{position} {head.hex()}\n".encode()
        file = os.open(self.path, os.O_WRONLY | os.O_APPEND)
        try:
            if os.write(file, line) != len(line):
                raise OSError("the witness could not be written in full")
            os.fdatasync(file)
        finally:
            os.close(file)

    def attested(self) -> dict[int, bytes]:
        """Position → hash of every complete line; a line cut short by a crash attests nothing."""
        found = {}
        for line in self.path.read_bytes().split(b"\n")[:-1]:
            position, _, head = line.partition(b" ")
            found[int(position)] = bytes.fromhex(head.decode())
        return found
