"""Explanations and answers in the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.markup import escape
from rich.table import Table as Grid

from discreet.cli.output import console, say, whisper

if TYPE_CHECKING:
    from discreet.curator.answer import Answer
    from discreet.curator.curator import Explanation

__all__ = ["show_answer", "show_explanation"]

_LARGE = 1000


def show_explanation(found: Explanation) -> None:
    """Print what a question would cost and how good its answer would be."""
    from discreet.curator.amount import amount

    say(f"price    {found.price}" if found.price is not None else "free: public tables alone")
    free = "yes: asked before, free now"
    console.print(f"afforded {free if found.is_known else 'yes' if found.affordable else '[yellow]no[/]'}")
    say("groups   those with enough people" if found.groups is None else f"groups   {found.groups:,}")
    for error in found.errors:
        say(
            f"error    {error.column}: "
            + ("depends on the answer" if error.within is None else f"± {_rounded(error.within)}")
        )
    if len(found.shares) > 1:
        for what, share in found.shares:
            say(f"share    {what}: {amount(share)}")
    for note in found.notes:
        whisper(note)


def _rounded(reach: float) -> str:
    return f"{reach:,.0f}" if reach >= _LARGE else f"{reach:.4g}"


def show_answer(answer: Answer) -> None:
    """Print an answer with its error bars, notes and price."""
    grid = Grid(box=None, pad_edge=False)
    for name in answer.table.column_names:
        grid.add_column(escape(name), justify="right")
    for row in range(answer.table.num_rows):
        grid.add_row(*(escape(answer.cell(name, row)) for name in answer.table.column_names))
    console.print(grid)
    for line in (*answer.notes, answer.receipt()):
        if line:
            whisper(line)
