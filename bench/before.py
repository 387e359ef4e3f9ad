"""This tree beside an earlier revision of it, asked in turns in one run: ``make bench-before BEFORE=v1.0``.

Machines are noisy, and the noise lasts: whatever is measured first and second differs by a tenth for no reason. Two
processes therefore answer the same question one right after the other, each first in every second round, and the
ratio of each pair is taken. The median of the ratios is given with an interval that covers it 95 % of the time: by
order statistics, without assuming a law.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console
from rich.table import Table
from scipy.stats import binom

TREE = Path(__file__).parents[1]
QUESTIONS = {
    "COUNT": "COUNT(*)",
    "SUM": "SUM(value)",
    "AVG": "AVG(value)",
    "COUNT, SUM, AVG": "COUNT(*), SUM(value), AVG(value)",
}
ROWS, ROUNDS, ALLOWED = 10_000_000, 41, 1.05

Side = subprocess.Popen[str]


@contextmanager
def asked_side(source: Path, rows: int) -> Iterator[Side]:
    """A process that answers with the code in ``source``."""
    words = [sys.executable, str(TREE / "bench" / "sides" / "in_turns.py"), str(rows)]
    paths = {**os.environ, "PYTHONPATH": str(source)}
    with subprocess.Popen(words, env=paths, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as side:
        assert side.stdin is not None
        assert side.stdout is not None
        if side.stdout.readline() != "ready\n":
            raise SystemExit(f"the code in {source} takes in no table")
        yield side
        side.stdin.close()


def ask_side(side: Side, sql: str) -> float:
    """CPU seconds of one question."""
    assert side.stdin is not None
    assert side.stdout is not None
    side.stdin.write(sql + "\n")
    side.stdin.flush()
    return float(side.stdout.readline())


def ratios(now: Side, before: Side, sql: str, rounds: int) -> list[float]:
    """CPU time now divided by before, in ascending order; the first pair warms up and is left out."""
    found = []
    for k in range(rounds + 1):
        sides = (now, before) if k % 2 else (before, now)
        taken = {side: ask_side(side, sql) for side in sides}
        found.append(taken[now] / taken[before])
    return sorted(found[1:])


def median_interval(ordered: list[float]) -> tuple[float, float, float]:
    """The median, and two of the ordered numbers between which the true one lies 95 % of the time."""
    size = len(ordered)
    low = max(int(binom.ppf(0.025, size, 0.5)) - 1, 0)
    return ordered[size // 2], ordered[low], ordered[size - 1 - low]


@contextmanager
def earlier_source(revision: str) -> Iterator[Path]:
    """The ``src`` of a revision, in a folder of its own."""
    with tempfile.TemporaryDirectory() as folder:
        packed = subprocess.run(["git", "archive", revision, "src"], cwd=TREE, check=True, capture_output=True)
        subprocess.run(["tar", "-x", "-C", folder], input=packed.stdout, check=True)
        yield Path(folder) / "src"


def compare(revision: str, rows: int, rounds: int) -> Table:
    """Every question by row and by person."""
    table = Table("question", "unit", "now / before", "95 %", f"≤ {ALLOWED}", title=f"{rows:,} rows, beside {revision}")
    with (
        earlier_source(revision) as source,
        asked_side(TREE / "src", rows) as now,
        asked_side(source, rows) as before,
    ):
        for unit in ("row", "person"):
            for name, what in QUESTIONS.items():
                sql = f"SELECT grp, {what} FROM by_{unit} GROUP BY grp"
                middle, low, high = median_interval(ratios(now, before, sql, rounds))
                met = "hit" if middle <= ALLOWED else "missed"
                table.add_row(name, unit, f"{middle:.3f}", f"{low:.3f} to {high:.3f}", met)
    return table


if __name__ == "__main__":
    revision, *numbers = sys.argv[1:]
    rows, rounds = [*map(int, numbers), *(ROWS, ROUNDS)[len(numbers) :]]
    Console().print(compare(revision, rows, rounds))
