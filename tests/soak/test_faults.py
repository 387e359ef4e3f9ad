"""The drills of faults, small: a few trials of each, so that the long run never surprises."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.servers.fixtures import need_postgres
from tests.soak.__main__ import main
from tests.soak.drills import DRILLS
from tests.soak.limits import press_curators
from tests.soak.losses import Kind, Loss, Losses
from tests.soak.postgres_faults import freeze_postgres, kill_postgres_at_every_statement, kill_postgres_at_random
from tests.soak.services import SLEEP, clock, faketime


def test_curators_that_were_short_of_descriptors_and_memory_go_on(tmp_path: Path) -> None:
    losses = press_curators(tmp_path / "trials", 4, seed=1)
    assert losses.trials == 4
    losses.check()


def test_postgres_killed_at_some_statements_of_a_question_charges_once(tmp_path: Path) -> None:
    need_postgres()
    losses = kill_postgres_at_every_statement(tmp_path, stride=9)
    assert losses.trials >= 4
    losses.check()


@pytest.mark.thorough
def test_postgres_killed_at_random_and_frozen_loses_nothing(tmp_path: Path) -> None:
    need_postgres()
    losses = kill_postgres_at_random(tmp_path / "killed", 1, seed=1)
    losses.join(freeze_postgres(tmp_path / "frozen", 1, seconds=1))
    assert losses.trials == 2
    losses.check()


def test_a_process_whose_clock_was_moved_sleeps_as_long_as_any(tmp_path: Path) -> None:
    """Else it fails at whatever waits for a moment, and the drill blames the service."""
    library = faketime()
    if library is None:
        pytest.skip("no libfaketime")
    (tmp_path / "offset").write_text("-400000")
    program = f"{SLEEP}\nstart = time.monotonic(); time.sleep(0.05); print(time.monotonic() - start, time.time())"
    moved = os.environ | clock(library, tmp_path / "offset")
    said = subprocess.run([sys.executable, "-c", program], env=moved, capture_output=True, text=True, check=True).stdout
    slept, now = map(float, said.split())
    assert slept >= 0.04
    assert now < time.time() - 300_000


def test_every_drill_has_a_name_and_a_size(capsys: pytest.CaptureFixture[str]) -> None:
    assert len({drill.name for drill in DRILLS}) == len(DRILLS)
    assert all(drill.scaled(1e-9) == 1 for drill in DRILLS)
    assert main(["--list"]) == 0
    assert "full-disk" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        main(["--only", "nothing-of-that-name"])


def test_a_loss_is_told_and_fails() -> None:
    losses = Losses()
    losses.add("a fault", None, 2.0)
    losses.check()
    losses.add("a fault", Loss(Kind.FREE, "an answer"), where="trial 2")
    assert str(losses) == "2 faults, 1 released without a charge; answered again within 2.0 s"
    with pytest.raises(AssertionError, match="trial 2"):
        losses.check()
