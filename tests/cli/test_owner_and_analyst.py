"""What an owner and an analyst hold in their hands: budgets in questions, certificates, files, help."""

from __future__ import annotations

import csv
import io
import json
import re
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest
import typer

from discreet.cli.main import app
from discreet.curator.curator import Curator
from tests.cli.hospital import COUNT, POLICY, protected, run, write_files

BY_WARD = "SELECT ward, COUNT(*) AS visits, AVG(age) AS mean_age FROM visits GROUP BY ward ORDER BY ward"


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DISCREET_CURATOR", raising=False)
    write_files(tmp_path)
    return tmp_path


# Folders ----------------------------------------------------------------------------------------------------------


def test_the_folder_is_named_by_option_or_variable_or_is_called_curator(monkeypatch: pytest.MonkeyPatch) -> None:
    protected()
    assert Path("curator/ledger.db").exists()
    monkeypatch.setenv("DISCREET_CURATOR", "of_the_variable")
    protected()
    assert Path("of_the_variable/ledger.db").exists()
    protected("-c", "of_the_option")
    assert Path("of_the_option/ledger.db").exists()


def test_a_table_of_a_duckdb_file_and_odd_delimiters_are_taken_in() -> None:
    with duckdb.connect("source.duckdb") as source:
        source.execute("CREATE TABLE v AS FROM read_csv('visits.csv')")
    assert run("protect", "source.duckdb", "visits.yaml", "--table", "v", "-c", "one").exit_code == 0
    Path("odd.csv").write_text(Path("visits.csv").read_text().replace(",", "~"))
    assert run("protect", "odd.csv", "visits.yaml", "--delimiter", "~", "-c", "two").exit_code == 0
    rows = [Curator(name).engine.run("SELECT count(age) AS n FROM visits")["n"].to_pylist() for name in ("one", "two")]
    assert rows == [[300], [300]]
    both = run("protect", "odd.csv", "visits.yaml", "--delimiter", "~", "--table", "v", "-c", "three")
    assert "a CSV file or a DuckDB file" in both.stderr


# Budgets ----------------------------------------------------------------------------------------------------------


def test_the_budget_is_also_told_in_questions() -> None:
    protected()
    assert run("budget").output.count("nothing asked yet") == 2
    run("ask", COUNT, "-e", "0.2", "--analyst", "ann")
    run("ask", "SELECT SUM(age) FROM visits", "-e", "0.5")
    lines = [line.split() for line in run("budget").output.splitlines()]
    assert lines[1] == ["visits", "ε", "3", "ε", "0.7", "ε", "2.3", "about", "4", "more", "like", "the", "last", "one"]
    assert lines[2] == ["ann", "ε", "1", "ε", "0.2", "ε", "0.8", "about", "4", "more", "like", "the", "last", "one"]
    found = Curator("curator").budget()
    assert (found["visits"]["more"], found["visits/ann"]["more"]) == (4, 4)
    run("ask", "SELECT AVG(age) FROM visits", "-e", "2")
    assert "none like the last one" in run("budget").output


def test_questions_left_are_those_that_are_then_answered() -> None:
    protected()
    curator = Curator("curator")
    for number in range(3):
        curator.ask(f"SELECT COUNT(*) FROM visits WHERE age > {number}", epsilon="0.7")
    more = curator.budget()["visits"]["more"]
    assert more == 1
    curator.ask("SELECT COUNT(*) FROM visits WHERE age > 50", epsilon="0.7")
    assert curator.budget()["visits"]["more"] == 0


def test_the_last_price_is_found_behind_many_others() -> None:
    protected()
    curator = Curator("curator")
    curator.ask(COUNT, epsilon="0.3", analyst="ann")
    for number in range(60):  # more records than are looked at first
        curator.ask(f"SELECT COUNT(*) FROM visits WHERE age > {number}", epsilon="0.01")
    found = curator.budget()
    assert found["visits/ann"]["more"] == 2
    assert found["visits"]["more"] == 210


def test_the_delta_for_keys_is_shown_where_there_is_some() -> None:
    protected()
    assert "δ" not in run("budget").output
    budget = "budget: {epsilon: 3, delta: 1e-6, delta_for_keys: 4e-7}"
    policy = POLICY.replace("budget: {epsilon: 3}", budget).replace("ann: {epsilon: 1}", "ann: all")
    Path("visits.yaml").write_text(policy)
    protected("-c", "approximate")
    lines = run("budget", "-c", "approximate").output.splitlines()
    assert "δ for keys" in lines[2]
    assert "δ 4e-07" in lines[2]
    assert Curator("approximate").budget()["visits"]["delta_left"] * 10**7 == 4


# Answers ----------------------------------------------------------------------------------------------------------


def test_explain_names_the_columns_of_the_question() -> None:
    protected()
    said = run("explain", BY_WARD, "-e", "1").output
    assert "error    visits: ± " in said
    assert "error    mean_age: " in said


def test_answers_come_as_csv_json_and_pictures() -> None:
    protected()
    printed = run("ask", BY_WARD, "-e", "1", "--csv", "--plot", "wards.png").output
    rows = list(csv.DictReader(io.StringIO(printed)))
    assert [row["ward"] for row in rows] == ["a", "b"]
    assert float(rows[0]["visits_low"]) <= float(rows[0]["visits"]) <= float(rows[0]["visits_high"])
    assert Path("wards.png").read_bytes().startswith(b"\x89PNG")
    found = json.loads(run("ask", BY_WARD, "-e", "1", "--json").output)
    assert found["price"]["amount"] == 1
    assert found["left"]["visits"]["exact"] == "2"
    assert found["charged"] is False
    assert isinstance(found["entry"], int)


# Certificates -----------------------------------------------------------------------------------------------------


@pytest.fixture
def paper() -> Path:
    protected()
    assert run("ask", BY_WARD, "-e", "1", "--certificate", "paper.json").exit_code == 0
    return Path("paper.json")


def test_a_certificate_is_checked_against_key_and_ledger(paper: Path) -> None:
    key = run("certificate", "public-key").output.strip()
    assert f"signed by the holder of {key}" in run("certificate", "verify", "paper.json").output.replace("\n", " ")
    assert "by this curator" in run("certificate", "verify", "paper.json", "--public-key", key).output
    assert "in its ledger" in run("certificate", "verify", "paper.json", "-c", "curator").output
    stranger = run("certificate", "verify", "paper.json", "--public-key", "00" * 32)
    assert stranger.exit_code == 1
    assert "another curator signed it" in stranger.output


def test_a_certificate_of_another_curator_or_of_a_ledger_that_was_replaced_fails(paper: Path) -> None:
    protected("-c", "other")
    assert run("certificate", "verify", "paper.json", "-c", "other").exit_code == 1
    key = Path("curator/signing.key").read_bytes()
    Path("other/signing.key").write_bytes(key)  # the same curator, with a ledger that never had the answer
    replaced = run("certificate", "verify", "paper.json", "-c", "other")
    assert replaced.exit_code == 1
    assert "another curator signed it" in replaced.output  # for this ledger never recorded the key
    Path("curator/ledger.witness").write_bytes(b"")
    assert "cannot be believed" in run("certificate", "verify", "paper.json", "-c", "curator").output


def test_a_certificate_is_read_as_a_table_also_a_forged_one(paper: Path) -> None:
    shown = run("certificate", "show", "paper.json")
    assert shown.exit_code == 0
    for words in (BY_WARD, "visits.patient_id", "add-remove-one", "DiscreteLaplace", "zero_concentrated", "signature"):
        assert words in shown.output
    facts = json.loads(paper.read_text())
    paper.write_text(json.dumps(facts | {"question": "[/red] SELECT 1"}))
    forged = run("certificate", "show", "paper.json")
    assert forged.exit_code == 1
    assert "[/red] SELECT 1" in forged.output
    assert "not genuine" in forged.output


# Help -------------------------------------------------------------------------------------------------------------


def commands(group: typer.Typer, path: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    """Every command, with the names of the groups that it is in."""
    own = [
        (*path, str(command.name or getattr(command.callback, "__name__", ""))) for command in group.registered_commands
    ]
    inner = [(one.typer_instance, (*path, str(one.name))) for one in group.registered_groups]
    return own + [found for part, name in inner if part is not None for found in commands(part, name)]


@pytest.mark.parametrize("command", commands(app), ids=" ".join)
def test_every_command_has_help_with_an_example(command: tuple[str, ...]) -> None:
    result = run(*command, "--help")
    assert result.exit_code == 0
    assert re.search(f"Examples?: discreet {' '.join(command)}", " ".join(result.output.split()))


def test_help_loads_nothing_heavy() -> None:
    heavy = {"numpy", "scipy", "duckdb", "pyarrow", "sqlglot", "cryptography"}
    code = f"import discreet.cli.main, sys; print(sorted({heavy} & set(sys.modules)))"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"
