"""A refusal quotes the analyst's own words at the place it names, no name of ours or of the parser's, and a way out."""

from __future__ import annotations

import logging
import random
import re
from collections.abc import Iterator

import pytest
import sqlglot
import yaml
from sqlglot import exp

from discreet.catalog.catalog import Catalog
from discreet.errors import QueryRefused
from discreet.privacy.loss import Pure
from discreet.query.answer.intervals import noisy_schema
from discreet.query.answer.sandbox import check_above
from discreet.query.parse.alternatives import INSTEAD, USAGE
from discreet.query.parse.dialect import DATE_PARTS
from discreet.query.passes import split
from discreet.query.question import prepare
from tests.fuzz.grammar import Grammar
from tests.fuzz.worlds import make_world
from tests.query.world import CATALOG, FIXTURES, read_queries
from tests.thoroughness import many

_OURS = re.compile(r'_block\d|_unit\b|"[ak]\d+"|\b[ak]\d\b')
_CLASSES = {
    name.upper()
    for name, kind in vars(exp).items()
    if isinstance(kind, type) and issubclass(kind, exp.Expr) and len(re.findall("[A-Z][a-z]", name)) > 1
}
"""Names of the parser's own, such as GROUPINGSETS; those of one word are mostly words of SQL."""
_NO_WORDS = {"PLACEHOLDER", "BRACKET", "TUPLE", "ANONYMOUS", "LATERALS", "LOCKS", "JOINS"}
_COLUMNS = ("age", "note", "day", "seen", "flag", "score", "ward", "agee", "patient_id")
_BROUGHT = [text for text in (FIXTURES / "brought.sql").read_text("utf-8").splitlines() if not text.startswith("--")]
_REFUSED = [query for query, _ in yaml.safe_load((FIXTURES / "refusals.yaml").read_text(encoding="utf-8"))]


def ask(text: str) -> None:
    """Plan a question as a curator does, up to the charge."""
    question = prepare(text, CATALOG, Pure(1))
    pairs = zip(question.split.blocks, question.plans, strict=True)
    check_above(question.split.above, {block.name: noisy_schema(plan, block) for block, plan in pairs})


def wrong_with(refusal: QueryRefused, text: str) -> str:
    """What a refusal of a text must not be; nothing where it is as it should be."""
    said, words = str(refusal), str(refusal.value or "<>")[1:-1]
    if not refusal.remedy or refusal.line is None or refusal.column is None:
        return "no remedy or no place"
    lines = text.split("\n")
    rest = " ".join("\n".join(lines[refusal.line - 1 :])[refusal.column - 1 :].split())
    if not rest.startswith(words.removesuffix("…")):
        return f"other words than {rest[:60]!r}"
    if found := set(_OURS.findall(said)) - set(_OURS.findall(text)):
        return f"names of ours: {found}"
    named = set(re.findall(r"[A-Z_]{4,}", refusal.rule)) - set(re.findall(r"[A-Z_]{4,}", text.upper()))
    return f"names of the parser's: {found}" if (found := named & (_CLASSES | _NO_WORDS)) else ""


def is_refused_in_own_words(text: str, catalog: Catalog, dialect: str = "duckdb") -> bool:
    """Whether a text is refused; a refusal must be as it should be."""
    complaint = ""
    try:
        split(text, catalog, dialect, count_alike=lambda table, columns: 1)
    except QueryRefused as refusal:
        complaint = wrong_with(refusal, text) and f"{text}: {refusal}"
    else:
        return False
    assert not complaint
    return True


def mistakes_in(texts: list[str], chance: random.Random) -> Iterator[str]:
    """The texts with one mistake each, of those that people make."""
    functions = [*INSTEAD, *USAGE, *sorted(exp.FUNCTION_BY_NAME), "NOSUCH"]
    for text in texts:
        words = list(re.finditer(r"\b[A-Za-z_]{3,}\b", text))
        calls = list(re.finditer(r"\b[A-Za-z_]+(?=\()", text))
        kind = chance.randrange(5)
        if kind == 0 or not calls:
            word = chance.choice(words)
            yield text[: word.start() + 1] + text[word.start() + 2 :]
        elif kind <= 2:
            call = chance.choice(calls)
            yield text[: call.start()] + chance.choice(functions) + text[call.end() :]
        elif kind == 3:
            word = chance.choice(words)
            yield text[: word.start()] + chance.choice(_COLUMNS) + text[word.end() :]
        else:
            yield text.replace(" ", "\n  ", 3).replace("(", "( /* of */ ", 1) + chance.choice(
                (" LIMIT x", ")", " ,", "")
            )


@pytest.mark.parametrize("texts", [_BROUGHT, _REFUSED], ids=["brought", "refused"])
def test_what_is_refused_is_quoted_as_it_was_written(texts: list[str]) -> None:
    for text in texts:
        with pytest.raises(QueryRefused) as caught:
            ask(text)
        assert not wrong_with(caught.value, text), (text, str(caught.value))


def test_what_is_mistyped_is_quoted_as_it_was_written() -> None:
    chance, refused = random.Random(20), 0
    texts = [*read_queries("answers.sql"), *read_queries("spelled.sql")]
    for text in mistakes_in(texts, chance):
        refused += is_refused_in_own_words(text, CATALOG)
    assert refused > len(texts) // 3


def test_random_questions_with_a_mistake_are_quoted_as_they_were_written() -> None:
    refused = 0
    for seed in range(many(5, 12)):
        world, chance = make_world(seed), random.Random(seed)
        grammar = Grammar(world, chance)
        for text in mistakes_in([grammar.question() for _ in range(25)], chance):
            refused += is_refused_in_own_words(text, world.catalog)
    assert refused > 60


@pytest.mark.parametrize("dialect", ["postgres", "bigquery", "spark", "tsql", "snowflake", "mysql"])
@pytest.mark.some(2)
def test_named_dialects_are_quoted_as_they_were_written(dialect: str) -> None:
    assert sum(is_refused_in_own_words(text, CATALOG, dialect) for text in _BROUGHT) > len(_BROUGHT) // 2


def test_the_words_stand_between_the_places_that_are_named() -> None:
    text = "SELECT ward,\n  AVG( CLAMP(\n note,  0, 100) )\nFROM visits GROUP BY ward"
    with pytest.raises(QueryRefused) as caught:
        ask(text)
    assert (caught.value.line, caught.value.column, caught.value.value) == (2, 8, "<CLAMP( note, 0, 100)>")


def written(sql: str) -> str:
    """A remedy as a question about the tables of the tests."""
    if sql.startswith("SELECT"):
        return re.sub(r"\bx\b", "ward", sql).replace("…", "FROM visits")
    filled = re.sub(r"\by\b", "cost", re.sub(r"\bx\b", "age", sql))
    is_aggregate = any(isinstance(node, exp.AggFunc) for node in sqlglot.parse_one(filled, read="duckdb").walk())
    return (
        f"SELECT {filled} FROM visits" if is_aggregate else f"SELECT COUNT(*) FROM visits WHERE ({filled}) IS NOT NULL"
    )


def test_what_is_told_to_be_written_instead_is_answered() -> None:
    for sql in sorted({one.sql for one in INSTEAD.values() if one.sql} | set(USAGE.values())):
        ask(written(sql))


@pytest.mark.parametrize("part", DATE_PARTS)
def test_every_part_of_a_date_as_a_function_is_answered_or_its_extract_is_named(part: str) -> None:
    remedies = []
    try:
        ask(f"SELECT COUNT(*) FROM visits WHERE {part}(day) = 1")
    except QueryRefused as refusal:
        remedies.append(refusal.remedy)
    assert remedies in ([], [f"write EXTRACT({part} FROM day)"])


def test_what_refusals_tell_to_write_is_answered() -> None:
    """Every remedy of the corpus that is an expression or a query of its own."""
    told = set()
    for text in [*_BROUGHT, *_REFUSED]:
        try:
            ask(text)
        except QueryRefused as refusal:
            told |= set(re.findall(r"write ((?:SELECT|[A-Za-z_0-9]+\().*?)(?:, or |; | or |$)", refusal.remedy))
    assert len(told) > 20
    for sql in sorted(told - {"SELECT … FROM …", "SELECT … AS name inside"}):
        filled = re.sub(r"\b(trim|substring|replace|regexp_matches)\(x", r"\1(note", sql)
        ask(written(filled.replace("COUNT_IF(x", "COUNT_IF(flag").replace("first, last", "day, met")))


def test_nothing_is_said_but_in_refusals(capfd: pytest.CaptureFixture[str]) -> None:
    """The parser warns of statements that it does not know, and quotes them, on standard error."""
    for text in ("EXPLAIN SELECT COUNT(*) FROM visits", "SHOW TABLES", "VACUUM visits", "CALL f(1)", *_BROUGHT[:20]):
        with pytest.raises(QueryRefused):
            ask(text)
    assert logging.getLogger("sqlglot").propagate is False
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    "moment", ["'2020-06-01T12:00:00Z'", "TIMESTAMP '2020-06-01 12:00:00+00:00'", "TIMESTAMPTZ '2020-06-01 12:00:00Z'"]
)
def test_moments_in_universal_time_are_read(moment: str) -> None:
    plain, zoned = (
        prepare(f"SELECT COUNT(*) FROM visits WHERE seen > {text}", CATALOG, Pure(1)).fingerprint({})
        for text in ("TIMESTAMP '2020-06-01 12:00:00'", moment)
    )
    assert plain == zoned


def test_many_aggregates_are_not_said_to_be_nested() -> None:
    text = f"SELECT {', '.join(f'SUM(age + {number})' for number in range(10_000))} FROM visits"
    with pytest.raises(QueryRefused, match=r"at most 20,000 names|characters") as caught:
        split(text, CATALOG)
    assert "nested" not in str(caught.value)
