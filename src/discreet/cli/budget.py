"""``discreet budget``: what was granted, spent and left, also in questions."""

from __future__ import annotations

from typing import Any

from rich.markup import escape
from rich.table import Table as Grid

from discreet.cli.options import DEFAULT_FOLDER, Folder
from discreet.cli.output import console, opened, refusals, say, whisper

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
        if any("delta_cap" in amounts for amounts in found.values()):
            whisper("δ for keys pays for groups that nobody listed.")
        return None


def _show(found: dict[str, dict[str, Any]]) -> None:
    from discreet.curator.amount import amount, balance
    from discreet.privacy.shown import shown

    grid = Grid(box=None, pad_edge=False)
    for heading in ("account", "granted", "spent", "left", "in questions"):
        grid.add_column(heading, justify="left" if heading in ("account", "in questions") else "right")
    for name, amounts in sorted(found.items()):
        sums = balance(amounts["cap"]), amount(amounts["spent"]), balance(amounts["left"])
        grid.add_row(_account(name), *sums, _more(amounts["more"]))
        if "delta_cap" in amounts:
            deltas = (f"δ {shown(amounts[f'delta_{key}'])}" for key in ("cap", "spent", "left"))
            grid.add_row("  δ for keys", *deltas, "")
    console.print(grid)


def _account(name: str) -> str:
    """A table, or an analyst below the table; see the curator's names of accounts."""
    table, slash, analyst = name.partition("/")
    spelled = analyst if slash else table
    return ("  " if slash else "") + escape(spelled.replace("%2F", "/").replace("%25", "%"))


def _more(count: int | None) -> str:
    if count is None:
        return "nothing asked yet"
    return f"about {count:,} more like the last one" if count else "none like the last one"
