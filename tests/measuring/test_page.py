"""The page of benchmarks keeps what other commands wrote, and says first what was missed."""

from pathlib import Path

import pytest
from bench import page
from bench.figure import Figure
from bench.page import write_part


@pytest.fixture
def text(tmp_path, monkeypatch):
    file: Path = tmp_path / "benchmarks.md"
    monkeypatch.setattr(page, "PAGE", file)
    return lambda: file.read_text(encoding="utf-8")


REACHED = Figure("unit = row", "1 s", "plain 1 s", "1.0", "≤ 2", True)
MISSED = Figure("unit = person", "9 s", "plain 1 s", "9.0", "≤ 4", False)
UNJUDGED = Figure("import", "1 ms", "")


def test_what_was_missed_stands_first_and_what_has_no_target_is_not_judged(text):
    write_part("bench", "a table", figures=[REACHED, UNJUDGED, MISSED])
    assert "1 of 2 targets are reached" in text()
    assert text().index("| unit = person |") < text().index("| unit = row |")
    assert "import" not in text()


def test_a_command_replaces_its_own_part_and_its_own_targets_alone(text):
    write_part("bench-engines", "of the one", figures=[MISSED], part="postgres")
    write_part("bench-engines", "of the other", figures=[MISSED], part="spark")
    write_part("bench", "the older", figures=[REACHED])
    write_part("bench", "the newer", figures=[MISSED, REACHED])
    write_part("bench-engines", "of the one, again", figures=[REACHED], part="postgres")
    assert "the older" not in text()
    assert "of the one\n" not in text()
    for kept in ("the newer", "of the one, again", "of the other"):
        assert text().count(kept) == 1
    assert "2 of 4 targets are reached" in text()


def test_every_part_says_its_command_its_machine_its_versions_and_how_busy_it_was(text):
    write_part("bench", "a table", versions=["opendp 0.16.0"])
    last = text().splitlines()[-1]
    for part in ("`python -m", "Python 3.", "opendp 0.16.0", "while other work took"):
        assert part in last
