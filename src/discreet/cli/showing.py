"""Explanations and answers in the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.markup import escape
from rich.table import Table as Grid

from discreet.cli.output import console, whisper

if TYPE_CHECKING:
    from discreet.curator.answer import Answer
    from discreet.curator.curator import Explanation

__all__ = ["show_answer", "show_explanation"]


def show_explanation(found: Explanation) -> None:
    """Print what a question would cost and how good its answer would be."""
    for name, words in found.lines():
        style = "yellow" if (name, words) == ("afforded", "no") else None
        console.print(f"{name:<8} {words}", style=style, markup=False, soft_wrap=True)
    for note in found.notes:
        whisper(note)


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
