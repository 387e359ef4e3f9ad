"""Tables that grow by periods: what is taken, what is set aside, what closes when, and who is forgotten."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest

from discreet.catalog.catalog import Catalog
from discreet.catalog.column import Column, ColumnType
from discreet.catalog.period import TimeColumn
from discreet.catalog.policy.read import UnreadColumn
from discreet.catalog.table import Budget, ForeignKey, Table
from discreet.engines.duckdb.engine import DuckDBEngine
from discreet.engines.duckdb.growing import root_of
from discreet.engines.duckdb.ingest import ingest
from discreet.engines.duckdb.manifest import FORMAT, WITHOUT_GROWTH, Manifest
from discreet.engines.open import open_engine
from discreet.errors import DiscreetError, InvalidType, InvalidValue, PolicyError, StoreError
from tests.engines.growth import FIRST, KINDS, Row, as_source, close, period, shown, table, units

PERSON = table("person")
PER_DAY = table("person and day")
ROWS: list[Row] = [(1, 10, FIRST, "a"), (2, 20, FIRST, "b"), (3, 10, FIRST + timedelta(1), "a")]


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[DuckDBEngine]:
    with DuckDBEngine(tmp_path / "curator", threads=1) as engine:
        yield engine


def begun(engine: DuckDBEngine, visits: Table, rows: list[Row] = ROWS) -> Table:
    engine.begin(visits)
    engine.append(visits, as_source(rows), id="1")
    return visits


def numbers(engine: DuckDBEngine) -> list[list[int]]:
    return [[row["number"] for row in rows] for rows in shown(engine).values()]


# Beginning --------------------------------------------------------------------------------------------------------


def test_a_table_begins_without_rows_and_without_a_closed_period(engine: DuckDBEngine) -> None:
    engine.begin(PERSON)
    engine.begin(PERSON)
    stored = engine.snapshot().stored("VISITS")
    assert (stored.periods, stored.sources, stored.grows) == ((), [], True)
    assert (engine.root("visits"), engine.closing("visits")) == (None, None)
    assert engine.describe("visits") == {column.name: column.type for column in PERSON.columns}
    with pytest.raises(AssertionError, match="periods have versions"):
        engine.version("visits")


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"columns": PERSON.columns[:3]}, "columns"),
        ({"time": TimeColumn("day", PERSON.time.every, FIRST + timedelta(1))}, "the first period"),  # type: ignore[union-attr]
        ({"time": TimeColumn("day", "week", FIRST)}, "the length of periods"),  # type: ignore[arg-type]
        ({"unit": None, "rows_per_unit": 1}, "domain"),
    ],
)
def test_a_table_stays_what_it_was_when_it_began(engine: DuckDBEngine, change: dict[str, Any], what: str) -> None:
    begun(engine, PERSON)
    other = replace(PERSON, **change)
    for work in (
        lambda: engine.begin(other),
        lambda: engine.append(other, as_source([]), id="2"),
        lambda: engine.prepare_close(other, period(0)),
    ):
        with pytest.raises(InvalidValue, match=f"visits: {what} must stay as it was"):
            work()


def test_bounds_may_change_and_hold_of_the_periods_that_were_closed_with_them(engine: DuckDBEngine) -> None:
    visits = begun(engine, PERSON)
    close(engine, visits, 0)
    number = replace(visits.columns[0], upper=50)
    close(engine, replace(visits, columns=(number, *visits.columns[1:])), 1)
    stored = engine.stored("visits")
    assert stored.limits == {}
    assert [stored.over([one.name]).limits["number"] for one in stored.periods] == [
        "integer from 0 to 1000",
        "integer from 0 to 50",
    ]


def test_a_table_that_is_taken_in_whole_and_one_that_grows_have_different_names(engine: DuckDBEngine) -> None:
    whole = replace(PERSON, time=None)
    ingest(engine, whole, as_source(ROWS))
    with pytest.raises(InvalidValue, match="a table that is taken in whole stays so"):
        engine.begin(PERSON)
    engine.begin(table("person", "stays"))
    with pytest.raises(InvalidValue, match="a table that grows by periods stays so"):
        ingest(engine, replace(whole, name="STAYS"), as_source(ROWS))
    with pytest.raises(InvalidValue, match="are appended"):
        ingest(engine, table("person", "other"), as_source(ROWS))
    with pytest.raises(InvalidValue, match="what follows @"):
        ingest(engine, replace(whole, name="stays@2026-01-05"), as_source(ROWS))
    ingest(engine, replace(whole, name="later@2026-01-05"), as_source(ROWS))
    with pytest.raises(InvalidValue, match="what follows @"):
        engine.begin(table("person", "later"))


def test_whose_people_are_found_through_a_table_that_grows_is_refused(engine: DuckDBEngine) -> None:
    begun(engine, PERSON)
    items = Table(
        "items",
        (Column("visit", ColumnType.INTEGER),),
        budget=Budget(1),
        foreign_keys=(ForeignKey("visit", "visits", "number"),),
    )
    with pytest.raises(
        PolicyError, match="items: a foreign key must not lead to the person through a table that grows"
    ):
        ingest(engine, items, pa.table({"visit": [1]}), catalog=Catalog([PERSON, items]))


@pytest.mark.parametrize("place", ["postgresql://nobody@127.0.0.1:1/none", "sc://127.0.0.1:1"])
def test_rows_on_a_server_are_added_and_removed_there(tmp_path: Path, place: str) -> None:
    try:
        engine = open_engine(tmp_path / "curator", place)
    except DiscreetError:
        pytest.skip("what it needs is not installed")
    attempts = [
        lambda: engine.append(PERSON, "public.visits", id="1"),
        lambda: engine.forget("visits", 1),
        lambda: engine.verify_files("visits"),
    ]
    for attempt in attempts:
        with pytest.raises(InvalidValue, match="visits: rows that stay on a server are added, changed and removed"):
            attempt()
    with pytest.raises(InvalidValue, match="nobody sees to it that the rows of closed periods stay as they are"):
        engine.begin(PERSON, "public.visits")
    with pytest.raises(InvalidValue, match="visits: a table that grows by periods begins"):
        engine.take_in(PERSON, "public.visits")


# Appending --------------------------------------------------------------------------------------------------------


def test_nobody_reads_a_row_before_its_period_is_closed(engine: DuckDBEngine) -> None:
    begun(engine, PERSON)
    assert shown(engine) == {}
    engine.prepare_close(PERSON, period(0))
    assert shown(engine) == {}
    engine.finish_close("visits", period(0))
    assert numbers(engine) == [[1, 2]]


def test_an_append_opens_nothing_anew_for_questions(engine: DuckDBEngine) -> None:
    begun(engine, PERSON)
    before = engine.snapshot()
    engine.append(PERSON, as_source([(9, 9, FIRST, "x")]), id="2")
    assert engine.snapshot() is before
    close(engine, PERSON, 0)
    assert engine.snapshot() is not before


def test_rows_are_set_aside_one_by_one_and_the_owner_hears_why(engine: DuckDBEngine) -> None:
    visits = table("person", may_miss_ward=False)
    engine.begin(visits)
    engine.append(visits, as_source([(0, 1, FIRST, "a")]), id="0")
    close(engine, visits, 0)
    rows: list[Row] = [
        (1, None, None, None),
        (2, 1, None, "a"),
        (3, None, FIRST, "a"),
        (4, 1, FIRST - timedelta(1), None),
        (5, 1, FIRST, None),
        (6, 1, FIRST + timedelta(1), None),
        (7, 1, date(9999, 12, 31), "a"),
        (8, 1, FIRST + timedelta(1), "a"),
        (9, 1, FIRST + timedelta(4095), "a"),
    ]
    done = engine.append(visits, as_source(rows), id="1")
    assert (done.rows, done.is_repeated) == (2, False)
    assert done.set_aside == {"no date": 2, "no person": 1, "before": 1, "late": 1, "missing": 1, "after": 1}
    close(engine, visits, 1)
    assert numbers(engine) == [[0], [8]]


def test_hostile_cells_are_set_aside_and_never_fail_an_append(engine: DuckDBEngine, tmp_path: Path) -> None:
    begun(engine, PERSON, [])
    file = tmp_path / "rows.csv"
    days = ["2026-01-05", "", "yesterday", "0000-00-00", "2026-02-30", "99999-01-01", "-1", "2026-01-05T25:00", "NaN"]
    lines = [f"{k},{who},{day},w" for k, (day, who) in enumerate((day, who) for day in days for who in ("1", "x", ""))]
    file.write_text("\n".join(["number,who,day,ward", *lines]), encoding="utf-8")
    heard: dict[str, UnreadColumn] = {}
    done = engine.append(PERSON, file, id="csv", unread=heard.update)
    assert (done.rows, sum(done.set_aside.values())) == (1, len(lines) - 1)
    assert heard["who"].count > 0
    close(engine, PERSON, 0)
    assert numbers(engine) == [[0]]


def test_moments_belong_to_the_period_that_their_own_clock_says(engine: DuckDBEngine) -> None:
    at = Column("day", ColumnType.TIMESTAMP)
    visits = replace(table("row"), columns=(PERSON.columns[0], at))
    engine.begin(visits)
    moments = [
        datetime(2026, 1, 5),
        datetime(2026, 1, 5, 23, 59, 59, 999999),
        datetime(2026, 1, 6),
        datetime(2026, 1, 4, 23, 59, 59),
    ]
    done = engine.append(visits, pa.table({"number": range(4), "day": moments}), id="1")
    assert done.set_aside == {"before": 1}
    close(engine, visits, 0)
    close(engine, visits, 1)
    assert numbers(engine) == [[0, 1], [2]]


def test_an_append_is_known_by_its_id_and_its_rows_in_any_order(engine: DuckDBEngine) -> None:
    engine.begin(PERSON)
    first = engine.append(PERSON, as_source(ROWS), id="night")
    again = engine.append(PERSON, as_source(ROWS[::-1]), id="night")
    assert again == replace(first, is_repeated=True)
    for other in (ROWS[:2], [*ROWS, ROWS[0]], [(1, 20, FIRST, "a"), (2, 10, FIRST, "b"), ROWS[2]], []):
        with pytest.raises(InvalidValue, match="an append of this id was made, with other rows"):
            engine.append(PERSON, as_source(other), id="night")
    close(engine, PERSON, 0)
    assert engine.append(PERSON, as_source(ROWS), id="night").is_repeated, "also when its rows would be late by now"
    assert engine.append(PERSON, as_source(ROWS), id="another").set_aside == {"late": 2}
    with pytest.raises(InvalidValue, match="an append has an id"):
        engine.append(PERSON, as_source(ROWS), id=" ")


def test_a_source_that_cannot_be_read_changes_nothing(engine: DuckDBEngine) -> None:
    begun(engine, PERSON)
    before = engine.store.manifest()
    with pytest.raises(InvalidValue, match="the source must have the declared columns"):
        engine.append(PERSON, pa.table({"number": [1]}), id="2")
    with pytest.raises(InvalidType, match="can be read as date"):
        engine.append(PERSON, as_source(ROWS).set_column(2, "day", pa.array([1, 2, 3])), id="2")
    with pytest.raises(InvalidValue, match="begins before rows are appended"):
        engine.append(table("person", "unknown"), as_source(ROWS), id="1")
    assert engine.store.manifest() == before


def test_rows_that_come_while_their_period_closes_are_late(engine: DuckDBEngine) -> None:
    begun(engine, PERSON)
    root = engine.prepare_close(PERSON, period(0))
    done = engine.append(PERSON, as_source([(8, 1, FIRST, "a"), (9, 1, FIRST + timedelta(1), "a")]), id="2")
    assert (done.rows, done.set_aside) == (1, {"late": 1})
    assert engine.prepare_close(PERSON, period(0)) == root
    engine.finish_close("visits", period(0))
    close(engine, PERSON, 1)
    assert numbers(engine) == [[1, 2], [3, 9]]


# Closing ----------------------------------------------------------------------------------------------------------


def test_periods_close_in_order_and_once(engine: DuckDBEngine) -> None:
    begun(engine, PERSON)
    with pytest.raises(InvalidValue, match="periods close in order, 2026-01-05 comes first"):
        engine.prepare_close(PERSON, period(1))
    with pytest.raises(InvalidValue, match="a period is prepared before it is closed"):
        engine.finish_close("visits", period(0))
    engine.prepare_close(PERSON, period(0))
    with pytest.raises(InvalidValue, match="periods close in order, 2026-01-05 comes first"):
        engine.prepare_close(PERSON, period(1))
    with pytest.raises(InvalidValue, match="a period is prepared before it is closed"):
        engine.finish_close("visits", period(1))
    engine.finish_close("visits", period(0))
    engine.finish_close("visits", period(0))
    assert engine.prepare_close(PERSON, period(0)) == engine.root("visits"), "a repeated close finds what was done"
    assert engine.closing("visits") is None
    close(engine, PERSON, 1)
    with pytest.raises(InvalidValue, match="periods close in order, once"):
        engine.prepare_close(PERSON, period(0))


@pytest.mark.parametrize("kind", KINDS)
def test_a_period_in_which_nobody_came_closes_like_any_other(engine: DuckDBEngine, kind: str) -> None:
    visits = begun(engine, table(kind), [])
    roots = {close(engine, visits, place) for place in range(3)}
    assert len(roots) == 3
    assert numbers(engine) == [[], [], []]
    engine.append(visits, as_source([(1, 1, FIRST + timedelta(3), "a")]), id="2")
    close(engine, visits, 3)
    assert numbers(engine) == [[], [], [], [1]]


def test_rows_of_one_person_that_disagree_are_all_set_aside_at_the_close(engine: DuckDBEngine) -> None:
    later = FIRST + timedelta(1)
    rows: list[Row] = [(1, 1, FIRST, "a"), (2, 1, FIRST, "b"), (3, 2, FIRST, "a"), (4, 2, FIRST, "a")]
    rows += [(5, 3, FIRST, None), (6, 3, FIRST, "a"), (7, 1, later, "a"), (8, 3, later, None), (9, 3, later, None)]
    visits = begun(engine, PER_DAY, rows)
    close(engine, visits, 0)
    close(engine, visits, 1)
    assert numbers(engine) == [[3, 4], [7, 8, 9]]
    stored = engine.stored("visits")
    assert [one.set_aside for one in stored.periods] == [4, 0]
    assert stored.constant == ["ward"]


def test_a_promise_that_was_made_after_an_append_is_kept_at_the_close(engine: DuckDBEngine) -> None:
    begun(engine, PERSON, [(1, 1, FIRST, None), (2, 1, FIRST, "a")])
    close(engine, table("person", may_miss_ward=False), 0)
    assert numbers(engine) == [[2]]
    assert engine.stored("visits").complete == ["ward"]
    close(engine, PERSON, 1)
    assert engine.stored("visits").complete == []


def test_a_root_says_what_is_in_the_files_and_nobody_can_guess_it(engine: DuckDBEngine, tmp_path: Path) -> None:
    begun(engine, PERSON)
    first = close(engine, PERSON, 0)
    with DuckDBEngine(tmp_path / "another", threads=1) as other:
        begun(other, PERSON)
        assert close(other, PERSON, 0) != first, "the same rows have another root where the salt is another"
    second = close(engine, PERSON, 1)
    assert len({first, second}) == 2
    assert len(bytes.fromhex(second)) == 32
    engine.verify_files("visits")
    file = engine.store.root / engine.stored("visits").periods[0].file
    whole = file.read_bytes()
    file.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    with pytest.raises(StoreError, match="must hold what was closed; 2026-01-05 is missing or was changed"):
        engine.verify_files("visits")
    file.unlink()
    with pytest.raises(StoreError, match="must hold what was closed; 2026-01-05 is missing or was changed"):
        engine.verify_files("visits")


def test_a_root_depends_on_the_salt_and_on_every_fact_of_every_period(engine: DuckDBEngine) -> None:
    begun(engine, PERSON)
    close(engine, PERSON, 0)
    root = close(engine, PERSON, 1)
    growing = engine.store.manifest().growing["visits"]
    first, second = growing.periods
    assert root_of(growing.salt, growing.periods) == root
    facts = {"name": "other", "start": "2026-01-04", "end": "2026-01-09", "digest": "00"}
    changed = [replace(first, **{name: fact}) for name, fact in facts.items()]
    changed.append(replace(first, rows=replace(first.rows, version="1-0")))
    others = [root_of(growing.salt, [one, second]) for one in changed]
    others += [
        root_of("00" * 32, growing.periods),
        root_of(growing.salt, [second, first]),
        root_of(growing.salt, [first]),
    ]
    assert len({root, *others}) == 1 + len(others)
    assert len(bytes.fromhex(growing.salt)) == 32


def test_rows_of_closed_periods_stay_in_the_file_of_an_append_and_are_never_taken_again(engine: DuckDBEngine) -> None:
    rows: list[Row] = [(k, k, FIRST + timedelta(k), "a") for k in range(9)]
    visits = begun(engine, PERSON, rows)
    [opened] = engine.store.manifest().growing["visits"].open
    files = []
    for place in range(9):
        close(engine, visits, place)
        files.append([one.file for one in engine.store.manifest().growing["visits"].open])
    assert numbers(engine) == [[k] for k in range(9)]
    assert [one.set_aside for one in engine.stored("visits").periods] == [0] * 9
    assert files[:4] == [[opened.file]] * 4, "more than half of it waits"
    assert files[4] != files[3]
    assert files[-1] == []


def test_the_manifest_is_written_so_that_releases_that_know_no_growth_refuse_it(engine: DuckDBEngine) -> None:
    file = engine.store.root / "manifest.json"
    ingest(engine, replace(PERSON, name="whole", time=None), as_source(ROWS))
    assert json.loads(file.read_text())["format"] == WITHOUT_GROWTH
    begun(engine, PERSON)
    close(engine, PERSON, 0)
    engine.forget("visits", 1)
    engine.prepare_close(PERSON, period(1))
    assert json.loads(file.read_text())["format"] == FORMAT
    assert Manifest.read(file) == engine.store.manifest()
    before = file.read_bytes()
    Manifest.read(file).write(file)
    assert file.read_bytes() == before
    secrets = [engine.store.manifest().growing["visits"].salt, engine.store.secret()]
    assert not any(one in repr(engine.store.manifest()) for one in secrets)


# What questions see -----------------------------------------------------------------------------------------------


def test_what_holds_in_every_period_holds_of_the_table(engine: DuckDBEngine) -> None:
    visits = begun(engine, table("person and day", may_miss_ward=False))
    for place in range(3):
        close(engine, visits, place)
    stored = engine.snapshot().stored("visits")
    some = stored.over([stored.periods[2].name, stored.periods[0].name])
    assert some.sources == ["visits@2026-01-05", "visits@2026-01-07"]
    assert (some.counted, some.salted, some.complete, some.domain) == (True, True, ["ward"], "visits.who per day")
    assert some.limits == {"number": "integer from 0 to 1000"}
    with pytest.raises(InvalidValue, match="only closed periods can be read"):
        stored.over(["2026-01-08"])
    snapshot = engine.snapshot()
    for one in stored.periods:
        assert snapshot.stored(f"VISITS@{one.name}").version == one.version
    both = " UNION ALL ".join(f'SELECT _unit, _n FROM "{name}"' for name in stored.sources)
    snapshot.rehearse(f"SELECT COUNT(*) AS n FROM ({both})")
    assert snapshot.run(f"SELECT COUNT(*) AS n FROM ({both})").to_pylist() == [{"n": 3}]
    assert engine.kept({"visits@2026-01-05": stored.periods[0].version}) is not None
    assert engine.kept({"visits@2026-01-05": "another"}) is None


def test_of_people_who_may_be_in_other_periods_nothing_is_claimed_that_is_about_all_their_rows(
    engine: DuckDBEngine,
) -> None:
    visits = begun(engine, replace(PERSON, budget=Budget(1, delta="1e-6", delta_for_keys="1e-6")))
    close(engine, visits, 0)
    for stored in (engine.stored("visits"), engine.stored("visits").over(["2026-01-05"])):
        assert (stored.counted, stored.held, stored.alike, stored.steps) == (False, {}, {}, {})
        assert stored.salted
    assert "_n" not in shown(engine)["2026-01-05"][0]


def test_the_rows_of_a_table_that_grows_are_known_again_in_another_table(engine: DuckDBEngine) -> None:
    visits = begun(engine, PERSON)
    close(engine, visits, 0)
    close(engine, visits, 1)
    whole = replace(PERSON, name="copy", time=None)
    ingest(engine, whole, as_source(ROWS))
    assert engine.stored("visits").digests == engine.stored("copy").digests
    engine.forget("visits", 20)
    close(engine, visits, 2)
    ingest(engine, whole, as_source([row for row in ROWS if row[1] != 20]))
    assert engine.stored("visits").digests == engine.stored("copy").digests


# Ids --------------------------------------------------------------------------------------------------------------


def test_a_person_in_one_period_has_one_id_in_all_tables_of_such_persons(engine: DuckDBEngine) -> None:
    patients = Table("patients", (Column("id", ColumnType.INTEGER),), unit="id", budget=Budget(1))
    linked = [
        replace(table("person and day", name), foreign_keys=(ForeignKey("who", "patients", "id"),))
        for name in ("visits", "labs")
    ]
    catalog = Catalog([patients, *linked])
    for place, one in enumerate(linked):
        engine.begin(one, catalog=catalog)
        rows: list[Row] = [(who, who, FIRST + timedelta(who % 2), "a") for who in range(place, place + 8)]
        engine.append(one, as_source(rows), id="1", catalog=catalog)
    for day in (0, 1):
        for one in linked:
            engine.prepare_close(one, period(day), catalog=catalog)
        for one in linked:
            engine.finish_close(one.name, period(day))
    ids: dict[Any, set[int]] = {}
    for one in linked:
        for day, rows in shown(engine, one.name).items():
            for row in rows:
                ids.setdefault((row["who"], day), set()).add(row["_unit"])
    assert all(len(found) == 1 for found in ids.values())
    assert len(set().union(*ids.values())) == len(ids) == 9, "seven of whom are in both tables"


def test_people_are_the_same_in_tables_that_are_taken_in_whole(engine: DuckDBEngine) -> None:
    patients = Table("patients", (Column("id", ColumnType.INTEGER),), unit="id", budget=Budget(1))
    visits = replace(PERSON, foreign_keys=(ForeignKey("who", "patients", "id"),))
    catalog = Catalog([patients, visits])
    ingest(engine, patients, pa.table({"id": [20, 30]}), catalog=catalog)
    engine.begin(visits, catalog=catalog)
    engine.append(visits, as_source(ROWS), id="1", catalog=catalog)
    engine.prepare_close(visits, period(0), catalog=catalog)
    engine.finish_close("visits", period(0))
    known = {row["id"]: row["_unit"] for row in engine.run("SELECT id, _unit FROM patients").to_pylist()}
    seen = {row["who"]: row["_unit"] for row in shown(engine)["2026-01-05"]}
    assert seen[20] == known[20]
    assert seen[10] not in known.values()

    engine.forget("visits", 20)
    engine.forget("visits", 10)
    engine.prepare_close(visits, period(1), catalog=catalog)
    engine.finish_close("visits", period(1))
    engine.append(visits, as_source([(k, k, FIRST + timedelta(2), "a") for k in (10, 20)]), id="2", catalog=catalog)
    engine.prepare_close(visits, period(2), catalog=catalog)
    engine.finish_close("visits", period(2))
    again = {row["who"]: row["_unit"] for row in shown(engine)["2026-01-07"]}
    assert again[20] == known[20], "who is in another table still is the same person"
    assert again[10] not in {*known.values(), *seen.values()}, "who was nowhere any more is somebody else"


def test_a_store_whose_last_ids_nobody_wrote_down_goes_on_behind_the_highest(engine: DuckDBEngine) -> None:
    whole = replace(PERSON, time=None)
    ingest(engine, whole, as_source(ROWS))
    engine.close()
    with duckdb.connect(str(engine.store.units)) as people:
        people.execute("DROP TABLE _last")
    ingest(engine, whole, as_source([*ROWS, (4, 5, FIRST, "a")]))
    found = {row["who"]: row["_unit"] for row in engine.run("SELECT who, _unit FROM visits").to_pylist()}
    assert found == {10: 1, 20: 2, 5: 3}


@pytest.mark.parametrize("kind", KINDS)
def test_ids_of_two_periods_meet_only_where_a_unit_may_be_in_both(engine: DuckDBEngine, kind: str) -> None:
    visits = begun(engine, table(kind))
    close(engine, visits, 0)
    close(engine, visits, 1)
    found = units(shown(engine))
    same = found["2026-01-05", 1] == found["2026-01-06", 3]
    assert same is (kind == "person")
    assert len(set(found.values())) == (2 if kind == "person" else 3)


# Forgetting -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("who", [10, "10", " 10", 10.0])
def test_a_person_is_gone_from_every_period_at_the_next_close(engine: DuckDBEngine, who: object) -> None:
    rows: list[Row] = [(k, 10 * (1 + k % 2), FIRST + timedelta(k), "a") for k in range(6)]
    visits = begun(engine, PER_DAY, rows)
    close(engine, visits, 0)
    close(engine, visits, 1)
    before, versions = shown(engine), [one.version for one in engine.stored("visits").periods]
    held = engine.snapshot()
    engine.forget("visits", who)
    engine.forget("visits", who)
    assert shown(engine) == before, "not before: it would be seen"
    root = engine.prepare_close(visits, period(2))
    assert shown(engine) == before
    engine.finish_close("visits", period(2))
    assert numbers(engine) == [[], [1], []]
    assert shown(engine)["2026-01-06"] == before["2026-01-06"], "the others stay as they were, with their ids"
    assert [one.version for one in engine.stored("visits").periods][:2] == versions
    assert engine.root("visits") == root
    engine.verify_files("visits")
    assert held.run('SELECT number FROM "visits@2026-01-05"').to_pylist() == [{"number": 0}], "who reads goes on"
    for place in (3, 4, 5):
        close(engine, visits, place)
    assert numbers(engine) == [[], [1], [], [3], [], [5]]
    left = b"".join(file.read_bytes() for file in engine.store.root.glob("open-*"))
    assert left == b""
    assert engine.store.manifest().growing["visits"].forget == ()


def test_who_is_to_be_forgotten_while_a_period_closes_is_forgotten_at_the_next_close(engine: DuckDBEngine) -> None:
    visits = begun(engine, PERSON)
    engine.forget("visits", 10)
    engine.prepare_close(visits, period(0))
    engine.append(visits, as_source([(4, 10, FIRST + timedelta(1), "a")]), id="2")
    engine.forget("visits", 10)
    engine.forget("visits", 20)
    engine.finish_close("visits", period(0))
    assert numbers(engine) == [[2]]
    close(engine, visits, 1)
    assert numbers(engine) == [[], []]


def test_nobody_hears_whether_there_was_somebody_to_forget(engine: DuckDBEngine) -> None:
    visits = begun(engine, PERSON)
    close(engine, visits, 0)
    engine.forget("visits", 999)
    close(engine, visits, 1)
    assert numbers(engine) == [[1, 2], [3]]
    with pytest.raises(InvalidValue, match="who is forgotten is named by a value of who"):
        engine.forget("visits", "nobody")
    rows = table("row", "rows")
    engine.begin(rows)
    with pytest.raises(InvalidValue, match="here every row is a unit"):
        engine.forget("rows", 1)
    with pytest.raises(InvalidValue, match="it must grow by periods"):
        engine.forget("visit", 1)


def test_a_text_with_quotes_names_a_person_like_any_other(engine: DuckDBEngine) -> None:
    who = Column("who", ColumnType.TEXT)
    visits = replace(PERSON, columns=(PERSON.columns[0], who, *PERSON.columns[2:]))
    engine.begin(visits)
    names = ["O'Brien", "'); DROP TABLE rows; --", 'a"b', "ann"]
    source = as_source([(k, None, FIRST, "a") for k in range(4)]).set_column(1, "who", pa.array(names))
    engine.append(visits, source, id="1")
    close(engine, visits, 0)
    for name in names[:3]:
        engine.forget("visits", name)
    close(engine, visits, 1)
    assert [row["who"] for row in shown(engine)["2026-01-05"]] == ["ann"]
