"""100 million rows of 10 million people: the time and the memory to take them in and to ask, a process for each."""

from __future__ import annotations

from pathlib import Path

from bench.environments import run_side
from bench.figure import Figure, seconds

__all__ = ["large_figures"]

ROWS = 100_000_000
MOST = 4.0
STEPS = {"protect": "taken in", "ask": "asked: COUNT, SUM, AVG in 50 groups"}


def large_figures(folder: Path) -> dict[str, list[Figure]]:
    """The rows are made as a Parquet file, taken in and asked once."""
    run_side(None, "large_step.py", "make", str(folder), str(ROWS))
    found = {step: run_side(None, "large_step.py", step, str(folder))[step] for step in STEPS}
    return {f"{ROWS:,} rows, unit = person": [_figure(what, found[step]) for step, what in STEPS.items()]}


def _figure(what: str, found: dict[str, float]) -> Figure:
    peak = found["gigabytes"]
    beside = f"{seconds(found['wall'])} by the clock, {seconds(found['cpu'])} of CPU"
    return Figure(f"{what}, most memory", f"{peak:.2f} GB", beside, "", f"≤ {MOST:g} GB", peak <= MOST)
