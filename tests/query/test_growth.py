"""A query that is short in text and huge when written out is refused, soon, before anything is planned."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa
import pytest
import sqlglot

from discreet.errors import QueryRefused
from discreet.query.answer.sandbox import post_process
from discreet.query.passes import split
from tests.query.world import CATALOG

_ROWS = "SELECT * FROM visits"
_GROUPS = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"
_COUNT = "SELECT COUNT(*) AS n FROM t{}"
_EACH = "SELECT patient_id FROM visits GROUP BY patient_id"


def chained(first: str, each: str, last: str) -> Callable[[int], str]:
    """WITH tables that are made of the one before, so many of them."""

    def text(count: int) -> str:
        more = "".join(f", t{number} AS ({each.format(number - 1)})" for number in range(1, count))
        return f"WITH t0 AS ({first}){more} {last.format(count - 1)}"

    return text


GROWING = {
    "rows joined with themselves": chained(_ROWS, "SELECT a.* FROM t{0} a JOIN t{0} b USING (patient_id)", _COUNT),
    "rows twice": chained(_ROWS, "SELECT * FROM t{0} UNION ALL SELECT * FROM t{0}", _COUNT),
    "answers joined with themselves": chained(
        _GROUPS, "SELECT a.ward, a.n + b.n AS n FROM t{0} a JOIN t{0} b ON a.ward = b.ward", "SELECT * FROM t{}"
    ),
    "answers twice": chained(_GROUPS, "SELECT * FROM t{0} UNION ALL SELECT * FROM t{0}", "SELECT * FROM t{}"),
    "rows one in the other": chained(_ROWS, "SELECT * FROM t{}", _COUNT),
    "answers one in the other": chained(_GROUPS, "SELECT ward, n + n AS n FROM t{}", "SELECT * FROM t{}"),
    "answers in each column": chained(
        "SELECT COUNT(*) AS n FROM visits",
        "SELECT (SELECT n FROM t{0}) + (SELECT n FROM t{0}) AS n",
        "SELECT * FROM t{}",
    ),
    "joins": lambda count: "SELECT COUNT(*) FROM visits" + f" JOIN ({_EACH}) USING (patient_id)" * 10 * count,
    "subqueries": lambda count: "SELECT COUNT(*) FROM " + "(SELECT * FROM " * count + "visits" + ")" * count,
}


@pytest.mark.parametrize("name", GROWING)
@pytest.mark.some(3)
def test_a_few_are_understood_and_many_are_refused_in_words(name: str) -> None:
    assert split(GROWING[name](4), CATALOG).blocks
    for count in (45, 120):
        with pytest.raises(QueryRefused, match=r"written out|deep") as refusal:
            split(GROWING[name](count), CATALOG)
        assert refusal.value.remedy


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT *, * FROM visits",
        "SELECT a.*, A.* FROM visits a",
        "SELECT *, a.* FROM visits a",
        "SELECT a.*, b.*, a.* FROM visits a JOIN visits b USING (patient_id)",
    ],
)
def test_columns_do_not_double(sql: str) -> None:
    for around in ("SELECT COUNT(*) FROM ({}) x", "SELECT *, * FROM (SELECT COUNT(*) AS n FROM ({}) x) y"):
        with pytest.raises(QueryRefused, match=r"\* may name each column once"):
            split(around.format(sql), CATALOG)
    with pytest.raises(QueryRefused, match=r"\* may name each column once"):
        split("SELECT *, * FROM (SELECT COUNT(*) AS n FROM visits) x", CATALOG)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT COUNT(*) FROM (SELECT *, age + 1 AS older FROM visits) x",
        "SELECT COUNT(*) FROM (SELECT a.*, b.age AS other FROM visits a JOIN visits b USING (patient_id)) x",
        "SELECT *, n / 2 AS half FROM (SELECT COUNT(*) AS n FROM visits) x",
        "SELECT a.*, b.* FROM (SELECT COUNT(*) AS n FROM visits) a, (SELECT SUM(age) AS s FROM visits) b",
    ],
)
def test_a_star_beside_other_columns_is_understood(sql: str) -> None:
    assert split(sql, CATALOG).blocks


def test_what_would_never_end_above_the_aggregates_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("discreet.query.answer.sandbox.POST_PROCESSING", 0.3)
    rows = {"g": pa.table({"n": list(range(5))})}
    crossed = ", ".join(f"g g{number}" for number in range(25))
    with pytest.raises(QueryRefused, match="must take at most"):
        post_process(sqlglot.parse_one(f"SELECT COUNT(*) FROM {crossed} WHERE g0.n <> g24.n"), rows)
    assert post_process(sqlglot.parse_one("SELECT COUNT(*) AS n FROM g"), rows).to_pylist() == [{"n": 5}]
