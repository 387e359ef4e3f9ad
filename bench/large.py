"""How time and memory grow with rows and groups: a table made, taken in and asked, a process for each step.

Unit = row and unit = person with ten rows each, COUNT, SUM and AVG in 10, 1,000 and 100,000 groups, all public. The
plain query runs in the same engine on the same stored rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.environments import run_side
from bench.figure import seconds

__all__ = ["COLUMNS", "SIZES", "Grown", "growth"]

SIZES = (100_000, 1_000_000, 10_000_000, 100_000_000)
GROUPS = (10, 1_000, 100_000)
UNITS = ("row", "person")
COLUMNS = (
    "rows",
    "unit",
    "groups",
    "taken in",
    "memory of that",
    "asked",
    "per million rows",
    "plain query",
    "ratio",
    "memory of asking",
)
MOST = 4.0
"""Gigabytes."""


@dataclass(frozen=True)
class Grown:
    """What one question took."""

    rows: int
    unit: str
    groups: int
    taken_in: dict[str, Any]
    asked: dict[str, Any]
    plain: dict[str, Any]

    def line(self) -> list[str]:
        """As a line of the table."""
        asked, plain = self.asked["cpu"], self.plain["cpu"]
        return [
            f"{self.rows:,}",
            self.unit,
            f"{self.groups:,}",
            seconds(self.taken_in["cpu"]),
            _memory(self.taken_in),
            seconds(asked),
            seconds(asked / self.rows * 1e6),
            seconds(plain),
            f"{asked / plain:.1f} ×",
            _memory(self.asked),
        ]


def growth(folder: Path, largest: int, tell: Callable[[str], object]) -> list[Grown]:
    """Everything up to a size."""
    found = []
    for rows in (size for size in SIZES if size <= largest):
        home = folder / str(rows)
        home.mkdir()
        tell(f"{rows:,} rows …")
        _step("make", home, rows)
        for unit in UNITS:
            taken_in = _step("protect", home, unit)
            for groups in GROUPS:
                steps = (_step(step, home, unit, groups) for step in ("ask", "plain"))
                found.append(Grown(rows, unit, groups, taken_in, *steps))
        run_side(None, "large_step.py", "remove", str(home))
    return found


def _step(step: str, folder: Path, *arguments: object) -> dict[str, Any]:
    found: dict[str, Any] = run_side(None, "large_step.py", step, str(folder), *map(str, arguments))[step]
    return found


def _memory(found: dict[str, Any]) -> str:
    return f"{found['gigabytes']:.2f} GB" + (" (!)" if found["gigabytes"] > MOST else "")
