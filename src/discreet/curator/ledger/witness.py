"""The witness: a second file that remembers how far the ledger had come.

A copy of the ledger from last week is consistent in itself. The witness is not in that copy: before any answer leaves,
one line with the ledger's position and hash is appended here and forced to disk. A ledger that is shorter than its
witness, or disagrees with it, has been rolled back.

A line that could not be written whole, as on a full disk, attests nothing, because nobody heard of what it was written
for. It is cut off again at once, or by whoever writes next: behind a piece, no line could be read.
"""

from __future__ import annotations

import fcntl
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

from discreet.errors import LedgerError
from discreet.storage.files import alone_in, write_whole

__all__ = ["Witness", "attestation"]


_LINE = re.compile(rb"([0-9]+) ([0-9a-f]{64})")
_LONGEST_LINE = 128
_PAGE = 500
"""Lines that are held against the ledger together."""


class Witness:
    """An append-only file of positions and hashes."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def create(self, position: int, head: bytes) -> None:
        """Start a witness of a ledger that has come so far; one that exists stays as it is.

        It has its first line or is not there: an empty one would say nothing, and no ledger is opened beside such.
        """
        with alone_in(self.path.parent):
            if not self.path.exists():
                write_whole(self.path, attestation(position, head))

    def attest(self, position: int, head: bytes) -> None:
        """Remember, durably, that the ledger reached ``position`` with this hash."""
        line = attestation(position, head)
        with _alone(self.path) as file:
            end = _cut_back(file)
            try:
                if os.write(file, line) != len(line):
                    raise OSError("the witness could not be written in full")
                os.fdatasync(file)
            except OSError:
                with suppress(OSError):  # whoever writes next cuts it off
                    os.ftruncate(file, end)
                raise

    def attested(self) -> dict[int, bytes]:
        """Position → hash of every whole line; a piece at the end attests nothing, and one elsewhere is refused."""
        return {position: head for lines in self.pages(0, self.size()) for position, head in lines}

    def size(self) -> int:
        """Bytes up to the end of the last whole line."""
        with self.path.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            start = max(size - _LONGEST_LINE, 0)
            tail = os.pread(file.fileno(), size - start, start)
        return start + tail.rfind(b"\n") + 1

    def pages(self, start: int, end: int) -> Iterator[list[tuple[int, bytes]]]:
        """What the lines between two places in the file attest, some lines at a time."""
        number, page = 1, []
        with self.path.open("rb") as file:
            if start:
                file.seek(start - 1)
                if file.read(1) != b"\n":
                    raise _damaged(f"the line before place {start}")
            while file.tell() < end:
                page.append(_read(file.readline(end - file.tell()), number if start == 0 else None))
                number += 1
                if len(page) == _PAGE:
                    yield page
                    page = []
        yield page

    def lines(self) -> list[bytes]:
        """Every line that was ended, as it stands."""
        return self.path.read_bytes().split(b"\n")[:-1]

    def rewrite(self, mend: Callable[[bytes], bytes]) -> Path:
        """Put mended lines in the place of all lines, in one step; the file as it was is kept beside it."""
        stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S")
        kept = self.path.with_name(f"damaged-{self.path.name}-{stamp}")
        with _alone(self.path):
            write_whole(kept, self.path.read_bytes())
            write_whole(self.path, b"".join(mend(line) + b"\n" for line in self.lines()))
        return kept


def _read(line: bytes, number: int | None) -> tuple[int, bytes]:
    read = _LINE.fullmatch(line.removesuffix(b"\n"))
    if read is None or not line.endswith(b"\n"):
        raise _damaged("a late line" if number is None else f"line {number}")
    return int(read[1]), bytes.fromhex(read[2].decode())


def _damaged(what: str) -> LedgerError:
    rule = f"{what} of the witness must be a position and a hash"
    return LedgerError(rule, "<a damaged line>", "see discreet ledger repair")


def attestation(position: int, head: bytes) -> bytes:
    """A line of a witness."""
    return f"{position} {head.hex()}\n".encode()


@contextmanager
def _alone(path: Path) -> Iterator[int]:
    """The file, while no other process writes to it."""
    while True:
        file = os.open(path, os.O_RDWR | os.O_APPEND)
        try:
            fcntl.flock(file, fcntl.LOCK_EX)
            if os.fstat(file).st_ino == path.stat().st_ino:  # a repair may have put another in its place meanwhile
                yield file
                return
        finally:
            os.close(file)


def _cut_back(file: int) -> int:
    """Cut off what stands behind the last whole line, and return where that ends."""
    size = os.fstat(file).st_size
    tail = os.pread(file, _LONGEST_LINE, max(size - _LONGEST_LINE, 0))
    piece = len(tail) - (tail.rfind(b"\n") + 1)
    if piece == len(tail) and size > len(tail):
        raise LedgerError("a line of the witness is never so long", f"<{piece} letters>", "see discreet ledger repair")
    if piece:
        os.ftruncate(file, size - piece)
    return size - piece
