"""No text, pattern or nest of functions lets one row keep an engine busy: what it could cause is counted, and refused.

A condition on one person in front of such work would be answered by how long it takes, or by the end of its time.
"""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from discreet.catalog.column import Column, ColumnType
from discreet.catalog.table import Budget, Table
from discreet.curator.curator import Curator
from discreet.errors import QueryRefused
from discreet.privacy.loss import Pure
from discreet.query.expressions.work_limit import pattern_states
from discreet.query.parse import places
from discreet.query.parse.parser import parse
from discreet.query.question import prepare
from tests.query.world import CATALOG

PRICE = Pure(1)
_ONE_PERSON = "CASE WHEN patient_id = 7 AND age > 50 THEN '{}' ELSE note END"
_LONG = _ONE_PERSON.format("a" * 30_000)
_BUSY = {
    "states of a regular expression": f"regexp_matches({_ONE_PERSON.format('a' * 900)}, '{'(.?){999}' * 20}b')",
    "states that are nested": f"regexp_matches({_ONE_PERSON.format('a' * 900)}, '((a?){{30}}){{30}}b')",
    "states of classes": r"regexp_matches(note, '\pL{90}')",
    "a long text and states": f"regexp_matches({_LONG}, '(a?){{99}}b')",
    "a long text and a long pattern": f"{_LONG} LIKE '%{'a_' * 2000}b%'",
    "a long pattern in any case": f"{_LONG} ILIKE '%{'a_' * 2000}b%'",
    "a long text that is replaced": f"replace({_LONG}, '{'a' * 4000}b', '') = ''",
    "many patterns": " OR ".join(f"regexp_matches(note, '(a?){{90}}{k}')" for k in range(60)),
    "many texts": " OR ".join(f"contains({' || '.join(['note'] * 15)}, note || '{k}')" for k in range(400)),
    "functions in functions": "sqrt(" * 30 + "age" + ")" * 30 + " > 1",
    "functions of reals in functions": "ln(1.5 + " * 25 + "cost" + ")" * 25 + " > 1",
    "decimals in decimals": "CAST(" * 25 + "cost" + " AS DECIMAL(18, 2))" * 25 + " > 1",
}
_USUAL = {
    "a pattern": "note LIKE '%a%b%' AND note NOT ILIKE 'x%'",
    "regular expressions": r"regexp_matches(note, '^[A-Z]{2}\d{4}-\d{2}$') OR regexp_matches(note, '(?i)a.*b{0,20}')",
    "texts that are joined": "lower(trim(note || '-' || ward)) = 'x-y' AND contains(note, ward)",
    "a long list": "note IN (" + ", ".join(f"'{k}'" for k in range(3000)) + ")",
    "many conditions": " AND ".join(f"age <> {k}" for k in range(60)),
    "a few functions": "sqrt(sqrt(ln(sqrt(age)))) > round(cost, 2)",
}


@pytest.mark.parametrize("name", _BUSY)
@pytest.mark.some(4)
def test_what_could_keep_an_engine_busy_for_one_row_is_refused_before_it_is_charged(name: str) -> None:
    for text in (
        f"SELECT COUNT(*) FROM visits WHERE {_BUSY[name]}",
        f"SELECT COUNT_IF({_BUSY[name]}) FROM visits",
        f"SELECT COUNT(*) FROM (SELECT {_BUSY[name]} AS found FROM visits) q WHERE found",
    ):
        with pytest.raises(QueryRefused, match=r"so much at once|written out|nested too deeply") as refusal:
            prepare(text, CATALOG, PRICE)
        assert refusal.value.remedy


@pytest.mark.parametrize("name", _USUAL)
def test_what_is_usual_is_answered(name: str) -> None:
    assert prepare(f"SELECT COUNT(*) FROM visits WHERE {_USUAL[name]}", CATALOG, PRICE).plans


def test_the_limit_is_lower_where_joins_make_many_rows_of_one_person() -> None:
    pattern = f"v.note LIKE '%{'a_' * 400}b'"
    one, many = "visits v", " JOIN ".join(["visits v", *(f"visits v{k} USING (patient_id)" for k in range(7))])
    assert prepare(f"SELECT COUNT(*) FROM {one} WHERE {pattern}", CATALOG, PRICE).plans
    assert prepare(f"SELECT COUNT(*) FROM {many} WHERE v.note LIKE 'a%'", CATALOG, PRICE).plans
    with pytest.raises(QueryRefused, match="so much at once"):
        prepare(f"SELECT COUNT(*) FROM {many} WHERE {pattern}", CATALOG, PRICE)


@pytest.mark.parametrize(
    ("pattern", "least"),
    [("abc", 3), ("a{50}", 50), ("(ab){30}", 60), ("((ab){30}){30}", 1800), (".{0,9}", 9), ("a{7,}", 7),
     ("[a-z]{9}", 9), (r"\d{12}", 12), ("(a|b){5}(c){5}", 15), ("[]{9}]{9}", 9), ("(?:a{3}){3}", 9), (r"\x{41}{5}", 5)],
)  # fmt: skip
def test_every_copy_of_a_repeated_part_is_counted(pattern: str, least: int) -> None:
    assert pattern_states(pattern) >= least


def test_nothing_is_spent_on_a_question_that_is_too_much_work(tmp_path: Path) -> None:
    columns = (Column("patient_id", ColumnType.INTEGER), Column("age", ColumnType.INTEGER, lower=0, upper=110))
    table = Table("visits", (*columns, Column("note", ColumnType.TEXT)), unit="patient_id", budget=Budget(1))
    curator = Curator(tmp_path)
    curator.protect(pa.table({"patient_id": [7, 8], "age": [60, 40], "note": ["a", "b"]}), table)
    for test in _BUSY.values():
        if "ward" not in test and "cost" not in test:
            with pytest.raises(QueryRefused):
                curator.ask(f"SELECT COUNT(*) FROM visits WHERE {test}", epsilon="0.000001")
    assert curator.budget()["visits"]["more"] is None  # nothing was charged


@pytest.mark.parametrize("link", ["+1", " || 'a'", " OR x=1", ".a", " UNION SELECT 1"])
@pytest.mark.some(2)
def test_a_long_chain_is_refused_before_the_places_of_its_parts_are_sought(
    link: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # That takes the square of the length of a chain: 12,000 links kept a service busy for seconds.
    sought: list[object] = []
    monkeypatch.setattr(places, "_place_all", lambda root, words: sought.append(root))
    parse("SELECT x" + link * 10, "duckdb")
    assert len(sought) == 1
    with pytest.raises(QueryRefused, match="nested too deeply"):
        parse("SELECT x" + link * 2_000, "duckdb")
    assert len(sought) == 1
