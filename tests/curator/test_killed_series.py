"""A step of a series whose process is killed at any write is released once, by whoever comes next."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

import discreet as dp
from discreet.curator.ledger.units import LOSS_UNITS
from discreet.curator.ledger.verify import verify
from discreet.curator.series.records import name_step
from tests.curator.clinic import BY_WEEK, WEEKS, clinic, close, visits
from tests.curator.crashing_series import STEPS

ROOT = Path(__file__).parents[2]


def _killed(folder: Path, step: str) -> None:
    command = [sys.executable, "-m", "tests.curator.crashing_series", str(folder), step]
    assert subprocess.run(command, cwd=ROOT, check=False, timeout=120).returncode == -signal.SIGKILL


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.some(2)
def test_a_killed_step_is_released_once_and_paid_once(tmp_path: Path, step: str) -> None:
    curator = clinic(tmp_path)
    series = curator.subscribe(BY_WEEK, 1, periods=2, rows_per_unit=2)
    curator.append("visits", visits([(who, "A", 0) for who in range(40)]))
    name = name_step(series.id, WEEKS[0])
    close(curator)
    _killed(tmp_path, step)
    curator = dp.Curator(tmp_path)
    first = curator.ledger.known(name)
    assert first is not None
    assert first.end == "answer"
    shown = curator.series()[0].to_arrow()
    curator.close("visits", through=WEEKS[0])
    assert curator.series()[0].to_arrow().equals(shown)
    answers = [one.body for one in curator.ledger.entries() if one.body["kind"] == "answer"]
    assert [one["request"] for one in answers].count(name) == 1
    assert curator.ledger.accounts()["visits"].spent == LOSS_UNITS
    assert verify(tmp_path).problems == []
    close(curator)
