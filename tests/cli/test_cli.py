"""The command line, run as a person would."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from discreet import __version__
from discreet.cli.main import app

runner = CliRunner()


def test_demo_tells_its_story_to_the_end() -> None:
    result = runner.invoke(app, ["demo"], env={"COLUMNS": "120"})
    assert result.exit_code == 0
    for words in ("checked at every outcome", "chosen", "private median", "nothing was spent", "Where to go on"):
        assert words in result.output


def test_version_is_told() -> None:
    assert runner.invoke(app, ["--version"]).output.strip() == f"discreet {__version__}"


@pytest.mark.parametrize("command", [c.name or c.callback.__name__ for c in app.registered_commands if c.callback])
def test_every_command_has_help_with_an_example(command: str) -> None:
    result = runner.invoke(app, [command, "--help"])
    assert result.exit_code == 0
    assert "Example" in result.output


def test_the_installed_command_works() -> None:
    script = Path(sys.executable).parent / "discreet"
    found = subprocess.run([script, "--help"], capture_output=True, text=True, check=True)
    assert "demo" in found.stdout
