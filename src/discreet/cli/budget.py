"""``discreet budget``: what was granted, spent and left, also in questions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.markup import escape
from rich.table import Table as Grid

from discreet.cli.options import DEFAULT_FOLDER, Folder
from discreet.cli.output import console, opened, refusals, say, whisper

if TYPE_CHECKING:
    from discreet.curator.remaining import Balances

__all__ = ["budget"]


def budget(folder: Folder = DEFAULT_FOLDER) -> None:
    """Show what was granted, spent and left, per table and per analyst with a cap.

    [dim]Example:[/]  discreet budget
    """
    with refusals():
        found = opened(folder).budget()
        if not found:
            return say("no protected table yet: discreet protect")
        _show(found)
        return None


def _show(found: Balances) -> None:
    grid = Grid(box=None, pad_edge=False)
    for heading in found.HEADS:
        grid.add_column(heading, justify="left" if heading in ("account", "in questions") else "right")
    for line in found.lines():
        grid.add_row(*map(escape, line))
    console.print(grid)
    for note in found.notes():
        whisper(note)
