"""The commands of the tutorial run as it shows them."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from discreet.cli.main import app
from discreet.survey.questions_file import EXAMPLE, read_text

PAGE = (Path(__file__).parents[2] / "docs" / "tutorials" / "run-a-survey.md").read_text(encoding="utf-8")
COMMANDS = re.findall(r"^\$ discreet (.+)$", PAGE, re.MULTILINE)


def test_every_command_of_the_tutorial_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    commands = [shlex.split(command) for command in COMMANDS if " serve " not in f" {command} "]
    said = ""
    for words in commands:
        found = CliRunner().invoke(app, words)
        assert found.exit_code == 0, found.output
        said += found.output
    assert len(commands) == 4
    for line in (
        "Wrote an example to questions.yaml.",
        "  sleep: number, ε = 1.45 by hybrid",
        "Made questions with 1,000",
    ):
        assert line in said
        assert line in PAGE


def test_the_questions_in_the_tutorial_are_those_of_the_example() -> None:
    shown = PAGE.partition("```yaml\n")[2].partition("```")[0]
    assert read_text(shown).fingerprint == read_text(EXAMPLE).fingerprint
