"""``discreet audit --side-channels``: last bits and time, beside the claim."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from discreet.cli.main import app

MINE = """
import random

def floats(value):
    return value + random.expovariate(1) - random.expovariate(1)

def slow(value):
    return sum(range(30_000)) * 0 if value else 0

def words(value):
    return "yes"
"""


@pytest.fixture
def mine(tmp_path: Path) -> str:
    (tmp_path / "mine.py").write_text(MINE, encoding="utf-8")
    return str(tmp_path / "mine.py")


def run(*options: str, draws: int = 500) -> tuple[int, str]:
    found = CliRunner().invoke(app, ["audit", *options, "--side-channels", "--draws", str(draws), "--json"])
    return found.exit_code, found.output


def test_the_lattice_of_float_noise_is_a_finding(mine: str) -> None:
    code, output = run(f"{mine}:floats", "--first", "0.0", "--second", "1.0", "--epsilon", "1", draws=20_000)
    assert code == 1
    assert any("Which numbers can come out depends on the input" in note for note in json.loads(output)["notes"])


def test_a_slow_branch_is_a_finding_though_the_answers_are_the_same(mine: str) -> None:
    code, output = run(f"{mine}:slow", "--first", "0", "--second", "1", "--epsilon", "1")
    assert code == 1
    assert json.loads(output)["verdict"] == "consistent"
    assert any("Timing tells the two inputs apart" in note for note in json.loads(output)["notes"])


def test_answers_that_are_no_numbers_are_timed_alone(mine: str) -> None:
    """Equal inputs: false alarm 1e-6."""
    code, output = run(f"{mine}:words", "--first", "0", "--second", "0", "--epsilon", "1")
    assert code == 0
    assert not any("lattice" in note for note in json.loads(output)["notes"])


@pytest.mark.parametrize("what", [[], ["gallery"]])
def test_side_channels_are_asked_about_one_mechanism(what: list[str]) -> None:
    code, output = run(*what)
    assert code == 2
    assert "one mechanism" in output
