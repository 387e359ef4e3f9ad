"""Every command of the tree, looked at by itself: help with an example, JSON by a flag, bad input with exit code 2."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from discreet.cli.main import app
from tests.cli.hospital import COUNT, protected, run, write_files

WITHOUT_JSON = {"demo", "tour", "serve", "survey serve", "trail export", "ledger head"}
"""Stories and servers print no results, and the last two write JSON anyway."""
STARTS_SOMETHING = {"demo", "tour", "serve", "survey new", "audit"}
"""What works in an empty folder without any input."""


def commands() -> dict[str, Any]:
    found: dict[str, Any] = {}

    def look(command: Any, name: str) -> None:
        if hasattr(command, "commands"):
            for word, inner in command.commands.items():
                look(inner, f"{name} {word}".strip())
        else:
            found[name] = command

    look(get_command(app), "")
    return found


COMMANDS = commands()


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_every_command_shows_an_example_of_itself() -> None:
    missing = [name for name, one in COMMANDS.items() if f"discreet {name}" not in " ".join((one.help or "").split())]
    assert not missing


def test_every_command_that_prints_results_has_the_flag_json() -> None:
    options = {name: [one for one in command.params if "--json" in one.opts] for name, command in COMMANDS.items()}
    assert {name for name, found in options.items() if not found} == WITHOUT_JSON
    assert all(one.is_flag for found in options.values() for one in found)


def bad_input(command: Any) -> list[str]:
    """A word that means nothing for everything that must be said."""
    words = []
    for one in command.params:
        is_argument = one.param_type_name == "argument"
        if one.required or is_argument:
            value = "1" if one.name in ("people", "record", "categories") else "nowhere"
            words += [value] if is_argument else [one.opts[0], value]
    return words


def test_bad_input_has_exit_code_two_and_says_why(place: Path) -> None:
    for name in sorted(COMMANDS.keys() - STARTS_SOMETHING):
        result = run(*name.split(), *bad_input(COMMANDS[name]))
        assert result.exit_code == 2, (name, result.output)
        assert result.stderr.startswith(("refused  ", "Usage: ")), name
        assert not list(place.iterdir()), name


def test_options_of_audit_and_surveys_that_are_wrong_have_exit_code_two(place: Path) -> None:
    Path("questions.yaml").write_text("title: [")
    for words in (["audit", "nowhere"], ["survey", "new", "questions.yaml"], ["serve", "--config", "nowhere.toml"]):
        assert run(*words).exit_code == 2, words


# With a curator ---------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder in which visits are protected; commands that change little are run in it one after the other."""
    folder = tmp_path_factory.mktemp("kept")
    write_files(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        protected()
        assert run("ask", COUNT, "-e", "0.5", "--certificate", "count.json").exit_code == 0
        yield folder


def read(*words: str) -> Any:
    result = run(*words, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def test_results_are_read_by_programs(kept: Path) -> None:
    explained = read("explain", COUNT, "-e", "0.5")
    assert (explained["price"]["exact"], explained["asked_before"], explained["affordable"]) == ("1/2", True, True)
    assert read("ask", COUNT, "-e", "0.5")["charged"] is False
    assert read("budget")["visits"]["left"]["exact"] == "5/2"
    assert read("ledger", "verify")["sound"] is True
    shown = read("ledger", "show", "--last", "3")
    assert [set(one) >= {"position", "hash", "kind", "time"} for one in shown] == [True] * 3
    assert read("ledger", "suspensions") == []
    assert read("ledger", "repair")["record"] is None
    assert read("certificate", "verify", "count.json", "-c", "curator")["genuine"] is True
    assert read("certificate", "show", "count.json")["question"] == COUNT
    assert len(read("certificate", "public-key")["public_key"]) == 64
    assert read("suggest", "touched", "visits", "-e", "0.1")["answer"]["charged"] is True
    assert read("protect", "visits.csv", "visits.yaml")["new_data"] is True
    assert read("local", "best", "1", "100")["randomizer"] == "subset"
    assert read("local", "shuffle", "100000", "4")["people"] == 100000
    assert read("attack", "--list")["attacks"]
    assert read("backup", "curator", "copy")["position"]
    assert read("upgrade", "curator")["done"] == []
    assert read("restore", "copy", "again", "--nothing-lost")["folder"] == "again"
    assert read("member", "add", "ana")["token"].startswith("discreet_")
    assert [one["name"] for one in read("member", "list")] == ["ana"]
    assert read("trail", "verify")["sound"] is True
    assert read("trail", "show")  # some event


def test_a_question_comes_from_a_file_or_from_standard_input(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (kept / "question.sql").write_text(f"-- how many\n{COUNT};\n")
    asked = read("ask", "-f", "question.sql", "-e", "0.5")
    piped = CliRunner().invoke(app, ["ask", "-", "-e", "0.5", "--json"], input=f"{COUNT};\n")
    assert json.loads(piped.stdout)["rows"] == asked["rows"]
    assert "price" in run("explain", "--file", "question.sql").output
    for words, said in (
        (["ask", "-e", "1"], "<neither>"),
        (["ask", COUNT, "-f", "question.sql", "-e", "1"], "<both>"),
        (["ask", "-f", "none.sql", "-e", "1"], "none.sql"),
        (["ask", COUNT, "-e", "1", "--json", "--csv"], "printed in one form"),
    ):
        result = run(*words)
        assert result.exit_code == 2
        assert said in result.stderr


def test_advice_in_the_terminal_names_commands_and_not_python(kept: Path) -> None:
    for words in (["explain", COUNT], ["ask", COUNT, "-e", "0.5"], ["suggest", "touched", "visits", "-e", "0.1"]):
        said = run(*words).output
        assert "curator." not in said
        assert "epsilon=" not in said
    assert "discreet suggest touched visits -e 0.1" in run("explain", COUNT).output


def test_a_budget_that_is_spent_and_a_broken_ledger_are_no_bad_input(kept: Path) -> None:
    assert run("ask", COUNT.replace("*", "age"), "-e", "9").exit_code == 1


# The program ------------------------------------------------------------------------------------------------------


def test_the_module_runs_like_the_script() -> None:
    found = subprocess.run([sys.executable, "-m", "discreet", "--help"], capture_output=True, text=True, check=True)
    assert "Usage: discreet" in found.stdout
    assert "--install-completion" in found.stdout


def test_shells_complete_commands_and_options() -> None:
    for typed, wanted in (
        ("discreet le", "ledger"),
        ("discreet ledger ver", "verify"),
        ("discreet ask --wi", "--within"),
    ):
        setting = {"_DISCREET_COMPLETE": "complete_bash", "COMP_WORDS": typed, "COMP_CWORD": str(typed.count(" "))}
        command = [sys.executable, "-m", "discreet"]
        found = subprocess.run(command, env=os.environ | setting, capture_output=True, text=True, check=False)
        assert wanted in found.stdout.split()


def test_a_long_ingest_says_how_long_the_rest_takes(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from rich.console import Console

    from discreet.cli import ingest as taking_in

    seen = io.StringIO()
    monkeypatch.setattr(taking_in, "console", Console(file=seen, force_terminal=True, width=120))
    taking_in.take_in("visits.csv", Path("visits.yaml"), Path("curator"), None)
    assert "left" in seen.getvalue()
    assert "kB" in seen.getvalue()  # of the owner's own file; never how many rows there are
