"""``discreet local``: calculators for surveys without a curator."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from discreet.cli.main import app
from tests.reports.parsed import assert_standalone

runner = CliRunner()


def said(*words: str) -> str:
    done = runner.invoke(app, ["local", *words])
    assert done.exit_code == 0, done.output
    return done.output


def test_shuffle_says_what_mixed_reports_cost() -> None:
    found = said("shuffle", "100000", "4")
    assert "mixed    ε = 0.16979 but for a probability of δ = 1e-06: 23.6 times less" in found
    assert "closed form of the theorem: ε = 0.5346" in found


def test_shuffle_says_where_it_does_not_help() -> None:
    found = said("shuffle", "10", "4", "--delta", "1e-9")
    assert "hardly less" in found
    assert "proved for no local ε" in found


def test_compare_prints_writes_and_does_not_overwrite(tmp_path: Path) -> None:
    page = tmp_path / "trust.html"
    found = said("compare", "1000000", "1", "--delta", "1e-6", "--html", str(page))
    assert "707 times as much" in found
    assert_standalone(page.read_text(encoding="utf-8"))
    figures = said("compare", "1000000", "1", "--delta", "1e-6", "--json")
    assert json.loads(figures)["rows"][-1]["n"] == 1_000_000
    again = runner.invoke(app, ["local", "compare", "10", "1", "--html", str(page)])
    assert again.exit_code == 2
    assert "707" in page.read_text(encoding="utf-8")


def test_best_says_why() -> None:
    assert "Subset selection has the least variance" in said("best", "1", "100")
    assert "Hadamard response has the least variance" in said("best", "1", "100", "--most-bytes", "1")


@pytest.mark.parametrize(
    "words",
    [
        ["shuffle", "0", "1"],
        ["shuffle", "10", "x"],
        ["shuffle", "10", "1", "--delta", "0"],
        ["compare", "10", "0"],
        ["compare", "10", "1", "--delta", "2"],
        ["compare", "10", "1", "--html", "/nowhere/at/all.html"],
        ["best", "1", "1"],
        ["best", "nan", "10"],
    ],
)
def test_bad_input_is_refused_in_a_sentence(words: list[str]) -> None:
    done = runner.invoke(app, ["local", *words])
    assert done.exit_code == 2
    assert "refused" in done.output + done.stderr
    assert "Traceback" not in done.output
