"""The checks that take too long for every day, at full size: ``make soak``."""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from discreet.privacy.neighbours import Neighbours
from tests.audit.replayed_fixtures import QUESTIONS, replayed
from tests.curator.auditing import audit
from tests.curator.trials import TRIALS
from tests.soak.cut_connections import ask_through_cuts
from tests.soak.double_spend import spend_together
from tests.soak.killed_asks import kill_curators
from tests.soak.killed_ingests import kill_ingests
from tests.soak.killed_ledger import kill_askers
from tests.soak.steady_asks import ask_steadily
from tests.soak.whole_corpus import ask_all_of_spark

Check = Callable[[Path, Callable[[], None]], str]
TIMES = 5
"""How many times as many answers an audit gets here as in the tests."""
PROCESSES = 16


def audited(name: str, folder: Path, tick: Callable[[], None]) -> str:
    """One trial of the audit with many more answers."""
    trial, asks, power = TRIALS[name]
    # The δ for keys is divided between all questions that a budget affords: more wards, not more questions.
    more = (trial, asks * TIMES) if trial.lists_wards else (replace(trial, wards=trial.wards * TIMES), asks)
    found = audit(folder, *more)
    tick()
    assert power * found.charged <= found.certified <= found.charged, f"{found}"
    return f"proved ε ≥ {found.certified:.3f}, charged {found.charged:.3f}, {found.answers:,} answers"


def replayed_all(relation: Neighbours, folder: Path, tick: Callable[[], None]) -> str:
    """Every question of the fixtures, to a table and a neighbour of it."""
    report = replayed(relation, QUESTIONS[relation])
    tick()
    assert report.is_sound, str(report)
    return report.headline


CHECKS: list[tuple[str, int, Check]] = [
    (
        f"10,000 requests from {PROCESSES} processes, budget for 100",
        PROCESSES,
        lambda folder, tick: spend_together(folder, 10_000, PROCESSES, 100, tick),
    ),
    ("kill -9 at random while charging", 80, lambda folder, tick: kill_askers(folder, 80, tick)),
    ("kill -9 while asking: 48 at steps, 12 at random", 60, lambda folder, tick: kill_curators(folder, 48, 12, tick)),
    ("kill -9 while taking in: 40 at steps, 20 at random", 60, lambda folder, tick: kill_ingests(folder, 40, 20, tick)),
    (
        "two servers, each killed 10 times, behind proxies that cut connections",
        400,
        lambda folder, tick: ask_through_cuts(folder, 200, 10, tick),
    ),
    (
        "small questions in one process for ten minutes, 2,000 a minute at least",
        20,
        lambda folder, tick: ask_steadily(folder, 600, 2000, tick),
    ),
    ("every statement of the corpus on Spark", 1, lambda folder, tick: ask_all_of_spark(tick)),
    *((f"replay: {relation}", 1, partial(replayed_all, relation)) for relation in Neighbours),
    *((f"audit: {name}", 1, partial(audited, name)) for name in TRIALS),
]


def main() -> int:
    console = Console()
    table = Table(title="Soak")
    for column in ("check", "found", "time", "passed"):
        table.add_column(column)
    failures = 0
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console) as progress:
        for name, size, check in CHECKS:
            task = progress.add_task(name, total=size)
            start = time.monotonic()
            with tempfile.TemporaryDirectory() as folder:
                try:
                    found, passed = check(Path(folder), partial(progress.advance, task)), "[green]yes[/]"
                except Exception as failure:
                    found, passed = f"{type(failure).__name__}: {failure}", "[red]no[/]"
                    failures += 1
            progress.print(f"{name}: {found}")
            table.add_row(name, found, f"{time.monotonic() - start:.0f} s", passed)
    console.print(table)
    return failures


if __name__ == "__main__":
    sys.exit(main() > 0)
