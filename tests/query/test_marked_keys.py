"""Keys that were marked when a table was taken in are kept as those that a question finds itself."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from discreet.catalog.budget import Budget
from discreet.catalog.catalog import Catalog
from discreet.curator.preconditions import use_stored_columns
from discreet.engines.duckdb import precompute_bounds as marking
from discreet.engines.duckdb.engine import DuckDBEngine
from discreet.privacy.loss import ZeroConcentrated
from discreet.query.plan.sensitivity import AggregationPlan
from discreet.query.question import prepare
from discreet.query.run import contribution_bounds as statement
from discreet.query.run.contribution_bounds import write_statements
from tests.engines.same_everywhere import tables
from tests.query.test_tallied import same, unmarked
from tests.query.test_unlisted_keys import DELTA, QUERIES
from tests.query.world import CATALOG, COUNT_ALIKE

MARKED = [
    "SELECT note, COUNT(*) FROM visits GROUP BY note",
    "SELECT note, COUNT(*), SUM(cost), AVG(age), COUNT(DISTINCT age) FROM visits GROUP BY note",
    "SELECT note, COUNT(DISTINCT patient_id), VARIANCE(cost) FROM swaps GROUP BY note",
    "SELECT big, COUNT(*) FILTER (WHERE flag), MEDIAN(age), MODE(ward) FROM visits GROUP BY big",
    "SELECT n, SUM(c) FROM (SELECT note AS n, cost AS c FROM visits) t GROUP BY n",
    "SELECT seen, COUNT(*), COUNT(DISTINCT patient_id) FROM swaps GROUP BY seen",
]
UNMARKED = [
    "SELECT note, COUNT(*) FROM visits WHERE age > 3 GROUP BY note",
    "SELECT note, big, COUNT(*) FROM visits GROUP BY 1, 2",
    "SELECT lower(note), COUNT(*) FROM visits GROUP BY 1",
    "SELECT score, COUNT(*) FROM visits GROUP BY score",
    "SELECT note, COUNT(*) FROM visits JOIN wards ON ward = name GROUP BY note",
]


def _catalog(groups: int) -> Catalog:
    budget = Budget(3, delta=2 * DELTA, delta_for_keys=DELTA)
    facts = {"groups_per_unit": groups, "budget": budget}
    return Catalog([replace(table, **facts) if table.unit == "patient_id" else table for table in CATALOG])


def _plan(query: str, groups: int) -> AggregationPlan:
    (plan,) = prepare(query, _catalog(groups), ZeroConcentrated(1), delta=DELTA, count_alike=COUNT_ALIKE).plans
    return plan


def _taken_in(folder: Path, groups: int) -> DuckDBEngine:
    engine, rows, catalog = DuckDBEngine(folder, threads=1), tables(), _catalog(groups)
    for table in catalog:
        engine.take_in(table, rows[table.name], catalog=catalog)
    return engine


@pytest.fixture(scope="module")
def engines(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[int, DuckDBEngine]]:
    found = {groups: _taken_in(tmp_path_factory.mktemp("marked"), groups) for groups in (1, 2)}
    yield found
    for engine in found.values():
        engine.close()


def _is_marked(plan: AggregationPlan) -> bool:
    return all("_held <> 0" in text for text, _ in write_statements(plan))


@pytest.mark.parametrize("groups", [1, 2])
@pytest.mark.parametrize("query", [*MARKED, *UNMARKED, *QUERIES])
@pytest.mark.some(6)
def test_marked_keys_answer_as_keys_that_are_found(engines: dict[int, DuckDBEngine], query: str, groups: int) -> None:
    plan, engine = _plan(query, groups), engines[groups]
    kept, plan = use_stored_columns(plan, engine), unmarked(plan, engine)
    assert _is_marked(kept) or query not in MARKED
    assert not _is_marked(kept) or query not in UNMARKED
    assert same(engine, plan, kept)


def test_marks_for_another_number_of_keys_are_not_read(engines: dict[int, DuckDBEngine]) -> None:
    plan = use_stored_columns(_plan(MARKED[0], 1), engines[2])
    assert not _is_marked(plan)


def test_marks_of_a_column_that_has_a_default_since_are_not_read(engines: dict[int, DuckDBEngine]) -> None:
    """Missing values are another key now, and may be one that the unit holds already."""
    catalog = _catalog(2)
    visits = catalog.table("visits")
    columns = [replace(column, default="tea") if column.name == "note" else column for column in visits.columns]
    (plan,) = prepare(
        MARKED[0], catalog.with_table(replace(visits, columns=tuple(columns))), ZeroConcentrated(1), delta=DELTA
    ).plans
    assert not _is_marked(use_stored_columns(plan, engines[2]))
    assert same(engines[2], unmarked(plan, engines[2]), use_stored_columns(plan, engines[2]))


@pytest.mark.parametrize("query", MARKED[:4])
def test_marks_for_another_number_of_keys_would_be_seen(
    engines: dict[int, DuckDBEngine], query: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The planted bug."""
    plan, honest = _plan(query, 1), statement.use_stored_key_bound
    more = lambda *key, most, stored: honest(*key, most=most + 1, stored=stored)  # noqa: E731
    monkeypatch.setattr(statement, "use_stored_key_bound", more)
    assert _is_marked(use_stored_columns(plan, engines[2]))
    assert not same(engines[2], unmarked(plan, engines[2]), use_stored_columns(plan, engines[2]))


def test_marks_that_keep_too_much_would_be_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The planted bug."""
    honest = marking.marks
    monkeypatch.setattr(marking, "marks", lambda *columns: honest(*columns[:3], columns[3] + 1))
    with _taken_in(tmp_path, 2) as engine:
        plan = _plan(MARKED[0], 2)
        assert not same(engine, unmarked(plan, engine), use_stored_columns(plan, engine))


def test_only_tables_with_keys_that_may_be_unlisted_are_marked(engines: dict[int, DuckDBEngine]) -> None:
    held = {name: set(engines[1].stored(name).held) for name in ("visits", "swaps", "survey", "wards")}
    assert {"note", "big", "seen"} <= held["visits"]
    assert not held["visits"] & {"patient_id", "ward", "age", "cost", "score", "flag"}
    assert held["survey"] == held["wards"] == set()
