"""The drill, at full size: ``make soak``, or parts of it: ``python -m tests.soak --only NAME``."""

from __future__ import annotations

import argparse
import json
import platform
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Table

from tests.soak.drills import DRILLS, Drill, Run
from tests.soak.losses import Losses

__all__ = ["main"]

_EXAMPLES = """\
examples:
  python -m tests.soak --list                        what there is
  python -m tests.soak --only every-write            a fault at every write of ten pieces of work
  python -m tests.soak --only full-disk --scale 0.2  a fifth of the full disks
  python -m tests.soak --group faults --scale 0.1    all faults, small: some minutes
  python -m tests.soak --seed 7 --results soak.json  other moments; all figures in a file
"""


@dataclass
class _Outcome:
    """What came of one drill."""

    drill: Drill
    seconds: float
    found: str
    passed: bool
    facts: dict[str, Any] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        facts = {"name": self.drill.name, "passed": self.passed, "seconds": round(self.seconds, 1)}
        return {**facts, "found": self.found, **self.facts}


def main(words: list[str] | None = None) -> int:
    """Run what was asked for; the number of drills that failed."""
    wanted = _arguments().parse_args(words)
    chosen = [drill for drill in DRILLS if _is_wanted(drill, wanted)]
    console = Console()
    if wanted.list:
        console.print(_listed())
        return 0
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, TextColumn("ends in"), TimeRemainingColumn(), console=console) as progress:
        outcomes = [_outcome(drill, wanted.scale, wanted.seed, progress) for drill in chosen]
    console.print(_summary(outcomes))
    if wanted.results is not None:
        wanted.results.write_text(json.dumps(_results(wanted, outcomes), indent=1) + "\n", encoding="utf-8")
        console.print(f"figures: {wanted.results}")
    return sum(not outcome.passed for outcome in outcomes)


def _arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tests.soak",
        description="Long checks: faults at every write, kills, full disks, frozen servers, audits, fuzzing.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    names, groups = [drill.name for drill in DRILLS], sorted({drill.group for drill in DRILLS})
    parser.add_argument("--only", action="append", choices=names, metavar="NAME", help="run this; may be repeated")
    parser.add_argument("--group", action="append", choices=groups, help="run all of a group; may be repeated")
    parser.add_argument("--scale", type=_scale, default=1.0, help="how much of the full size, such as 0.1 (default: 1)")
    parser.add_argument("--seed", type=int, default=20, help="of the moments that are left to chance (default: 20)")
    parser.add_argument("--results", type=Path, metavar="FILE", help="write all figures to this JSON file")
    parser.add_argument("--list", action="store_true", help="say what there is, and run nothing")
    return parser


def _scale(text: str) -> float:
    found = float(text)
    if not 0 < found <= 100:
        raise argparse.ArgumentTypeError("a scale is above 0 and at most 100")
    return found


def _is_wanted(drill: Drill, wanted: argparse.Namespace) -> bool:
    if wanted.only is None and wanted.group is None:
        return True
    return drill.name in (wanted.only or ()) or drill.group in (wanted.group or ())


def _listed() -> Table:
    table = Table(title="The drills")
    for column in ("name", "group", "what happens", "full size"):
        table.add_column(column)
    for drill in DRILLS:
        table.add_row(drill.name, drill.group, drill.about, f"{drill.size:,}")
    return table


def _outcome(drill: Drill, scale: float, seed: int, progress: Progress) -> _Outcome:
    size = drill.scaled(scale)
    task = progress.add_task(drill.name, total=size)
    resize: Callable[[int], object] = lambda total: progress.update(task, total=total)  # noqa: E731
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        run = Run(Path(folder), size, seed, partial(progress.advance, task), resize)
        found, passed, facts = _found(drill, run)
    outcome = _Outcome(drill, time.monotonic() - start, found, passed, facts)
    progress.update(task, completed=progress.tasks[task].total)
    progress.print(f"{drill.name}: {found}")
    return outcome


def _found(drill: Drill, run: Run) -> tuple[str, bool, dict[str, Any]]:
    if drill.missing is not None and (reason := drill.missing()) is not None:
        return f"left out: {reason}", True, {"left_out": reason}
    try:
        found = drill.work(run)
    except Exception as failure:
        return f"{type(failure).__name__}: {failure}", False, {}
    if isinstance(found, Losses):
        words = "\n".join([str(found), *found.told[:5]])
        return words, not found.found, found.as_json()
    return found, True, {}


def _summary(outcomes: list[_Outcome]) -> Table:
    table = Table(title="Soak")
    for column in ("drill", "found", "time", "passed"):
        table.add_column(column)
    for outcome in outcomes:
        passed = "[green]yes[/]" if outcome.passed else "[red]no[/]"
        table.add_row(outcome.drill.name, outcome.found, f"{outcome.seconds:.0f} s", passed)
    return table


def _results(wanted: argparse.Namespace, outcomes: list[_Outcome]) -> dict[str, Any]:
    about = {"time": datetime.now(UTC).isoformat(timespec="seconds"), "scale": wanted.scale, "seed": wanted.seed}
    about |= {"system": platform.platform(), "python": platform.python_version()}
    return {**about, "drills": [outcome.as_json() for outcome in outcomes]}


if __name__ == "__main__":
    sys.exit(main() > 0)
