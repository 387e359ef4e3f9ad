"""A process that dies at any write while a table grows leaves nothing half and nothing twice."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.engines.crashing_growth import FORGOTTEN, LOTS
from tests.engines.growth import Reference

ROOT = Path(__file__).parents[2]
PARTS = 24


def died(folder: Path, part: int) -> list[Any]:
    command = [sys.executable, "-m", "tests.engines.crashing_growth", str(folder), str(part), str(PARTS), "2"]
    said = subprocess.run(command, cwd=ROOT, capture_output=True, check=True, text=True, timeout=1800).stdout
    return [json.loads(line) for line in said.splitlines()]


def states() -> list[list[set[int]]]:
    """The numbers of the rows of every closed day, after none, one, two and three closes."""
    reference, found = Reference("person"), []
    for lot in ("1", "2"):
        reference.append(LOTS[lot])
    for close in range(4):
        found.append([{row[0] for row in rows} for rows in reference.closed])
        if close == 1:
            reference.to_forget.add(FORGOTTEN)
        if close == 2:
            reference.append(LOTS["3"])
        reference.close()
    return found


def ids(rows: dict[str, list[dict[str, Any]]]) -> dict[int, set[int]]:
    found: dict[int, set[int]] = {}
    for row in (row for period in rows.values() for row in period):
        found.setdefault(row["who"], set()).add(row["_unit"])
    return found


@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.some(2)
def test_a_death_at_any_write_leaves_nothing_half_and_nothing_twice(tmp_path: Path, part: int) -> None:
    known, outcomes = states(), died(tmp_path, part)
    assert len(outcomes) >= 2
    for write, was_killed, said in outcomes:
        assert was_killed, f"write {write} is one of the history: {said}"
        found = json.loads(said)
        assert isinstance(found, dict), f"after write {write}: {found}"
        for moment in ("before", "after"):
            numbers = [{row["number"] for row in rows} for rows in found[moment].values()]
            assert numbers == known[len(numbers)], f"{moment} it went on after write {write}"
            assert all(len({row["number"] for row in rows}) == len(rows) for rows in found[moment].values())
        assert found["versions"] == 3
        before, after = ids(found["before"]), ids(found["after"])
        assert all(len(one) == 1 for one in after.values()), "a person has one id"
        assert len(set().union(*after.values())) == len(after), "and nobody else has it"
        both = {who: before.get(who, set()) | after[who] for who in after if who != FORGOTTEN}
        assert all(len(one) == 1 for one in both.values()), "ids stay, whatever happens"
        if len(found["before"]) == 1:
            assert not before[FORGOTTEN] & set().union(*after.values()), "an id is never given again"
