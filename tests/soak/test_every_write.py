"""A fault at every write of small pieces of work: nothing is lost, and everything opens again."""

from __future__ import annotations

import os
from pathlib import Path

from tests.soak.every_write import EVERY, fault_at_every_write
from tests.soak.faults import Fault
from tests.soak.full_disks import fill_under_curators
from tests.soak.losses import Losses
from tests.soak.works import WORKS
from tests.thoroughness import many

STRIDES = {
    "charging": 31,
    "creating": 61,
    "mending": 31,
    "joining": 3,
    "keeping-lines": 3,
    "keeping-keys": 3,
    "surveying": 47,
    "asking": 97,
    "allowing": 131,
    "founding": 211,
}
"""Every so many writes here, and every one in the soak."""
PARTS = many(2, 1)


def test_a_charge_that_is_killed_at_each_write_is_neither_lost_nor_made_twice(tmp_path: Path) -> None:
    losses = fault_at_every_write(tmp_path, {"charging": 1}, faults=[Fault.KILL])
    assert losses.trials > 20
    losses.check()


def test_a_fault_at_a_write_loses_nothing_and_closes_nothing(tmp_path: Path) -> None:
    losses = Losses()
    for part in range(PARTS):  # each fault in some of the works
        strides = dict(list(STRIDES.items())[part::PARTS])
        losses.join(fault_at_every_write(tmp_path / str(part), strides, faults=EVERY[part::PARTS]))
    assert set(losses.faults) == {fault.value for fault in EVERY}
    losses.check()


def test_every_piece_of_work_is_tried() -> None:
    assert STRIDES.keys() == WORKS.keys()


def test_a_curator_on_a_disk_that_fills_up_goes_on_when_there_is_room(tmp_path: Path) -> None:
    losses = fill_under_curators(tmp_path / "trials", 3, seed=os.getpid())
    assert losses.trials == 3
    losses.check()
