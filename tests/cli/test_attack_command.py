"""``discreet attack``: runs, reports in three forms, and refuses what it cannot attack."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pyarrow import csv
from typer.testing import CliRunner

from discreet.attacks.catalogue import every_attack, every_defence
from discreet.attacks.people import patients
from discreet.cli.main import app
from tests.reports.parsed import assert_standalone

QUICK = ["--attacks", "linkage,direct", "--defences", "names,exact,discreet", "--epsilon", "0.1"]
WHO = ["--quasi", "age,zip,sex", "--secret", "diagnosis"]


@pytest.fixture
def table(tmp_path: Path) -> Path:
    file = tmp_path / "hospital.csv"
    csv.write_csv(patients(300), file)
    return file


def run(*arguments: object):
    return CliRunner().invoke(app, ["attack", *map(str, arguments)])


def test_a_table_is_attacked_and_told_in_three_forms(table, tmp_path):
    page = tmp_path / "attacks.html"
    found = run(table, *WHO, *QUICK, "--html", page, "--seed", 3)
    assert found.exit_code == 0, found.output
    assert "names removed" in found.output
    assert "✗" in found.output
    assert "Seed 3" in " ".join(found.output.split())
    assert "Attacks on hospital" in assert_standalone(page.read_text()).words
    data = run(table, *WHO, *QUICK, "--json", "--seed", 3)
    assert {cell["defence"] for cell in json.loads(data.stdout)["cells"]} == {
        "names removed",
        "exact answers",
        "Discreet, ε = 0.1",
    }


def test_json_is_printed_alone(table):
    found = run(table, *WHO, "--attacks", "direct", "--defences", "exact", "--json")
    assert json.loads(found.stdout)["cells"][0]["score"]["right"]["rate"] == 1


def test_the_same_seed_gives_the_same_scores(table):
    first, again = (run(table, *WHO, "--attacks", "linkage", "--defences", "names,noise", "--json") for _ in "ab")
    scores = [[cell["score"] for cell in json.loads(one.stdout)["cells"]] for one in (first, again)]
    assert scores[0] == scores[1]


def test_the_demonstration_needs_no_table():
    found = run("--demo", "--attacks", "direct", "--defences", "exact", "--detail")
    assert found.exit_code == 0
    assert "3,000 people" in found.output
    assert "Needs: A way to name a person" in found.output


def test_everything_there_is_is_listed():
    found = run("--list", "--epsilon", "0.25")
    for one in (*every_attack(), *every_defence(["0.25"])):
        assert f"  {one.name}: " in found.output


def test_a_release_is_attacked_instead(table, tmp_path):
    found = run(table, *WHO, "--release", table)
    assert found.exit_code == 0, found.output
    assert "linkage" in found.output
    assert "Discreet" not in found.output


def test_names_on_a_list_are_found_in_the_release(table, tmp_path):
    voters = tmp_path / "voters.csv"
    listed = patients(300).slice(0, 30)
    csv.write_csv(listed.drop_columns(["diagnosis"]).append_column("name", [[f"P{k}" for k in range(30)]]), voters)
    found = run(table, *WHO, "--release", table, "--attacks", "linkage", "--outside", voters, "--names", "name")
    assert found.exit_code == 0, found.output
    assert "of 30 people on the list" in found.output
    assert "P0" in found.output or "P1" in found.output
    assert "more" in found.output


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "there must be a table to attack"),
        (["TABLE"], "an attack needs columns that outsiders know"),
        (["TABLE", "--quasi", " , ", "--secret", "diagnosis"], "an attack needs columns that outsiders know"),
        (["TABLE", "--quasi", "age"], "there must be a secret"),
        (["TABLE", "--quasi", "agee", "--secret", "diagnosis"], "'age'"),
        (["TABLE", "--quasi", "age", "--secret", "age"], "age"),
        (["TABLE", *WHO, "--attacks", "nonsense"], "the attack must be known"),
        (["TABLE", *WHO, "--defences", ","], "there must be at least one defence"),
        (["TABLE", *WHO, *QUICK[:4], "--epsilon", "-1"], "epsilon must be positive"),
        (["TABLE", *WHO, "--release", "nowhere.csv"], "a table must be there"),
        (["TABLE", *WHO, *QUICK, "--html", "TABLE"], "must not be overwritten"),
        (["TABLE", *WHO, "--names", "name"], "--names needs a file with those names"),
        (["TABLE", *WHO, "--outside", "TABLE", "--names", "name"], "a column must be on the list"),
        (["TABLE", "--demo"], "a table of its own"),
        (["nowhere.csv", *WHO], "a table must be there"),
        (["SMALL", *WHO], "at least two people"),
        (["SAME", *WHO], "a secret must differ between people"),
    ],
)
def test_bad_input_has_a_sentence_and_exit_code_2(table, tmp_path, arguments, words):
    files = {"TABLE": table, "SMALL": tmp_path / "small.csv", "SAME": tmp_path / "same.csv"}
    csv.write_csv(patients(1), files["SMALL"])
    same = patients(30)
    csv.write_csv(same.set_column(3, "diagnosis", [["flu"] * 30]), files["SAME"])
    found = run(*(files.get(one, one) for one in arguments))
    assert found.exit_code == 2
    assert words in found.stderr
    assert "Traceback" not in found.output
    assert found.stdout == ""
