"""``discreet ledger suspensions`` and ``discreet ledger lift``: an owner sees who failed and lets them ask again."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from typer.testing import CliRunner

from discreet.catalog.column import Column, ColumnType
from discreet.catalog.table import Budget, Table
from discreet.cli.main import app
from discreet.curator.curator import Curator
from discreet.engines.duckdb.snapshot import DuckDBSnapshot
from discreet.engines.engine import Unsent
from discreet.errors import EngineFailure, EngineUnavailable

COUNT = "SELECT COUNT(*) FROM visits"


@pytest.fixture
def curator(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Curator:
    """One where a question of ann failed, and one of bob was not sent."""
    made = Curator(tmp_path)
    columns = (Column("age", ColumnType.INTEGER, lower=0, upper=110),)
    table = Table("visits", columns, budget=Budget(3), analysts={"ann": None, "bob": None})
    made.protect(pa.table({"age": [3]}), table)
    for fault, kind, who in ((ValueError("secret"), EngineFailure, "ann"), (Unsent(), EngineUnavailable, "bob")):

        def failing(*_: object, fault: Exception = fault) -> None:
            raise fault

        with monkeypatch.context() as patched:
            patched.setattr(DuckDBSnapshot, "_run", failing)
            with pytest.raises(kind):
                made.ask(COUNT, 1, analyst=who)
    return made


def run(curator: Curator, *words: str) -> tuple[int, str]:
    found = CliRunner().invoke(app, ["ledger", *words, "-c", str(curator.folder)])
    return found.exit_code, found.output


def test_an_owner_lists_and_lifts(curator: Curator) -> None:
    code, shown = run(curator, "suspensions")
    (suspension,) = curator.suspensions()
    assert code == 0
    assert f"{suspension.record}  {suspension.time}  ann at visits\n        {COUNT}" in shown
    assert "secret" not in shown
    assert run(curator, "lift", str(suspension.record))[0] == 2  # without a reason
    assert run(curator, "lift", str(suspension.record), "--because", " ")[0] == 2
    assert run(curator, "lift", "1", "--because", "x")[0] == 2
    code, said = run(curator, "lift", str(suspension.record), "--because", "the disk was full")
    assert (code, "ann may ask again" in said) == (0, True)
    assert run(curator, "suspensions") == (0, "nobody is suspended\n")
    assert "lifted by record" in run(curator, "suspensions", "--all")[1]
    assert curator.ask(COUNT, 1, analyst="ann").charged


def test_the_ledger_says_it_in_words(curator: Curator) -> None:
    (suspension,) = curator.suspensions()
    curator.lift(suspension.record, "the disk was full", by="olga")
    shown = run(curator, "show")[1]
    for words in (
        "failed: ann is suspended at visits",
        "charged, because no row was read",
        f"lifted the suspension of record {suspension.record}, by olga: the disk was full",
    ):
        assert words in shown
    assert run(curator, "verify")[0] == 0
