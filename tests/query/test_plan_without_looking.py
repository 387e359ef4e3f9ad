"""Plans, prices and refusals follow from the text and the policy; only `measure` reads rows, each block once."""

from __future__ import annotations

import pyarrow as pa
import pytest
from sqlglot import exp

from discreet.noise.source import SYSTEM
from discreet.privacy.loss import Pure
from discreet.query.answer.answer import compute_answer
from discreet.query.question import PlannedQuestion, prepare
from discreet.query.run.measure import measure
from tests.query.hostile import Person, world_of
from tests.query.world import CATALOG, World, prepared, read_pairs, read_queries

SPELLED = [query for query, _ in read_pairs("spelled.sql")]
QUERIES = [*read_queries("answers.sql"), *read_queries("measured.sql"), *SPELLED]
ROW = ("a", 50, 10.0, 1.0, 5, None, None, True, "n", "x")
FULL = world_of({k: Person([ROW] * k, [(1950, "f")], (k, True)) for k in range(5)})
EMPTY = World({})


def _answer(question: PlannedQuestion, world: World) -> pa.Table:
    measured = [measure(plan, world.run, SYSTEM) for plan in question.plans]
    table, _ = compute_answer(question.split, measured, world.public(question), 0.95, raw=False)
    return table


@pytest.mark.parametrize("query", QUERIES)
@pytest.mark.some(25)
def test_the_shape_of_an_answer_does_not_depend_on_the_rows(query: str) -> None:
    question = prepared(query, Pure(1))
    full, empty = _answer(question, FULL), _answer(question, EMPTY)
    assert full.schema == empty.schema
    if not any(word in query for word in ("HAVING", "LIMIT", "DISTINCT", "WHERE n")):
        assert full.num_rows == empty.num_rows


@pytest.mark.parametrize("query", QUERIES)
@pytest.mark.some(40)
def test_the_same_text_gives_the_same_plan(query: str) -> None:
    first, second = (prepared(query, Pure(1)) for _ in range(2))
    assert first.fingerprint({}) == second.fingerprint({}) == first.fingerprint({})
    assert first.errors() == second.errors()
    assert [plan.groups for plan in first.plans] == [plan.groups for plan in second.plans]


def test_spelling_does_not_change_the_plan_but_price_and_data_do() -> None:
    plain = prepare("SELECT ward, COUNT(*) FROM visits GROUP BY ward", CATALOG, Pure(1))
    spelled = prepare(
        "select V.Ward as x, count( * ) as k from MAIN.Visits v group by 1 order by k desc limit 2", CATALOG, Pure(1)
    )
    dearer = prepare("SELECT ward, COUNT(*) FROM visits GROUP BY ward", CATALOG, Pure(2))
    other = prepare("SELECT ward, COUNT(*) FROM visits WHERE age > 3 GROUP BY ward", CATALOG, Pure(1))
    assert plain.fingerprint({"visits": "1"}) == spelled.fingerprint({"visits": "1"})
    assert (
        len({q.fingerprint({"visits": "1"}) for q in (plain, dearer, other)} | {plain.fingerprint({"visits": "2"})})
        == 4
    )


def test_a_query_named_once_and_used_twice_is_measured_once() -> None:
    named = "WITH x AS (SELECT ward, COUNT(*) AS c FROM visits GROUP BY ward)"
    for query in (
        f"{named} SELECT ward, c / (SELECT SUM(c) FROM x) FROM x",
        f"{named} SELECT a.ward FROM x AS a JOIN x AS b ON a.c = b.c",
        f"{named}, y AS (SELECT MAX(c) AS m FROM x) SELECT ward FROM x, y WHERE c = m",
        f"{named} SELECT c FROM x UNION ALL SELECT c FROM x",
    ):
        assert len(prepare(query, CATALOG, Pure(1)).plans) == 1, query


@pytest.mark.parametrize("query", QUERIES)
@pytest.mark.some(40)
def test_everything_that_is_measured_is_used(query: str) -> None:
    question = prepared(query, Pure(1))
    used = {table.name for table in question.split.above.find_all(exp.Table)}
    assert {plan.block.name for plan in question.plans} <= used


def test_an_engine_that_fails_on_access_changes_no_refusal() -> None:
    """``prepare`` takes no engine at all, so there is nothing to fail; this keeps it that way."""
    parameters = prepare.__code__.co_varnames[: prepare.__code__.co_argcount]
    assert parameters == ("text", "catalog", "price", "dialect")


def test_public_tables_cost_nothing() -> None:
    question = prepare("SELECT floor, COUNT(*) AS n FROM wards GROUP BY floor ORDER BY n DESC", CATALOG, None)
    assert question.price is None
    assert _answer(question, EMPTY).to_pylist()[0] == {"floor": 2, "n": 2}


@pytest.mark.parametrize("dialect", ["postgres", "bigquery", "spark", "tsql", "snowflake", "mysql"])
def test_other_dialects_mean_the_same(dialect: str) -> None:
    query = "SELECT ward, COUNT(*) AS n FROM visits WHERE age > 3 GROUP BY ward"
    mine, theirs = (prepare(query, CATALOG, Pure(1), dialect=name) for name in ("duckdb", dialect))
    assert mine.fingerprint({}) == theirs.fingerprint({})


def test_select_top_is_a_limit() -> None:
    question = prepare(
        "SELECT TOP 2 ward, COUNT(*) AS n FROM visits GROUP BY ward ORDER BY n DESC", CATALOG, Pure(1), "tsql"
    )
    assert _answer(question, FULL).num_rows == 2


def test_columns_of_one_name_are_told_apart() -> None:
    names = _answer(prepare("SELECT COUNT(*) AS n, SUM(age) AS n, COUNT(*) AS n FROM visits", CATALOG, Pure(1)), FULL)
    assert [name for name in names.column_names if not name.startswith("__")] == ["n", "n_1", "n_2"]
