"""Every refusal says where, what, the rule and what would work, and happens before any row is read."""

from __future__ import annotations

from contextlib import suppress
from fractions import Fraction

import pytest
import yaml
from sqlglot import exp

from discreet.errors import QueryRefused
from discreet.privacy.loss import Pure
from discreet.query.bind.post_processing import ALLOWED_ABOVE
from discreet.query.parse.dialect import SPELLINGS
from discreet.query.question import prepare
from tests.query.world import CATALOG, FIXTURES
from tests.thoroughness import many

REFUSALS = yaml.safe_load((FIXTURES / "refusals.yaml").read_text(encoding="utf-8"))
PER_PERSON = "SELECT SUM(x) FROM (SELECT patient_id, {}() AS x FROM visits GROUP BY patient_id) t"


@pytest.mark.parametrize(("query", "rule"), REFUSALS)
def test_is_refused_with_the_place_the_rule_and_a_remedy(query: str, rule: str) -> None:
    with pytest.raises(QueryRefused) as caught:
        prepare(query, CATALOG, Pure(1))
    refusal = caught.value
    place, said = str(refusal).split(": ", 1)
    assert said.startswith(rule)
    assert place == f"line {refusal.line}, column {refusal.column}"
    assert refusal.remedy


def test_a_function_without_arguments_is_refused_or_answered_whatever_its_name() -> None:
    known = {name for name, kind in exp.FUNCTION_BY_NAME.items() if kind in {*ALLOWED_ABOVE, exp.Mode}}
    for name in sorted(known | {*SPELLINGS}):
        for query in (
            f"SELECT COUNT(*) FROM visits WHERE {name}() = 1",
            f"SELECT {name}() FROM visits",
            PER_PERSON.format(name),
        ):
            with suppress(QueryRefused):
                prepare(query, CATALOG, Pure(1))


def test_where_the_parser_of_a_named_dialect_fails_the_query_is_refused() -> None:
    with pytest.raises(QueryRefused, match=r"not SQL that can be read; look for a word that is missing") as caught:
        prepare("SELECT DATE_TRUNC( GROUP BY ward, day), COUNT(*) FROM visits", CATALOG, Pure(1), "spark")
    assert caught.value.line == 1


def test_points_at_the_line_and_column_of_the_words() -> None:
    with pytest.raises(QueryRefused) as caught:
        prepare("SELECT COUNT(*)\nFROM visits\nWHERE age > 3\n  AND agee < 5", CATALOG, Pure(1))
    assert (caught.value.line, caught.value.column) == (4, 7)
    assert "got agee" in str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        "SELECT COUNT(*) FROM visits\x00",
        "SELECT COUNT(*) FROM visits WHERE note = '\ud800'",
        "SELECT '\udfff', COUNT(*) FROM visits",
        "SELECT COUNT(*) FROM visits WHERE age IN (" + ", ".join("1" * 5 for _ in range(40_000)) + ")",
        "SELECT " + "(" * 5_000 + "1" + ")" * 5_000,
        "SELECT " + "+".join(["1"] * many(2_000, 20_000)),
        "SELECT COUNT(*) FROM visits WHERE " + "NOT " * 5_000 + "flag",
        "SELECT COUNT(*) FROM " + "(SELECT * FROM " * 500 + "visits" + ") t" * 500,
        "SELECT " + "CASE WHEN true THEN " * 500 + "1" + " END" * 500,
        "SELECT COUNT(*) FROM visits WHERE " + " AND ".join(["age > 1"] * 500),
    ],
)
def test_text_that_is_too_long_or_too_deep_is_refused(text: str) -> None:
    with pytest.raises(QueryRefused) as caught:
        prepare(text, CATALOG, Pure(1))
    assert caught.value.line == 1
    assert caught.value.remedy


def test_a_question_about_people_needs_a_price() -> None:
    with pytest.raises(QueryRefused, match="needs a price"):
        prepare("SELECT COUNT(*) FROM visits", CATALOG, None)


def test_one_question_asks_about_one_kind_of_person() -> None:
    with pytest.raises(QueryRefused, match="one kind of person"):
        prepare("SELECT (SELECT COUNT(*) FROM visits) + (SELECT COUNT(*) FROM survey)", CATALOG, Pure(1))


def test_a_price_too_small_for_any_noise_is_refused() -> None:
    with pytest.raises(QueryRefused, match="the price is too small"):
        prepare("SELECT VARIANCE(age) FROM visits", CATALOG, Pure(Fraction(1, 10**12)))


def test_an_unknown_dialect_is_refused() -> None:
    with pytest.raises(QueryRefused, match="the dialect must be one of"):
        prepare("SELECT 1", CATALOG, Pure(1), dialect="cobol")
