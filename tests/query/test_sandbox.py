"""Post-processing reaches nothing but noisy and public tables, and reads text as the analyst wrote it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import duckdb
import pyarrow as pa
import pytest
import sqlglot
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.engines.duckdb.closed_database import open_closed_database
from discreet.errors import QueryRefused
from discreet.privacy.loss import Pure
from discreet.query.answer.intervals import noisy_schema, noisy_table
from discreet.query.answer.sandbox import check_above, post_process
from discreet.query.bind.post_processing import only_picks
from discreet.query.bind.split import SplitQuery
from discreet.query.question import PlannedQuestion, prepare
from discreet.query.run.contribution_bounds import write_sums
from tests.query.hostile import Person, world_of
from tests.query.world import (
    CATALOG,
    COUNT_ALIKE,
    PUBLIC_VALUES,
    World,
    answer_without_noise,
    nothing_measured,
    read_pairs,
    read_queries,
)
from tests.thoroughness import many

EMPTY = World({})
TRICKY = st.text(st.sampled_from("'\"\\;-/*$%_{}`\n\t #ab\u2019\u00e9\u0130\U0001f600"), max_size=12)
secret = pa.table({"value": [42]})  # a variable that a name could find


@pytest.mark.parametrize(
    "text",
    [
        "SELECT * FROM read_csv('/etc/passwd')",
        "SELECT * FROM '/etc/passwd'",
        "SELECT * FROM read_text('/etc/passwd')",
        "SELECT * FROM 'https://example.org/x.parquet'",
        "SELECT * FROM secret",
        "SELECT getenv('HOME')",
    ],
)
def test_files_the_network_and_variables_are_out_of_reach(text: str) -> None:
    with pytest.raises(QueryRefused):
        post_process(sqlglot.parse_one(text, read="duckdb"), {})  # type: ignore[arg-type]


def test_settings_are_locked() -> None:
    with pytest.raises((QueryRefused, duckdb.Error)):
        post_process(sqlglot.parse_one("SET enable_external_access = true", read="duckdb"), {})  # type: ignore[arg-type]


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


@settings(max_examples=many(40, 150), deadline=None)
@given(text=TRICKY)
def test_text_in_post_processing_is_read_as_it_was_written(text: str) -> None:
    question = prepare(f"SELECT {_quoted(text)} AS t, COUNT(*) AS n FROM survey", CATALOG, Pure(1))
    assert answer_without_noise(question, EMPTY).to_pylist() == [{"t": text, "n": 0}]


@settings(max_examples=many(40, 100), deadline=None)
@given(text=TRICKY)
def test_text_on_rows_is_bound_and_never_written(text: str) -> None:
    question = prepare(f"SELECT COUNT(*) AS n FROM visits WHERE note = {_quoted(text)}", CATALOG, Pure(1))
    plain = prepare("SELECT COUNT(*) AS n FROM visits WHERE note = ''", CATALOG, Pure(1))
    statement, parameters = write_sums(question.plans[0])
    assert statement == write_sums(plain.plans[0])[0]
    assert text in parameters


@settings(max_examples=40, deadline=None)
@given(text=TRICKY)
def test_text_finds_the_rows_that_hold_it(text: str) -> None:
    row = ("a", 1, 1.0, 1.0, 1, None, None, True, text, "x")
    world = world_of({1: Person([row], [], (1, True))})
    question = prepare(f"SELECT COUNT(*) AS n FROM visits WHERE note = {_quoted(text)}", CATALOG, Pure(1))
    assert answer_without_noise(question, world).to_pylist() == [{"n": 1}]


@settings(max_examples=60, deadline=None)
@given(name=TRICKY.filter(bool))
def test_names_of_columns_come_back_as_they_were_written(name: str) -> None:
    quoted = '"' + name.replace('"', '""') + '"'
    question = prepare(f"SELECT COUNT(*) AS {quoted} FROM survey", CATALOG, Pure(1))
    assert answer_without_noise(question, EMPTY).column_names == [name]


@pytest.mark.parametrize("text", ["it\\'s", "a\\\\b", "\\n"])
def test_escapes_of_other_dialects_are_read_once(text: str) -> None:
    meant = text.replace("\\'", "'").replace("\\\\", "\\").replace("\\n", "\n")
    question = prepare(
        f"SELECT '{text}' AS t, COUNT(*) AS n FROM survey WHERE ok", CATALOG, Pure(1), dialect="bigquery"
    )
    assert answer_without_noise(question, EMPTY).to_pylist()[0]["t"] == meant


def test_comments_do_not_reach_the_engine_or_the_sandbox() -> None:
    query = "SELECT /* a */ COUNT(*) AS n -- b\nFROM visits /* ; DROP TABLE visits; */"
    question = prepare(query, CATALOG, Pure(1))
    assert "DROP" not in write_sums(question.plans[0])[0]
    assert answer_without_noise(question, EMPTY).to_pylist() == [{"n": 0}]


def test_a_failure_above_is_told_in_its_own_words() -> None:
    question = prepare("SELECT CAST('x' AS INTEGER) AS k, COUNT(*) FROM visits", CATALOG, Pure(1))
    with pytest.raises(QueryRefused, match="above the aggregates failed"):
        answer_without_noise(question, EMPTY)


def test_a_database_in_use_is_nobody_elses() -> None:
    with open_closed_database({}):
        pass  # there is one that could be used twice
    with open_closed_database({"t": secret}) as first, open_closed_database({}) as second:
        assert first.execute("SELECT value FROM t").fetchall() == [(42,)]
        with pytest.raises(duckdb.CatalogException):
            second.execute("SELECT value FROM t")


def test_what_one_question_left_the_next_does_not_find() -> None:
    with pytest.raises(ZeroDivisionError), open_closed_database({"t": secret}):
        raise ZeroDivisionError
    with open_closed_database({}) as database, pytest.raises(duckdb.CatalogException):
        database.execute("SELECT value FROM t")


def test_threads_read_their_own_tables_under_one_name() -> None:
    query = sqlglot.parse_one("SELECT SUM(value) AS total FROM t", read="duckdb")

    def total(number: int) -> int:
        found = [post_process(query, {"t": pa.table({"value": [number] * 10})}) for _ in range(10)]  # type: ignore[arg-type]
        (only,) = {table.to_pylist()[0]["total"] for table in found}
        return int(only)

    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(total, range(64))) == [10 * number for number in range(64)]


def test_the_same_text_is_looked_at_again_over_tables_of_another_shape_and_where_it_was_refused() -> None:
    query = sqlglot.parse_one("SELECT n + 1 AS more FROM block", read="duckdb")
    numbers, texts = pa.table({"n": [1]}), pa.table({"n": ["one"]})
    for _ in range(2):
        check_above(query, {"block": numbers.schema})  # type: ignore[arg-type]
        with pytest.raises(QueryRefused, match="above the aggregates"):
            check_above(query, {"block": texts.schema})  # type: ignore[arg-type]
        with pytest.raises(QueryRefused, match="above the aggregates"):
            check_above(query, {"other": numbers.schema})  # type: ignore[arg-type]


def _corpus() -> list[PlannedQuestion]:
    texts = [*read_queries("answers.sql"), *read_queries("measured.sql")]
    texts += [text for name in ("spelled.sql", "weighted.sql") for text, _ in read_pairs(name)]
    return [
        prepare(text, CATALOG, Pure(1), public_values=PUBLIC_VALUES, count_alike=COUNT_ALIKE)
        for text in dict.fromkeys(texts)
    ]


def test_the_types_of_noisy_tables_are_known_before_anything_is_measured() -> None:
    pairs = [pair for one in _corpus() for pair in zip(one.split.blocks, one.plans, strict=True)]
    assert len(pairs) > 250
    for block, plan in pairs:
        assert noisy_schema(plan, block) == noisy_table(nothing_measured(plan), 0.95, raw=False, block=block).schema


def test_what_only_picks_columns_needs_no_look() -> None:
    corpus = _corpus()
    picking = [one for one in corpus if one.split.only_picks]
    assert 50 < len(picking) < len(corpus)
    for one in picking:
        pairs = zip(one.split.blocks, one.plans, strict=True)
        check_above(one.split.above, {block.name: noisy_schema(plan, block) for block, plan in pairs})


@pytest.mark.parametrize(
    "text",
    [
        "SELECT missing FROM b1",  # which of several tables it may be, and whether it is there, is not looked at
        "SELECT b1.a0 + 'x' FROM b1",
        "SELECT b1.a0 FROM b1 ORDER BY 7",
        "SELECT b1.a0 FROM b1 LIMIT 'x'",
        "SELECT CAST(b1.a0 AS DATE) FROM b1",
        "SELECT (SELECT b1.a0 FROM b1) FROM b1",
        "SELECT b1.a0 FROM b1 UNION SELECT b1.k0 FROM b1",
        "SELECT b1.* FROM b1",
        "SELECT DISTINCT b1.a0 FROM b1",
        "SELECT b1.a0 FROM b1 AS b2",
    ],
)
def test_whatever_else_is_done_is_looked_at(text: str) -> None:
    assert not only_picks(sqlglot.parse_one(text, read="duckdb"))  # type: ignore[arg-type]


def test_columns_of_public_tables_are_looked_for_before_anything_is_asked() -> None:
    public = prepare("SELECT wards.name AS name FROM wards", CATALOG, Pure(1))
    assert not public.split.only_picks
    public.split.above.set("from_", sqlglot.parse_one("SELECT 1 FROM wards").args["from_"])  # without an alias
    assert only_picks(public.split.above)
    assert not SplitQuery([], public.split.above, ["wards"]).only_picks
