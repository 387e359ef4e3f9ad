"""COUNT, SUM and AVG in 50 groups at ε = 1, rows already held: how long Discreet and each peer take.

A peer that would need minutes for 10 million rows gets fewer, and so does Discreet beside it: every ratio is between
two tables of the same size.
"""

from __future__ import annotations

from pathlib import Path

from bench.environments import PeerFailed
from bench.figure import Figure, absent, faster
from bench.peers import PEERS, about, ask
from bench.tables import even

__all__ = ["first_figures", "speed_figures"]

GROUPS = 50
ROWS_PER_UNIT = 10
RACES = {10_000_000: {"OpenDP": 10.0}, 1_000_000: {"Tumult": 10.0, "SmartNoise": 0.0}, 200_000: {"PipelineDP": 0.0}}
"""Rows → peer → the least ratio, 0 for none."""
REPEATS = 2
SMALL = 1_000


def speed_figures(folder: Path, most: int) -> list[Figure]:
    """Both units, every peer; a table has at most so many rows."""
    return [figure for rows in RACES for unit in ("row", "person") for figure in race(folder, rows, most, unit)]


def race(folder: Path, rows: int, most: int, unit: str) -> list[Figure]:
    """Discreet and the peers that get a table of this size."""
    file = even(folder, min(rows, most))
    measure = f"{min(rows, most):,} rows, unit = {unit}"
    return compared(file, unit, {"cpu": measure}, RACES[rows])


def first_figures(folder: Path) -> list[Figure]:
    """On 1,000 rows: one question, and everything from the start of the process to the first answer."""
    measures = {"cpu": "plan and answer", "first": "process start to first answer"}
    return compared(even(folder, SMALL), "person", measures, dict.fromkeys(PEERS, 0.0))


def compared(file: Path, unit: str, measures: dict[str, str], targets: dict[str, float]) -> list[Figure]:
    """Each measure beside each peer; a peer that fails says why."""
    ours = timed("Discreet", file, unit)
    theirs = {peer: attempted(peer, file, unit) for peer in targets}
    return [
        absent(measure, ours[key], peer, found)
        if isinstance(found, PeerFailed)
        else faster(measure, ours[key], peer, found[key], targets[peer])
        for key, measure in measures.items()
        for peer, found in theirs.items()
    ]


def attempted(peer: str, file: Path, unit: str) -> dict[str, float] | PeerFailed:
    """The times of a peer, or why there are none."""
    try:
        return timed(peer, file, unit)
    except PeerFailed as problem:
        return problem


def timed(side: str, file: Path, unit: str) -> dict[str, float]:
    """The times of one side."""
    found = ask(side, "time", about(file, GROUPS, unit, ROWS_PER_UNIT), {"all": REPEATS})["all"]
    if "failed" in found:
        raise PeerFailed(f"does not answer: {found['failed']}")
    times: dict[str, float] = found
    return times
