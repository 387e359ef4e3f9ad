"""``discreet budget``: what was granted, spent and left, also in questions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.markup import escape
from rich.table import Table as Grid

from discreet.cli.output import DEFAULT_FOLDER, AsJson, Folder, console, emit, opened, refusals, say, whisper

if TYPE_CHECKING:
    from discreet.curator.ledger.remaining import Balances

__all__ = ["budget"]


def budget(folder: Folder = DEFAULT_FOLDER, as_json: AsJson = False) -> None:
    """Show what was granted, spent and left, per table and per analyst with a cap.

    [dim]Example:[/]  discreet budget
    [dim]Example:[/]  discreet budget --json
    """
    with refusals():
        found = opened(folder).budget()
        if as_json:
            return emit(found.to_dict())
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
