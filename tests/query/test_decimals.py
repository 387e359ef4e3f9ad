"""Numbers with a point are decimals: exact, as in DuckDB and in the standard, whatever the rows are."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest

from discreet.catalog.column import Column, ColumnType
from discreet.catalog.table import Budget, Table
from discreet.curator.curator import Curator
from discreet.errors import QueryRefused
from discreet.privacy.loss import Pure
from discreet.query.expressions.decimals import as_real
from discreet.query.expressions.expression import Constant, DecimalType, Statement
from discreet.query.expressions.interval import Interval
from discreet.query.question import prepare
from tests.query.hostile import WHOLE
from tests.query.test_totality import _typed
from tests.query.world import CATALOG, World, answer_without_noise, prepared

NUMBERS = (*WHOLE, *range(-30, 31), 10**15 - 1, -(10**15), 2**53 + 1, -(2**54 + 3), 10**18 + 1)
CONSTANTS = ("0.1", "-0.05", "1.0", "0.125", "12345678901234567.5", "0.000000000000001")
AS_IN_DUCKDB = [
    *(f"big {op} {x}" for op in ("+", "-", "*", "/", "%", "=", "<", ">=") for x in CONSTANTS),
    *(f"{x} {op} big" for op in ("-", "/", "<>") for x in CONSTANTS),
    *(f"{f}(big * {x})" for f in ("abs", "-", "sign") for x in CONSTANTS),
    *(f"{f}(big * {x})" for f in ("floor", "ceil", "round", "trunc") for x in CONSTANTS if len(x) != 19),
    *(f"round(big * 0.00125, {digits})" for digits in range(7)),
    *(f"CAST(big * {x} AS {t})" for x in CONSTANTS for t in ("BIGINT", "VARCHAR", "BOOLEAN", "DECIMAL(20, 2)")),
    "big * 0.1 * big",
    "(big - 0.5) * (big + 0.25)",
    "greatest(big, 0.55, big * 0.1)",
    "least(big * 0.1, 2)",
    "coalesce(nullif(big * 0.1, 0.3), 7.77)",
    "CASE WHEN big > 2.5 THEN big ELSE 0.05 END",
    "big * 0.1 IN (0.3, 1, -0.70)",
    "big * 0.1 BETWEEN 0.06 - 0.01 AND 0.06 + 2",
    "CAST(big * 0.1 AS DOUBLE) * 3",
    "CAST(CAST(big AS DOUBLE) / 7 AS DECIMAL(18, 3))",
    "CAST(CAST(big AS DOUBLE) * 1e12 AS DECIMAL(38, 2))",
    "CAST('1.005' AS DECIMAL(5, 2)) + big",
    "CAST(true AS DECIMAL(3, 1))",
    "0.10 || 'x'",
]
COUNTED = {
    "SELECT COUNT(*) FROM visits WHERE big * 0.1 = 0.3": 1,
    "SELECT COUNT(*) FROM visits WHERE 0.1 + 0.2 = 0.3": len(NUMBERS),
    "SELECT COUNT(*) FROM visits WHERE CAST(0.5 AS BIGINT) = 1 AND CAST(2.5 AS BIGINT) = 3": len(NUMBERS),
    "SELECT COUNT(*) FROM visits WHERE CAST(5e-1 AS BIGINT) = 0": len(NUMBERS),
    "SELECT COUNT(*) FROM visits WHERE cost BETWEEN 0.06 - 0.01 AND 0.06 + 0.01": 3 * (len(NUMBERS) // 10),
    "SELECT COUNT(*) FROM visits WHERE cost * 100 = 7.0 OR ROUND(cost, 2) = 0.07": len(NUMBERS) // 10,
    "SELECT COUNT(*) FROM (SELECT big * 0.1 AS x FROM visits UNION ALL SELECT 0.25 FROM visits) AS t "
    "WHERE x = 0.3 OR x = 0.250": 1 + len(NUMBERS),
    "SELECT COUNT(*) FROM (SELECT cost AS x FROM visits UNION ALL SELECT 0.25 FROM visits) AS t WHERE x = 0.07": len(
        NUMBERS
    )
    // 10,
}
"""What is counted where person k has the k-th number, and costs of 0.01, 0.02, … 0.10."""


FORECAST = (
    "SELECT COUNT(*) AS n, SUM(l_extendedprice * l_discount) AS revenue FROM lineitem "
    "WHERE l_discount BETWEEN 0.06 - 0.01 AND 0.06 + 0.01 AND l_quantity < 24 AND l_quantity * 0.1 <> 0.3"
)
"""Question 6 of TPC-H, and a condition about whole numbers."""


@pytest.fixture(scope="module")
def world() -> World:
    rows = [(k, (k, "a", k % 110, (k % 10 + 1) / 100, None, number)) for k, number in enumerate(NUMBERS)]
    return World({"visits": rows})


def _plain(value: Any, scale: int) -> Any:
    if value in (math.inf, -math.inf):  # a quotient of zero, which is missing here
        return None
    if isinstance(value, Decimal):
        return Fraction(value) / 10**scale
    return Fraction(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else value


def _found(text: str, world: World) -> list[Any]:
    (expression, rows), statement = _typed("duckdb", text), Statement()
    written = expression.write(statement)
    scale = expression.type.scale if isinstance(expression.type, DecimalType) else 0
    table = world.run(f"SELECT {written} AS v FROM ({rows.write(statement)})", statement.parameters)
    return [_plain(value, scale) for value in table["v"].to_pylist()]


def test_expressions_have_the_values_that_duckdb_gives_them(world: World) -> None:
    """Where DuckDB fails, they are missing."""
    for text in AS_IN_DUCKDB:
        wanted = [_plain(value, 0) for value in world.plain(f"SELECT TRY({text}) AS v FROM visits")["v"].to_pylist()]
        assert _found(text, world) == wanted, text


def test_what_is_counted_is_what_the_text_says(world: World) -> None:
    for query, wanted in COUNTED.items():
        rows = answer_without_noise(prepared(query, Pure(1000)), world).to_pylist()
        assert list(rows[0].values()) == [wanted], query


def test_a_decimal_is_the_nearest_real_number_also_with_many_digits(world: World) -> None:
    for scale in (0, 1, 15, 19):
        text = f"CAST(big * {Decimal(1).scaleb(-scale):f} AS DOUBLE)" if scale else "CAST(big * 1. AS DOUBLE)"
        assert _found(text, world) == [Fraction(float(Fraction(number, 10**scale))) for number in NUMBERS]
    assert as_real(_typed("duckdb", "0.1")[0]) == Constant.of(Fraction(1, 10))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0.06 - 0.01", "0.05"),
        ("1 - 0.05 * 2", "0.90"),
        ("-(0.5)", "-0.5"),
        ("round(2.345, 2)", "2.35"),
        ("CAST(0.125 AS DECIMAL(5, 2))", "0.13"),
        ("12345678901234567890.5 + 1", "12345678901234567891.5"),
    ],
)
def test_constants_are_computed_when_a_question_is_planned(text: str, value: str) -> None:
    expression, _ = _typed("duckdb", text)
    places = len(value.partition(".")[2])
    assert expression == Constant(
        DecimalType(places), Interval.of(Fraction(value), Fraction(value)), False, Fraction(value)
    )


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("0.1", DecimalType(1)),
        ("0.10", DecimalType(2)),
        (".5", DecimalType(1)),
        ("5.", DecimalType(0)),
        ("1e3", ColumnType.REAL),
        ("1.5e-2", ColumnType.REAL),
        ("big * 0.10", DecimalType(2)),
        ("big * 0.1 + 0.01", DecimalType(2)),
        ("big / 0.1", ColumnType.REAL),
        ("score * 0.1", ColumnType.REAL),
        ("floor(big * 0.1)", ColumnType.INTEGER),
        ("0." + "1" * 38, ColumnType.REAL),
    ],
)
def test_types_are_those_of_duckdb(text: str, kind: object) -> None:
    assert _typed("duckdb", text)[0].type == kind


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (f"0.{'0' * 19}1 * 0.{'0' * 19}1", "this has 40 digits after the point, and a decimal has at most 37"),
        ("9999999999999999999999999999999999999.9 + 9999999999999999999999999999999999999.9", "at most 38 digits"),
        ("CAST(big AS DECIMAL(39, 2))", "a DECIMAL has up to 38 digits"),
        ("CAST(day AS DECIMAL(9, 2))", "a date is no number"),
        ("7.5 // 2", "// needs whole numbers"),
        ("cost // 2", "// needs whole numbers"),
        ("day + 0.5", "moved by whole days"),
        ("note = 0.5", "decimal and text do not go together"),
    ],
)
def test_what_no_decimal_can_be_is_refused(text: str, words: str) -> None:
    with pytest.raises(QueryRefused, match=words):
        _typed("duckdb", text)


def test_a_group_has_one_spelling_however_many_digits_are_written(world: World) -> None:
    shown = {}
    for factor in ("0.1", "0.10", "0.100"):
        query = f"SELECT big * {factor} AS k, COUNT(*) FROM visits WHERE big BETWEEN -3 AND 3 GROUP BY k"
        shown[factor] = answer_without_noise(prepared(query, Pure(1000)), world).to_pylist()
    assert shown["0.1"] == shown["0.10"] == shown["0.100"]
    assert [row["k"] for row in shown["0.1"]] == [-0.3, -0.2, -0.1, 0.0, 0.1, 0.2, 0.3]


def test_a_group_by_a_decimal_of_more_digits_than_are_shown_is_refused() -> None:
    with pytest.raises(QueryRefused, match="a decimal that names groups has at most 15 digits"):
        prepare("SELECT big * 0.1 AS k, COUNT(*) FROM visits GROUP BY k", CATALOG, Pure(1))


def test_different_decimals_are_counted_as_such(world: World) -> None:
    """As real numbers, some of these are equal."""
    query = "SELECT COUNT(DISTINCT big * 0.1) AS n FROM visits"
    rows = answer_without_noise(prepared(query, Pure(1000)), world).to_pylist()
    assert rows[0]["n"] == len(set(NUMBERS))


def test_bounds_follow_exactly_and_unknown_ones_stay_unknown() -> None:
    assert _typed("duckdb", "age * 0.1 - 0.05")[0].interval == Interval.of(Fraction(-1, 20), Fraction(219, 20))
    assert _typed("duckdb", "big * 0.1")[0].interval.known is None
    with pytest.raises(QueryRefused, match="public bounds"):
        prepare("SELECT SUM(big * 0.1) FROM visits", CATALOG, Pure(1))


def test_a_condition_with_a_point_bounds_whole_numbers_and_decimals() -> None:
    for query in (
        "SELECT SUM(big) FROM visits WHERE big BETWEEN -0.5 AND 9.75",
        "SELECT SUM(t) FROM (SELECT big * 0.1 AS t FROM visits) AS x WHERE t > -0.55 AND t <= 9.755",
    ):
        (plan,) = prepare(query, CATALOG, Pure(1)).plans
        (argument,) = (one.argument for one in plan.block.aggregates)
        assert argument is not None
        assert argument.interval.known is not None
        assert max(map(abs, argument.interval.known)) <= 10


def test_a_quantile_is_the_fraction_that_is_written() -> None:
    (plan,) = prepare("SELECT quantile_cont(age, 0.9) FROM visits", CATALOG, Pure(1)).plans
    assert plan.block.aggregates[0].quantile == Fraction(9, 10)


def test_a_forecast_over_prices_in_decimals_is_the_plain_one(tmp_path: Path) -> None:
    """A price so high that there is no noise, and columns of DECIMAL(15, 2), which are kept as real numbers."""
    cents = pa.array([Decimal(k % 11).scaleb(-2) for k in range(1100)], pa.decimal128(15, 2))
    prices = pa.array([Decimal(k * 7919 % 100_000).scaleb(-2) for k in range(1100)], pa.decimal128(15, 2))
    rows = pa.table({
        "l_orderkey": range(1100),
        "l_quantity": [k * 13 % 50 for k in range(1100)],
        "l_extendedprice": prices,
        "l_discount": cents,
    })  # fmt: skip
    columns = (
        Column("l_orderkey", ColumnType.INTEGER),
        Column("l_quantity", ColumnType.INTEGER, lower=0, upper=50),
        Column("l_extendedprice", ColumnType.REAL, lower=0, upper=1000),
        Column("l_discount", ColumnType.REAL, lower=0, upper=1),
    )
    curator = Curator(tmp_path)
    curator.protect(rows, Table("lineitem", columns, unit="l_orderkey", budget=Budget(1000)))
    (found,) = curator.ask(FORECAST, epsilon=1000).to_rows()
    with duckdb.connect() as plain:
        plain.register("lineitem", rows)
        count, revenue = plain.execute(FORECAST).fetchall()[0]
    assert found["n"] == count > 100
    assert math.isclose(found["revenue"], revenue, rel_tol=1e-2)
