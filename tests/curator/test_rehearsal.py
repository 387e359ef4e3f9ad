"""Rehearsals: the same plan and shape as the real answer, free, and of nobody's data."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from discreet.catalog.column import Column, ColumnType
from discreet.catalog.policy.read import write
from discreet.catalog.table import Budget, Table
from discreet.curator.curator import Curator
from discreet.curator.notes import is_on_noise
from discreet.curator.rehearsal.rehearsal import rehearse
from discreet.curator.rehearsal.store import NOTE
from discreet.engines.duckdb.snapshot import DuckDBSnapshot
from discreet.engines.engine import Engine
from discreet.errors import InvalidInput, QueryRefused
from discreet.privacy.loss import Pure
from tests.curator.test_curator import policy, visits
from tests.curator.test_made_up import CUSTOMERS, ITEMS, ORDERS, VISITS, WARDS
from tests.query.world import CATALOG, read_queries

QUESTIONS = [
    "SELECT ward, COUNT(*) AS n, AVG(age) AS mean_age FROM visits GROUP BY ward ORDER BY ward",
    "SELECT SUM(cost), MEDIAN(age), VARIANCE(cost) FROM visits WHERE ward = 'surgery'",
    "SELECT age // 10 AS decade, COUNT(*) AS n FROM visits GROUP BY decade HAVING COUNT(*) > 5 ORDER BY n DESC LIMIT 3",
    "SELECT AVG(LEAST(n, 9)) AS mean FROM (SELECT patient_id, COUNT(*) AS n FROM visits GROUP BY patient_id) p",
    "SELECT floor, COUNT(*) AS n FROM visits JOIN places ON ward = name GROUP BY floor",
    "SELECT name, n FROM (SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward) a JOIN places ON ward = name",
]
PLACES = Table(
    "places",
    (Column("name", ColumnType.TEXT), Column("floor", ColumnType.INTEGER, lower=0, upper=3, nullable=False)),
    public=True,
)
PLACE_ROWS = pa.table({"name": ["surgery", "cardiology", "neurology"], "floor": [1, 2, 3]})


def hospital(folder: Path, rows: pa.Table | None = None, **more: Any) -> Curator:
    curator = Curator(folder)
    curator.protect(visits() if rows is None else rows, policy(**more))
    curator.protect(PLACE_ROWS, PLACES)
    return curator


@pytest.fixture(scope="module")
def first_hospital(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that those of all curators are copies of; leave it as it is."""
    folder = tmp_path_factory.mktemp("first") / "hospital"
    hospital(folder).ledger.close()
    return folder


@pytest.fixture
def curator(tmp_path: Path, first_hospital: Path) -> Curator:
    return Curator(shutil.copytree(first_hospital, tmp_path / "hospital"))


@pytest.fixture
def statements(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, list[object]]]:
    """Every statement that any engine is asked to run, in order."""
    found: list[tuple[str, list[object]]] = []
    run = Engine.run

    def recorded(engine: Engine, statement: str, parameters: Sequence[object] = ()) -> pa.Table:
        found.append((statement, list(parameters)))
        return run(engine, statement, parameters)

    monkeypatch.setattr(Engine, "run", recorded)
    return found


@pytest.mark.parametrize("sql", QUESTIONS)
@pytest.mark.some(2)
def test_a_rehearsal_has_the_plan_price_columns_and_notes_of_the_answer(
    curator: Curator, statements: list[tuple[str, list[object]]], sql: str
) -> None:
    rehearsed = curator.rehearse(sql, epsilon="0.5")
    ran_first = [one for one in statements if "visits" in one[0]]
    statements.clear()
    asked = curator.ask(sql, epsilon="0.5")
    assert ran_first == [one for one in statements if "visits" in one[0]]
    assert rehearsed.price == asked.price
    assert rehearsed.table.schema == asked.table.schema
    assert set(rehearsed.error) == set(asked.error)
    assert rehearsed.notes == (NOTE, *(note for note in asked.notes if not is_on_noise(note)))


def test_a_rehearsal_has_the_error_that_was_explained(curator: Curator) -> None:
    sql = "SELECT SUM(cost) AS cost FROM visits"
    explained = curator.explain(sql, epsilon="0.5").errors[0].within
    [(low, high)] = [interval or (0, 0) for interval in curator.rehearse(sql, epsilon="0.5").error["cost"]]
    assert (high - low) / 2 == pytest.approx(explained)


def test_a_rehearsal_is_free_and_leaves_no_trace(
    curator: Curator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, scratch = curator.ledger.head(), tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    answer = curator.rehearse(QUESTIONS[0], epsilon="0.5")
    assert not answer.charged
    assert answer.certificate == {}
    assert curator.ledger.head() == before
    assert curator.budget()["visits"]["spent"] == Pure(0)
    assert not list(scratch.iterdir())


def test_a_rehearsal_works_where_the_protected_rows_cannot_be_read(curator: Curator) -> None:
    """The files of the store are gone: whoever looked at a row would fail."""
    expected = [curator.rehearse(sql, epsilon=1).to_rows() for sql in QUESTIONS[:4]]
    curator.engine.close()
    shutil.rmtree(curator.engine.store.root)
    again = Curator(curator.folder)
    assert [again.rehearse(sql, epsilon=1).to_rows() for sql in QUESTIONS[:4]] == expected


@pytest.mark.parametrize("sql", QUESTIONS)
@pytest.mark.some(2)
def test_a_rehearsal_asks_the_curators_store_for_public_rows_alone(
    curator: Curator, sql: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []
    run = DuckDBSnapshot._run

    def recorded(snapshot: DuckDBSnapshot, statement: str, values: Any) -> pa.Table:
        if snapshot is real:
            read.append(statement)
        return run(snapshot, statement, values)

    real = curator.engine.snapshot()
    monkeypatch.setattr(DuckDBSnapshot, "_run", recorded)
    curator.rehearse(sql, epsilon=1)
    assert not [statement for statement in read if "visits" in statement]
    curator.ask(sql, epsilon=1)
    assert [statement for statement in read if "visits" in statement]  # the check sees what it should see


def test_a_rehearsal_is_the_same_whatever_the_rows_are(tmp_path: Path) -> None:
    one = {"patient_id": 10_000, "ward": "surgery", "age": 50, "cost": 10.0}
    curators = [
        hospital(tmp_path / "with", visits(extra=[one] * 50)),
        hospital(tmp_path / "without"),
        hospital(tmp_path / "empty", visits(people=0)),
    ]
    for sql in QUESTIONS[::2]:
        first, *others = [curator.rehearse(sql, epsilon=1) for curator in curators]
        assert all(other.to_rows() == first.to_rows() and other.error == first.error for other in others)


def test_a_notebook_shows_the_same_twice(curator: Curator) -> None:
    first, again = (curator.rehearse(QUESTIONS[0], epsilon=1).to_rows() for _ in range(2))
    assert first == again


def test_made_up_answers_look_like_answers(curator: Curator) -> None:
    rows = curator.rehearse(
        "SELECT ward, COUNT(*) AS n, AVG(age) AS age FROM visits GROUP BY ward", epsilon=3
    ).to_rows()
    wards = [row for row in rows if row["ward"] is not None]
    assert len(wards) == 3
    assert all(200 < row["n"] < 350 and 40 < row["age"] < 70 for row in wards)  # no chance: the noise is replayed


def test_policies_alone_are_enough(tmp_path: Path) -> None:
    write(policy(), tmp_path / "visits.yaml")
    for policies in ([policy(), PLACES], [tmp_path / "visits.yaml", PLACES]):
        for sql in QUESTIONS[::3]:
            answer = rehearse(policies, sql, epsilon=1)
            assert answer.notes[0] == NOTE
            assert not answer.charged
    assert rehearse([policy()], QUESTIONS[0], epsilon=1).table.num_rows == 3


def test_policies_with_foreign_keys_are_enough() -> None:
    shop = [ITEMS, ORDERS, CUSTOMERS, WARDS]
    sql = 'SELECT items.city, COUNT(*) AS n FROM items JOIN orders ON items."order" = number GROUP BY items.city'
    rows = rehearse(shop, sql, epsilon=100).to_rows()
    assert all(row["n"] > 20 for row in rows)
    assert rehearse(shop, "SELECT COUNT(*) AS n FROM wards", epsilon=1).to_rows() == [{"n": 3}]


def test_policies_alone_rehearse_every_kind_of_column() -> None:
    sql = "SELECT kind, flag, COUNT(*), SUM(age), AVG(cost), MAX(age) FROM visits GROUP BY kind, flag"
    assert rehearse([VISITS], sql, epsilon=1).table.num_rows == 4
    dated = "SELECT date_trunc('month', day) AS month, COUNT(note), COUNT(seen) FROM visits GROUP BY month"
    assert rehearse([VISITS], dated, epsilon=1).table.num_rows == 1


@pytest.mark.parametrize("sql", [*read_queries("answers.sql"), *read_queries("measured.sql")][::12])
@pytest.mark.some(2)
def test_what_is_answered_is_rehearsed_from_policies_alone(sql: str) -> None:
    assert rehearse(CATALOG, sql, epsilon=5, rows=100).table.num_columns


def test_an_approximate_budget_is_rehearsed_in_its_own_terms(tmp_path: Path) -> None:
    curator = hospital(tmp_path / "hospital", budget=Budget(3, "1e-6"))
    assert curator.rehearse(QUESTIONS[0], epsilon="0.5").price == curator.ask(QUESTIONS[0], epsilon="0.5").price


def test_a_wanted_error_can_be_rehearsed(curator: Curator) -> None:
    answer = curator.rehearse("SELECT COUNT(*) AS n FROM visits", within=30.0)
    [(low, high)] = [interval or (0, 0) for interval in answer.error["n"]]
    assert (high - low) / 2 <= 30


def test_what_cannot_be_afforded_can_be_rehearsed(curator: Curator) -> None:
    assert curator.rehearse(QUESTIONS[0], epsilon=50).price == Pure(50)


def test_more_rows_can_be_made_up(curator: Curator) -> None:
    sql = "SELECT COUNT(*) AS n FROM visits"
    few, many = (curator.rehearse(sql, epsilon=3, rows=rows).to_rows()[0]["n"] for rows in (100, 5000))
    assert few < 200 < 3000 < many


def test_a_question_about_public_tables_is_answered_as_ever(curator: Curator) -> None:
    answer = curator.rehearse("SELECT name FROM places ORDER BY floor", epsilon=1)
    assert [row["name"] for row in answer.to_rows()] == ["surgery", "cardiology", "neurology"]
    assert answer.price is None


@pytest.mark.parametrize("sql", ["SELECT * FROM visits", "SELECT AVG(agee) FROM visits", "this is not SQL"])
def test_what_is_refused_is_refused_in_a_rehearsal(curator: Curator, sql: str) -> None:
    refusals = []
    for ask in (curator.ask, curator.rehearse):
        with pytest.raises(QueryRefused) as refused:
            ask(sql, epsilon=1)
        refusals.append(str(refused.value))
    assert refusals[0] == refusals[1]


def test_who_may_not_ask_may_not_rehearse(tmp_path: Path) -> None:
    curator = hospital(tmp_path / "hospital", analysts={"ann": None})
    assert curator.rehearse(QUESTIONS[0], epsilon=1, analyst="ann").to_rows()
    with pytest.raises(InvalidInput, match="named in the policy"):
        curator.rehearse(QUESTIONS[0], epsilon=1, analyst="eve")


def test_a_rehearsal_needs_a_price_or_an_error(curator: Curator) -> None:
    with pytest.raises(InvalidInput):
        curator.rehearse(QUESTIONS[0])
    with pytest.raises(InvalidInput):
        curator.rehearse(QUESTIONS[0], epsilon=1, rows=0)


def test_groups_that_nobody_listed_are_rehearsed_past_their_threshold() -> None:
    table = replace(VISITS, budget=Budget(9, "1e-6", "5e-7"))
    rows = rehearse([table], "SELECT note, COUNT(*) AS n FROM visits GROUP BY note", epsilon=5).to_rows()
    assert {row["note"] for row in rows} <= {None, *(f"note {k}" for k in range(1, 11))}
    assert len(rows) > 3  # no chance: the noise is replayed
