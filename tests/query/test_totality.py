"""Row expressions never raise, and keep what they promise about their values, on the worst rows there can be."""

from __future__ import annotations

import itertools
import math
import re
from datetime import date, datetime
from fractions import Fraction

import pytest
import sqlglot
from sqlglot import exp

from discreet.catalog.column import ColumnType
from discreet.errors import QueryRefused
from discreet.query.bind.names import collect_names, table_rows
from discreet.query.bind.relation import Names, Relation
from discreet.query.expressions.calendar import UNITS
from discreet.query.expressions.date_dialects import DATE_SPELLINGS
from discreet.query.expressions.dates import epoch, format_iso_date
from discreet.query.expressions.expression import DecimalType, Expression, Statement
from discreet.query.expressions.functions import RULES
from discreet.query.expressions.public_values import find_domain
from discreet.query.expressions.read import read
from discreet.query.parse.dialect import QuestionDialect
from tests.query.hostile import DATES, REALS, TIMES, WHOLE, WORDS
from tests.query.world import CATALOG, World

MET = (*TIMES, datetime(2021, 1, 31, 23, 30), datetime(2021, 3, 31, 11, 59, 59), datetime(2021, 2, 28))
DATED = ("day", "seen", "met")
NUMBERS = ("age", "cost", "score", "big")
EXACT = (
    "0.1",
    "-0.05",
    "0.0",
    "12345678901234567890.123456789",
    "9999999999999999999999999999999999999.9",
    "0.0000000000000000000000000000000000001",
)
"""Decimals, up to the first and the last of 38 digits."""
ONE_NUMBER = ("-", "abs", "floor", "ceil", "round", "trunc", "sign", "sqrt", "ln", "exp", "cbrt")
CAST_TO = ("VARCHAR", "BIGINT", "DOUBLE", "BOOLEAN", "DECIMAL(38, 0)", "DECIMAL(5, 1)", "DECIMAL(38, 30)")
EXPRESSIONS = [
    *(f"{a} {op} {b}" for a, op, b in itertools.product(NUMBERS, ("+", "-", "*", "/"), NUMBERS)),
    *(f"{a} {op} {b}" for a, op, b in itertools.product(("age", "big"), ("//", "%"), ("age", "big", "0"))),
    *(f"{a} {op} {b}" for a, op, b in itertools.product(("age", "big"), ("+", "-", "*", "/", "%", "<", "="), EXACT)),
    *(f"{b} {op} {a}" for a, op, b in itertools.product(("big", "score"), ("-", "/", "<="), EXACT)),
    *(f"(big * 0.1) {op} {b}" for op, b in itertools.product(("+", "-", "*", "%", ">"), EXACT[:-1])),
    *(
        f"{f}(big * {x})"
        for f in ONE_NUMBER
        for x in ("0.1", "-0.5", "12345678901234567890.5", "0.00000000000000000001")
    ),
    *(f"{f}(age * 0.25)" for f in ONE_NUMBER),
    *(f"round({x}, {d})" for x, d in itertools.product(("big * -0.125", "age * 0.5", "big * 0.5000000001"), (0, 1, 5))),
    *(f"CAST({x} AS {t})" for x in ("big * 0.001", "big * -12345678901234567890.05", "age * 0.5") for t in CAST_TO),
    *(f"CAST({x} AS DECIMAL({p}, {s}))" for x in ("score", "big") for p, s in ((38, 20), (38, 37), (18, 3), (37, 0))),
    "big * 0.1 * big",
    "big * 0.1 * big * 0.1 - big * 0.01 * big",
    "big * 0.1 * 9007199254740993.0 + 0.05",
    "greatest(big * 0.1, age, 0.25) - least(0.1, big, NULL)",
    "greatest(big, 0.5, score)",
    "coalesce(big * 0.1, age * 0.01, 0.001)",
    "nullif(age * 0.1, 0.3)",
    "CASE WHEN flag THEN big * 0.1 WHEN age > 30.5 THEN 0.01 ELSE age END",
    "CASE WHEN big BETWEEN -1.5 AND 1.5 THEN big * 0.1 END",
    "big * 0.1 IN (0.3, 1, NULL, -0.70) OR age IN (3.0, 4.5)",
    "age * 0.1 = 0.3 OR 0.1 + 0.2 = 0.3 AND cost BETWEEN 0.06 - 0.01 AND 0.06 + 0.01",
    "note || 0.10 || big * 0.1",
    "pow(big * 0.1, 2) + pow(0.5, age)",
    "log10(age * 0.1) + ln(0.5)",
    "-(0.5) - -big * 0.1",
    *(f"{f}({x})" for f, x in itertools.product(("-", "abs", "floor", "ceil", "round", "sign"), NUMBERS)),
    *(f"{f}({x})" for f, x in itertools.product(("sqrt", "ln", "exp"), NUMBERS)),
    *(f"{f}({x}, {y})" for f, x, y in itertools.product(("pow", "greatest", "least"), NUMBERS, NUMBERS)),
    *(f"round({x}, {d})" for x, d in itertools.product(NUMBERS, (0, 3, 12))),
    *(f"CAST({x} AS {t})" for x in NUMBERS for t in ("INTEGER", "DOUBLE", "VARCHAR", "BOOLEAN")),
    *(f"CAST({x} AS {t})" for x in ("note", "ward") for t in ("INTEGER", "DOUBLE", "BOOLEAN", "DATE", "TIMESTAMP")),
    *(f"CAST({x} AS {t})" for x in ("day", "seen") for t in ("DATE", "TIMESTAMP", "VARCHAR")),
    *(f"extract({p} FROM {x})" for p in ("year", "quarter", "week", "dow", "doy", "isodow") for x in ("day", "seen")),
    *(f"{p}(seen)" for p in ("hour", "minute", "second", "month", "day", "dayofweek", "dayofyear", "year", "quarter")),
    "week(seen) + weekofyear(day) + isodow(met) + weekday(day)",
    "epoch(met) + date_part('year', day)",
    *(f"date_trunc('{p}', {x})" for p in ("year", "quarter", "month", "week", "day", "hour") for x in ("day", "seen")),
    *(
        f"date_diff('{p}', {a}, {b})"
        for p in ("day", "week", "month", "year")
        for a, b in (("day", "seen"), ("seen", "day"))
    ),
    *(f"date_sub('{p}', day, seen)" for p in ("week", "month", "hour")),
    *(f"date_diff('{p}', day, met)" for p in ("quarter", "hour", "minute", "second", "week", "month", "year")),
    *(f"date_sub('{p}', met, day)" for p in ("quarter", "hour", "day", "week", "month", "year")),
    *(f"extract({p} FROM {x})" for p in ("epoch", "isoyear", "yearweek", "decade", "century") for x in DATED),
    *(f"date_trunc('{p}', met)" for p in ("year", "quarter", "month", "week", "day", "hour", "minute", "second")),
    *(
        f"{x} {sign} INTERVAL {n} {unit}"
        for x in DATED
        for sign in "+-"
        for n, unit in (
            (1, "YEAR"),
            (5, "QUARTER"),
            (13, "MONTH"),
            (3, "WEEK"),
            (40, "DAY"),
            (30, "HOUR"),
            (7, "SECOND"),
        )
    ),
    *(
        f"{x} + INTERVAL ({n}) {unit}"
        for x in DATED
        for n in ("age", "big", "-age")
        for unit in ("MONTH", "DAY", "HOUR")
    ),
    *(f"{x} - INTERVAL '1 month 2 days -3 hours'" for x in DATED),
    "day + age",
    "big + day",
    "day - big",
    "'2021-01-01' - day",
    "date_add(day, INTERVAL 3 DAY)",
    "date_sub(met, INTERVAL 3 MONTH)",
    "extract(epoch FROM seen - day)",
    *(f"last_day({x})" for x in DATED),
    *(f"strftime({x}, '%Y-%m week %V')" for x in DATED),
    "strftime(met, '%d.%m. %H')",
    *(f"{f}({x})" for f in ("dayname", "monthname") for x in DATED),
    *(f"date({x})" for x in DATED),
    "make_date(big, age, age)",
    "make_date(2000 + age, 1, 1)",
    "day - DATE '2020-05-05'",
    "CAST(seen AS DATE) - day",
    "CASE WHEN flag THEN big WHEN age > 3 THEN -big ELSE cost END",
    "CASE ward WHEN 'a' THEN 1 WHEN note THEN 2 END",
    "coalesce(note, ward, 'none')",
    "nullif(big, age)",
    "if(flag, score, NULL)",
    "note LIKE '%\\%' OR note ILIKE 'A%'",
    "note || ward || big",
    "concat(note, day, score)",
    "length(note) + length(upper(lower(trim(note))))",
    "starts_with(note, ward) AND ends_with(note, ward) AND contains(note, ward)",
    "substring(note, -5, 2) || left(note, -1000000) || right(note, 1000000) || substring(note, 0)",
    "note NOT LIKE 'a%' AND note NOT ILIKE 'A_' AND note ~ '^a' AND regexp_full_match(note, '[a-z]*')",
    "regexp_matches(ward, '\\x00|%$') OR note RLIKE '(a+)+$' OR note ~* 'A'",
    "replace(note, 'a', '') || replace(ward, '%', 'x') || reverse(note)",
    "ltrim(note) || rtrim(note) || trim(note, 'a') || trim(both 'x' from note)",
    "strpos(note, ward) + instr(note, 'a') + position('b' IN note)",
    *(f"{f}({x})" for f in ("log", "log2", "log10", "cbrt", "trunc", "square") for x in NUMBERS),
    *(f"safe_divide({a}, {b})" for a in NUMBERS for b in NUMBERS),
    *(f"CAST({x} AS DECIMAL({p}, {s}))" for x in (*NUMBERS, "note") for p, s in ((4, 2), (38, 0), (12, 12))),
    "nvl2(note, big, age)",
    "big IS DISTINCT FROM age OR note IS NOT DISTINCT FROM ward",
    "isnull(big, 0) + zeroifnull(age) + nvl(big, 1) + ifnull(age, 2)",
    "iif(flag, 1, 0)",
    "age::int::double::varchar || CAST(cost AS FLOAT64)",
    "big IN (1, NULL, 9223372036854775807) OR NOT flag IS NULL",
    "score BETWEEN big AND cost",
    "(big * big) // (age - age) % big",
    "exp(exp(score)) - exp(exp(cost)) * 0",
    "1 / (score - score)",
    "big <> age AND cost < 1 AND score <= 2 AND big >= 3 AND score > 1 OR flag = (big = 1)",
]


FOREIGN = [
    ("spark", "date_add(day, 3)"),
    ("spark", "date_sub(seen, age)"),
    ("spark", "datediff(seen, day)"),
    ("spark", "trunc(met, 'MM')"),
    ("spark", "add_months(day, -3)"),
    ("spark", "dayofmonth(met) + weekofyear(seen)"),
    ("spark", "dateadd(MONTH, 3, met)"),
    ("bigquery", "DATE_TRUNC(day, ISOWEEK)"),
    ("bigquery", "DATETIME_TRUNC(met, HOUR)"),
    ("bigquery", "DATETIME_ADD(met, INTERVAL 5 MINUTE)"),
    ("bigquery", "DATETIME_SUB(met, INTERVAL 5 MINUTE)"),
    ("bigquery", "TIMESTAMP_SUB(seen, INTERVAL 5 DAY)"),
    ("bigquery", "DATETIME_DIFF(seen, met, HOUR)"),
    ("bigquery", "TIMESTAMP_DIFF(seen, met, MINUTE)"),
    ("tsql", "DATEDIFF(day, seen, met)"),
    ("tsql", "YEAR(seen) + DATEPART(dw, day)"),
    ("snowflake", "DATEDIFF(quarter, day, met)"),
]
ALL = [*(("duckdb", text) for text in EXPRESSIONS), *FOREIGN]


@pytest.fixture(scope="module")
def world() -> World:
    """Every extreme value in some row; also dates that Python does not have."""
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
        ("x", "z"),
        MET,
    )
    rows = [(k, (k, *(each[k * (j + 1) % len(each)] for j, each in enumerate(lists)))) for k in range(120)]
    rows.append((500, (500, *[None] * 11)))
    found = World({"visits": rows})
    ends = ("infinity", "-infinity", "5877642-06-25 (BC)", "5881580-07-10")
    for day, seen in zip(
        ends, ("infinity", "-infinity", "290309-12-22 (BC) 00:00:00", "294247-01-10 04:00:54"), strict=True
    ):
        text = "INSERT INTO visits (_unit, patient_id, day, seen, met) VALUES (501, 501, CAST($1 AS DATE), $2, $2)"
        found.database.execute(text.replace("$2", "CAST($2 AS TIMESTAMP)"), [day, seen])
    found.database.execute("UPDATE visits SET note = 'infinity' WHERE _unit = 500")
    return found


def _parsed(dialect: str, text: str) -> exp.Expr:
    return sqlglot.parse_one(text, read=QuestionDialect if dialect == "duckdb" else dialect)


def _typed(dialect: str, text: str) -> tuple[Expression, Relation]:
    rows = table_rows(CATALOG.table("visits"), CATALOG, Names())
    return read(_parsed(dialect, text), collect_names([("visits", rows)])), rows


def _place(value: object) -> float:
    return float(epoch(value)) if isinstance(value, (date, datetime)) else float(value)  # type: ignore[arg-type]


def _is_finite(value: object) -> bool:
    return value is not None and not (isinstance(value, float) and not math.isfinite(value))


@pytest.mark.parametrize(("dialect", "text"), ALL)
@pytest.mark.some(120)
def test_never_raises_and_stays_within_what_it_promises(dialect: str, text: str, world: World) -> None:
    expression, rows = _typed(dialect, text)
    statement = Statement()
    written = expression.write(statement)
    # Infinite dates are shown as text: Python has none.
    dated = expression.type in (ColumnType.DATE, ColumnType.TIMESTAMP)
    shown = (
        f"CASE WHEN isfinite({written}) AND year({written}) BETWEEN 1 AND 9999 THEN {written} END" if dated else written
    )
    values = world.run(f"SELECT {shown} AS v FROM ({rows.write(statement)})", statement.parameters)["v"].to_pylist()
    assert expression.nullable or dated or None not in values
    known = expression.interval.known
    finite = [value for value in values if _is_finite(value)]
    if isinstance(expression.type, DecimalType):  # which has no rounding, so that there is no slack
        values = [None if step is None else Fraction(step) / 10**expression.type.scale for step in values]
        assert known is None or all(known[0] <= value <= known[1] for value in values if value is not None)
    elif known is not None and expression.type is not ColumnType.TEXT:
        slack = 1e-9 * max(abs(float(known[0])), abs(float(known[1])), 1)
        assert all(float(known[0]) - slack <= _place(value) <= float(known[1]) + slack for value in finite)
    domain = find_domain(expression)
    if domain is not None and "ward" not in text:  # wards outside the list are in no group
        assert {v for v in finite if v is not None} <= set(domain)


def test_every_listed_function_is_tried() -> None:
    used = {type(part) for dialect, text in ALL for part in _parsed(dialect, text).walk()}
    refused = {exp.CurrentDate, exp.CurrentTimestamp, exp.CurrentDatetime, exp.CurrentTime, exp.AtTimeZone}
    assert set(RULES) <= used
    assert set(DATE_SPELLINGS) - refused <= used


@pytest.mark.parametrize("unit", ["YEAR", "QUARTER", "MONTH", "WEEK", "DAY", "HOUR", "MINUTE", "SECOND"])
def test_what_several_expressions_share_cannot_raise_either(unit: str, world: World) -> None:
    """An engine computes it once, outside of what each of them is wrapped in."""
    statement = Statement()
    rows = table_rows(CATALOG.table("visits"), CATALOG, Names())
    names = collect_names([("visits", rows)])
    moved = [read(_parsed("duckdb", f"{x} {sign} INTERVAL (big) {unit}"), names) for x in DATED for sign in "+-"]
    columns = ", ".join(f"({one.write(statement)}) IS NULL AS v{k}" for k, one in enumerate(moved))
    assert world.run(f"SELECT {columns} FROM ({rows.write(statement)})", statement.parameters).num_rows > 100


def test_what_is_shown_of_dates_is_those_that_have_a_name(world: World) -> None:
    """The same date is written twice, and neither can raise."""
    moves = [f"{sign} INTERVAL ({by}) {unit}" for sign in "+-" for by in ("big", "9000") for unit in UNITS]
    texts = [f"{x} {move}" for x in DATED for move in moves]
    for text in [*texts, "CAST(note AS DATE)", "CAST(note AS TIMESTAMP)", "make_date(big, 1, 1)"]:
        (expression, rows), statement = _typed("duckdb", text), Statement()
        assert format_iso_date(expression) is not expression  # whatever the interval says
        both = [f"CAST({one.write(statement)} AS VARCHAR)" for one in (expression, format_iso_date(expression))]
        table = world.run(f"SELECT {', '.join(both)} FROM ({rows.write(statement)})", statement.parameters)
        plain, found = (column.to_pylist() for column in table.columns)
        assert found == [one if one is not None and re.match(r"[0-9]{4}-[^(]*$", one) else None for one in plain]


@pytest.mark.parametrize("text", [*DATED, "date(seen)", "date_trunc('week', seen)", "date_trunc('year', date(seen))"])
def test_dates_of_tables_and_the_starts_of_their_units_are_shown_as_they_are(text: str) -> None:
    expression, _ = _typed("duckdb", text)
    assert format_iso_date(expression) is expression


@pytest.mark.parametrize("mark", ["%-Y", "%-p", "%-a", "%-B", "%-V", "%-u", "%s", "%"])
def test_a_format_that_the_engine_does_not_read_is_refused(mark: str) -> None:
    with pytest.raises(QueryRefused, match="the format of a date"):
        _typed("duckdb", f"strftime(day, '{mark}')")


@pytest.mark.parametrize(
    "texts",
    [
        *([f"extract({part} FROM make_date(-5877641, 7, 1 + age % 20))"] for part in ("week", "isoyear", "yearweek")),
        [f"date_diff('{unit}', make_date(294247, 1, 11 + age % 2), seen)" for unit in ("day", "hour")],
        [f"date_sub('{unit}', seen, make_date(-290308, 12, 21 - age % 2))" for unit in ("month", "second")],
    ],
)
def test_dates_at_the_ends_of_calendars_cannot_raise(texts: list[str], world: World) -> None:
    """The first days have no week, and few dates are timestamps too."""
    statement = Statement()
    rows = table_rows(CATALOG.table("visits"), CATALOG, Names())
    names = collect_names([("visits", rows)])
    found = [read(_parsed("duckdb", text), names).write(statement) for text in texts]
    columns = ", ".join(f"{one} AS v{k}" for k, one in enumerate(found))
    table = world.run(f"SELECT {columns} FROM ({rows.write(statement)})", statement.parameters)
    assert table.num_rows > 100
    assert all(column.null_count == len(column) for column in table.columns)
