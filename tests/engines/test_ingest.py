"""Taking in a table: all or nothing at every moment, one at a time, under the eyes of the owner alone."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from discreet.catalog.column import Column, ColumnType
from discreet.catalog.table import Budget, Table
from discreet.engines.duckdb.engine import DuckDBEngine
from discreet.engines.duckdb.ingest import ingest
from discreet.errors import DiscreetError, InvalidValue, StoreError
from tests.engines.crashing_ingest import STEPS
from tests.engines.people import PEOPLE, people
from tests.thoroughness import some

ROOT = Path(__file__).parents[2]


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[DuckDBEngine]:
    with DuckDBEngine(tmp_path / "curator", threads=2) as engine:
        yield engine


def units(engine: DuckDBEngine) -> dict[int, int]:
    rows = engine.run("SELECT DISTINCT person, _unit FROM people").to_pylist()
    return {row["person"]: row["_unit"] for row in rows}


def started(engine: DuckDBEngine, step: str) -> subprocess.Popen[bytes]:
    folder = str(engine.store.root.parent)
    command = [sys.executable, "-m", "tests.engines.crashing_ingest", folder, step]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def files(engine: DuckDBEngine) -> list[str]:
    return sorted(file.name for file in engine.store.root.glob("rows-*"))


# All or nothing ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("step", sorted({*some(STEPS, 6), "after manifest"}))
@pytest.mark.some(3)
def test_kill_9_at_a_step_leaves_the_old_version_or_the_new_one_whole(engine: DuckDBEngine, step: str) -> None:
    old = ingest(engine, PEOPLE, people(range(10)))
    killed = started(engine, step)
    killed.communicate(timeout=60)
    assert killed.returncode == -signal.SIGKILL
    found = set(units(engine))
    assert found == set(range(5, 25)) if step == "after manifest" else found in (set(range(10)), set(range(5, 25)))
    assert (engine.version("people") == old) is (found == set(range(10)))
    ingest(engine, PEOPLE, people(range(30)))
    assert sorted(units(engine).values()) == list(range(1, 31)), "ids stay dense after a crash"
    assert len(files(engine)) == 1
    engine.close()
    assert [file.name for file in engine.store.scratch.iterdir()] == ["gate.lock"]


def test_kill_9_in_the_middle_of_a_stream_changes_nothing(engine: DuckDBEngine) -> None:
    old = ingest(engine, PEOPLE, people(range(10)))
    killed = started(engine, "stream")
    assert killed.stdout is not None
    assert killed.stdout.readline() == b"reading\n"
    killed.kill()
    killed.communicate(timeout=60)
    assert (engine.version("people"), set(units(engine))) == (old, set(range(10)))


def test_ctrl_c_ends_an_ingest_and_changes_nothing(engine: DuckDBEngine) -> None:
    old = ingest(engine, PEOPLE, people(range(10)))
    stopped = started(engine, "stream")
    assert stopped.stdout is not None
    assert stopped.stdout.readline() == b"reading\n"
    stopped.send_signal(signal.SIGINT)
    _, said = stopped.communicate(timeout=60)
    assert b"KeyboardInterrupt" in said
    assert (engine.version("people"), set(units(engine))) == (old, set(range(10)))
    assert len(files(engine)) == 1
    engine.close()
    assert [file.name for file in engine.store.scratch.iterdir()] == ["gate.lock"], "Ctrl-C cleans up by itself"


def test_a_source_that_fails_half_way_changes_nothing(engine: DuckDBEngine) -> None:
    old = ingest(engine, PEOPLE, people(range(10)))

    def batches() -> Iterator[pa.RecordBatch]:
        yield from people(range(50)).to_batches()
        raise ValueError("canary")

    with pytest.raises(StoreError, match="nothing was changed") as caught:
        ingest(engine, PEOPLE, pa.RecordBatchReader.from_batches(people([1]).schema, batches()))
    assert caught.value.__context__ is None
    assert (engine.version("people"), set(units(engine))) == (old, set(range(10)))
    assert sorted(units(engine).values()) == list(range(1, 11))


def test_a_table_that_fails_its_checks_leaves_no_trace_in_the_map_of_people(engine: DuckDBEngine) -> None:
    constant = Table(
        "people",
        (Column("person", ColumnType.INTEGER), Column("visit", ColumnType.INTEGER, constant_per_unit=True)),
        unit="person",
        budget=Budget(1),
    )
    with pytest.raises(InvalidValue, match=r"people.visit: all rows of a unit"):
        ingest(engine, constant, people(range(100, 200)))
    ingest(engine, PEOPLE, people(range(10)))
    assert sorted(units(engine).values()) == list(range(1, 11))


# One at a time ----------------------------------------------------------------------------------------------------


def test_a_second_ingest_at_the_same_time_is_refused_and_questions_are_answered(engine: DuckDBEngine) -> None:
    old = ingest(engine, PEOPLE, people(range(10)))
    reading, go_on = threading.Event(), threading.Event()

    def batches() -> Iterator[pa.RecordBatch]:
        yield from people(range(20)).to_batches()
        reading.set()
        go_on.wait(30)

    source = pa.RecordBatchReader.from_batches(people([1]).schema, batches())
    other = threading.Thread(target=ingest, args=(DuckDBEngine(engine.store.root.parent), PEOPLE, source))
    other.start()
    assert reading.wait(30)
    with pytest.raises(StoreError, match="one ingest at a time"):
        ingest(engine, PEOPLE, people(range(3)))
    assert (engine.version("people"), len(units(engine))) == (old, 10)
    go_on.set()
    other.join()
    assert engine.version("people") != old
    assert len(units(engine)) == 20


def test_questions_during_many_swaps_see_one_whole_version(engine: DuckDBEngine) -> None:
    ingest(engine, PEOPLE, people(range(10)))
    wrong: list[Any] = []
    done = threading.Event()

    def ask() -> None:
        while not done.is_set():
            [row] = engine.run("SELECT count(*) AS n, count(DISTINCT visit) AS v FROM people").to_pylist()
            if row["n"] != 10 * row["v"]:
                wrong.append(row)

    asker = threading.Thread(target=ask)
    asker.start()
    for rows_each in (3, 1, 4, 2, 5):
        ingest(engine, PEOPLE, people(range(10), rows_each))
    done.set()
    asker.join()
    assert wrong == []


# Folders that cannot be written -----------------------------------------------------------------------------------


def test_a_folder_whose_place_is_taken_by_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "curator").write_text("")
    with pytest.raises(StoreError, match="writable"):
        ingest(DuckDBEngine(tmp_path / "curator"), PEOPLE, people(range(3)))


def test_a_read_only_folder_is_refused_for_an_ingest_and_still_answers() -> None:
    place = Path(tempfile.mkdtemp())  # below a folder that other users may enter, unlike pytest's own
    try:
        with DuckDBEngine(place, threads=2) as engine:
            ingest(engine, PEOPLE, people(range(10)))
        for path in (place, *place.rglob("*")):
            path.chmod(0o555 if path.is_dir() else 0o444)
        code = (
            "import os, sys; from discreet.engines.duckdb.engine import DuckDBEngine\n"
            "from discreet.engines.duckdb.ingest import ingest\n"
            "from discreet.errors import StoreError; from tests.engines.people import PEOPLE, people\n"
            "os.geteuid() or os.setuid(65534)  # root writes anywhere\n"
            "e = DuckDBEngine(sys.argv[1], threads=2)\n"
            "assert e.run('SELECT count(*) AS n FROM people')['n'].to_pylist() == [20]\n"
            "try: ingest(e, PEOPLE, people(range(3)))\n"
            "except StoreError as refused: print(refused)"
        )
        found = subprocess.run([sys.executable, "-c", code, str(place)], cwd=ROOT, capture_output=True, check=False)
        assert b"must be writable" in found.stdout, found.stderr.decode()
    finally:
        for path in (place, *place.rglob("*")):
            path.chmod(0o755)
        shutil.rmtree(place)


def test_a_full_disk_is_refused_and_changes_nothing(engine: DuckDBEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    old = ingest(engine, PEOPLE, people(range(10)))

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full)
        with pytest.raises(StoreError, match="must have room"):
            ingest(engine, PEOPLE, people(range(20)))
    assert (engine.version("people"), len(units(engine))) == (old, 10)


# Versions and promises --------------------------------------------------------------------------------------------


def test_taking_in_again_gives_a_new_version_and_the_same_ids(engine: DuckDBEngine) -> None:
    first, before = ingest(engine, PEOPLE, people(range(10))), units(engine)
    second, after = ingest(engine, PEOPLE, people(range(5, 15))), units(engine)
    assert first != second
    assert all(after[person] == before[person] for person in range(5, 10))
    assert sorted(after[person] for person in range(10, 15)) == list(range(11, 16))


def test_a_version_says_nothing_about_the_rows(engine: DuckDBEngine) -> None:
    versions = [ingest(engine, PEOPLE, people(range(10))) for _ in range(2)]
    assert [version.split("-")[0] for version in versions] == ["1", "2"]
    assert versions[0].split("-")[1] != versions[1].split("-")[1]


def test_the_old_version_is_gone_from_the_disk(engine: DuckDBEngine) -> None:
    for _ in range(3):
        ingest(engine, PEOPLE, people(range(10)))
    assert len(files(engine)) == 1


def test_a_changed_policy_changes_the_stored_columns(engine: DuckDBEngine) -> None:
    ingest(engine, PEOPLE, people(range(3)))
    fewer = Table("People", (Column("PERSON", ColumnType.TEXT),), unit="person", budget=Budget(1))
    ingest(engine, fewer, people(range(3)))
    assert engine.describe("people") == {"PERSON": ColumnType.TEXT}
    assert set(engine.run('SELECT * FROM "People"').column_names) == {"_unit", "_n", "_salt", "PERSON"}


def test_missing_values_are_refused_where_the_policy_says_there_are_none(engine: DuckDBEngine) -> None:
    strict = Table("t", (Column("x", ColumnType.INTEGER, nullable=False),), budget=Budget(1))
    holes = pa.table({"x": ["1", "canary"]})
    with pytest.raises(InvalidValue, match=r"t.x: values must not be missing") as caught:
        ingest(engine, strict, holes)
    assert "canary" not in str(caught.value)
    ingest(engine, strict, holes.slice(0, 1))


@pytest.mark.parametrize(
    ("values", "is_constant"),
    [
        (["a", "a"], True),
        ([None, None], True),
        (["a", "b"], False),
        (["a", None], False),
        ([True, False], False),
        ([1.5, 1.5], True),
    ],
)
def test_constant_columns_are_verified(engine: DuckDBEngine, values: list[Any], is_constant: bool) -> None:
    kinds = {str: ColumnType.TEXT, bool: ColumnType.BOOLEAN, float: ColumnType.REAL}
    column = Column("c", kinds.get(type(values[0]), ColumnType.TEXT), constant_per_unit=True)
    table = Table("t", (Column("person", ColumnType.TEXT), column), unit="person", budget=Budget(1))
    rows = pa.table({"person": ["p", "q", "p"], "c": [values[0], values[0], values[1]]})
    if is_constant:
        ingest(engine, table, rows)
    else:
        with pytest.raises(InvalidValue, match=r"t.c: all rows of a unit must hold one value"):
            ingest(engine, table, rows)


def test_progress_rises_from_0_to_1(engine: DuckDBEngine) -> None:
    seen: list[float] = []
    ingest(engine, PEOPLE, people(range(50_000)), seen.append)
    assert seen == sorted(seen)
    assert seen[-1] == 1.0
    assert 0 <= seen[0] < 1


def test_a_progress_bar_that_fails_ends_the_ingest_and_changes_nothing(engine: DuckDBEngine) -> None:
    old = ingest(engine, PEOPLE, people(range(10)))

    def broken(fraction: float) -> None:
        raise RuntimeError("no terminal")

    with pytest.raises(StoreError):
        ingest(engine, PEOPLE, people(range(20)), broken)
    assert engine.version("people") == old


def test_every_refusal_is_one_of_ours(engine: DuckDBEngine) -> None:
    with pytest.raises(DiscreetError):
        ingest(engine, PEOPLE, object())


def test_counting_rows_per_person_reads_sorted_rows(engine: DuckDBEngine) -> None:
    ingest(engine, PEOPLE, people(range(1000), rows_each=3))
    found = engine.run(
        "SELECT n, count(*) AS people FROM (SELECT _unit, count(*) AS n FROM people GROUP BY _unit) GROUP BY n"
    )
    assert found.to_pylist() == [{"n": 3, "people": 1000}]


def test_a_public_table_has_no_people_to_be_constant_for(tmp_path: Path) -> None:
    table = Table("wards", (Column("floor", ColumnType.INTEGER, constant_per_unit=True),), public=True)
    with DuckDBEngine(tmp_path) as engine:
        ingest(engine, table, pa.table({"floor": [1, 2]}))
        assert engine.run("SELECT count(*) AS n FROM wards").to_pylist() == [{"n": 2}]
