"""Processes that ask a curator die by kill -9, at each step and at random: nothing is free, nothing charged twice."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from discreet import Budget, Curator
from discreet.catalog.column import Column, ColumnType
from discreet.catalog.table import Table
from discreet.privacy.loss import Pure
from tests.soak.crashing_ask import PRICE, STEPS, question

__all__ = ["kill_curators"]

ROOT = Path(__file__).parents[2]
VISITS = Table(
    "visits",
    (
        Column("person", ColumnType.INTEGER),
        Column("ward", ColumnType.TEXT, keys=("a", "b", "c")),
        Column("age", ColumnType.INTEGER, lower=0, upper=110),
    ),
    unit="person",
    budget=Budget(1000),
)
Released = dict[int, list[dict[str, Any]]]
_APART = 10_000


def kill_curators(
    folder: Path, chosen: int, at_random: int, tick: Callable[[], None], steps: Sequence[str] = STEPS
) -> str:
    """So many deaths at chosen steps, then at random moments; says what was found."""
    rows = [(k, "abc"[k % 3], k % 90) for k in range(300)]
    curator = Curator(folder)
    curator.protect(pa.table(dict(zip(("person", "ward", "age"), zip(*rows, strict=True), strict=True))), VISITS)
    chance = random.Random(21)
    seen: Released = {}
    for life in range(chosen + at_random):
        step = steps[life % len(steps)] if life < chosen else "never"
        found = _life(folder, step, life * _APART, 0.0 if life < chosen else chance.uniform(0.0, 0.4))
        seen |= found
        _check(folder, found, life * _APART)
        tick()
    assert len(seen) >= at_random, "nothing was released, so nothing was checked"
    charged = [e.body["request"] for e in curator.ledger.entries() if e.body["kind"] == "charge"]
    assert len(charged) == len(set(charged))
    assert curator.budget()["visits"]["spent"] == Pure(len(charged) * Pure(PRICE).epsilon)
    return f"{len(seen):,} released, {len(charged):,} charged, asked again for free, chain sound"


def _life(folder: Path, step: str, first: int, seconds: float) -> Released:
    command = [sys.executable, "-m", "tests.soak.crashing_ask", str(folder), step, str(first)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        lines = []
        if step == "never":
            lines.append(process.stdout.readline().strip())  # on a busy machine the first answer takes a while
            time.sleep(seconds)
            process.send_signal(signal.SIGKILL)
        lines += process.stdout.read().splitlines()
    assert process.returncode == -signal.SIGKILL
    parts = [line.split("|", 2) for line in lines if line.endswith("]")]
    return {int(number): json.loads(rows) for _, number, rows in parts}


def _check(folder: Path, released: Released, first: int) -> None:
    """Whatever was released is served again for nothing; what was charged and not released is answered for nothing."""
    curator = Curator(folder)  # refuses a ledger that cannot be believed
    spent = curator.budget()["visits"]["spent"]
    for number, rows in released.items():
        again = curator.ask(question(number), PRICE)
        assert again.to_rows() == rows, "what was released was not stored"
        assert not again.charged
    assert curator.budget()["visits"]["spent"] == spent
    notes = [e.body["note"]["sql"] for e in curator.ledger.entries() if e.body["kind"] == "charge"]
    interrupted = question(first + len(released))
    curator.ask(interrupted, PRICE)
    paid = Pure(0) if interrupted in notes else Pure(PRICE)
    assert curator.budget()["visits"]["spent"] == Pure(spent.epsilon + paid.epsilon)
