"""DuckDB keeps the contract, and answers questions behind closed doors."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any, ClassVar

import duckdb
import pyarrow as pa
import pytest

from discreet.catalog.table import Table
from discreet.engines.duckdb import snapshot as duckdb_snapshot
from discreet.engines.duckdb.engine import DuckDBEngine
from discreet.engines.duckdb.ingest import ingest
from discreet.engines.engine import Engine
from discreet.errors import EngineFailure, InvalidValue, StoreError
from tests.engines.contract import PEOPLE, ROWS, EngineContract

ENDLESS = "SELECT sum(a.range * b.range) FROM range(1000000) a, range(1000000) b"


class TestDuckDB(EngineContract):
    endless: ClassVar[str] = ENDLESS
    failures: ClassVar[dict[str, str]] = {
        "syntax": "SELEC 1",
        "empty": "",
        "division by zero": "SELECT amount // (id - id) FROM people",
        "overflow": "SELECT amount + amount FROM people",
        "missing table": "SELECT * FROM nowhere",
        "missing column": "SELECT nothing FROM people",
        "cast": "SELECT CAST(name AS BIGINT) FROM people",
        "two statements": "SELECT 1; SELECT 2",
        "not a SELECT": "CREATE TABLE t AS SELECT 1",
        "error on purpose": "SELECT error(name) FROM people",
    }
    canary_failures: ClassVar[list[str]] = [
        "SELECT CAST(name AS BIGINT) FROM people WHERE id = 1 AND name LIKE 'canary%'",
        "SELECT CAST(name AS DATE) FROM people WHERE name LIKE 'canary%'",
        "SELECT error(name) FROM people WHERE name LIKE 'canary%'",
        "SELECT strptime(name, '%Y') FROM people WHERE name LIKE 'canary%'",
    ]

    def open(self, folder: Path, **settings: Any) -> Engine:
        return DuckDBEngine(folder, threads=2, **settings)

    def load(self, folder: Path, table: Table, rows: pa.Table) -> None:
        with DuckDBEngine(folder, threads=2) as engine:
            ingest(engine, table, rows)


@pytest.fixture
def engine(tmp_path: Path) -> DuckDBEngine:
    engine = DuckDBEngine(tmp_path / "curator", threads=2)
    ingest(engine, PEOPLE, ROWS)
    return engine


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT * FROM read_csv('/etc/passwd')",
        "SELECT * FROM '/etc/passwd'",
        "SELECT * FROM read_text('/etc/passwd')",
        "SELECT * FROM glob('/etc/*')",
        "SELECT * FROM read_parquet('https://example.com/x.parquet')",
        "ATTACH 'x.duckdb' AS x",
        "COPY people TO 'x.csv'",
        "EXPORT DATABASE 'x'",
        "INSTALL httpfs",
        "LOAD httpfs",
        "SET threads = 1",
        "SET enable_external_access = true",
        "PRAGMA database_list",
        "INSERT INTO people SELECT * FROM people",
        "DELETE FROM t0.main.rows",
        "DROP VIEW people",
        "DETACH t0",
        "CREATE TABLE mine AS SELECT 1",
        "EXPLAIN ANALYZE SELECT * FROM people",
        "CALL pragma_version()",
    ],
)
@pytest.mark.some(4)
def test_the_doors_are_closed_to_everything_but_questions(engine: DuckDBEngine, statement: str) -> None:
    with pytest.raises(EngineFailure):
        engine.run(statement)
    assert engine.run("SELECT count(*) AS n FROM people")["n"].to_pylist() == [4]


def test_a_python_variable_is_not_a_table(engine: DuckDBEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    """DuckDB looks for tables among the variables of the module that calls it. Two settings forbid it, each alone."""
    monkeypatch.setattr(duckdb_snapshot, "secret", pa.table({"x": [1]}), raising=False)
    with pytest.raises(EngineFailure):
        engine.run("SELECT * FROM secret")
    settings = (
        "SELECT current_setting('python_enable_replacements') AS a, current_setting('enable_external_access') AS b"
    )
    assert engine.run(settings).to_pylist() == [{"a": False, "b": False}]


def test_no_progress_bar_tells_how_long_a_question_takes(engine: DuckDBEngine) -> None:
    cursor = engine.snapshot()._connection.cursor()
    assert cursor.execute("SELECT current_setting('enable_progress_bar')").fetchall() == [(False,)]


def test_opening_a_folder_touches_nothing(tmp_path: Path) -> None:
    engine = DuckDBEngine(tmp_path / "new")
    with pytest.raises(InvalidValue, match="there is none yet"):
        engine.version("people")
    assert not (tmp_path / "new").exists()


def test_the_store_is_for_its_owner_alone(engine: DuckDBEngine) -> None:
    assert engine.store.root.stat().st_mode & 0o077 == 0


def test_runs_on_many_threads_do_not_meet(engine: DuckDBEngine) -> None:
    found: list[int] = []

    def ask(number: int) -> None:
        found.extend(engine.run("SELECT $1 + count(*) AS n FROM people", [number])["n"].to_pylist())

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found) == list(range(4, 20))


STOPPED_BY_HAND = """
import importlib, os, signal, sys, threading
from discreet.engines.duckdb.engine import DuckDBEngine

importlib.import_module(sys.argv[2])
engine = DuckDBEngine(sys.argv[1])
engine.run("SELECT 1 AS n")
done = threading.Event()

def press() -> None:
    while not done.wait(1):  # whoever sees nothing happen presses again
        os.kill(os.getpid(), signal.SIGINT)

threading.Thread(target=press, daemon=True).start()
try:
    engine.run(sys.argv[3])
except KeyboardInterrupt as stopped:
    done.set()
    assert stopped.__context__ is None
    assert engine.run("SELECT 1 AS n")["n"].to_pylist() == [1]
    print("stopped")
"""


@pytest.mark.parametrize("library", ["signal", "polars"])
def test_ctrl_c_ends_a_run_as_ctrl_c(engine: DuckDBEngine, library: str) -> None:
    """Also once Polars is loaded, whose handler of the signal does not wake a thread that waits.

    In a process of its own: what other tests have loaded may catch the signal, too.
    """
    folder = str(engine.store.root.parent)
    engine.close()
    command = [sys.executable, "-c", STOPPED_BY_HAND, folder, library, ENDLESS]
    found = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert found.stdout == "stopped\n", found.stderr


def test_a_timeout_does_not_strike_the_next_question(engine: DuckDBEngine) -> None:
    engine.timeout = 0.2
    engine.close()
    for _ in range(3):
        with pytest.raises(EngineFailure):
            engine.run(ENDLESS)
        assert engine.run("SELECT count(*) AS n FROM people")["n"].to_pylist() == [4]


@pytest.mark.parametrize(
    ("setting", "value"), [("threads", 0), ("timeout", 0), ("timeout", -1), ("timeout", float("nan"))]
)
def test_refuses_settings_without_a_meaning(tmp_path: Path, setting: str, value: float) -> None:
    with pytest.raises(InvalidValue, match=setting):
        DuckDBEngine(tmp_path, **{setting: value})  # type: ignore[arg-type]


def test_memory_is_bounded_where_nobody_says_otherwise_and_there_is_plenty(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for physical, bounded in ((64 * 2**30, True), (2**30, False)):
        monkeypatch.setattr("discreet.engines.duckdb.engine._physical_memory", lambda size=physical: size)
        assert ("memory_limit" in DuckDBEngine(tmp_path).settings(None)) == bounded
    assert DuckDBEngine(tmp_path, memory_limit="60MB").settings(None)["memory_limit"] == "60MB"


def test_a_bounded_engine_has_the_stated_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("discreet.engines.duckdb.engine._physical_memory", lambda: 64 * 2**30)
    with DuckDBEngine(tmp_path) as engine:
        ingest(engine, PEOPLE, ROWS)
        assert engine.run("SELECT current_setting('memory_limit') AS most")["most"].to_pylist() == ["2.3 GiB"]


def test_rows_that_do_not_fit_in_memory_are_spilled_inside_the_folder_and_removed(tmp_path: Path) -> None:
    engine = DuckDBEngine(tmp_path, threads=2, memory_limit="60MB")
    ingest(engine, PEOPLE, ROWS)
    spilled: set[Path] = set()
    done = threading.Event()

    def watch() -> None:
        while not done.wait(0.005):
            spilled.update(engine.store.scratch.rglob("*.tmp"))

    watcher = threading.Thread(target=watch)
    watcher.start()
    many = "SELECT count(*) AS n FROM (SELECT range, count(*) FROM range(3000000) GROUP BY range)"
    found = engine.run(many)["n"].to_pylist()
    done.set()
    watcher.join()
    engine.close()
    assert found == [3_000_000]
    assert spilled, "nothing was spilled, so nothing was tested"
    assert [file.name for file in engine.store.scratch.iterdir()] == ["gate.lock"]


def test_scratch_of_a_process_that_was_killed_is_removed_by_the_next(tmp_path: Path) -> None:
    with DuckDBEngine(tmp_path) as engine:
        ingest(engine, PEOPLE, ROWS)
    left = (
        "import os, signal, sys; from pathlib import Path; from discreet.engines.duckdb.workbench import Scratch\n"
        "s = Scratch(Path(sys.argv[1])); (s.path / 'row.tmp').write_text('Ann'); os.kill(os.getpid(), signal.SIGKILL)"
    )
    killed = subprocess.run([sys.executable, "-c", left, str(engine.store.scratch)], check=False)
    assert killed.returncode == -signal.SIGKILL
    assert list(engine.store.scratch.rglob("row.tmp"))
    with DuckDBEngine(tmp_path) as other:
        other.run("SELECT 1")
        assert not list(engine.store.scratch.rglob("row.tmp"))


def test_a_forked_child_opens_the_store_for_itself(engine: DuckDBEngine) -> None:
    code = (
        "import os, sys; from discreet.engines.duckdb.engine import DuckDBEngine\n"
        "e = DuckDBEngine(sys.argv[1], threads=2); q = 'SELECT count(*) AS n FROM people'\n"
        "n = e.run(q)['n'].to_pylist(); child = os.fork()\n"
        "if not child:\n"
        "    e.close() if sys.argv[2] == 'close' else None\n"
        "    os._exit(e.run(q)['n'].to_pylist() != n)\n"
        "_, status = os.waitpid(child, 0); sys.exit(status or e.run(q)['n'].to_pylist() != n)"
    )
    for how in ("keep", "close"):
        place = str(engine.store.root.parent)
        assert subprocess.run([sys.executable, "-c", code, place, how], check=False, timeout=60).returncode == 0


def test_many_processes_read_at_once(engine: DuckDBEngine) -> None:
    code = (
        "import sys; from discreet.engines.duckdb.engine import DuckDBEngine\n"
        "e = DuckDBEngine(sys.argv[1]); print(e.run('SELECT count(*) AS n FROM people')['n'][0]); sys.stdin.read()"
    )
    asked = [
        subprocess.Popen(
            [sys.executable, "-c", code, str(engine.store.root.parent)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        for _ in range(3)
    ]
    try:
        assert [process.stdout.readline() for process in asked if process.stdout] == [b"4\n"] * 3
        assert ingest(engine, PEOPLE, ROWS)  # also while they have the old version open
    finally:
        for process in asked:
            process.communicate()


@pytest.mark.parametrize("damage", ["{", "[]", '{"format": 2}', '{"format": 1, "ingests": 0, "tables": [{}]}', "\xff"])
def test_a_damaged_manifest_is_refused_and_not_taken_for_an_empty_store(engine: DuckDBEngine, damage: str) -> None:
    (engine.store.root / "manifest.json").write_text(damage, encoding="latin-1")
    with pytest.raises(StoreError, match="manifest"):
        engine.version("people")
    with pytest.raises(StoreError, match="manifest"):
        ingest(engine, PEOPLE, ROWS)


def test_a_missing_or_damaged_file_of_rows_is_refused(engine: DuckDBEngine) -> None:
    engine.close()
    [file] = engine.store.root.glob("rows-*.duckdb")
    file.write_bytes(b"x" * 5000)
    with pytest.raises(StoreError, match="readable"):
        engine.version("people")
    file.unlink()
    with pytest.raises(StoreError, match="readable"):
        engine.version("people")
    with pytest.raises(EngineFailure):
        engine.run("SELECT 1")


def test_duckdb_holds_rows_sorted_by_unit(engine: DuckDBEngine) -> None:
    [file] = engine.store.root.glob("rows-*.duckdb")
    engine.close()
    with duckdb.connect(str(file), read_only=True) as connection:
        assert [unit for (unit,) in connection.execute("SELECT _unit FROM rows").fetchall()] == [1, 1, 2, 3]
