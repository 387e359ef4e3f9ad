"""At the ends of calendars and of integers Spark gives what DuckDB gives, and every guard is there for some row."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator
from contextlib import suppress
from datetime import date, datetime
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet.catalog.catalog import Catalog
from discreet.catalog.column import Column, ColumnType
from discreet.catalog.table import Budget, Table
from discreet.engines.duckdb.engine import DuckDBEngine
from discreet.engines.engine import Engine
from discreet.engines.spark.engine import SparkEngine
from discreet.errors import EngineFailure, QueryRefused
from discreet.query.bind.names import collect_names, table_rows
from discreet.query.bind.relation import Names
from discreet.query.expressions.expression import Statement
from discreet.query.expressions.read import read
from tests.engines import powers
from tests.query import test_totality
from tests.servers.spark import spark_session as spark_session  # noqa: PLC0414

pytestmark = [
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
]
_TYPES = {
    **dict.fromkeys(("id", "y", "m", "k", "n"), (ColumnType.INTEGER, pa.int64())),
    "day": (ColumnType.DATE, pa.date32()),
    "seen": (ColumnType.TIMESTAMP, pa.timestamp("us")),
    "note": (ColumnType.TEXT, pa.string()),
}
EDGES = Table("edges", tuple(Column(name, kind) for name, (kind, _) in _TYPES.items()), unit="id", budget=Budget(1))
CATALOG = Catalog([EDGES])
YEARS = (-5877642, -5877641, -5877640, -300000, -290308, -290307, -1, 0, 2021, 294247, 294248, 5881579, 5881580,
         5881581)  # fmt: skip
FAR_YEARS = (-(2**62), -(2**31), 10**9, 2**31 - 1, 2**31, 2**63 - 1)
DAYS = ((1, 1), (1, 3), (1, 4), (1, 10), (1, 11), (6, 24), (6, 25), (6, 30), (7, 1), (7, 10), (7, 11), (12, 21),
        (12, 22))  # fmt: skip
NO_DAYS = ((2, 30), (0, 1), (13, 1), (1, 0), (4, 31), (2**31 + 1, 2**31 + 1))
DATES = (date(1970, 1, 1), date.min, date.max, date(2020, 2, 29))
TIMES = (datetime(1970, 1, 1), datetime(1970, 1, 1, 0, 0, 54, 775807), datetime(1970, 1, 1, 0, 0, 0, 776191),
         datetime.min)  # fmt: skip
LAST_HOUR, FIRST_HOUR = 2562047788, -106751991 * 24
NUMBERS = (0, 1, -1, 2**31 - 1, 2**31, -(2**31), -(2**31) - 1, 2**63 - 1, -(2**63), 10**6, 3507500, -3507500, 8 * 10**6,
           71 * 10**6, -71 * 10**6, 10**8, -(10**8), 106751991, -106751991, 178956971, 715827883, 306783379, LAST_HOUR,
           FIRST_HOUR, FIRST_HOUR - 1, 9223372036854, -9223372022400, -9223372022401)  # fmt: skip
UNITS = ("YEAR", "QUARTER", "MONTH", "WEEK", "DAY", "HOUR", "MINUTE", "SECOND")
MADE = "make_date(y, m, k)"
EXPRESSIONS = (
    f"CAST({MADE} AS VARCHAR)",
    *(f"CAST(date_trunc('{unit}', {MADE}) AS VARCHAR)" for unit in UNITS[:6]),
    f"extract(century FROM {MADE}) + extract(doy FROM {MADE})",
    f"CAST(last_day({MADE}) AS VARCHAR)",
    f"strftime({MADE}, '%Y-%m-%d %V %G %j %a')",
    f"CAST(CAST({MADE} AS TIMESTAMP) AS VARCHAR)",
    f"{MADE} - day",
    f"{MADE} < seen",
    *(f"date_diff('{unit}', {MADE}, day)" for unit in UNITS[:6]),
    *(f"date_sub('{unit}', {MADE}, seen)" for unit in ("QUARTER", "MONTH", "DAY", "SECOND")),
    *(f"date_sub('{unit}', day, {MADE})" for unit in ("YEAR", "MONTH")),
    *(f"CAST({MADE} + INTERVAL (n) {unit} AS VARCHAR)" for unit in ("MONTH", "DAY", "HOUR")),
    *(f"CAST(seen {sign} INTERVAL (n) {unit} AS VARCHAR)" for sign in "+-" for unit in UNITS),
    *(f"CAST(day {sign} INTERVAL (n) {unit} AS VARCHAR)" for sign in "+-" for unit in UNITS[2:6]),
    *(f"{end}(note, {count})" for end in ("left", "right") for count in (-1, -2, -5, -(10**6), 0, 10**6)),
)
BATCHES = [EXPRESSIONS[start : start + 5] for start in range(0, len(EXPRESSIONS), 5)]


def edge_rows() -> pa.Table:
    """Dates at every end and moves to every end, and a row with nothing."""
    made = [*itertools.product(YEARS, (*DAYS, *NO_DAYS)), *itertools.product(FAR_YEARS, [(1, 1)])]
    numbers, days, times = (itertools.cycle(values) for values in (NUMBERS, DATES, TIMES))
    rows: list[tuple[Any, ...]] = [(y, m, k, next(numbers), next(days), next(times)) for y, (m, k) in made]
    rows += [(2021, 5, 6, n, next(days), time) for n in NUMBERS for time in TIMES]
    rows += [(y, 1, 10, n, next(days), next(times)) for y in (-290307, 294247, 300000) for n in NUMBERS]
    columns = zip(*((*row, "abcdé"[: k % 6]) for k, row in enumerate([*rows, (None,) * 6])), strict=True)
    values = dict(zip(_TYPES, (range(len(rows) + 1), *columns), strict=True))
    return pa.table({name: pa.array(values[name], arrow) for name, (_, arrow) in _TYPES.items()})


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory, spark_session: Any) -> Iterator[tuple[SparkEngine, Engine]]:
    """The rows in Spark and in DuckDB."""
    folder, rows = tmp_path_factory.mktemp("edges"), edge_rows()
    pq.write_table(rows, folder / "edges.parquet")
    with SparkEngine(folder / "s", session=spark_session, owner_log=print) as spark, DuckDBEngine(folder / "d") as duck:
        spark.take_in(EDGES, str(folder / "edges.parquet"), catalog=CATALOG)
        duck.take_in(EDGES, rows, catalog=CATALOG)
        pq.write_table(powers.rows(), folder / "powers.parquet")
        spark.take_in(powers.POWERS, str(folder / "powers.parquet"))
        duck.take_in(powers.POWERS, powers.rows())
        yield spark, duck


def question(texts: tuple[str, ...]) -> tuple[str, list[object]]:
    """A statement that shows the values of expressions for every row, which no plan does."""
    rows, statement = table_rows(EDGES, CATALOG, Names()), Statement()
    names = collect_names([("edges", rows)])
    written = [read(test_totality._parsed("duckdb", text), names).write(statement) for text in ("id", *texts)]
    listed = ", ".join(f"{text} AS v{k}" for k, text in enumerate(written))
    return f"SELECT {listed} FROM ({rows.write(statement)}) r", statement.parameters


def is_same(one: Any, two: Any) -> bool:
    return one == two or (isinstance(one, float) and isinstance(two, float) and math.isclose(one, two, rel_tol=1e-12))


@pytest.mark.thorough
def test_powers_at_every_edge_have_their_sign(places: tuple[SparkEngine, DuckDBEngine]) -> None:
    assert powers.differences(*places)[:5] == []


@pytest.mark.parametrize("texts", BATCHES, ids=lambda texts: texts[0])
@pytest.mark.some(1, 8)
def test_rows_at_every_edge_have_the_same_values(texts: tuple[str, ...], places: tuple[SparkEngine, Engine]) -> None:
    spark, duck = places
    found, wrong = spark.run(*question(texts)).sort_by("v0"), list[str]()
    for k, text in enumerate(texts, start=1):
        wanted = duck.run(*question((text,))).sort_by("v0")["v1"]  # by itself: what two share, DuckDB takes out of TRY
        pairs = zip(found["v0"].to_pylist(), found[f"v{k}"].to_pylist(), wanted.to_pylist(), strict=True)
        wrong += [f"{text}: in row {row} {one}, not {two}" for row, one, two in pairs if not is_same(one, two)]
    assert not wrong, "\n".join([f"{len(wrong)}:", *wrong[:10]])


# Guards, each with an expression that is another without it.


class Unguarded(SparkEngine):
    """The planted bug: a statement out of which a guard was taken."""

    guard: re.Pattern[str]
    bare: str

    def translated(self, *args: Any) -> Any:
        text, used = super().translated(*args)
        found, times = self.guard.subn(self.bare, text)
        assert times, text
        return found, used


_HELD = r"try_cast\(try_cast\(try_add\((.*?), {}L\) AS INT\) - {}L AS INT\) \+ {}"
_MADE = 'TRY(make_date("y", "m", "k"))'
_BY_HOURS = 'TRY(CAST("seen" + TRY(to_hours("n")) AS TIMESTAMP))'
_BY_MONTHS = 'CAST(TRY(CAST("day" + TRY(to_months(TRY_CAST("n" AS INTEGER))) AS DATE)) AS VARCHAR)'
GUARDS = {
    "years that fit 32 bits": (r"try_cast\((`y`) AS INT\) / 400D", r"\1 / 400D", f"{_MADE} IS NULL"),
    "years that have dates": (_HELD.format(1, 3, 2), r"CAST(\1 AS INT)", f"{_MADE} IS NULL"),
    "the first date and the last": (
        re.escape(", 1L) AS INT) - 3L AS INT) + 2"),
        ", 0L) AS INT) - 0L AS INT) + 0",
        f"{_MADE} IS NULL",
    ),
    "months of a year": ("CASE WHEN `m` BETWEEN 1L AND 12L THEN `m` END", "`m`", f"{_MADE} IS NULL"),
    "days of a month": (r"CASE WHEN `k` >= 1L AND `k` <= .*? THEN `k` END", "`k`", f"{_MADE} IS NULL"),
    "the first week": (re.escape("- 196L AS INT) + 195"), "- 1L AS INT) + 0", f"TRY(strftime({_MADE}, $1))"),
    "the last month": (_HELD.format(11, 13, 2), r"CAST(\1 AS INT)", f"CAST(TRY(last_day({_MADE})) AS VARCHAR)"),
    "the first timestamp": (re.escape("14454775809L) + 14454775808L"), "1L) + 0L", f"{_BY_HOURS} IS NULL"),
    "the last timestamp": (re.escape(", 1L), 14454775809L)"), ", 0L), 14454775808L)", f"{_BY_HOURS} IS NULL"),
    "dates with timestamps": (
        _HELD.format(2040731656, 4081463313, 2040731657),
        r"CAST(\1 AS INT)",
        f"TRY(CAST(date_trunc('day', {_MADE}) AS DATE)) IS NULL",
    ),
    "so many months": (r"least\(greatest\((.*?), -8000000L\), 8000000L\)", r"\1", _BY_MONTHS),
    "the ends of 32 bits": (
        r"\(CASE WHEN `n` BETWEEN -2147483648L AND 2147483647L THEN `n` END\)",
        "`n`",
        'TRY_CAST("n" AS INTEGER)',
    ),
    "seconds as real numbers": (
        r"try_cast\(CAST\(`n` AS DOUBLE\) \* 1000000D AS BIGINT\)",
        "try_multiply(`n`, 1000000L)",
        'CAST(TRY(CAST("seen" + TRY(to_seconds("n")) AS TIMESTAMP)) AS VARCHAR)',
    ),
    "all but so many letters, left": (r"length\(`note`\) - 2", "-2", 'left("note", $1)'),
    "all but so many letters, right": (r"length\(`note`\) - 2", "-2", 'right("note", $1)'),
}
RAISED = re.compile(r"\w+: \[(ARITHMETIC_OVERFLOW|CAST_OVERFLOW|DATETIME_FIELD_OUT_OF_BOUNDS)")


def in_order(place: Engine, expression: str) -> list[Any]:
    statement = f'SELECT "id" AS i, {expression} AS v FROM "edges"'
    parameters = ("%V %G",) if "strftime" in statement else (-2,) if "$1" in statement else ()
    return place.run(statement, parameters).sort_by("i")["v"].to_pylist()


@pytest.mark.parametrize("name", GUARDS)
@pytest.mark.some(2)
def test_without_the_guard_a_row_makes_it_raise_or_gives_another_value(
    name: str, places: tuple[SparkEngine, Engine], spark_session: Any
) -> None:
    guard, bare, expression = GUARDS[name]
    spark, duck = places
    wanted = in_order(duck, expression)
    assert in_order(spark, expression) == wanted
    heard: list[str] = []
    with Unguarded(spark.store.root.parent, session=spark_session, owner_log=heard.append) as unguarded:
        unguarded.guard = re.compile(guard)
        unguarded.bare = bare
        with suppress(EngineFailure):
            assert in_order(unguarded, expression) != wanted
    assert all(RAISED.match(words) for words in heard), heard  # over a row, and not over a statement that is none


def test_a_part_of_negative_length_is_another_in_spark_and_refused(
    places: tuple[SparkEngine, Engine], spark_session: Any
) -> None:
    part = 'SELECT substring("note", $1, $2) AS v FROM "edges"', (3, -2)
    with pytest.raises(QueryRefused, match="negative length"):
        places[0].check(*part)
    assert "ab" in places[1].run(*part)["v"].to_pylist()
    assert spark_session.sql("SELECT substring('abcd', 3, -2)").collect()[0][0] == ""
