"""Distrust: once a verification found a ledger wrong, no question is answered until another finds it sound.

The file ``ledger.problems`` tells every process that uses the folder, also one that is started later, and says to the
owner what was found. It is removed by the next verification of the whole ledger that finds nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from discreet.errors import LedgerError

__all__ = ["check_trusted", "distrust", "is_distrusted", "trust"]

FILE = "ledger.problems"
_MOST = 100
"""Problems that are written down; the first ones tell most."""
_HERE: set[Path] = set()
"""Folders that this process found wrong, where the file could not be written."""


def distrust(folder: Path, problems: Sequence[str]) -> None:
    """From now on no question is answered here."""
    try:
        (folder / FILE).write_text("".join(f"{one}\n" for one in problems[:_MOST]), encoding="utf-8")
    except OSError:
        _HERE.add(folder.resolve())


def trust(folder: Path) -> None:
    """The whole ledger was found sound."""
    _HERE.discard(folder.resolve())
    with suppress(OSError):
        (folder / FILE).unlink(missing_ok=True)


def is_distrusted(folder: Path) -> bool:
    """Whether the ledger was found wrong, by this process or another one."""
    return (folder / FILE).exists() or (bool(_HERE) and folder.resolve() in _HERE)


def check_trusted(folder: Path) -> None:
    """Refuse whatever would be charged or answered from a ledger that was found wrong."""
    if is_distrusted(folder):
        remedy = "see discreet ledger verify; questions are answered again once it finds nothing"
        raise LedgerError("the ledger must be sound", "<a verification found it wrong>", remedy)
