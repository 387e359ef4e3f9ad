"""Dates and timestamps as DuckDB counts them: parts, starts of units, differences, names, and moments later or earlier.

Spark raises where a date leaves its calendar, so the counting is done on numbers, which are attempted. DuckDB's
calendar ends a little earlier than 64 bits of microseconds do, and what lies outside it is missing. A date becomes a
timestamp when it is moved, so one that has no timestamps goes nowhere.

Dates are written as text piece by piece, because Spark's own formats differ before the year 1 and after 9999.

Outside of DuckDB's calendars is nothing, and Spark's go on, turn around, or raise. Dates are counted in 32 bits, of
which DuckDB keeps the first two numbers and the last for itself. Timestamps are counted in 64 bits of microseconds,
from the first whole day on; the last of them stands for infinity. A number is held between two ends by moving it until
what lies outside no longer fits, and back: so its expression is written once, and those that hold others in turn stay
short.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from sqlglot import exp

from discreet.engines.spark.types import constant, whole
from discreet.engines.translate.expression import ValueKind, WriterScope, Written
from discreet.engines.translate.writer import Rule, StatementWriter, Untranslatable

__all__ = [
    "DATE_FUNCTIONS",
    "DATE_RULES",
    "DAY",
    "DAYS",
    "MONTHS",
    "date_text",
    "date_with_time",
    "date_with_week",
    "date_within",
    "day_within",
    "days",
    "format_text",
    "in_a_week",
    "is_span",
    "last_of_month",
    "microseconds",
    "moment",
    "moment_within",
    "move_time",
    "name_part",
    "time_of_day",
    "timestamp_text",
    "to_time",
]


DAY = 86_400_000_000
"""Microseconds of a day."""
_DATES = (-(2**31) + 2, 2**31 - 2)
_FIRST_WEEK = -2_147_483_453
"""4 January of the first whole year: weeks before it belong to a year whose beginning DuckDB does not have."""
_LAST_MONTH = 2_147_483_637
"""The first day of the month that does not end."""
_TIMED = (-106_751_991, 106_751_991)
"""Days with timestamps."""
_MOMENTS = (_TIMED[0] * DAY, 2**63 - 2)


def day_within(days: str, ends: tuple[int, int] = _DATES) -> str:
    """A number of days from 1970, in 32 bits, where it lies between the ends; else nothing."""
    above, below = 2**31 - 1 - ends[1], ends[0] + 2**31
    return f"try_cast(try_cast(try_add({days}, {above}L) AS INT) - {above + below}L AS INT) + {below}"


def moment_within(microseconds: str) -> str:
    """A number of microseconds from 1970, where it is a timestamp; else nothing."""
    above, below = 2**63 - 1 - _MOMENTS[1], _MOMENTS[0] + 2**63
    return f"try_subtract(try_add({microseconds}, {above}L), {above + below}L) + {below}L"


def date_within(days: str) -> str:
    """The date of so many days from 1970, where there is one."""
    return f"date_from_unix_date({day_within(days)})"


def date_with_time(days: str) -> str:
    """The date of so many days from 1970, where it has timestamps."""
    return f"date_from_unix_date({day_within(days, _TIMED)})"


def date_with_week(days: str) -> str:
    """The date of so many days from 1970, where its week has a number, and its year a beginning."""
    return f"date_from_unix_date({day_within(days, (_FIRST_WEEK, _DATES[1]))})"


def last_of_month(days: str) -> str:
    """The last day of the month in which the day lies, where there is one."""
    return f"last_day(date_from_unix_date({day_within(days, (_DATES[0], _LAST_MONTH - 1))}))"


_MOST_MONTHS = 8_000_000
"""Further than from one end of the calendar to the other, and not far enough for Spark to raise."""
_MONTHS = {"to_months": 1, "to_years": 12}
_LENGTHS: Mapping[str, int] = {
    "to_days": DAY,
    "to_hours": 3_600_000_000,
    "to_minutes": 60_000_000,
    "to_seconds": 1_000_000,
}


def _bare(node: Any) -> Any:
    """Without what is around it: everything here is attempted anyway."""
    while isinstance(node, (exp.Paren, exp.Try)):
        node = node.this
    return node


def _function(node: Any) -> str:
    node = _bare(node)
    if isinstance(node, exp.Anonymous):
        return str(node.name).lower()
    return "to_days" if isinstance(node, exp.ToDays) else ""


def is_span(node: Any) -> bool:
    """Whether it is so many months, days or seconds."""
    return _function(node) in _MONTHS or _function(node) in _LENGTHS


def move_time(writer: StatementWriter, node: Any, scope: WriterScope) -> Written:
    """A sum or difference of a date or timestamp and a length of time."""
    given, span = writer.write(node.this, scope), _bare(node.expression)
    amount = writer.write(span.expressions[0] if isinstance(span, exp.Anonymous) else span.this, scope)
    if given.kind not in (ValueKind.DATE, ValueKind.TIMESTAMP) or amount.kind is not ValueKind.INTEGER:
        raise Untranslatable(f"the sum of {given.kind.value} and a length of time")
    function = _function(span)
    steps = f"try_subtract(0L, {amount.text})" if isinstance(node, exp.Sub) else amount.text
    if function in _MONTHS:
        return _by_months(given, f"try_multiply({steps}, {_MONTHS[function]}L)")
    if function == "to_days" and given.kind is ValueKind.DATE:
        return Written(date_with_time(f"try_add({days(to_time(given))}, {steps})"), ValueKind.DATE)
    return Written(moment(f"try_add({microseconds(given)}, {_length(function, steps)})"), ValueKind.TIMESTAMP)


def _length(function: str, steps: str) -> str:
    """So many microseconds; DuckDB counts seconds as real numbers, which are rounded where they are enormous."""
    if function == "to_seconds":
        return f"try_cast(CAST({steps} AS DOUBLE) * {_LENGTHS[function]}D AS BIGINT)"
    return f"try_multiply({steps}, {_LENGTHS[function]}L)"


def _by_months(given: Written, months: str) -> Written:
    """The same day of another month, or the last one where that month is shorter."""
    # Both pass over what is missing, which becomes a number of months that leads out of the calendar.
    steps = f"CAST(least(greatest({months}, {-_MOST_MONTHS}L), {_MOST_MONTHS}L) AS INT)"
    there = f"CAST(unix_date(add_months({date_with_time(days(given))}, {steps})) AS BIGINT)"
    if given.kind is ValueKind.DATE:
        return Written(date_with_time(there), ValueKind.DATE)
    return Written(moment(f"try_add(try_multiply({there}, {DAY}L), {time_of_day(given)})"), ValueKind.TIMESTAMP)


def days(given: Written) -> str:
    """The day of a date or timestamp, counted from 1970."""
    return f"CAST(unix_date(CAST({given.text} AS DATE)) AS BIGINT)"


def to_time(given: Written) -> Written:
    """A date that has timestamps, or a timestamp; else nothing."""
    return given if given.kind is ValueKind.TIMESTAMP else Written(date_with_time(days(given)), ValueKind.DATE)


def microseconds(given: Written) -> str:
    """A timestamp, or the start of a date, counted from 1970."""
    return f"unix_micros({given.text})" if given.kind is ValueKind.TIMESTAMP else f"try_multiply({days(given)}, {DAY}L)"


def time_of_day(given: Written) -> str:
    """The microseconds since midnight."""
    return f"pmod({microseconds(given)}, {DAY}L)"


def moment(number: str) -> str:
    """The timestamp of so many microseconds since 1970, where there is one."""
    return f"timestamp_micros({moment_within(number)})"


DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
MONTHS = ("January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
          "December")  # fmt: skip
_MARKS = re.compile(r"%(-?.)|([^%]+)", re.DOTALL)


def name_part(names: tuple[str, ...], place: str) -> str:
    """The name at a place, counted from 1."""
    return f"elt({place}, {', '.join(repr(name) for name in names)})"


def _pad(number: str, digits: int = 2) -> str:
    return f"lpad(CAST({number} AS STRING), {digits}, '0')"


def _long(year: str) -> str:
    """Four digits, or as many as it takes; `lpad` would cut a longer one short."""
    return f"(CASE WHEN {year} BETWEEN 0 AND 9999 THEN {_pad(year, 4)} ELSE CAST({year} AS STRING) END)"


def date_text(date: str) -> str:
    """A date as text; the year 0 is 1 before Christ, which is said behind the day."""
    year = f"(CASE WHEN year({date}) > 0 THEN year({date}) ELSE 1 - year({date}) END)"
    era = f"CASE WHEN year({date}) > 0 THEN '' ELSE ' (BC)' END"
    return f"concat({_long(year)}, '-', {_pad(f'month({date})')}, '-', {_pad(f'day({date})')}, {era})"


def timestamp_text(moment: str) -> str:
    """A timestamp as text, without zeros at the end of the second's fraction."""
    date = f"CAST({moment} AS DATE)"
    return f"concat({date_text(date)}, ' ', substring_index(CAST({moment} AS STRING), ' ', -1))"


def in_a_week(given: Written) -> str:
    """A date or timestamp, where its week has a number."""
    return given.text if given.kind is ValueKind.TIMESTAMP else date_with_week(f"unix_date({given.text})")


def format_text(moment: Written, pattern: str, place: str) -> str:
    """A date or timestamp by a format of fixed parts; what stands between them is taken from its ``place``."""
    pieces = [
        _piece(moment, found[1]) if found[1] else f"substring({place}, {found.start() + 1}, {len(found[2])})"
        for found in _MARKS.finditer(pattern)
    ]
    return f"(CASE WHEN {moment.text} IS NOT NULL THEN concat({', '.join(pieces) or repr('')}) END)"


def _piece(moment: Written, mark: str) -> str:
    value, week = moment.text, in_a_week(moment)
    clock = {
        name: f"{name}({value})" if moment.kind is ValueKind.TIMESTAMP else "0" for name in ("hour", "minute", "second")
    }
    week_year, half = f"extract(YEAROFWEEK FROM {week})", f"(pmod({clock['hour']} + 11, 12) + 1)"
    numbers = {
        "y": f"pmod(abs(year({value})), 100)",
        "m": f"month({value})",
        "d": f"day({value})",
        "H": clock["hour"],
        "I": half,
        "M": clock["minute"],
        "S": clock["second"],
        "V": f"weekofyear({week})",
    }
    others = {
        "%": "'%'",
        "Y": _long(f"year({value})"),
        "G": _long(week_year),
        "j": _pad(f"dayofyear({value})", 3),
        "-j": f"CAST(dayofyear({value}) AS STRING)",
        "u": f"CAST(weekday({value}) + 1 AS STRING)",
        "w": f"CAST(dayofweek({value}) - 1 AS STRING)",
        "a": f"substring({name_part(DAYS, f'weekday({value}) + 1')}, 1, 3)",
        "A": name_part(DAYS, f"weekday({value}) + 1"),
        "b": f"substring({name_part(MONTHS, f'month({value})')}, 1, 3)",
        "B": name_part(MONTHS, f"month({value})"),
        "p": f"CASE WHEN {clock['hour']} < 12 THEN 'AM' ELSE 'PM' END",
    }
    if mark in numbers:
        return _pad(numbers[mark])
    if mark.startswith("-") and mark[1:] in numbers and mark != "-V":
        return f"CAST({numbers[mark[1:]]} AS STRING)"
    if mark not in others:
        raise Untranslatable(f"the format %{mark} of a date")
    return others[mark]


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
    if value.kind not in (ValueKind.DATE, ValueKind.TIMESTAMP):
        raise Untranslatable(f"a function of {value.kind.value}")
    return value


def _part(writer: StatementWriter, node: exp.Anonymous, scope: WriterScope) -> Written:
    part, given = str(node.expressions[0].this).lower(), _dated(writer.write(node.expressions[1], scope), node)
    if part in _PARTS:
        return _PARTS[part](in_a_week(given) if part in _OF_WEEKS else given.text)
    if part in _CLOCK:
        text = f"{part}({given.text})" if given.kind is ValueKind.TIMESTAMP else f"if({given.text} IS NULL, NULL, 0)"
        return whole(text, 0, 60)
    if part != "epoch":
        raise Untranslatable(f"the part {part} of a date")
    if given.kind is ValueKind.DATE:
        return Written(f"(CAST({days(given)} AS DOUBLE) * 86400D)", ValueKind.REAL)
    return Written(f"(CAST({microseconds(given)} AS DOUBLE) / 1000000D)", ValueKind.REAL)


def _start(writer: StatementWriter, node: Any, scope: WriterScope) -> Written:
    """A date or timestamp moved back to the start of its year, month, …, where that has timestamps."""
    given, unit = _dated(writer.write(node.this, scope), node), str(node.args["unit"].name).lower()
    if given.kind is ValueKind.DATE:
        if unit in _CLOCK or unit == "day":
            return to_time(given)
        return Written(date_with_time(_first_day(date_with_week(days(given)), unit)), ValueKind.DATE)
    if unit in _CLOCK or unit == "day":
        number = microseconds(given)
        return Written(moment(f"({number} - pmod({number}, {_FIXED[unit]}L))"), ValueKind.TIMESTAMP)
    start = _first_day(f"CAST({given.text} AS DATE)", unit)
    return Written(moment(f"try_multiply({start}, {DAY}L)"), ValueKind.TIMESTAMP)


def _first_day(date: str, unit: str) -> str:
    return f"CAST(unix_date(trunc({date}, '{unit}')) AS BIGINT)"


# Differences.


def _starts_between(writer: StatementWriter, node: exp.DateDiff, scope: WriterScope) -> Written:
    """How many starts of a unit lie between two dates; weeks are counted as sevens of days."""
    last, first = (_dated(writer.write(one, scope), node) for one in (node.this, node.expression))
    unit = str(node.args["unit"].name).lower()
    if unit == "week":
        return Written(f"(({days(last)} - {days(first)}) div 7L)", ValueKind.INTEGER)
    return Written(f"({_number(last, unit)} - {_number(first, unit)})", ValueKind.INTEGER)


def _number(given: Written, unit: str) -> str:
    """The number of the unit in which a moment lies; small enough that a difference fits."""
    if unit == "year":
        return f"CAST(year({given.text}) AS BIGINT)"
    if unit in _IN_MONTHS:  # before the year 0, DuckDB's quarters end where others begin
        return f"((CAST(year({given.text}) AS BIGINT) * 12L + month({given.text}) - 1L) div {_IN_MONTHS[unit]}L)"
    if unit == "day":
        return days(given)
    if unit not in _CLOCK:
        raise Untranslatable(f"a difference in {unit}")
    if given.kind is ValueKind.DATE:
        return f"({days(given)} * {DAY // _CLOCK[unit]}L)"
    number, length = microseconds(given), f"{_CLOCK[unit]}L"
    return f"(({number} - pmod({number}, {length})) div {length})"


def _elapsed(writer: StatementWriter, node: exp.Anonymous, scope: WriterScope) -> Written:
    """How many whole units lie between two dates."""
    unit = str(node.expressions[0].this).lower()
    first, last = (_dated(writer.write(one, scope), node) for one in node.expressions[1:])
    if unit in _FIXED:
        return Written(
            f"(try_subtract({microseconds(last)}, {microseconds(first)}) div {_FIXED[unit]}L)", ValueKind.INTEGER
        )
    if unit not in _IN_MONTHS:
        raise Untranslatable(f"a difference in {unit}")
    first, last = to_time(first), to_time(last)
    forwards, backwards = _months_between(first, last), _months_between(last, first)
    months = f"(CASE WHEN {first.text} <= {last.text} THEN {forwards} ELSE - {backwards} END)"
    return Written(f"({months} div {_IN_MONTHS[unit]}L)", ValueKind.INTEGER)


def _months_between(first: Written, last: Written) -> str:
    """Whole months between two moments in order; the last day of a month completes one that began on a later day."""
    ends_month = f"{days(last)} = unix_date(last_day(CAST({last.text} AS DATE)))"
    begin, end = f"day({first.text})", f"day({last.text})"
    is_later = f"({begin} > {end} AND NOT {ends_month}) OR "
    is_later += f"({begin} >= {end} AND {time_of_day(first)} > {time_of_day(last)})"
    return f"({_number(last, 'month')} - {_number(first, 'month')} - CASE WHEN {is_later} THEN 1L ELSE 0L END)"


# Days and names.


def _last_day(writer: StatementWriter, node: exp.LastDay, scope: WriterScope) -> Written:
    given = _dated(writer.write(node.this, scope), node)
    return Written(last_of_month(days(given)), ValueKind.DATE)


def _make(writer: StatementWriter, node: exp.DateFromParts, scope: WriterScope) -> Written:
    """The date of a year, a month and a day, from the first of its month: Spark raises where there is no such day.

    It is sought in the years from 2000 to 2399, which have the same days, and moved to its own: the first month of all
    has no first day.
    """
    year, month, day = (writer.write(node.args[part], scope) for part in ("year", "month", "day"))
    if any(part.kind is not ValueKind.INTEGER for part in (year, month, day)):
        raise Untranslatable("a date of parts that are not whole numbers")
    months = f"CASE WHEN {month.text} BETWEEN 1L AND 12L THEN {month.text} END"
    first = f"make_date(CAST(2000L + pmod({year.text}, {_CYCLE}L) AS INT), CAST({months} AS INT), 1)"
    within = f"CASE WHEN {day.text} >= 1L AND {day.text} <= day(last_day({first})) THEN {day.text} END"
    cycles = f"(floor(try_cast({year.text} AS INT) / {_CYCLE}D) - {2000 // _CYCLE}L)"
    number = f"CAST(unix_date({first}) AS BIGINT) + {within} - 1L + {cycles} * {_CYCLE_DAYS}L"
    return Written(date_within(number), ValueKind.DATE)


def _named(names: tuple[str, ...], place: str) -> Rule:
    def rule(writer: StatementWriter, node: Any, scope: WriterScope) -> Written:
        given = _dated(writer.write(node.this, scope), node)
        return Written(name_part(names, place.format(given.text)), ValueKind.TEXT)

    return rule


def _format(writer: StatementWriter, node: exp.TimeToStr, scope: WriterScope) -> Written:
    pattern = constant(writer, node.args["format"])
    if not isinstance(pattern, str):
        raise Untranslatable("a format that is no text")
    given = _dated(writer.write(node.this, scope), node)
    return Written(format_text(given, pattern, writer.write(node.args["format"], scope).text), ValueKind.TEXT)


DATE_RULES: Mapping[type[exp.Expr], Rule] = {
    exp.TimestampTrunc: _start,
    exp.DateTrunc: _start,
    exp.DateDiff: _starts_between,
    exp.LastDay: _last_day,
    exp.DateFromParts: _make,
    exp.Dayname: _named(DAYS, "weekday({0}) + 1"),
    exp.Monthname: _named(MONTHS, "month({0})"),
    exp.TimeToStr: _format,
}
"""Dates and timestamps."""

DATE_FUNCTIONS: Mapping[str, Rule] = {"date_part": _part, "date_sub": _elapsed}
"""Those that the parser knows by name alone."""
