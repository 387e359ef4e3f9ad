"""The checks of the soak, small: they run here at some of the steps, so that the long run never surprises."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.soak.crashing_ask import FORGETFUL, STEPS
from tests.soak.killed_asks import kill_curators
from tests.soak.killed_ingests import kill_ingests
from tests.soak.steady_asks import ask_steadily
from tests.thoroughness import some


def nothing() -> None: ...


def test_a_curator_killed_at_a_step_of_an_ask_releases_nothing_free_and_charges_nothing_twice(tmp_path: Path) -> None:
    steps = some(STEPS, 3)
    kill_curators(tmp_path, len(steps), 1, nothing, steps)


def test_an_ingest_killed_at_random_leaves_a_whole_version(tmp_path: Path) -> None:
    kill_ingests(tmp_path, 1, 2, nothing)


def test_an_answer_that_is_released_before_it_is_stored_is_found(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="was not stored"):
        kill_curators(tmp_path, 1, 0, nothing, [FORGETFUL])


def test_questions_from_several_threads_cost_what_they_cost_together(tmp_path: Path) -> None:
    ask_steadily(tmp_path, 3, 1, nothing)
