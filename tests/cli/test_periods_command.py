"""A table grows on the command line: rows are appended, periods close, people are forgotten; and what each says."""

from __future__ import annotations

import io
import json
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from discreet.curator.curator import Curator
from tests.cli.hospital import run

POLICY = """table: visits
time: {column: admitted, every: week, from: 2026-01-05}
unit: {name: patient, column: patient_id, per: week}
budget: {epsilon: 1, per: week, lifetime: 10}
analysts: {ann: {epsilon: 1/2}}
columns:
  patient_id: {type: integer}
  admitted: {type: date}
  ward: {type: text, keys: [surgery, eyes]}
"""
WEEKLY = "SELECT date_trunc('week', admitted) AS week, COUNT(*) AS n FROM visits GROUP BY week"
MONDAY = date(2026, 1, 5)


def write_week(number: int, *more: str) -> str:
    """A file of one visit of each of forty patients in a week, and what is written beside."""
    day = MONDAY + timedelta(weeks=number)
    rows = [f"{who},{day + timedelta(days=who % 7)},{('surgery', 'eyes')[who % 2]}" for who in range(40)]
    name = f"week{number}.csv"
    Path(name).write_text("\n".join(["patient_id,admitted,ward", *rows, *more]) + "\n")
    return name


def read(*words: str) -> Any:
    result = run(*words, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def said(*words: str) -> str:
    result = run(*words)
    assert result.exit_code == 0, result.output
    return result.stdout


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DISCREET_CURATOR", raising=False)
    Path("visits.yaml").write_text(POLICY)
    said("protect", write_week(0), "visits.yaml")
    return tmp_path


def test_rows_are_appended_and_what_is_set_aside_is_told_by_reason() -> None:
    said("close", "visits", "--through", "2026-W02")
    odd = ["1,2026-01-06,eyes", "2,2026-01-07,eyes", "3,,eyes", ",2026-01-13,eyes", "4,2025-12-31,eyes"]
    told = said("append", "visits", write_week(1, *odd), "--id", "monday")
    assert "40 rows taken in; set aside: " in told
    assert all(words in told for words in ("2 late", "1 without a date", "1 without a person", "1 before the first"))


def test_an_append_that_is_repeated_changes_nothing_and_other_rows_under_its_name_are_refused() -> None:
    first = read("append", "visits", write_week(1), "--id", "monday")
    assert first == {"id": "monday", "rows": 40, "set_aside": {}, "repeated": False, "unread": {}}
    assert read("append", "visits", "week1.csv", "--id", "monday") == {**first, "repeated": True}
    assert "nothing changed" in said("append", "visits", "week1.csv", "--id", "monday")
    other = run("append", "visits", write_week(2), "--id", "monday")
    assert other.exit_code == 2
    assert "an append of this id was made, with other rows" in other.stderr


def test_an_append_without_a_name_gets_one() -> None:
    told = said("append", "visits", write_week(1))
    name = told.split("It is called ")[1].split(".")[0]
    assert read("append", "visits", "week1.csv", "--id", name)["repeated"] is True


def test_a_value_that_cannot_be_read_is_told() -> None:
    told = run("append", "visits", write_week(1, "7,13.01.2026,eyes")).stdout
    assert "1 value could not be read as date" in told
    assert "1 without a date" in told


def test_periods_close_in_order_and_then_cost_by_themselves() -> None:
    said("append", "visits", write_week(1))
    assert said("close", "visits", "--through", "2026-W03") == "visits: closed 2026-W02 to 2026-W03, 2 periods\n"
    assert said("close", "visits", "--through", "2026-W03") == "visits: that was closed already\n"
    said("ask", WEEKLY, "-e", "0.25")
    assert read("close", "VISITS", "--through", "2026-W04") == {"visits": ["2026-W04"]}
    found = read("periods", "visits")
    assert [(one["name"], one["state"]) for one in found[:4]] == [
        ("2026-W02", "closed"),
        ("2026-W03", "closed"),
        ("2026-W04", "closed"),
        ("2026-W05", "due"),
    ]
    assert [one["spent"]["exact"] for one in found[:3]] == ["1/4", "1/4", "0"]
    lines = [line.split() for line in said("periods", "visits").splitlines()]
    assert lines[1] == ["2026-W02", "2026-01-05", "2026-01-11", "closed", "ε", "0.25", "ε", "0.75"]
    assert lines[4] == ["2026-W05", "2026-01-26", "2026-02-01", "due"]


def test_what_is_due_is_closed_by_the_calendar(monkeypatch: pytest.MonkeyPatch) -> None:
    by_calendar = Curator.close_due
    moment = datetime(2026, 1, 20, tzinfo=UTC)
    monkeypatch.setattr(Curator, "close_due", lambda self: by_calendar(self, moment))
    assert said("close", "--due") == "visits: closed 2026-W02 to 2026-W03, 2 periods\n"
    assert said("close", "--due") == "no period is due\n"
    assert read("close", "--due") == {}


def test_a_table_begins_with_its_first_rows_and_says_what_became_of_them() -> None:
    name = write_week(0, ",2026-01-05,eyes")
    told = said("protect", name, "visits.yaml", "-c", "other")
    assert "40 rows taken in; set aside: 1 without a person." in told
    assert "Next: discreet close visits --through 2026-W02 -c other" in told
    assert read("protect", name, "visits.yaml", "-c", "other")["appended"]["repeated"] is True


def test_the_budget_is_a_tree_of_people_tables_analysts_and_periods() -> None:
    assert [line.split() for line in said("budget").splitlines()][2] == ["visits", "ε", "1", "a", "week"]
    said("close", "visits", "--through", "2026-W04")
    said("ask", f"{WEEKLY[:-14]} WHERE admitted < DATE '2026-01-12' GROUP BY week", "-e", "0.25", "--analyst", "ann")
    lines = [line.rstrip() for line in said("budget").splitlines()[1:]]
    assert [line.split("ε")[0].rstrip() for line in lines] == [
        "people of patient",
        "  people of patient per week",
        "    2026-W02",
        "    each of 2026-W03 to 2026-W04",
        "  visits",
        "    2026-W02",
        "    each of 2026-W03 to 2026-W04",
        "    ann",
        "      2026-W02",
        "      each of 2026-W03 to 2026-W04",
    ]
    assert lines[0].split("ε")[1:] == [" 10  ", " 0.25  ", " 9.75  about 39 more like the last one"]
    assert lines[4].endswith("ε 1 a week")
    assert "ε 0.75" in lines[5]


@pytest.mark.parametrize(
    "words", [["visits"], ["--through", "2026-W02"], [], ["visits", "--due"], ["visits", "--through", "x", "--due"]]
)
def test_a_close_says_one_table_or_what_is_due(words: list[str]) -> None:
    result = run("close", *words)
    assert result.exit_code == 2
    assert "what is closed is one table or what is due" in result.stderr


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["close", "visits", "--through", "2026-02"], "a week from 2026-01-05 on must have this name, got '2026-02'"),
        (["close", "visit", "--through", "2026-W02"], "did you mean 'visits'?"),
        (["append", "visit", "week0.csv"], "did you mean 'visits'?"),
        (["append", "visits", "none.csv"], "none.csv"),
        (["periods", "visit"], "did you mean 'visits'?"),
        (["forget", "visits", "--unit", "ann"], "pass one that can be read as integer"),
    ],
)
def test_what_means_nothing_is_refused(words: list[str], reason: str) -> None:
    result = run(*words)
    assert result.exit_code == 2
    assert reason in result.stderr


def test_whoever_is_forgotten_is_gone_after_the_next_close_and_nobody_hears_whether_they_were_there() -> None:
    told = {who: said("forget", "visits", "--unit", who) for who in ("7", "4711")}
    assert told["7"] == told["4711"]
    assert read("forget", "visits", "--unit", "7") == {"table": "visits", "forgotten": "at the next close"}
    said("close", "visits", "--through", "2026-W02")
    with Curator("curator").engine.snapshot() as rows:
        [view] = rows.stored("visits").periods
        assert view.name == "2026-W02"
    kept = Curator("curator").engine.run('SELECT patient_id FROM "visits@2026-W02"')["patient_id"].to_pylist()
    assert 7 not in kept
    assert len(kept) == 39


def test_a_long_append_says_how_long_the_rest_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    from rich.console import Console

    from discreet.cli import ingest

    seen = io.StringIO()
    monkeypatch.setattr(ingest, "console", Console(file=seen, force_terminal=True, width=120))
    said("append", "visits", write_week(1))
    assert "left" in seen.getvalue()
