"""One text has one meaning: it is read in the first grammar that can read it, and other dialects on request."""

from __future__ import annotations

import pytest
import sqlglot
from sqlglot import exp

from discreet.errors import QueryRefused
from discreet.privacy.loss import Pure
from discreet.query.parse.dialect import SPELLINGS, QuestionDialect
from discreet.query.parse.parser import parse
from discreet.query.question import prepare
from tests.query.world import CATALOG, read_pairs, read_queries

PLAIN = [*read_queries("answers.sql"), *read_queries("measured.sql")]

THREE_LATER = "day + INTERVAL 3 DAY > '2021-01-01'"
SAME = [
    ("tsql", "YEAR(day) = 2020", "year(day) = 2020"),
    ("tsql", "ISNULL(age, 0) > 3", "coalesce(age, 0) > 3"),
    ("tsql", "DATEADD(day, 3, [day]) > '2021-01-01'", THREE_LATER),
    ("bigquery", "DATE_ADD(day, INTERVAL 3 DAY) > '2021-01-01'", THREE_LATER),
    ("bigquery", "age > SAFE_CAST('3' AS INT64)", "age > TRY_CAST('3' AS INTEGER)"),
    ("spark", "date_add(day, 3) > '2021-01-01'", THREE_LATER),
    ("mysql", "DATE_ADD(day, INTERVAL 3 DAY) > '2021-01-01'", THREE_LATER),
    ("postgres", "day + INTERVAL '3 days' > '2021-01-01'", THREE_LATER),
    ("snowflake", "DATEADD(day, 3, day) > '2021-01-01'", THREE_LATER),
]


@pytest.mark.parametrize(("dialect", "condition", "plain"), SAME)
def test_the_same_question_in_another_dialect_is_the_same_plan(dialect: str, condition: str, plain: str) -> None:
    query = "SELECT ward, COUNT(*) FROM visits WHERE {} GROUP BY ward"
    theirs = prepare(query.format(condition), CATALOG, Pure(1), dialect=dialect)
    assert theirs.fingerprint({}) == prepare(query.format(plain), CATALOG, Pure(1)).fingerprint({})


@pytest.mark.parametrize("query", PLAIN)
@pytest.mark.some(60)
def test_what_duckdb_can_read_is_read_as_duckdb_reads_it(query: str) -> None:
    """The other grammars are tried for texts that are not DuckDB's, and change nothing about those that are."""
    theirs = sqlglot.parse_one(query, read="duckdb")
    renamed = {"TIMESTAMP_TRUNC", "DATE_DIFF", *SPELLINGS}
    if not any(name in query.upper() for name in renamed):
        assert sqlglot.parse_one(query, read=QuestionDialect) == theirs


def test_a_column_may_be_called_top() -> None:
    query = "SELECT SUM(top) FROM (SELECT age AS top FROM visits) AS t WHERE top > 3"
    assert parse(query, "duckdb").args.get("limit") is None


def test_whole_numbers_divide_as_in_duckdb_unless_another_dialect_is_named() -> None:
    query = "SELECT SUM(age / 2) FROM visits"
    texts = {
        name: prepare(query, CATALOG, Pure(1), dialect=name).fingerprint({}) for name in ("duckdb", "mysql", "tsql")
    }
    assert texts["duckdb"] == texts["mysql"] != texts["tsql"]


def test_a_text_that_only_another_dialect_can_read_is_read_in_it() -> None:
    query = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward ORDER BY n DESC FETCH FIRST 2 ROWS ONLY"
    assert prepare(query, CATALOG, Pure(1)).plans


@pytest.mark.parametrize("text", ["SELECT COUNT(* FROM visits", "SELEC COUNT(*) FROM visits", "SELECT 'x FROM visits"])
def test_what_no_grammar_can_read_is_refused(text: str) -> None:
    with pytest.raises(QueryRefused, match="this is not SQL that can be read"):
        parse(text, "duckdb")


@pytest.mark.parametrize("query", [query for query, _ in read_pairs("spelled.sql") if " TOP " not in query])
@pytest.mark.some(40)
def test_a_spelling_is_read_in_our_own_grammar(query: str) -> None:
    """None of the spellings that we promise depends on what other grammars make of a text."""
    assert isinstance(sqlglot.parse_one(query, read=QuestionDialect), exp.Query)


def test_tables_are_joined_by_where_past_inner_joins_alone() -> None:
    written = "SELECT COUNT(*) FROM visits v JOIN patients p ON v.patient_id = p.id WHERE v.age > 3"
    for query in (
        "SELECT COUNT(*) FROM visits v, patients p WHERE v.patient_id = p.id AND v.age > 3",
        "SELECT COUNT(*) FROM visits, patients WHERE patient_id = id AND age > 3",
        "SELECT COUNT(*) FROM visits v CROSS JOIN patients p WHERE patient_id = p.id AND age > 3",
        "SELECT COUNT(*) FROM visits v INNER JOIN patients p WHERE patient_id = p.id AND v.age > 3",
    ):
        found, wanted = (prepare(text, CATALOG, Pure(1)).fingerprint({}) for text in (query, written))
        assert found == wanted, query
    outer = (
        "SELECT COUNT(*) FROM visits v LEFT JOIN patients p ON v.patient_id = p.id, visits w "
        "WHERE v.patient_id = w.patient_id"
    )
    with pytest.raises(QueryRefused, match="neither ON nor WHERE"):
        prepare(outer, CATALOG, Pure(1))
    for both_have_it in ("patient_id = patient_id", "age = 3"):
        with pytest.raises(QueryRefused, match="neither ON nor WHERE"):
            prepare(f"SELECT COUNT(*) FROM visits v, visits w WHERE {both_have_it}", CATALOG, Pure(1))
