"""The command line, run as a person would."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from discreet import __version__
from discreet.cli.main import app

runner = CliRunner()


def test_the_tour_of_the_mechanisms_runs_to_the_end() -> None:
    result = runner.invoke(app, ["tour"], env={"COLUMNS": "120"})
    assert result.exit_code == 0
    for words in ("checked at every outcome", "chosen", "private median", "nothing was spent", "Where to go on"):
        assert words in result.output


def test_demo_tells_the_story_of_a_hospital_to_the_end() -> None:
    result = runner.invoke(app, ["demo"], env={"COLUMNS": "120"})
    assert result.exit_code == 0
    for words in (
        "free now",
        "never shown",
        "did you mean 'age'",
        "patient's secret",
        "nothing was spent",
        "sound: True",
    ):
        assert words in result.output


def test_a_newcomer_gets_from_a_csv_to_a_private_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("visits.csv").write_text("person,ward,age\n" + "\n".join(f"{k},{'ab'[k % 2]},{k % 90}" for k in range(300)))
    assert runner.invoke(app, ["init", "visits.csv"]).exit_code == 0
    assert runner.invoke(app, ["init", "visits.csv"]).exit_code == 2  # the draft is not overwritten
    policy = "table: visits\nunit: person\nbudget: {epsilon: 3}\ncolumns:\n  person: {type: integer}\n"
    policy += "  ward: {type: text, keys: [a, b]}\n  age: {type: integer, lower: 0, upper: 100}\n"
    Path("visits.yaml").write_text(policy)
    assert runner.invoke(app, ["protect", "visits.csv", "visits.yaml", "-c", "h"]).exit_code == 0
    question = "SELECT ward, COUNT(*) AS n, AVG(age) FROM visits GROUP BY ward"
    explained = runner.invoke(app, ["explain", question, "-e", "1", "-c", "h"])
    assert "price" in explained.output
    asked = runner.invoke(app, ["ask", question, "-e", "1", "-c", "h"])
    assert asked.exit_code == 0
    assert "±" in asked.output
    as_json = runner.invoke(app, ["ask", question, "-e", "1", "-c", "h", "--json"])
    assert json.loads(as_json.output)["rows"][0]["ward"] == "a"
    assert "ε 2" in runner.invoke(app, ["budget", "-c", "h"]).output
    assert question in runner.invoke(app, ["ledger", "show", "-c", "h"]).output
    assert "sound" in runner.invoke(app, ["ledger", "verify", "-c", "h"]).output
    refused = runner.invoke(app, ["ask", "SELECT * FROM visits", "-e", "1", "-c", "h"])
    assert refused.exit_code == 2
    assert "never shown" in refused.stderr


def test_natural_mistakes_are_told_in_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text("person\n1\n2\n")
    policy = "table: t\nunit: person\nbudget: {epsilon: 3}\ncolumns:\n  person: {type: integer}\n"
    Path("t.yaml").write_text(policy)
    Path("richer.yaml").write_text(policy.replace("3", "9"))
    assert runner.invoke(app, ["protect", "t.csv", "t.yaml", "-c", "h"]).exit_code == 0
    count = "SELECT COUNT(*) FROM t"
    for arguments, words in (
        (["init", "none.csv"], "none.csv: No such file"),
        (["init", "t.csv"], "overwrites nothing"),
        (["protect", "t.csv", "none.yaml", "-c", "h"], "none.yaml: No such file"),
        (["protect", "t.csv", "t.yaml", "-c", "t.csv"], "t.csv"),
        (["protect", "t.csv", "richer.yaml", "-c", "h"], "must stay as it was, Pure(ε=3), got 'Pure(ε=9)'"),
        (["ask", count, "-c", "h"], "got <none of them>"),
        (["ask", count, "-e", "1", "--within", "9", "-c", "h"], "got <epsilon and within>"),
        (["ask", count, "-e", "abc", "-c", "h"], "got 'abc'"),
        (["ask", 'SELECT COUNT("[/x]") FROM t', "-e", "1", "-c", "h"], "[/x]"),
        (["ask", count, "-e", "1", "-c", "none"], "must be a curator"),
        (["explain", count, "-c", "none"], "must be a curator"),
        (["budget", "-c", "none"], "must be a curator"),
        (["ledger", "show", "-c", "none"], "must be a curator"),
        (["ledger", "verify", "-c", "none"], "must be a curator"),
    ):
        result = runner.invoke(app, arguments)
        assert result.exit_code == 2, arguments
        assert words in result.stderr
        assert result.stderr.count("\n") == 1, arguments
    assert not Path("none").exists()


def test_an_answer_takes_its_certificate_along_and_its_names_as_they_are(tmp_path: Path) -> None:
    source, policy, folder, paper = (str(tmp_path / name) for name in ("t.csv", "t.yaml", "h", "paper.json"))
    Path(source).write_text("person\n1\n2\n")
    Path(policy).write_text("table: t\nunit: person\nbudget: {epsilon: 3}\ncolumns:\n  person: {type: integer}\n")
    assert runner.invoke(app, ["protect", source, policy, "-c", folder]).exit_code == 0
    question = 'SELECT COUNT(*) AS "[/x]" FROM t'
    asked = runner.invoke(app, ["ask", question, "-e", "1", "-c", folder, "--certificate", paper])
    assert asked.exit_code == 0
    assert "[/x]" in asked.output
    assert "genuine" in runner.invoke(app, ["certificate", "verify", paper]).output


def test_a_forged_ledger_is_reported(tmp_path: Path) -> None:
    from discreet.curator.ledger.ledger import Ledger

    Ledger.create(tmp_path).close()
    (tmp_path / "ledger.witness").write_text("")
    result = runner.invoke(app, ["ledger", "verify", "-c", str(tmp_path)])
    assert result.exit_code == 1
    assert "witness" in result.output


def test_certificates_are_checked_without_the_data(tmp_path: Path) -> None:
    from discreet.curator.certificates.certificate import issue
    from discreet.curator.ledger.signing import Signer

    paper = issue({"question": "SELECT 1", "loss": "Pure(ε=1)"}, Signer(tmp_path))
    file = tmp_path / "answer.json"
    file.write_text(json.dumps(paper))
    assert "genuine" in runner.invoke(app, ["certificate", "verify", str(file)]).output
    file.write_text(json.dumps(paper | {"loss": "Pure(ε=0)"}))
    assert runner.invoke(app, ["certificate", "verify", str(file)]).exit_code == 1
    file.write_text("not JSON")
    assert runner.invoke(app, ["certificate", "verify", str(file)]).exit_code == 2


def test_version_is_told() -> None:
    assert runner.invoke(app, ["--version"]).output.strip() == f"discreet {__version__}"


def test_the_installed_command_works() -> None:
    script = Path(sys.executable).parent / "discreet"
    found = subprocess.run([script, "--help"], capture_output=True, text=True, check=True)
    assert "demo" in found.stdout
