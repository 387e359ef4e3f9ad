"""Why a run failed is written down for the owner, where rows are, and is said to nobody else."""

from __future__ import annotations

import stat
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from discreet.catalog.budget import Budget
from discreet.curator.curator import Curator
from discreet.engines.duckdb import snapshot as duckdb_snapshot
from discreet.engines.engine import OwnerFile
from discreet.errors import EngineFailure


def test_whoever_opens_a_curator_finds_the_reason_in_its_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(*_: Any) -> None:
        raise RuntimeError("disk\nfull")

    curator = Curator(tmp_path)
    curator.protect(pa.table({"who": [1, 2]}), table="people", unit="who", budget=Budget(1))
    log = tmp_path / "owner.log"
    assert not log.exists()
    monkeypatch.setattr(duckdb_snapshot.DuckDBSnapshot, "_run", failing)
    with pytest.raises(EngineFailure, match=r"owner\.log"):
        curator.ask("SELECT COUNT(*) FROM people", epsilon="0.1")
    assert stat.S_IMODE(log.stat().st_mode) == 0o600
    line, suspended = log.read_text("utf-8").splitlines()
    assert "is suspended at people until you lift it" in suspended
    assert line.endswith(" RuntimeError: disk full")


def test_every_failure_is_one_line_and_the_file_stays_small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("discreet.engines.engine._LARGEST", 200)
    log = OwnerFile(tmp_path)
    for k in range(21):
        log(f"Error: number {k}\n  in line 3\ud800")
    older, newer = (tmp_path / name for name in ("owner.log.1", "owner.log"))
    lines = [*older.read_text("utf-8").splitlines(), *newer.read_text("utf-8").splitlines()]
    assert [line.partition("Z ")[2] for line in lines] == [
        f"Error: number {k} in line 3\\ud800" for k in range(21 - len(lines), 21)
    ]
    assert max(file.stat().st_size for file in (older, newer)) < 300
