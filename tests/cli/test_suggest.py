"""``discreet suggest`` and ``discreet ask --rehearse``, run as a person would."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from discreet.cli.main import app

runner = CliRunner()
POLICY = """\
table: visits
unit: person
budget: {epsilon: 60}
rows_per_unit: 2
columns:
  person: {type: integer}
  ward: {type: text, keys: [a, b]}
  age: {type: integer, lower: 0, upper: 50}
"""
QUESTION = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    rows = "\n".join(f"{k // 3},{'ab'[k % 2]},{k % 100}" for k in range(3000))
    Path("visits.csv").write_text(f"person,ward,age\n{rows}\n")
    Path("visits.yaml").write_text(POLICY)
    return tmp_path


@pytest.fixture
def protected(folder: Path) -> Path:
    assert runner.invoke(app, ["protect", "visits.csv", "visits.yaml", "-c", "h"]).exit_code == 0
    return folder


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (["bounds", "visits", "age"], ["age: {type: integer, lower: 0, upper: 100}"]),
        (["rows", "visits"], ["rows_per_unit: 4", "people over", "noise"]),
        (
            ["touched", "visits"],
            ["with more than 2 rows: ", "values of age outside its bounds: ", "discreet suggest bounds visits age"],
        ),
    ],
)
@pytest.mark.some(1)
def test_suggestions_say_what_to_write_and_what_they_cost(
    protected: Path, command: list[str], words: list[str]
) -> None:
    # At ε = 20 noise has a scale of 2/20 rows, and what is told apart differs by 15 rows or more: exp(-150).
    found = runner.invoke(app, ["suggest", *command, "-e", "20", "-c", "h"])
    assert found.exit_code == 0
    assert all(word in found.output for word in [*words, "cost ε 20"])
    again = runner.invoke(app, ["suggest", *command, "-e", "20", "-c", "h"])
    assert "free now" in again.output
    assert "ε 40" in runner.invoke(app, ["budget", "-c", "h"]).output


def test_mistakes_are_told_in_one_line(protected: Path) -> None:
    for command, words in (
        (["bounds", "visits", "agee"], "did you mean 'age'"),
        (["bounds", "visits", "ward"], "list its keys"),
        (["rows", "visit"], "did you mean 'visits'"),
        (["touched", "visits", "-e", "nothing"], "epsilon"),
    ):
        refused = runner.invoke(app, ["suggest", *command, *([] if "-e" in command else ["-e", "1"]), "-c", "h"])
        assert refused.exit_code == 2
        assert words in refused.stderr


def test_a_question_is_rehearsed_for_free(protected: Path) -> None:
    found = runner.invoke(app, ["ask", QUESTION, "-e", "1", "--rehearse", "-c", "h"])
    assert found.exit_code == 0
    assert "made up" in found.output
    assert "would cost ε 1" in found.output
    assert "ε 60" in runner.invoke(app, ["budget", "-c", "h"]).output


def test_a_question_is_rehearsed_before_there_is_a_curator(folder: Path) -> None:
    found = runner.invoke(app, ["ask", QUESTION, "--within", "30", "--rehearse", "--policy", "visits.yaml", "--json"])
    assert found.exit_code == 0
    assert [row["ward"] for row in json.loads(found.output)["rows"]] == ["a", "b"]
    assert {path.name for path in folder.iterdir()} == {"visits.csv", "visits.yaml"}


def test_what_does_not_go_with_a_rehearsal_is_refused(protected: Path) -> None:
    for options, words in (
        (["--rehearse", "--certificate", "paper.json"], "no certificate"),
        (["--policy", "visits.yaml"], "add --rehearse"),
        (["--rehearse", "--policy", "visits.yaml", "--analyst", "ann"], "analysts"),
        (["--rehearse", "--policy", "nothing.yaml"], "nothing.yaml"),
    ):
        refused = runner.invoke(app, ["ask", QUESTION, "-e", "1", "-c", "h", *options])
        assert refused.exit_code == 2
        assert words in refused.stderr
    assert not Path("paper.json").exists()
