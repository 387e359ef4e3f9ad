"""Dates outside the years 1 to 9999 have no name: they are missing in an answer, and what was paid for is shown."""

from __future__ import annotations

import io
from datetime import date, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from discreet.catalog.column import Column, ColumnType
from discreet.catalog.table import Budget, Table
from discreet.curator.curator import Curator

DATE, TIMESTAMP = ColumnType.DATE, ColumnType.TIMESTAMP
FIRST, LAST = datetime.min, datetime.max
CALLS = Table(
    "calls",
    (
        Column("day", DATE),
        Column("seen", TIMESTAMP),
        Column("said", ColumnType.TEXT),
        Column("late", DATE, lower=date(9999, 12, 29), upper=date.max),
        Column("first", DATE, lower=date.min, upper=date(1, 1, 3)),
        Column("any_day", DATE, lower=date.min, upper=date.max),
        Column("ever", TIMESTAMP, lower=FIRST, upper=LAST),
    ),
    budget=Budget(6_000, delta="1e-3", delta_for_keys="9e-4"),
)
HALF = 400


@pytest.fixture(scope="module")
def curator(tmp_path_factory: pytest.TempPathFactory) -> Curator:
    halves = {
        "day": (date.max, date.min),
        "seen": (LAST, FIRST),
        "said": ("12021-03-04", "2021-03-04"),
        "late": (date.max, date(9999, 12, 29)),
        "first": (date.min, date(1, 1, 3)),
        "any_day": (date.max, date.min),
        "ever": (LAST, FIRST),
    }
    found = Curator(tmp_path_factory.mktemp("calls"))
    found.protect(pa.table({name: [a] * HALF + [b] * HALF for name, (a, b) in halves.items()}), CALLS)
    return found


def shown(curator: Curator, sql: str, tmp_path: Path) -> list[dict[str, Any]]:
    """The rows of an answer, which was written in every way that there is."""
    answer = curator.ask(sql, epsilon=20)
    assert all("NULL" in text for text in (str(answer), answer._repr_html_()) if None in answer.to_rows()[-1].values())
    answer.to_csv(tmp_path / "answer.csv", intervals=True)
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, answer.to_arrow().schema) as stream:
        stream.write_table(answer.to_arrow())
    assert len(answer.to_pandas()) == len(answer.to_polars()) == len(answer.to_rows())
    assert answer.to_json()
    assert answer.certificate
    assert curator.ask(sql, epsilon=20).to_rows() == answer.to_rows()
    return answer.to_rows()


@pytest.mark.parametrize(
    ("key", "left"),
    [
        ("day + 40000", date(110, 7, 9)),
        ("day - 40000", date(9890, 6, 25)),
        ("day + INTERVAL 24 HOUR", datetime(1, 1, 2)),
        ("seen + INTERVAL 100 YEAR", datetime(101, 1, 1)),
        ("seen - INTERVAL 1 SECOND", datetime(9999, 12, 31, 23, 59, 58, 999999)),
        ("CAST(seen + INTERVAL 1 DAY AS DATE)", date(1, 1, 2)),
        ("date_trunc('month', day + 40)", date(1, 2, 1)),
        ("COALESCE(day + 1, day)", date(1, 1, 2)),
        ("CAST(said AS DATE)", date(2021, 3, 4)),
    ],
)
def test_rows_without_a_name_are_one_group_among_those_that_nobody_listed(
    curator: Curator, key: str, left: date, tmp_path: Path
) -> None:
    named, missing = shown(curator, f"SELECT {key} AS k, COUNT(*) AS n FROM calls GROUP BY k", tmp_path)
    assert (named["k"], missing["k"]) == (left, None)
    assert all(abs(row["n"] - HALF) < 50 for row in (named, missing))


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ("late + 1", [(date(9999, 12, 30), HALF), (date(9999, 12, 31), 0), (None, HALF)]),
        ("first - 2", [(date(1, 1, 1), HALF), (None, HALF)]),
        ("late + INTERVAL 2 DAY", [(date(9999, 12, 31), HALF), (None, HALF)]),
        ("late + 300", [(None, 2 * HALF)]),
    ],
)
def test_and_one_group_among_those_that_are_public(
    curator: Curator, key: str, expected: list[tuple[date | None, int]], tmp_path: Path
) -> None:
    rows = shown(curator, f"SELECT {key} AS k, COUNT(*) AS n FROM calls GROUP BY k", tmp_path)
    assert [row["k"] for row in rows] == [k for k, _ in expected]
    assert all(abs(row["n"] - count) < 50 for row, (_, count) in zip(rows, expected, strict=True))


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT day + 1 AS k FROM (SELECT day, COUNT(*) AS n FROM calls GROUP BY day)", [date(1, 1, 2), None]),
        ("SELECT MAX(seen) + INTERVAL 1 DAY FROM (SELECT seen, COUNT(*) FROM calls GROUP BY seen)", [None]),
        ("SELECT late - 4000000 AS k FROM (SELECT late, COUNT(*) FROM calls GROUP BY late)", [None] * 3),
        ("SELECT MODE(late + 30) FROM calls", [None]),
        ("SELECT late + 1 AS k FROM calls GROUP BY k ORDER BY COUNT(*) DESC LIMIT 2", None),
    ],
)
def test_what_is_computed_or_chosen_is_missing_there_too(
    curator: Curator, sql: str, expected: list[date | None] | None, tmp_path: Path
) -> None:
    found = [next(iter(row.values())) for row in shown(curator, sql, tmp_path)]
    assert set(found) == {date(9999, 12, 30), None} if expected is None else found == expected


@pytest.mark.parametrize("column", ["ever", "any_day"])
def test_a_step_past_the_last_day_is_the_last_day(curator: Curator, column: str, tmp_path: Path) -> None:
    sql = f"SELECT MIN({column}) AS least, MAX({column}) AS most FROM calls"
    ((least, most),) = [(row["least"], row["most"]) for row in shown(curator, sql, tmp_path)]
    assert (least.year, most.year) == (1, 9999)
