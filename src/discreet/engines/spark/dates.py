"""Parts of dates, starts of units, differences and names, as DuckDB counts them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from sqlglot import exp

from discreet.engines.spark.date_text import DAYS, MONTHS, formatted, in_a_week, named
from discreet.engines.spark.ends_of_time import DAY, date_with_time, date_with_week, date_within, last_of_month
from discreet.engines.spark.kinds import constant, whole
from discreet.engines.spark.moving import days, microseconds, moment, time_of_day, timed
from discreet.engines.translation.scope import Scope
from discreet.engines.translation.untranslatable import Untranslatable
from discreet.engines.translation.writer import Rule, Writer
from discreet.engines.translation.written import Kind, Written

__all__ = ["DATE_FUNCTIONS", "DATE_RULES"]

_CLOCK = {"hour": 3_600_000_000, "minute": 60_000_000, "second": 1_000_000}
_FIXED = {**_CLOCK, "day": DAY, "week": 7 * DAY}
_IN_MONTHS = {"month": 1, "quarter": 3, "year": 12}
_OF_WEEKS = ("week", "isoyear", "yearweek")
_CYCLE, _CYCLE_DAYS = 400, 146_097
"""After so many years, and days, the calendar begins anew."""
_PARTS: Mapping[str, Callable[[str], Written]] = {
    "year": lambda x: whole(f"year({x})"),
    "isoyear": lambda x: whole(f"extract(YEAROFWEEK FROM {x})"),
    "decade": lambda x: whole(f"(year({x}) div 10)"),
    "century": lambda x: whole(
        f"(CASE WHEN year({x}) > 0 THEN (year({x}) - 1) div 100 + 1 ELSE year({x}) div 100 - 1 END)"
    ),
    "quarter": lambda x: whole(f"quarter({x})", 1, 4),
    "month": lambda x: whole(f"month({x})", 1, 12),
    "week": lambda x: whole(f"weekofyear({x})", 1, 53),
    "yearweek": lambda x: whole(_year_and_week(x)),
    "day": lambda x: whole(f"day({x})", 1, 31),
    "dayofweek": lambda x: whole(f"(dayofweek({x}) - 1)", 0, 6),
    "isodow": lambda x: whole(f"(weekday({x}) + 1)", 1, 7),
    "dayofyear": lambda x: whole(f"dayofyear({x})", 1, 366),
}


def _year_and_week(x: str) -> str:
    year = f"extract(YEAROFWEEK FROM {x})"
    return f"(CASE WHEN {year} > 0 THEN 100 * {year} + weekofyear({x}) ELSE 100 * {year} - weekofyear({x}) END)"


def _dated(value: Written, node: Any) -> Written:
    if value.kind not in (Kind.DATE, Kind.TIMESTAMP):
        raise Untranslatable(f"a function of {value.kind.value}")
    return value


def _part(writer: Writer, node: exp.Anonymous, scope: Scope) -> Written:
    part, given = str(node.expressions[0].this).lower(), _dated(writer.write(node.expressions[1], scope), node)
    if part in _PARTS:
        return _PARTS[part](in_a_week(given) if part in _OF_WEEKS else given.text)
    if part in _CLOCK:
        text = f"{part}({given.text})" if given.kind is Kind.TIMESTAMP else f"if({given.text} IS NULL, NULL, 0)"
        return whole(text, 0, 60)
    if part != "epoch":
        raise Untranslatable(f"the part {part} of a date")
    if given.kind is Kind.DATE:
        return Written(f"(CAST({days(given)} AS DOUBLE) * 86400D)", Kind.REAL)
    return Written(f"(CAST({microseconds(given)} AS DOUBLE) / 1000000D)", Kind.REAL)


def _start(writer: Writer, node: Any, scope: Scope) -> Written:
    """A date or timestamp moved back to the start of its year, month, …, where that has timestamps."""
    given, unit = _dated(writer.write(node.this, scope), node), str(node.args["unit"].name).lower()
    if given.kind is Kind.DATE:
        if unit in _CLOCK or unit == "day":
            return timed(given)
        return Written(date_with_time(_first_day(date_with_week(days(given)), unit)), Kind.DATE)
    if unit in _CLOCK or unit == "day":
        number = microseconds(given)
        return Written(moment(f"({number} - pmod({number}, {_FIXED[unit]}L))"), Kind.TIMESTAMP)
    start = _first_day(f"CAST({given.text} AS DATE)", unit)
    return Written(moment(f"try_multiply({start}, {DAY}L)"), Kind.TIMESTAMP)


def _first_day(date: str, unit: str) -> str:
    return f"CAST(unix_date(trunc({date}, '{unit}')) AS BIGINT)"


# Differences.


def _starts_between(writer: Writer, node: exp.DateDiff, scope: Scope) -> Written:
    """How many starts of a unit lie between two dates; weeks are counted as sevens of days."""
    last, first = (_dated(writer.write(one, scope), node) for one in (node.this, node.expression))
    unit = str(node.args["unit"].name).lower()
    if unit == "week":
        return Written(f"(({days(last)} - {days(first)}) div 7L)", Kind.INTEGER)
    return Written(f"({_numbered(last, unit)} - {_numbered(first, unit)})", Kind.INTEGER)


def _numbered(given: Written, unit: str) -> str:
    """The number of the unit in which a moment lies; small enough that a difference fits."""
    if unit == "year":
        return f"CAST(year({given.text}) AS BIGINT)"
    if unit in _IN_MONTHS:  # before the year 0, DuckDB's quarters end where others begin
        return f"((CAST(year({given.text}) AS BIGINT) * 12L + month({given.text}) - 1L) div {_IN_MONTHS[unit]}L)"
    if unit == "day":
        return days(given)
    if unit not in _CLOCK:
        raise Untranslatable(f"a difference in {unit}")
    if given.kind is Kind.DATE:
        return f"({days(given)} * {DAY // _CLOCK[unit]}L)"
    number, length = microseconds(given), f"{_CLOCK[unit]}L"
    return f"(({number} - pmod({number}, {length})) div {length})"


def _elapsed(writer: Writer, node: exp.Anonymous, scope: Scope) -> Written:
    """How many whole units lie between two dates."""
    unit = str(node.expressions[0].this).lower()
    first, last = (_dated(writer.write(one, scope), node) for one in node.expressions[1:])
    if unit in _FIXED:
        return Written(f"(try_subtract({microseconds(last)}, {microseconds(first)}) div {_FIXED[unit]}L)", Kind.INTEGER)
    if unit not in _IN_MONTHS:
        raise Untranslatable(f"a difference in {unit}")
    first, last = timed(first), timed(last)
    forwards, backwards = _months_between(first, last), _months_between(last, first)
    months = f"(CASE WHEN {first.text} <= {last.text} THEN {forwards} ELSE - {backwards} END)"
    return Written(f"({months} div {_IN_MONTHS[unit]}L)", Kind.INTEGER)


def _months_between(first: Written, last: Written) -> str:
    """Whole months between two moments in order; the last day of a month completes one that began on a later day."""
    ends_month = f"{days(last)} = unix_date(last_day(CAST({last.text} AS DATE)))"
    begin, end = f"day({first.text})", f"day({last.text})"
    is_later = f"({begin} > {end} AND NOT {ends_month}) OR "
    is_later += f"({begin} >= {end} AND {time_of_day(first)} > {time_of_day(last)})"
    return f"({_numbered(last, 'month')} - {_numbered(first, 'month')} - CASE WHEN {is_later} THEN 1L ELSE 0L END)"


# Days and names.


def _last_day(writer: Writer, node: exp.LastDay, scope: Scope) -> Written:
    given = _dated(writer.write(node.this, scope), node)
    return Written(last_of_month(days(given)), Kind.DATE)


def _made(writer: Writer, node: exp.DateFromParts, scope: Scope) -> Written:
    """The date of a year, a month and a day, from the first of its month: Spark raises where there is no such day.

    It is sought in the years from 2000 to 2399, which have the same days, and moved to its own: the first month of all
    has no first day.
    """
    year, month, day = (writer.write(node.args[part], scope) for part in ("year", "month", "day"))
    if any(part.kind is not Kind.INTEGER for part in (year, month, day)):
        raise Untranslatable("a date of parts that are not whole numbers")
    months = f"CASE WHEN {month.text} BETWEEN 1L AND 12L THEN {month.text} END"
    first = f"make_date(CAST(2000L + pmod({year.text}, {_CYCLE}L) AS INT), CAST({months} AS INT), 1)"
    within = f"CASE WHEN {day.text} >= 1L AND {day.text} <= day(last_day({first})) THEN {day.text} END"
    cycles = f"(floor(try_cast({year.text} AS INT) / {_CYCLE}D) - {2000 // _CYCLE}L)"
    number = f"CAST(unix_date({first}) AS BIGINT) + {within} - 1L + {cycles} * {_CYCLE_DAYS}L"
    return Written(date_within(number), Kind.DATE)


def _named(names: tuple[str, ...], place: str) -> Rule:
    def rule(writer: Writer, node: Any, scope: Scope) -> Written:
        given = _dated(writer.write(node.this, scope), node)
        return Written(named(names, place.format(given.text)), Kind.TEXT)

    return rule


def _formatted(writer: Writer, node: exp.TimeToStr, scope: Scope) -> Written:
    pattern = constant(writer, node.args["format"])
    if not isinstance(pattern, str):
        raise Untranslatable("a format that is no text")
    given = _dated(writer.write(node.this, scope), node)
    return Written(formatted(given, pattern, writer.write(node.args["format"], scope).text), Kind.TEXT)


DATE_RULES: Mapping[type[exp.Expr], Rule] = {
    exp.TimestampTrunc: _start,
    exp.DateTrunc: _start,
    exp.DateDiff: _starts_between,
    exp.LastDay: _last_day,
    exp.DateFromParts: _made,
    exp.Dayname: _named(DAYS, "weekday({0}) + 1"),
    exp.Monthname: _named(MONTHS, "month({0})"),
    exp.TimeToStr: _formatted,
}
"""Dates and timestamps."""

DATE_FUNCTIONS: Mapping[str, Rule] = {"date_part": _part, "date_sub": _elapsed}
"""Those that the parser knows by name alone."""
