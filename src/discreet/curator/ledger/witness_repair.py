"""Mends a witness whose lines stand behind pieces of others, without weakening what it proves.

Versions before left a piece in place when a line could not be written whole, and wrote the next line behind it. Such a
line ends in a whole one. It is replaced by that one if the ledger has this very record: what was attested then stays
attested, and what is taken away attested nothing, because nobody heard of what it was written for. Any other line stays
as it is, for it may be the trace of a ledger that was put back. The old file is kept beside the new one, and the repair
is a record of the ledger.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from discreet.curator.ledger.ledger import Ledger

__all__ = ["WitnessRepair", "repair_witness"]


_WHOLE = re.compile(rb"([0-9]+) ([0-9a-f]{64})")
_MOST_DIGITS = 18
"""Positions have no more: a ledger counts in 64 bits."""
_ENDING = re.compile(rb"([0-9]+) ([0-9a-f]{64})$")


@dataclass(frozen=True)
class WitnessRepair:
    """What a repair did."""

    mended: tuple[int, ...]
    """The lines that were replaced by the whole line they end in, counted from 1."""
    left: tuple[int, ...]
    """The damaged lines that nothing could be said about, and that stay."""
    kept: Path | None
    """Where the file is as it was; None where nothing was mended."""
    record: int | None = None
    """The record of the ledger."""


def repair_witness(folder: Path, by: str | None = None) -> WitnessRepair:
    """Mend the witness of a folder where it can be mended."""
    ledger = Ledger(folder)
    try:
        lines = ledger.witness.lines()
        pairs = [(number, line, _mended(line, ledger)) for number, line in enumerate(lines, start=1)]
        mended = tuple(number for number, line, now in pairs if now != line)
        left = tuple(number for number, _, now in pairs if _WHOLE.fullmatch(now) is None)
        if not mended:
            return WitnessRepair(mended, left, None)
        kept = ledger.witness.rewrite(lambda line: _mended(line, ledger))
        return WitnessRepair(mended, left, kept, ledger.record_repair(ledger.witness.path.name, mended, by))
    finally:
        ledger.close()


def _hash_at(ledger: Ledger, position: int) -> bytes | None:
    entry = ledger.entry(position)
    return None if entry is None else entry.hash


def _mended(line: bytes, ledger: Ledger) -> bytes:
    """The whole line that a line ends in; the line itself where there is none to believe."""
    ending = _ENDING.search(line)
    if ending is None:
        return line
    digits, head = ending[1][-_MOST_DIGITS:], ending[2]
    # The piece before may end in digits, too: the position is those of them at which the ledger has this hash.
    for start in range(len(digits)):
        if digits[start : start + 1] != b"0" and _hash_at(ledger, int(digits[start:])) == bytes.fromhex(head.decode()):
            return digits[start:] + b" " + head
    return line
