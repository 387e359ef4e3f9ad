"""The page about attacks and defences: every attack against every defence, on a made-up and on a real table."""

from __future__ import annotations

import platform
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import scipy
from bench.environments import run_side

from discreet import __version__
from discreet.attacks.attack import Attack, Defence
from discreet.attacks.board import EPSILONS, Cell, Scoreboard, scoreboard
from discreet.attacks.catalogue import every_attack, every_defence
from discreet.attacks.people import QUASI, SECRET, patients
from discreet.attacks.report_content import (
    MARKS,
    defence_words,
    headline,
    interval_words,
    legend,
    percent,
    source_words,
)

PAGE = Path(__file__).parents[1] / "docs" / "explanation" / "scoreboard.md"
SEED = 0
HEAD = """# Every attack against every defence

`make lab` wrote this page. Each cell is how often the attack is right about its targets, with the 95 % interval of
Clopper and Pearson. Beside it stands guessing: the most frequent secret, for somebody who never saw a release. What an
attack learns from the crowd it also learns about people who are not in the table, so attacks on a secret are
tried on them too, where their questions allow it, and only what they know of members alone is held to come from their
records.
"""
PROMISE = """## What a promise allows

A curator with a budget ε promises that no answer is more than e^ε times likelier with your row than with another in its
place. So nobody who finds the two values of a bit equally likely is right about it more often than e^ε / (1 + e^ε)
afterwards. Where the secrets of strangers are guessed right with probability c, those of members are with probability
min(e^ε c, 1 − e^−ε (1 − c)) at most. The proofs are in `src/discreet/attacks/score.py`. At ε = 10 that is nearly
everything, and the tables show it: a budget is a promise of its size, and not a spell.
"""


def main() -> None:
    """Attack both tables and write the page."""
    start = time.perf_counter()
    survey = run_side(["statsmodels"], "fair.py")
    boards = [
        _board(patients(), QUASI, SECRET, "the made-up hospital"),
        _board(pa.table(survey["columns"]), survey["quasi"], survey["secret"], "the survey"),
    ]
    took = time.perf_counter() - start
    about = (
        f"Written in {took:.0f} s by Discreet {__version__} with seed {SEED}, Python {platform.python_version()}, "
        f"NumPy {np.__version__}, SciPy {scipy.__version__}, DuckDB {duckdb.__version__}; the survey is `fair` of "
        f"statsmodels {survey['version']}."
    )
    PAGE.write_text(page(boards, about), encoding="utf-8")


def _board(table: pa.Table, quasi: Iterable[str], secret: str, name: str) -> Scoreboard:
    def progress(share: float, words: str) -> None:
        if sys.stderr.isatty():
            print(f"\r{name}: {share:4.0%} {words:70.70}", end="" if share < 1 else "\n", file=sys.stderr)

    return scoreboard(table, quasi=list(quasi), secret=secret, seed=SEED, name=name, progress=progress)


def page(boards: list[Scoreboard], about: str) -> str:
    """The whole page."""
    parts = [
        HEAD,
        *_legend(boards),
        *(part for board in boards for part in _section(board)),
        PROMISE,
        *_lists(),
        about,
        "",
    ]
    return "\n".join(parts)


def _legend(boards: list[Scoreboard]) -> Iterator[str]:
    yield from (f"- {sign}: {words}" for sign, words in legend(*boards) if sign)
    yield ""
    yield from (words for sign, words in legend(*boards) if not sign)
    yield ""


def _section(board: Scoreboard) -> Iterator[str]:
    yield f"## {board.name[0].upper()}{board.name[1:]}\n"
    yield f"{headline(board)} {source_words(board)}\n"
    yield from _table(["defence", *(attack.name for attack in board.attacks)], _rows(board))
    yield "\nWhat came of every defence:\n"
    yield from (f"- {defence.name}: {defence_words(board, defence)}." for defence in board.defences)
    yield "\nWhere the curator was attacked, beside strangers and the ceiling:\n"
    yield from _table(["attack", "defence", "right", "guessing", "strangers", "ceiling"], _promised(board))
    reasons = {(cell.defence, cell.reason): None for cell in board.cells if cell.reason}
    if reasons:
        yield "\nWhat could not be run:\n"
        yield from (f"- {defence}: {reason}" for defence, reason in reasons)
    yield ""


def _rows(board: Scoreboard) -> Iterator[list[str]]:
    yield ["guessing", *(_guessing(board, attack) for attack in board.attacks)]
    for defence in board.defences:
        yield [defence.name, *(_shown(board.cell(attack, defence)) for attack in board.attacks)]


def _guessing(board: Scoreboard, attack: Attack) -> str:
    return next((percent(cell.score.baseline.rate) for cell in board.of(attack) if cell.score), "–")


def _shown(cell: Cell) -> str:
    if cell.score is None or cell.verdict is None:
        return "–"
    share = f"{percent(cell.score.right.rate)} ({interval_words(cell.score.right).removesuffix(' %')})"
    return f"**{share} {MARKS[cell.verdict]}**" if MARKS[cell.verdict] else share


def _promised(board: Scoreboard) -> Iterator[list[str]]:
    for cell in board.cells:
        if cell.score is not None and cell.ceiling is not None:
            strangers = "" if cell.score.control is None else percent(cell.score.control.rate)
            guessing = percent(cell.score.baseline.rate)
            yield [cell.attack, cell.defence, _shown(cell), guessing, strangers, percent(cell.ceiling)]


def _lists() -> Iterator[str]:
    yield "## The attacks\n"
    yield from _table(["attack", "needs", "claims"], ([one.name, one.needs, one.claims] for one in every_attack()))
    yield "\n## The defences\n"
    yield from _table(["defence", "what the owner does", "promise"], map(_described, every_defence(EPSILONS)))
    yield ""


def _described(one: Defence) -> list[str]:
    return [one.name, one.says, "none" if one.promise is None else str(one.promise)]


def _table(header: list[str], rows: Iterable[list[str]]) -> Iterator[str]:
    yield f"| {' | '.join(header)} |"
    yield f"| {' | '.join('---' for _ in header)} |"
    yield from (f"| {' | '.join(row)} |" for row in rows)


if __name__ == "__main__":
    main()
