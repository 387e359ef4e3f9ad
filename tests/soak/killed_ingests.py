"""Processes that take in a table die by kill -9, at each step and at random: there is a whole version, old or new."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from discreet.engines.duckdb.engine import DuckDBEngine
from discreet.engines.duckdb.ingest import ingest
from tests.engines.crashing_ingest import STEPS
from tests.engines.people import PEOPLE, people
from tests.soak.repeated_ingest import CROWD

__all__ = ["kill_ingests"]

ROOT = Path(__file__).parents[2]
_OLD, _NEW = set(range(10)), set(range(5, 25))


def kill_ingests(folder: Path, chosen: int, at_random: int, tick: Callable[[], None]) -> str:
    """So many deaths at chosen steps, then at random moments; says what was found."""
    chance = random.Random(22)
    newer = 0
    for life in range(chosen):
        with DuckDBEngine(folder, threads=2) as engine:
            ingest(engine, PEOPLE, people(_OLD))
            _run("tests.engines.crashing_ingest", str(folder), STEPS[life % len(STEPS)])
            found = _people(engine)
        assert found in (_OLD, _NEW), "half a version"
        newer += found == _NEW
        tick()
    for _ in range(at_random):
        _run("tests.soak.repeated_ingest", str(folder), kill_after=chance.uniform(0.0, 1.0))
        with DuckDBEngine(folder, threads=2) as engine:
            found = _people(engine)
        assert found in (_OLD, _NEW, set(range(min(found), min(found) + CROWD))), "half a version"
        newer += found not in (_OLD, _NEW)
        tick()
    with DuckDBEngine(folder, threads=2) as engine:
        ingest(engine, PEOPLE, people(_OLD))
        ids = {row["_unit"] for row in engine.run("SELECT DISTINCT person, _unit FROM people").to_pylist()}
        assert len(ids) == len(_OLD)
        assert len(list(engine.store.root.glob("rows-*"))) == 1, "files of the dead remain"
    return f"{newer:,} new and {chosen + at_random - newer:,} old versions, each whole"


def _run(module: str, *arguments: str, kill_after: float | None = None) -> None:
    with subprocess.Popen([sys.executable, "-m", module, *arguments], cwd=ROOT, stdout=subprocess.PIPE) as process:
        if kill_after is not None:
            assert process.stdout is not None
            assert process.stdout.readline() == b"ready\n"
            time.sleep(kill_after)
            process.send_signal(signal.SIGKILL)
        process.communicate(timeout=120)
    assert process.returncode == -signal.SIGKILL


def _people(engine: DuckDBEngine) -> set[int]:
    rows = engine.run("SELECT person, count(*) AS n FROM people GROUP BY person").to_pylist()
    assert {row["n"] for row in rows} == {2}, "half a person"
    return {row["person"] for row in rows}
