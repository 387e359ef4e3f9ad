"""A question counts the same over rows as its SQL does in a database."""

from __future__ import annotations

import duckdb
import numpy as np
import pyarrow as pa
import pytest

from discreet.attacks.people import People
from discreet.attacks.queries import AnyOf, Is, Listed, Part, Person, Side, TableQuery, Value
from tests.attacks.crowd import crowd

PEOPLE = crowd(60).take(np.arange(5, 60))
ILLNESS, AGE, SEX = (Value.of(PEOPLE, name) for name in ("illness", "age", "sex"))
ILL = AnyOf.secret(PEOPLE)
QUESTIONS = [
    TableQuery(),
    TableQuery(by=(ILLNESS,)),
    TableQuery(by=(SEX, ILLNESS)),
    TableQuery(by=(ILLNESS, SEX), where=((Is(7), 0),)),
    TableQuery(by=(Person(60),), where=((ILL, 1),)),
    TableQuery(by=(ILL,), where=((Listed((5, 6, 7, 40)), 1),)),
    TableQuery(by=(Is(9), ILL)),
    TableQuery(by=(Side(1234567, 89), ILL)),
    TableQuery(where=((Side(48271, 11), 1), (ILLNESS, 2), (AGE, 3))),
    TableQuery(by=(ILLNESS,), wording=3),
]


def by_database(question: TableQuery, people: People) -> np.ndarray:
    rows = {name: [column.values[code] for code in column.codes] for name, column in people.columns.items()}
    found = np.zeros(question.cells)
    with duckdb.connect() as database:
        database.register("people", pa.table({"person": people.numbers, **rows}))
        for *cell, count in database.sql(question.sql("people")).fetchall():
            found[question.cell([code_of(part, value) for part, value in zip(question.by, cell, strict=True)])] = count
    return found


def code_of(part: Part, value: object) -> int:
    return part.values.index(value) if isinstance(part, Value) else int(value)


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.sql("people")[:60])
def test_rows_and_sql_agree(question):
    assert question.counts(PEOPLE).tolist() == by_database(question, PEOPLE).tolist()


def test_other_wordings_ask_for_the_same_in_other_words():
    first, second = (TableQuery(by=(ILLNESS,), wording=wording) for wording in (1, 2))
    assert first.sql("people") != second.sql("people")
    assert first.counts(PEOPLE).tolist() == second.counts(PEOPLE).tolist()


def test_names_and_values_are_quoted():
    hostile = Value('a"b', ("it's", "x"))
    assert TableQuery(by=(hostile,), where=((hostile, 0),)).sql("t") == (
        'SELECT "a""b" AS c0, COUNT(*) AS n FROM t WHERE "a""b" = \'it\'\'s\' GROUP BY c0'
    )


def test_sides_look_like_fair_coins():
    """False alarm: 200 sides of 2,000 people; a sum of 400,000 fair coins strays by 5.5 of its deviations, 4e-8."""
    people = crowd(2000)
    chance = np.random.default_rng(0)
    sides = [Side(*map(int, chance.integers(1, 2**31 - 1, 2))).codes(people).sum() for _ in range(200)]
    assert abs(sum(sides) - 200_000) < 5.5 * np.sqrt(400_000) / 2
