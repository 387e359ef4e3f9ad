"""A scoreboard as one page: no network, no scripts, light and dark, readable on a phone."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from discreet.attacks.attack import Attack
from discreet.attacks.report_content import (
    HARMFUL,
    MARKS,
    asked_words,
    charts_of,
    claims_words,
    defence_words,
    harm,
    headline,
    interval_words,
    legend,
    percent,
    reading,
    source_words,
    targets_of,
)
from discreet.attacks.score import DefenceVerdict, Score
from discreet.reports.charts import HeatCell, heat_table, interval_bar
from discreet.reports.page import details, footer, page, paragraph, quiet, section, table
from discreet.reports.page import headline as big
from discreet.version import __version__

if TYPE_CHECKING:
    from discreet.attacks.board import Cell, Scoreboard

__all__ = ["report_html"]


_HEADER = ("defence", "", "right", "95 %", "claims", "outside", "ceiling", "questions")
_EXPLAINED = (
    "The bar is how often the attack is right, with its 95 % interval; the line across is guessing without the "
    "release. “Claims” are the true ones of those that the attack made; of other people it guessed. “Outside” is the "
    "same attack on people who are in no release, “ceiling” the most that the promise of a defence allows."
)


def report_html(board: Scoreboard) -> str:
    """The page."""
    drawn = "".join(charts_of(board))
    parts = [
        big(headline(board)),
        quiet(source_words(board)),
        section("Every attack against every defence", _heat(board), _legend(board)),
        section("What came of every defence", _defences(board)),
        section("The same at scale", drawn) if drawn else "",
        *(_attack(board, attack) for attack in board.attacks),
        footer(f"Made by Discreet {__version__} with seed {board.seed}. It is for whoever holds the table."),
    ]
    return page(f"{board.name}: attacks on every defence", parts, heading=f"Attacks on {board.name}")


def _heat(board: Scoreboard) -> str:
    cells = [[_heat_cell(board.cell(attack, defence)) for attack in board.attacks] for defence in board.defences]
    guessing = [HeatCell(None, _guessing(board, attack), "Guessing without the release.") for attack in board.attacks]
    names = ["guessing", *(_unbroken(defence.name) for defence in board.defences)]
    return heat_table(names, [attack.name for attack in board.attacks], [guessing, *cells], "right")


def _unbroken(name: str) -> str:
    """No line ends within an equation or at a hyphen."""
    return name.replace(" = ", "\u00a0=\u00a0").replace("-", "\u2011")


def _guessing(board: Scoreboard, attack: Attack) -> str:
    found = next((cell.score for cell in board.of(attack) if cell.score is not None), None)
    return "–" if found is None else percent(found.baseline.rate)


def _heat_cell(cell: Cell) -> HeatCell:
    if cell.score is None or cell.verdict is None:
        return HeatCell(None, "–", cell.reason)
    score = cell.score
    tip = (
        f"{cell.attack} against {cell.defence}: {score.right.hits} of {score.right.trials} right, guessing "
        f"{score.baseline.hits}; {cell.verdict.value}."
    )
    return HeatCell(harm(cell), f"{percent(score.right.rate)} {MARKS[cell.verdict]}".rstrip(), tip)


def _legend(board: Scoreboard) -> str:
    return table([], [[escape(sign).replace(" ", "&nbsp;"), escape(words)] for sign, words in legend(board)])


def _defences(board: Scoreboard) -> str:
    rows = [
        [f"{escape(_unbroken(one.name))}<br><small>{escape(one.says)}</small>", escape(defence_words(board, one))]
        for one in board.defences
    ]
    return table(["defence", "what came of it"], rows)


def _attack(board: Scoreboard, attack: Attack) -> str:
    known = f"Guessed: {attack.goal.value}, of {targets_of(board, attack):,} people."
    cells = board.of(attack)
    words = [[escape(_unbroken(cell.defence)), escape(_told(cell))] for cell in cells]
    return section(
        attack.name.capitalize(),
        paragraph(f"Needs: {attack.needs}"),
        paragraph(f"Claims: {attack.claims} {known}"),
        table(_HEADER, [_row(cell, cell.score, cell.verdict) for cell in cells if cell.score and cell.verdict]),
        quiet(_EXPLAINED),
        details("In words", table([], words), shown=all(cell.score is None for cell in cells)),
    )


def _told(cell: Cell) -> str:
    note = "" if cell.score is None else cell.score.note
    words = reading(cell).rstrip(".")
    return f"{words[:1].upper()}{words[1:]}. {note}".strip()


def _row(cell: Cell, score: Score, verdict: DefenceVerdict) -> list[str]:
    kind = "danger" if verdict in HARMFUL else "after"
    return [
        escape(_unbroken(cell.defence)),
        interval_bar(score.right.rate, score.right.interval(), score.baseline.rate, kind),
        f"{percent(score.right.rate)} {MARKS[verdict]}".rstrip(),
        interval_words(score.right),
        claims_words(score),
        "" if score.control is None else percent(score.control.rate),
        "" if cell.ceiling is None else percent(cell.ceiling),
        asked_words(score),
    ]
