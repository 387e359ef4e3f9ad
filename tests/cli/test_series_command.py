"""Series on the command line: begin one, read it, stop it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.hospital import run
from tests.curator.clinic import BY_WEEK, WEEKS, clinic, close, visits


@pytest.fixture
def folder(tmp_path: Path) -> str:
    curator = clinic(tmp_path)
    curator.append("visits", visits([(who, "A", 0) for who in range(30)]))
    curator.close("visits", through=WEEKS[1])
    close(curator)
    return str(tmp_path)


def test_a_series_is_explained_begun_listed_shown_and_stopped(folder: str) -> None:
    terms = ["--periods", "3", "--rows-per-unit", "2", "--since", WEEKS[0], "-c", folder]
    explained = run("subscribe", BY_WEEK, "--part", "4/5", "--explain", *terms)
    assert "ε 4000, once, for all 3 periods" in explained.stdout
    assert json.loads(run("series", "-c", folder, "--json").stdout) == []
    begun = json.loads(run("subscribe", BY_WEEK, "--part", "4/5", "--reader", "ann", "--json", *terms).stdout)
    assert (begun["first"], begun["readers"], begun["next"]) == (WEEKS[0], ["ann"], WEEKS[2])
    shown = run("series", "show", begun["id"][:6], "--analyst", "ann", "-c", folder).stdout
    assert "2026-01-05" in shown
    assert "people reached the limit" in shown
    figures = json.loads(run("series", "show", begun["id"], "--json", "-c", folder).stdout)
    assert [row["n"] for row in sorted(figures["rows"], key=lambda row: row["week"])] == [30, 0]
    assert "stopped" in run("series", "stop", begun["id"], "-c", folder).stdout
    assert "stopped" in run("series", "-c", folder).stdout
    ledger = run("ledger", "show", "-c", folder).stdout
    assert f"series {begun['id']}, 3 periods: {BY_WEEK}" in ledger
    assert f"series {begun['id']}: {WEEKS[0]}" in ledger
    assert run("ledger", "verify", "-c", folder).exit_code == 0


def test_a_series_that_an_analyst_may_not_read_does_not_exist_for_them(folder: str) -> None:
    begun = run("subscribe", BY_WEEK, "-e", "1", "--periods", "2", "--json", "-c", folder)
    refused = run("series", "show", json.loads(begun.stdout)["id"], "--analyst", "bob", "-c", folder)
    assert refused.exit_code == 2
    assert "a series must have this id" in refused.stderr


def test_a_series_without_a_number_of_periods_is_refused(folder: str) -> None:
    refused = run("subscribe", BY_WEEK, "-e", "1", "-c", folder)
    assert refused.exit_code == 2
    assert "pass --periods 52" in refused.stderr
