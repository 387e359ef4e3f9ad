"""A small hospital on the command line: files, a policy, and a way to run commands."""

from __future__ import annotations

from pathlib import Path

from click.testing import Result
from typer.testing import CliRunner

from discreet.cli.main import app
from discreet.cli.output import console

POLICY = """table: visits
unit: patient_id
budget: {epsilon: 3}
analysts: {ann: {epsilon: 1}, bob: all}
rows_per_unit: 2
columns:
  patient_id: {type: integer}
  ward: {type: text, keys: [a, b]}
  age: {type: integer, lower: 0, upper: 100}
  note: {type: text}
"""
COUNT = "SELECT COUNT(*) AS n FROM visits"


def write_files(folder: Path, rows: int = 300) -> None:
    """visits.csv and visits.yaml."""
    lines = [f"{k // 2},{'ab'[k % 2]},{k % 90},x" for k in range(rows)]
    (folder / "visits.csv").write_text("\n".join(["patient_id,ward,age,note", *lines]) + "\n")
    (folder / "visits.yaml").write_text(POLICY)


def run(*arguments: str) -> Result:
    """One command, as a person would type it on a wide terminal."""
    console.width = 200  # it was made when the tests began, perhaps on a narrow one
    return CliRunner().invoke(app, list(arguments), env={"COLUMNS": "200"})


def protected(*arguments: str) -> None:
    """Protect visits.csv in the working folder."""
    result = run("protect", "visits.csv", "visits.yaml", *arguments)
    assert result.exit_code == 0, result.output
