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

`make lab` wrote this page. Each cell says how often an attack is right about its targets, with the 95 % confidence
interval of Clopper and Pearson. The first row is the baseline: guessing the most frequent secret without a release.

Some of what an attack learns follows from the other rows, and is true of people who are not in the table as well. We
call these people strangers. Attacks on a secret are run on strangers too, where their questions allow it. An attack has
learned from a person's own record only if it does better on members of the table than on strangers.
"""
PROMISE = """## What a promise allows

A curator with a budget of ε promises: no answer is more than e^ε times likelier with your row than with another row in
its place. Two bounds follow.

- Suppose that somebody finds the two values of a bit equally likely. After all answers, this person is right about the
  bit with probability e^ε / (1 + e^ε) at most.
- Suppose that an attack is right about strangers with probability c. It is right about members with probability
  min(e^ε c, 1 − e^−ε (1 − c)) at most. The tables call this the ceiling.

The proofs are in `src/discreet/attacks/score.py`. At ε = 10 both bounds are close to 1, and the tables show what that
means: with so large a budget, attacks succeed.
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
    yield "\nThe result for every defence:\n"
    yield from (f"- {defence.name}: {defence_words(board, defence)}." for defence in board.defences)
    yield "\nThe attacks on the curator, with the rate on strangers and the ceiling:\n"
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
