"""COUNT, SUM and AVG in 50 groups at ε = 1, rows already held: how long Discreet and each peer take.

A peer that would need minutes for 10 million rows gets fewer, and so does Discreet beside it: every ratio is between
two tables of the same size.
"""

from __future__ import annotations

from pathlib import Path

from bench.figure import Figure, faster
from bench.peers import ask
from bench.tables import even

__all__ = ["first_figures", "speed_figures"]

GROUPS = 50
ROWS_PER_UNIT = 10
RACES = {10_000_000: {"OpenDP": 10.0}, 1_000_000: {"Tumult": 10.0, "SmartNoise": 0.0}, 200_000: {"PipelineDP": 0.0}}
"""Rows → peer → the least ratio, 0 for none."""
REPEATS = 2
SMALL = 1_000


def speed_figures(folder: Path) -> list[Figure]:
    """Both units, every peer."""
    return [figure for rows in RACES for unit in ("row", "person") for figure in race(folder, rows, unit)]


def race(folder: Path, rows: int, unit: str) -> list[Figure]:
    """Discreet and the peers that get a table of this size."""
    times = {side: timed(side, even(folder, rows), unit)["cpu"] for side in ("Discreet", *RACES[rows])}
    measure = f"{rows:,} rows, unit = {unit}"
    return [faster(measure, times["Discreet"], peer, times[peer], least) for peer, least in RACES[rows].items()]


def first_figures(folder: Path, sides: list[str]) -> list[Figure]:
    """On 1,000 rows: one question, and everything from the start of the process to the first answer."""
    times = {side: timed(side, even(folder, SMALL), "person") for side in ("Discreet", *sides)}
    return [
        faster(measure, times["Discreet"][key], peer, times[peer][key])
        for key, measure in (("cpu", "plan and answer"), ("first", "process start to first answer"))
        for peer in sides
    ]


def timed(side: str, file: Path, unit: str) -> dict[str, float]:
    """The times of one side."""
    return ask(side, "time", file, GROUPS, unit, ROWS_PER_UNIT, {"all": REPEATS})["all"]
