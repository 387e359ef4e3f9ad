"""What an ε means, in the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.constrain import Constrain
from rich.padding import Padding
from rich.panel import Panel
from rich.table import Table as Grid
from rich.text import Text

from discreet.understanding.chapter import Bar, Cell, Chapter
from discreet.understanding.chapters import HOW_ROUNDED, INTRODUCTION, WORST_CASE, chapters, title, verdict_words

if TYPE_CHECKING:
    from discreet.understanding.understanding import Understanding

__all__ = ["understanding_text"]

_WIDTH = 100

_BLOCKS = 12
_SEEN = 0.01
"""A bar that would round to nothing is one block from here on."""
_COLOURS = {"strong": "green", "moderate": "yellow", "limited": "yellow", "weak": "red", "next to none": "red"}


def understanding_text(found: Understanding) -> RenderableType:
    """Everything, one chapter below the other."""
    colour = _COLOURS[found.verdict.name]
    verdict = Panel(
        Text(f"{found.verdict.words} {WORST_CASE}"),
        title=Text(verdict_words(found), style=f"bold {colour}"),
        title_align="left",
        border_style=colour,
    )
    parts: list[RenderableType] = [Text(title(found.given), style="bold"), Text(INTRODUCTION), verdict]
    for chapter in chapters(found):
        parts.extend(_chapter(chapter))
    return Constrain(Group(*parts, Padding(Text(HOW_ROUNDED, style="dim"), (1, 0, 0, 0))), _WIDTH)


def _chapter(chapter: Chapter) -> list[RenderableType]:
    words = "\n".join(chapter.words)
    return [
        Padding(Text(chapter.title, style="bold"), (1, 0, 0, 0)),
        Text(words),
        *([_table(chapter)] if chapter.rows else []),
        *(Text(note, style="dim") for note in chapter.notes),
    ]


def _table(chapter: Chapter) -> RenderableType:
    grid = Grid(box=None, pad_edge=False, header_style="dim")
    for place, name in enumerate(chapter.header):
        is_bar = isinstance(chapter.rows[0][place], Bar)
        grid.add_column(name, justify="left" if is_bar or place == 0 else "right", no_wrap=is_bar)
    for row in chapter.rows:
        grid.add_row(_cell(row[0]), *(_cell(_unbroken(cell)) for cell in row[1:]))
    return Padding(grid, (0, 0, 0, 2))


def _unbroken(cell: Cell) -> Cell:
    return cell.replace(" ", "\N{NO-BREAK SPACE}") if isinstance(cell, str) else cell


def _cell(cell: Cell) -> Text:
    if isinstance(cell, str):
        return Text(cell)
    start, until = round(_BLOCKS * cell.start), round(_BLOCKS * cell.until)
    if until == start and (cell.start > 0 or cell.until >= _SEEN):
        start, until = (start, until + 1) if until < _BLOCKS else (start - 1, until)
    return Text("░" * start + "█" * (until - start) + "░" * (_BLOCKS - until))
