"""A scoreboard in the terminal: as many attacks beside each other as the width takes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.markup import escape
from rich.padding import Padding
from rich.table import Table as Grid
from rich.text import Text

from discreet.attacks.attack import Attack
from discreet.attacks.report_content import (
    MARKS,
    asked_words,
    claims_words,
    defence_words,
    headline,
    interval_words,
    legend,
    percent,
    source_words,
    targets_of,
)
from discreet.attacks.score import DefenceVerdict

if TYPE_CHECKING:
    from discreet.attacks.board import Cell, Scoreboard

__all__ = ["detail_text", "report_text"]


_STYLES = {
    DefenceVerdict.GUESSING: "green",
    DefenceVerdict.CROWD: "green",
    DefenceVerdict.BOUNDED: "yellow",
    DefenceVerdict.LEAK: "red",
    DefenceVerdict.BROKEN: "bold white on red",
}
_WIDEST_NAME = 28


def report_text(board: Scoreboard) -> RenderableType:
    """The scoreboard, what its signs mean, and what came of every defence."""
    signs = Grid(box=None, pad_edge=False, show_header=False)
    for sign, words in legend(board):
        signs.add_row(sign, Text(words, style="dim"))
    return Group(Text(headline(board)), Text(source_words(board), style="dim"), _Board(board), signs, *_defences(board))


def detail_text(board: Scoreboard) -> RenderableType:
    """Every attack by itself: what it needs, what it claims, and every score with its interval."""
    return Group(*(part for attack in board.attacks for part in _attack(board, attack)))


@dataclass(frozen=True)
class _Board:
    """The table of all scores, in as many pieces as the width asks for."""

    board: Scoreboard

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for attacks in _pieces(self.board, options.max_width):
            yield Padding(_piece(self.board, attacks), (1, 0, 0, 0))


def _pieces(board: Scoreboard, width: int) -> Iterator[list[Attack]]:
    names = min(max(len(defence.name) for defence in board.defences), _WIDEST_NAME)
    piece: list[Attack] = []
    used = names
    for attack in board.attacks:
        wide = 2 + _width(attack)
        if piece and used + wide > width:
            yield piece
            piece, used = [], names
        piece.append(attack)
        used += wide
    yield piece


def _width(attack: Attack) -> int:
    """The longest word of the name, and room for a share with its sign."""
    return max(*(len(word) for word in attack.name.split()), len("100 % ✗"))


def _piece(board: Scoreboard, attacks: Sequence[Attack]) -> Grid:
    grid = Grid(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    grid.add_column("", max_width=_WIDEST_NAME, overflow="fold")
    for attack in attacks:
        grid.add_column(Text(attack.name), width=_width(attack), justify="right", vertical="bottom")
    grid.add_row(Text("guessing", style="dim"), *(Text(_guessing(board, attack), style="dim") for attack in attacks))
    for defence in board.defences:
        grid.add_row(escape(defence.name), *(_shown(board.cell(attack, defence)) for attack in attacks))
    return grid


def _guessing(board: Scoreboard, attack: Attack) -> str:
    found = next((cell.score for cell in board.of(attack) if cell.score is not None), None)
    return "–  " if found is None else f"{percent(found.baseline.rate)}  "


def _shown(cell: Cell) -> Text:
    if cell.score is None or cell.verdict is None:
        return Text("–  ", style="dim")
    return Text(f"{percent(cell.score.right.rate)} {MARKS[cell.verdict]:1}", style=_STYLES[cell.verdict])


def _defences(board: Scoreboard) -> list[RenderableType]:
    grid = Grid(box=None, pad_edge=False, show_header=False)
    grid.add_column(max_width=_WIDEST_NAME)
    grid.add_column()
    for defence in board.defences:
        grid.add_row(escape(defence.name), Text(defence_words(board, defence)))
    return [_title("What came of every defence"), grid]


def _title(words: str) -> RenderableType:
    return Padding(Text(words, style="bold"), (1, 0, 0, 0))


def _attack(board: Scoreboard, attack: Attack) -> list[RenderableType]:
    about = f"Guessed: {attack.goal.value}, of {targets_of(board, attack):,} people."
    grid = Grid(
        "", "right", "95 %", "claims", "outside", "ceiling", "asked", box=None, pad_edge=False, header_style="dim"
    )
    for cell in board.of(attack):
        grid.add_row(*_row(cell))
    words = [f"Needs: {attack.needs}", f"Claims: {attack.claims}", about]
    reasons = {cell.reason: cell.defence for cell in board.of(attack) if cell.reason}
    left_out = [Text(f"{defence}: {reason}", style="dim") for reason, defence in reasons.items()]
    return [_title(attack.name), *(Text(one) for one in words), grid, *left_out]


def _row(cell: Cell) -> list[Text]:
    name = Text(cell.defence)
    if cell.score is None or cell.verdict is None:
        return [name, Text("–", style="dim")]
    score, style = cell.score, _STYLES[cell.verdict]
    return [
        name,
        Text(f"{percent(score.right.rate)} {MARKS[cell.verdict]}".rstrip(), style=style),
        Text(interval_words(score.right)),
        Text(claims_words(score)),
        Text("" if score.control is None else percent(score.control.rate)),
        Text("" if cell.ceiling is None else percent(cell.ceiling)),
        Text(asked_words(score)),
    ]
