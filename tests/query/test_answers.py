"""With noise of zero, an answer is what the engine itself gives."""

from __future__ import annotations

import math
from datetime import date, datetime
from typing import Any

import pytest

from discreet.privacy.loss import Pure
from discreet.query.question import prepare
from tests.query.hostile import DATES, REALS, TIMES, WHOLE, WORDS
from tests.query.world import CATALOG, COUNT_ALIKE, Row, World, answer_without_noise, prepared, read_pairs, read_queries

CLOSE = 2e-3  # the grids' rounding, at this price


def _visit(k: int) -> Row:
    return (
        k // 3,
        "ab"[k % 2] if k % 5 else ("it's", "Ω", "a")[k % 3],
        (k * 37) % 111,
        None if k % 7 == 0 else (k * 53.25) % 1000,
        (k * 1.5) - 20,
        k - 30,
        date(2020 + k % 2, 1 + k % 12, 1 + k % 28),
        datetime(2021, 5, 1, k % 24, 30),
        None if k % 11 == 0 else k % 2 == 0,
        (None, "a", "ab", "Bb", "7")[k % 5],
        "xy"[k % 2],
        datetime(2021, 1 + k % 3, 1 + k % 28, k % 24, k % 60),
    )


@pytest.fixture(scope="module")
def world() -> World:
    visits = [(row[0], row) for row in map(_visit, range(90))]
    patients = [(k, (k, 1950 + k, "fm"[k % 2])) for k in range(1, 31)]
    survey = [(k, ((k * 7) % 111, k % 3 == 0)) for k in range(60)]
    wards = [(0, (name, floor)) for name, floor in (("a", 1), ("b", 2), ("it's", 3))]
    return World({"visits": visits, "swaps": visits, "patients": patients, "survey": survey, "wards": wards})


def _is_close(mine: Any, other: Any) -> bool:
    if isinstance(mine, float) or isinstance(other, float):
        if mine is None or other is None:
            return (mine or 0) == (other or 0)
        return math.isclose(float(mine), float(other), rel_tol=CLOSE, abs_tol=CLOSE)
    return bool(mine == other)


def _holds(mine: list[Row], wanted: Row) -> bool:
    return any(all(_is_close(a, b) for a, b in zip(row, wanted, strict=True)) for row in mine)


def _rows(table: Any) -> list[Row]:
    columns = [column.to_pylist() for column in table.columns]
    return [tuple(float(v) if type(v).__name__ == "Decimal" else v for v in row) for row in zip(*columns, strict=True)]


@pytest.mark.parametrize("query", read_queries("answers.sql"))
@pytest.mark.some(70)
def test_without_noise_the_answer_is_the_plain_one(query: str, world: World) -> None:
    mine = _rows(answer_without_noise(prepare(query, CATALOG, Pure(1000), count_alike=COUNT_ALIKE), world))
    for wanted in _rows(world.plain(query)):
        assert _holds(mine, wanted), (wanted, mine)


@pytest.mark.parametrize(("query", "by_hand"), read_pairs("spelled.sql"))
@pytest.mark.some(40)
def test_in_any_spelling_the_answer_is_the_one_written_by_hand(query: str, by_hand: str, world: World) -> None:
    mine = _rows(answer_without_noise(prepared(query, Pure(1000)), world))
    for wanted in _rows(world.plain(by_hand)):
        assert _holds(mine, wanted), (wanted, mine)


def test_groups_that_nobody_is_in_are_listed_with_zero(world: World) -> None:
    question = prepare(
        "SELECT age, COUNT(*) AS n FROM visits WHERE age = 37 OR note = 'nobody' GROUP BY age", CATALOG, Pure(1)
    )
    rows = _rows(answer_without_noise(question, world))
    assert len(rows) == 112  # 0 to 110, and missing
    assert {n for age, n in rows if age != 37} == {0}


@pytest.mark.parametrize(
    "query",
    [
        "SELECT flag, COUNT(*) AS n FROM visits GROUP BY flag, 1",
        "SELECT flag, COUNT(*) AS n FROM visits AS v GROUP BY FLAG, v.flag",
        "SELECT flag, flag AS again, COUNT(*) AS n FROM visits GROUP BY ALL",
        "SELECT flag, COUNT(*) AS n FROM visits AS v JOIN sites USING (ward) GROUP BY flag, v.flag",
    ],
)
def test_a_key_named_twice_is_one_key(query: str, world: World) -> None:
    rows = _rows(answer_without_noise(prepared(query, Pure(1000)), world))
    assert sorted(rows, key=str) == sorted(_rows(world.plain(query)), key=str)


@pytest.fixture(scope="module")
def crowded() -> World:
    """People with up to nine rows, and values on both sides of every bound."""
    lists = (
        WORDS,
        WHOLE,
        REALS,
        REALS[::-1],
        WHOLE[::-1],
        DATES,
        TIMES,
        (True, False, None),
        WORDS[::-1],
        ("x", "z", None),
        TIMES,
    )
    sizes = [person for person in range(20) for _ in range(1 + person % 9)]
    visits = [
        (person, (person, *(each[k * (j + 1) % len(each)] for j, each in enumerate(lists))))
        for k, person in enumerate(sizes)
    ]
    found = World({"visits": visits, "survey": [(k, (WHOLE[k], None)) for k in range(len(WHOLE))]})
    # Three whole rows of 2^16 units each, shared out and rounded down.
    found.database.execute("CREATE MACRO w(n) AS CASE WHEN n <= 3 THEN 1 ELSE (3 * 65536) // n / 65536 END")
    return found


@pytest.mark.parametrize(("query", "by_hand"), read_pairs("weighted.sql"))
def test_without_noise_the_answer_is_the_weighted_one_written_by_hand(query: str, by_hand: str, crowded: World) -> None:
    mine = _rows(answer_without_noise(prepared(query, Pure(1000)), crowded))
    wanted = _rows(crowded.plain(by_hand))
    assert wanted
    assert all(_holds(mine, row) for row in wanted), (wanted, mine)
