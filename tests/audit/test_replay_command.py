"""``discreet replay`` on a file and a policy, as an owner types it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from discreet.cli.main import app
from discreet.query.run import measure as measure_module

QUESTION = "SELECT ward, COUNT(*) FROM visits GROUP BY ward"
POLICY = """
table: visits
unit: person
rows_per_unit: 2
budget: {epsilon: 3}
columns:
  person: {type: integer}
  ward: {type: text, keys: [a, b]}
"""


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    rows = "".join(f"{k % 7},{'ab'[k % 2]}\n" for k in range(30))
    (tmp_path / "visits.csv").write_text("person,ward\n" + rows, encoding="utf-8")
    (tmp_path / "visits.yaml").write_text(POLICY, encoding="utf-8")
    return str(tmp_path / "visits.csv"), str(tmp_path / "visits.yaml")


def test_an_owner_replays_questions_and_keeps_the_report(files: tuple[str, str], tmp_path: Path) -> None:
    asked = tmp_path / "asked.sql"
    asked.write_text("SELECT COUNT(*) FROM visits;\nSELECT * FROM visits;\n", encoding="utf-8")
    page = tmp_path / "r.html"
    options = ["--sql", QUESTION, "--questions", str(asked), "--neighbours", "2"]
    found = CliRunner().invoke(app, ["replay", *files, *options, "--html", str(page)])
    assert found.exit_code == 0, found.output
    assert "nothing but noise tells them apart" in " ".join(found.output.split())
    assert found.output.count("SELECT") >= 3
    assert QUESTION in page.read_text(encoding="utf-8")


def test_answers_are_audited_from_draws_as_well(files: tuple[str, str]) -> None:
    """False alarm: 1e-6."""
    options = ["--sql", "SELECT COUNT(*) FROM visits", "--neighbours", "1", "--draws", "200", "--json"]
    found = CliRunner().invoke(app, ["replay", *files, *options])
    assert found.exit_code == 0, found.output
    (audit,) = json.loads(found.output)["audits"]
    assert audit["draws"] == 200


def test_a_violation_leaves_with_one(files: tuple[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measure_module, "write_sums", lambda plan: ("SELECT error('a row')", []))
    found = CliRunner().invoke(app, ["replay", *files, "--sql", QUESTION, "--neighbours", "1", "--json"])
    assert found.exit_code == 1
    assert json.loads(found.output)["sound"] is False


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ([], "needs a question"),
        (["--sql", QUESTION, "--epsilon", "-1"], "epsilon"),
        (["--sql", QUESTION, "--neighbours", "0"], "neighbours"),
        (["--questions", "nowhere.sql"], "nowhere.sql"),
    ],
)
def test_bad_input_leaves_with_two_and_a_sentence(files: tuple[str, str], options: list[str], words: str) -> None:
    found = CliRunner().invoke(app, ["replay", *files, *options])
    assert found.exit_code == 2
    assert words in found.output
    assert "Traceback" not in found.output
