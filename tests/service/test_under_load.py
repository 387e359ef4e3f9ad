"""Analysts ask for more than the budget pays for while the server is killed: nothing is lost or spent twice."""

from __future__ import annotations

from pathlib import Path

import pytest

from discreet.catalog.table import Budget
from tests.service.crowd import Crowd
from tests.service.hospital import CHEAP, policy, visits
from tests.service.serve_command import ServeCommand
from tests.service.under_load import analysts, charges_in, founded, load, problems_of


@pytest.mark.thorough
def test_a_crowd_outlives_a_crash_of_the_server(tmp_path: Path) -> None:
    folder, names = tmp_path / "hospital", analysts(10)
    caps = {name: Budget("0.3") if k % 2 else None for k, name in enumerate(names)}
    tokens = founded(folder, visits(), policy(analysts=caps), names, CHEAP)
    crowd = Crowd(price="0.1", requests=12, think=0.05, asks=0.6)
    with ServeCommand(folder, tmp_path / "log", ("--no-console",)) as server:
        outcome = load(server, crowd, tokens, kill_when=lambda _: charges_in(folder) >= 10)
    assert problems_of(outcome, folder, Budget(3)) == []
    seen = outcome.seen
    assert seen.cut_off > 0, "the crash met nobody"
    assert seen.statuses["ask 402"] > 0, "the budget paid for everything"
    assert len({one.charge for one in seen.answers}) == 30
