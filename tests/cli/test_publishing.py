"""Checking and publishing tables from the command line: one line for each mistake, and nothing half written."""

from __future__ import annotations

import csv
import json
import signal
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

from discreet.anonymize.methods import CheckedRows
from discreet.cli.output import write_together
from discreet.cli.publish import DOES_NOT_HOLD
from tests.cli.hospital import run

PATIENTS = """name,zip,age,nationality,disease
Ann,13053,28,Russian,Heart Disease
Bob,13068,29,American,Heart Disease
Cem,13068,21,Japanese,Viral Infection
Dee,13053,23,American,Viral Infection
Eva,14853,50,Indian,Cancer
Fay,14853,55,Russian,Heart Disease
Gus,14850,47,American,Viral Infection
Hal,14850,49,American,Viral Infection
Ida,13053,31,American,Cancer
Jon,13053,37,Indian,Cancer
Kim,13068,36,Japanese,Cancer
Lea,13068,35,American,Cancer
"""
"""The hospital's records of the texts, with names."""

ROLES = ["-q", "zip,age", "-s", "disease", "-i", "name,nationality"]
LEVELS = ["--hierarchy", "zip=mask", "--hierarchy", "age=intervals:10,20"]


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "patients.csv").write_text(PATIENTS)
    return tmp_path


def refused(*arguments: str) -> str:
    before = sorted(Path().iterdir())
    result = run(*arguments)
    assert result.exit_code == 2, result.output
    said = str(result.stderr)
    assert said.startswith("refused  ")
    assert said.count("\n") == 1
    assert sorted(Path().iterdir()) == before  # nothing is left behind
    return said


def rows(file: str) -> list[dict[str, str]]:
    with Path(file).open(encoding="utf-8", newline="") as text:
        return list(csv.DictReader(text))


# Check ------------------------------------------------------------------------------------------------------------


def test_a_check_says_what_fails_where_and_that_it_is_not_privacy(place: Path) -> None:
    result = run("check", "patients.csv", *ROLES, "--k", "4", "--l", "2")
    assert result.exit_code == DOES_NOT_HOLD
    for words in ("not differential privacy", "broken by 12 classes", "homogeneity", "discreet protect", "ε ="):
        assert words in result.output


def test_a_check_without_models_reports_and_succeeds(place: Path) -> None:
    result = run("check", "patients.csv", *ROLES)
    assert result.exit_code == 0
    assert "k up to 1" in result.output


def test_a_check_as_json_is_data(place: Path) -> None:
    result = run("check", "patients.csv", *ROLES, "--k", "1", "--population", "1000", "--json")
    found = json.loads(result.stdout)
    assert found["check"]["k"] == 1
    assert found["holds"]
    assert "not differential privacy" in found["warning"]
    assert found["population"]["population"] == 1000


def test_a_population_can_be_a_file(place: Path) -> None:
    (place / "town.csv").write_text(PATIENTS + PATIENTS.partition("\n")[2])
    result = run("check", "patients.csv", *ROLES, "--population", "town.csv", "--json")
    assert json.loads(result.stdout)["risk"]["journalist"]["highest"] == 0.5
    assert "must be there" in refused("check", "patients.csv", *ROLES, "--population", "-5")


def test_a_check_writes_a_page_once(place: Path) -> None:
    assert run("check", "patients.csv", *ROLES, "--html", "page.html").exit_code == 0
    page = (place / "page.html").read_text()
    assert page.startswith("<!doctype html>")
    assert "not differential privacy" in page
    assert "nothing is overwritten" in refused("check", "patients.csv", *ROLES, "--html", "page.html")
    assert run("check", "patients.csv", *ROLES, "--html", "page.html", "--force").exit_code == 0


def test_a_release_is_measured_against_its_original(place: Path) -> None:
    assert run("anonymize", "patients.csv", "-o", "out.csv", *ROLES, *LEVELS, "--k", "4").exit_code == 0
    options = ["-q", "zip,age", "-s", "disease", "--k", "4", "--original", "patients.csv", *LEVELS]
    result = run("check", "out.csv", *options)
    assert result.exit_code == 0, result.output
    assert "normalised loss" in result.output


@pytest.mark.parametrize(
    "options",
    [
        ["--l", "2.5", "--diversity", "entropy"],
        ["--l", "2", "--diversity", "recursive", "--c", "2"],
        ["--t", "0.1"],
        ["--alpha", "0.1"],
        ["--beta", "0.1"],
        ["--delta", "0.1"],
    ],
)
def test_every_model_can_be_asked_for(place: Path, options: list[str]) -> None:
    assert run("check", "patients.csv", *ROLES, *options).exit_code == DOES_NOT_HOLD


# Anonymize --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["optimal", "local", "mondrian", "taxonomy"])
def test_every_method_writes_a_release_that_passes_its_own_check(place: Path, method: str) -> None:
    result = run("anonymize", "patients.csv", "-o", "out.csv", *ROLES, *LEVELS, "--k", "3", "--l", "2", "-m", method)
    assert result.exit_code == 0, result.output
    assert "What an attacker can still do" in result.output
    released = rows("out.csv")
    assert set(released[0]) == {"zip", "age", "disease"}  # no name, no index, no row number
    assert run("check", "out.csv", "-q", "zip,age", "-s", "disease", "--k", "3", "--l", "2").exit_code == 0


def test_weights_say_which_column_to_spare(place: Path) -> None:
    """All pairs of four values: one column has to go, and it is the one that counts less."""
    (place / "pairs.csv").write_text("x,y\n" + "".join(f"{n // 4},{n % 4}\n" for n in range(16)))
    for spared, gone in (("x", "y"), ("y", "x")):
        options = ["-q", "x,y", "--k", "4", "--weight", f"{spared}=9"]
        assert run("anonymize", "pairs.csv", "-o", f"{spared}.csv", *options).exit_code == 0
        assert {row[gone] for row in rows(f"{spared}.csv")} == {"*"}
        assert {row[spared] for row in rows(f"{spared}.csv")} == {"0", "1", "2", "3"}


def test_numbers_are_microaggregated_into_parquet(place: Path) -> None:
    options = ["-q", "age", "-i", "name", "--k", "4", "-m", "microaggregate"]
    result = run("anonymize", "patients.csv", "-o", "out.parquet", *options)
    assert result.exit_code == 0, result.output
    ages = parquet.read_table("out.parquet").column("age").to_pylist()
    assert len(ages) == 12
    assert min(ages.count(age) for age in ages) >= 4


def test_the_table_of_the_texts_comes_out(place: Path) -> None:
    """Everybody in their thirties has cancer: 4-anonymous, and homogeneous in a third of the rows."""
    (place / "age.csv").write_text(
        "\n".join(f"{age};{'<30' if age < 30 else '3*' if age < 40 else '≥40'};*" for age in range(20, 60))
    )
    (place / "zip.csv").write_text("13053;130**\n13068;130**\n14850;1485*\n14853;1485*\n")
    options = ["--hierarchy", "age=age.csv", "--hierarchy", "zip=zip.csv", "--k", "4", "--suppression", "0"]
    result = run("anonymize", "patients.csv", "-o", "out.csv", *ROLES, *options, "--json")
    assert result.exit_code == 0, result.output
    assert sorted({(row["zip"], row["age"]) for row in rows("out.csv")}) == [
        ("130**", "3*"),
        ("130**", "<30"),
        ("1485*", "≥40"),
    ]
    found = json.loads(result.stdout)
    homogeneity = next(one for one in found["attacks"] if one["name"] == "homogeneity")
    assert homogeneity["share"] == pytest.approx(1 / 3)
    assert found["comparison"]["suppressed"] == 0


def test_a_method_that_errs_is_caught_by_the_last_check(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A broken method releases the table as it is."""
    broken = lambda method, job, progress: CheckedRows(job.table.drop_columns(["name", "nationality"]), "")  # noqa: E731
    monkeypatch.setattr("discreet.anonymize.methods.release_of", broken)
    said = refused("anonymize", "patients.csv", "-o", "out.csv", *ROLES, *LEVELS, "--k", "4")
    assert "checked again, got <4-anonymity>" in said


def test_the_page_is_written_beside_the_release(place: Path) -> None:
    result = run("anonymize", "patients.csv", "-o", "out.csv", *ROLES, *LEVELS, "--k", "4", "--html", "report.html")
    assert result.exit_code == 0, result.output
    assert "Before and after" in (place / "report.html").read_text()
    assert not list(place.glob(".*"))


def test_force_overwrites_files_and_never_the_table(place: Path) -> None:
    (place / "out.csv").write_text("old")
    options = [*ROLES, *LEVELS, "--k", "4"]
    assert "pass --force" in refused("anonymize", "patients.csv", "-o", "out.csv", *options)
    assert (place / "out.csv").read_text() == "old"
    assert run("anonymize", "patients.csv", "-o", "out.csv", *options, "--force").exit_code == 0
    assert len(rows("out.csv")) >= 11
    said = refused("anonymize", "patients.csv", "-o", "./patients.csv", *options, "--force")
    assert "must not be overwritten" in said
    assert (place / "patients.csv").read_text() == PATIENTS


def test_a_file_that_cannot_be_written_leaves_the_old_ones(place: Path) -> None:
    (place / "a.csv").write_text("old")

    def fails(part: Path) -> None:
        part.write_text("half")
        raise OSError(28, "No space left on device", str(part))

    with pytest.raises(OSError, match="No space"):
        write_together({place / "a.csv": lambda part: part.write_text("new"), place / "b.csv": fails})
    assert (place / "a.csv").read_text() == "old"
    assert sorted(file.name for file in place.iterdir()) == ["a.csv", "patients.csv"]


def test_a_stopped_search_writes_nothing(place: Path) -> None:
    """A search without end in sight is stopped as Ctrl-C would, while it is at work."""
    wide = pa.table({f"c{n}": [hash((row, n)) % 7 for row in range(3000)] for n in range(16)})
    parquet.write_table(wide, "wide.parquet")
    levels = [part for name in wide.column_names for part in ("--hierarchy", f"{name}=ordered:2,4")]
    options = ["-q", ",".join(wide.column_names), *levels, "--k", "5", "--seconds", "600"]
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    signal.setitimer(signal.ITIMER_REAL, 1.5)
    try:
        result = run("anonymize", "wide.parquet", "-o", "out.csv", *options)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert result.exit_code == 130, result.output
    assert "nothing was written" in result.stderr
    assert sorted(file.name for file in place.iterdir()) == ["patients.csv", "wide.parquet"]


# Bad input --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ([*ROLES, "--k", "13"], "13-anonymity"),
        ([*ROLES, "--k", "4", "--l", "5"], "distinct 5-diversity of disease"),
        ([*ROLES, "--k", "13", "-m", "mondrian"], "13-anonymity"),
        ([*ROLES, "--k", "13", "-m", "taxonomy"], "13-anonymity"),
        (["-q", "zip,disease", "-s", "disease", "--k", "2"], "quasi-identifying and sensitive"),
        ([*ROLES], "a table must be published under a model"),
        ([*ROLES, "--k", "0"], "k must be at least 1"),
        ([*ROLES, "--k", "2", "-m", "magic"], "one of optimal, local, mondrian"),
        ([*ROLES, "--k", "2", "-m", "mondrian", "--seconds", "3"], "--seconds must go with a search"),
        ([*ROLES, "--k", "2", "-m", "taxonomy", "--suppression", "0.1"], "--suppression must go with a search"),
        ([*ROLES, "--k", "2", "-m", "microaggregate", *LEVELS], "means need no hierarchies"),
        ([*ROLES, "--l", "2", "-m", "microaggregate"], "must have a size"),
        ([*ROLES, "--k", "2", "--suppression", "2"], "a share from 0 to 1"),
        ([*ROLES, "--k", "2", "--loss", "beauty"], "one of normalised"),
        ([*ROLES, "--k", "2", "--weight", "age=much"], "COLUMN=NUMBER"),
        ([*ROLES, "--k", "2", "--weight", "agee=2"], "did you mean 'age'?"),
        ([*ROLES, "--k", "2", "--weight", "age=2", "-m", "taxonomy"], "--weight must go with a search"),
        ([*ROLES, "--k", "2", "--hierarchy", "age"], "COLUMN=FILE"),
        ([*ROLES, "--k", "2", "--hierarchy", "ag=mask"], "did you mean 'age'?"),
        ([*ROLES, "--k", "2", "--hierarchy", "age=gone.csv"], "must be readable"),
        ([*ROLES, "--k", "2", "--hierarchy", "age=young.csv"], "31"),
        ([*ROLES, "--k", "2", "--hierarchy", "age=torn.csv"], "level 1"),
        ([*ROLES, "--k", "2", "--hierarchy", "age=intervals:x"], "must be numbers"),
        ([*ROLES, "--k", "2", "--hierarchy", "age=mask", "--hierarchy", "age=mask"], "one hierarchy"),
        (["-q", "zap", "--k", "2"], "did you mean 'zip'?"),
        (["-q", "", "--k", "2"], "a quasi-identifier"),
        (["-q", "zip", "--k", "2", "--t", "0.2"], "name it as sensitive"),
    ],
)
def test_a_request_that_cannot_be_met_is_one_line_and_writes_nothing(
    place: Path, options: list[str], words: str
) -> None:
    (place / "young.csv").write_text("28;20s\n29;20s\n")
    ages = ["28", "29", "21", "23", "50", "55", "47", "49", "31", "37", "36", "35"]
    (place / "torn.csv").write_text("\n".join(f"{age};all;{'even' if int(age) % 2 == 0 else 'odd'}" for age in ages))
    assert words in refused("anonymize", "patients.csv", "-o", "out.csv", *options)


@pytest.mark.parametrize(
    ("output", "words"), [("out.txt", ".csv or .parquet"), ("gone/out.csv", "the folder of a file must be there")]
)
def test_a_place_that_cannot_hold_a_release_is_refused_before_the_work(place: Path, output: str, words: str) -> None:
    assert words in refused("anonymize", "patients.csv", "-o", output, *ROLES, "--k", "2")


def test_release_and_page_need_two_names(place: Path) -> None:
    options = [*ROLES, "--k", "2", "--html", "./out.csv"]
    assert "a name of its own" in refused("anonymize", "patients.csv", "-o", "out.csv", *options)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a,a\n1,2\n", "a name of its own"),
        ("a,b\n", "must have rows"),
        ("", "header"),
        ("a,b\n1,2\n3\n", "the same columns"),
    ],
)
def test_a_table_that_makes_no_sense_is_one_line(place: Path, text: str, words: str) -> None:
    (place / "bad.csv").write_text(text)
    assert words in refused("check", "bad.csv", "-q", "a")


def test_a_table_that_is_not_there_is_one_line(place: Path) -> None:
    assert "must be there" in refused("check", "gone.csv", "-q", "a")


def test_sixty_columns_are_counted_first_and_the_heuristic_is_offered(place: Path) -> None:
    wide = pa.table({f"c{n}": [row * (n + 3) % 5 for row in range(40)] for n in range(60)})
    parquet.write_table(wide, "wide.parquet")
    names = ",".join(wide.column_names)
    for method in ("optimal", "local"):
        said = refused("anonymize", "wide.parquet", "-o", "out.csv", "-q", names, "--k", "2", "-m", method)
        assert "60 columns with 1,152,921,504,606,846,976 recodings" in said
        assert "--method taxonomy" in said
    result = run("anonymize", "wide.parquet", "-o", "out.csv", "-q", names, "--k", "2", "-m", "taxonomy")
    assert result.exit_code == 0, result.output


def test_constant_and_missing_columns_are_values_like_others(place: Path) -> None:
    (place / "odd.csv").write_text("town,age,disease\n" + "x,,flu\n" * 3 + "x,,cold\n" * 3)
    result = run("anonymize", "odd.csv", "-o", "out.csv", "-q", "town,age", "-s", "disease", "--k", "2", "--l", "2")
    assert result.exit_code == 0, result.output
    assert len(rows("out.csv")) == 6


def test_help_has_an_example(place: Path) -> None:
    for command in ("check", "anonymize"):
        result = run(command, "--help")
        assert "Example" in result.output
        assert "not differential privacy" in " ".join(result.output.split())
