"""``discreet understand`` from the command line: three views, one line for each mistake, nothing half written."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import discreet as dp
from tests.cli.hospital import run
from tests.reports.parsed import assert_standalone

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "how-to" / "explain-epsilon.md"


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def refused(*arguments: str) -> str:
    before = sorted(Path().iterdir())
    result = run("understand", *arguments)
    assert result.exit_code == 2, result.output
    said = str(result.stderr)
    assert said.startswith("refused  ")
    assert said.count("\n") == 1
    assert sorted(Path().iterdir()) == before
    return said


def test_it_speaks() -> None:
    result = run("understand", "--epsilon", "1")
    assert result.exit_code == 0
    assert "What ε = 1 means for one person" in result.output
    assert "Protection: moderate" in result.output
    assert "73.2" in result.output


def test_all_numbers_reach_the_explanation() -> None:
    asked = ["-e", "0.5", "-d", "1e-6", "-g", "4", "--prior", "0.2", "-n", "500"]
    result = run("understand", *asked, "--json")
    assert json.loads(result.output) == dp.understand("0.5", "1e-6", 4, "0.2", 500).to_dict()


def test_json_on_standard_output_is_all_there_is() -> None:
    result = run("understand", "-e", "1", "--json")
    assert json.loads(result.output)["verdict"]["protection"] == "moderate"


def test_files_are_written_and_named(place: Path) -> None:
    result = run("understand", "-e", "1", "--html", "page.html")
    assert result.exit_code == 0
    assert "wrote page.html" in result.output
    assert_standalone((place / "page.html").read_text())


def test_json_printed_and_a_page_written_go_together(place: Path) -> None:
    result = run("understand", "-e", "1", "--json", "--html", "page.html")
    json.loads(result.output)
    assert (place / "page.html").exists()


def test_nothing_is_overwritten_unasked(place: Path) -> None:
    (place / "page.html").write_text("mine")
    assert "nothing is overwritten" in refused("-e", "1", "--html", "page.html")
    assert (place / "page.html").read_text() == "mine"
    assert run("understand", "-e", "1", "--html", "page.html", "--force").exit_code == 0
    assert_standalone((place / "page.html").read_text())


def test_a_folder_that_is_not_there_is_named() -> None:
    assert "the folder of a file must be there" in refused("-e", "1", "--html", "nowhere/page.html")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["-e", "0"], "epsilon must be positive"),
        (["-e", "-1"], "epsilon must be positive"),
        (["-e", "nan"], "epsilon must be a decimal or a fraction"),
        (["-e", "inf"], "epsilon must be a decimal or a fraction"),
        (["-e", "abc"], "epsilon must be a decimal or a fraction"),
        (["-e", ""], "epsilon must be a decimal or a fraction"),
        (["-e", "1/0"], "epsilon must have a denominator other than 0"),
        (["-e", "1e9"], "epsilon must lie from 1e-6 to 1,000"),
        (["-e", "1", "-d", "1"], "delta must be below 1"),
        (["-e", "1", "-d", "-0.1"], "delta must lie between 0 and 1"),
        (["-e", "1", "-g", "0"], "group must be at least 1"),
        (["-e", "1", "-g", "99999"], "group times epsilon must be at most 10,000"),
        (["-e", "1", "--prior", "0"], "prior must lie strictly between 0 and 1"),
        (["-e", "1", "--prior", "1.5"], "prior must lie between 0 and 1"),
        (["-e", "1", "-n", "0"], "n must be at least 1"),
    ],
)
def test_mistakes_are_one_line(arguments: list[str], words: str) -> None:
    assert words in refused(*arguments)


@pytest.mark.parametrize("arguments", [[], ["-e", "1", "-g", "two"], ["-e", "1", "-n", "1.5"]])
def test_usage_mistakes_are_named_by_their_option(arguments: list[str]) -> None:
    result = run("understand", *arguments)
    assert result.exit_code == 2
    assert "Traceback" not in result.output + str(result.stderr)


@pytest.mark.parametrize("epsilon", ["1e-6", "1000"])
def test_the_ends_of_the_scale_are_explained(epsilon: str) -> None:
    result = run("understand", "-e", epsilon)
    assert result.exit_code == 0
    assert "Protection: " + ("strong" if epsilon == "1e-6" else "next to none") in result.output


def test_help_has_an_example_that_works(place: Path) -> None:
    text = " ".join(run("understand", "--help").output.split())
    assert "discreet understand --epsilon 1 --group 4 --n 1000 --html epsilon.html" in text
    assert run("understand", "--epsilon", "1", "--group", "4", "--n", "1000", "--html", "epsilon.html").exit_code == 0


def test_the_page_of_the_docs_shows_what_is_printed() -> None:
    text = PAGE.read_text()
    blocks = re.findall(r"```console\n\$ discreet (understand [^\n]*)\n(.*?)```", text, re.DOTALL)
    assert blocks
    for command, shown in blocks:
        printed = [line.rstrip() for line in run(*command.split()).output.splitlines()]
        parts = [part.strip("\n").splitlines() for part in shown.split("…\n")]
        for part in parts:
            assert _holds(printed, part), part


def _holds(printed: list[str], part: list[str]) -> bool:
    plain = [line.replace("\N{NO-BREAK SPACE}", " ") for line in printed]
    return any(plain[start : start + len(part)] == part for start in range(len(plain)))
