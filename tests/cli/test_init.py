"""A first policy: what is guessed from a sample that everybody may see, and what is asked in the terminal."""

from __future__ import annotations

import json
import os
import pty
import sys
from pathlib import Path

import pytest

from discreet.catalog.policy.csv_format import CSVFormat
from discreet.catalog.policy.read import loads, read
from discreet.engines.duckdb.sample import guess
from tests.cli.hospital import run

SAMPLE = [
    "id;zip;cost;visits;born;seen;smokes;day;note",
    "1;01067;1.234,50;12.000;31.12.1980;2024-01-02 10:30;yes;03/04/2024;fine",
    "2;10115;NA;3;1.2.1990;2024-01-03 11:00;no;05/06/2024;-",
    "3;80331;7,25;-;;;;;NA",
]


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("sample.csv").write_text("\n".join(SAMPLE))
    return tmp_path


def test_types_and_formats_are_guessed_by_the_casts_of_an_ingest(place: Path) -> None:
    found = guess("sample.csv")
    assert dict(found.types) == {
        "id": "BIGINT",
        "zip": "VARCHAR",  # a number would lose its zero
        "cost": "DOUBLE",
        "visits": "BIGINT",
        "born": "DATE",
        "seen": "TIMESTAMP",
        "smokes": "BOOLEAN",
        "day": "VARCHAR",
        "note": "VARCHAR",
    }
    assert found.csv == CSVFormat(decimal=",", thousands=".", dates="%d.%m.%Y", nulls=("NA", "-"))
    assert found.unclear == ("day",)


@pytest.mark.parametrize(
    ("rows", "types", "csv"),
    [
        (["1", "2.5"], "DOUBLE", None),
        (["12.000", "7"], "DOUBLE", None),  # a decimal point, where nothing says otherwise; protect tells of it
        (["1,234", "7"], "VARCHAR", None),  # a decimal comma, or thousands
        (["1,234", "7,5"], "DOUBLE", CSVFormat(decimal=",")),
        (["1,234", "7,000,000"], "BIGINT", CSVFormat(thousands=",")),
        (["2024-01-02"], "DATE", None),
        (["12/31/2024", "01/02/2024"], "DATE", CSVFormat(dates="%m/%d/%Y")),
        (["20240131"], "BIGINT", None),
        (["", ""], "VARCHAR", None),
        (["x", "1"], "VARCHAR", None),
    ],
)
@pytest.mark.some(4)
def test_a_column_is_what_all_its_values_can_be_read_as(
    place: Path, rows: list[str], types: str, csv: CSVFormat | None
) -> None:
    Path("one.csv").write_text("\n".join(["x|y", *(f"{row}|a" for row in rows)]))
    found = guess("one.csv")
    assert (found.types["x"], found.csv) == (types, csv)


def test_a_sample_fills_in_what_the_file_does_not_state(place: Path) -> None:
    Path("visits.csv").write_text(f"{SAMPLE[0]}\n")
    result = run("init", "visits.csv", "--sample", "sample.csv", "--unit", "id", "--budget", "3")
    assert result.exit_code == 0, result.output
    assert "day: dates can be read with the day or the month first" in result.output
    text = Path("visits.yaml").read_text()
    assert "guessed from sample.csv, which you said is public or made up" in text
    table = read("visits.yaml")
    assert (table.unit, str(table.budget.epsilon if table.budget else None)) == ("id", "3")
    assert table.csv == guess("sample.csv").csv
    Path("visits.csv").write_text("\n".join(SAMPLE))
    assert "could not be read" not in run("protect", "visits.csv", "visits.yaml").output
    asked = run("ask", "SELECT COUNT(*) AS n FROM visits", "-e", "1")
    assert asked.exit_code == 0, asked.output


def test_without_a_sample_no_value_is_read_and_blanks_stay(place: Path) -> None:
    result = run("init", "sample.csv", "--name", "visits", "--json")
    assert json.loads(result.stdout) == {"policy": "visits.yaml", "blank": ["unit", "budget"], "unclear": []}
    assert "1980" not in Path("visits.yaml").read_text()
    for words, said in (
        (["init", "sample.csv", "--unit", "idd"], "did you mean 'id'?"),
        (["init", "sample.csv", "--budget", "-1"], "epsilon must be positive"),
        (["init", "sample.csv", "--sample", "none.csv"], "none.csv"),
    ):
        refused = run(*words)
        assert refused.exit_code == 2
        assert said in refused.stderr
    assert not Path("sample.yaml").exists()


def test_a_file_in_another_encoding_keeps_it_in_its_policy(place: Path) -> None:
    Path("old.csv").write_bytes("id,größe\n1,2\n".encode("latin-1"))
    assert "encoding" in run("init", "old.csv").stderr
    assert run("init", "old.csv", "--encoding", "latin-1", "--unit", "id", "--budget", "1").exit_code == 0
    assert loads(Path("old.yaml").read_text()).csv == CSVFormat(encoding="latin-1")


def test_a_terminal_asks_for_unit_and_budget_and_a_count_takes_one_command(place: Path) -> None:
    child, terminal = pty.fork()
    if child == 0:
        os.execv(sys.executable, [sys.executable, "-m", "discreet", "init", "sample.csv"])
    os.write(terminal, b"idd\nid\nmuch\n2\ny\n")
    said = b""
    try:
        while part := os.read(terminal, 4096):
            said += part
    except OSError:
        pass  # the terminal is closed when the command ends
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0, said.decode()
    words = said.decode()
    assert "did you mean 'id'?" in words
    assert "Whose privacy is protected?" in words
    assert "sample is protected" in words
    asked = run("ask", "SELECT COUNT(*) AS n FROM sample", "-e", "0.5", "--json")
    assert json.loads(asked.stdout)["charged"] is True
