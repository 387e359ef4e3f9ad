"""Dates and timestamps on rows: parts, truncation, moving, differences, names. Intervals count days or seconds of 1970.

Timestamps are in UTC: what an owner takes in is stored so, a text may end in Z or +00:00, and one with another offset
is refused, as are functions of time zones. A date stays a date when it is truncated, or moved by days or more. Weeks
begin on Monday; dayofweek counts from 0 for Sunday, isodow from 1 for Monday. date_diff counts the starts of a unit
that lie between, date_sub and TIMESTAMPDIFF count whole units. NULL stands for what lies past the end of the calendar,
and among what is shown for all that lies outside the years 1 to 9999.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime
from fractions import Fraction

from sqlglot import exp

from discreet.catalog.column import ColumnType
from discreet.query.expressions.calendar import UNITS, epoch, floor_date, move_date, number_days
from discreet.query.expressions.expression import Call, Constant, Expression, Field, is_stored, type_name
from discreet.query.expressions.interval import UNKNOWN, Interval
from discreet.query.parse.dialect import DATE_PARTS, part_name
from discreet.query.parse.places import refuse

__all__ = [
    "SHOWN_YEARS",
    "as_date",
    "date_part",
    "difference",
    "epoch",
    "format_date",
    "format_iso_date",
    "last_day",
    "made_date",
    "name_date",
    "parse_date_constant",
    "shift_date",
    "to_date",
    "truncate_date",
]


INTEGER, REAL, TEXT = ColumnType.INTEGER, ColumnType.REAL, ColumnType.TEXT
DATE, TIMESTAMP = ColumnType.DATE, ColumnType.TIMESTAMP


_OF_WEEKS = ("week", "isoyear", "yearweek")

_STEPS = {
    "year": ("to_years", 1, 32),
    "quarter": ("to_months", 3, 32),
    "month": ("to_months", 1, 32),
    "week": ("to_days", 7, 32),
    "day": ("to_days", 1, 32),
    "hour": ("to_hours", 1, 64),
    "minute": ("to_minutes", 1, 64),
    "second": ("to_seconds", 1, 64),
}
"""Per unit: what makes a length of time of a number, how many of that unit it is, and how many bits the number has."""
_DAY_OF = "TRY_CAST({0} AS DATE)"
SHOWN_YEARS = "CASE WHEN {0} BETWEEN {1} AND {2} THEN {0} END"
"""What is missing outside the years that have a name, and else as it is."""
_CLOCK = ("hour", "minute", "second")
_FORMAT = re.compile(r"(?:%[YymdjHIMSpaAbBVGuw]|%-[ymdjHIMS]|%%|[^%])*")
_CLOCK_FORMATS = {"S": "second", "M": "minute", "H": "hour", "I": "hour", "p": "hour"}


def parse_date_constant(node: exp.Expr | None, text: str, kind: ColumnType) -> Constant:
    """The date or timestamp that a text of the query stands for."""
    try:
        value = date.fromisoformat(text) if kind is DATE else datetime.fromisoformat(text)
    except ValueError:
        raise refuse(node, "a date must be written as '2020-12-31'", f"write {_LIKE[kind]}") from None
    if isinstance(value, datetime) and value.tzinfo is not None:
        value = _in_universal_time(node, value)
    place = epoch(value)
    return Constant(kind, Interval(place, place), False, value)


def _in_universal_time(node: exp.Expr | None, value: datetime) -> datetime:
    """The moment without its zone, which must be UTC: Z or +00:00."""
    if value.utcoffset():
        same = value.astimezone(UTC).replace(tzinfo=None)
        raise refuse(node, "timestamps are in UTC here", f"the same moment in UTC is '{same}Z'")
    return value.replace(tzinfo=None)


_LIKE = {DATE: "DATE '2020-12-31'", TIMESTAMP: "TIMESTAMP '2020-12-31 23:59:59'"}


def to_date(node: exp.Expr, argument: Expression) -> Expression:
    """The argument, which must be a date or a timestamp; a text of the query that reads as one is taken for it."""
    if argument.type in (DATE, TIMESTAMP):
        return argument
    if isinstance(argument, Constant) and isinstance(argument.value, str):
        is_date = len(argument.value) == len("2020-12-31")
        return parse_date_constant(node, argument.value, DATE if is_date else TIMESTAMP)
    raise refuse(node, f"this needs a date, not {argument.type.value}", "use CAST(… AS DATE) first")


def as_date(argument: Expression) -> Expression:
    """The day of a timestamp."""
    if argument.type is DATE:
        return argument
    days = floor_date(TIMESTAMP, "day", argument.interval) * Interval.of(Fraction(1, 86_400), Fraction(1, 86_400))
    return Call(DATE, days, argument.nullable or days.known is None, _DAY_OF, (argument,))


def format_iso_date(argument: Expression) -> Expression:
    """What can be shown of it: a date or timestamp outside the years 1 to 9999, which has no name, is missing."""
    if argument.type not in (DATE, TIMESTAMP) or _is_within_years(argument):
        return argument
    ends = (date.min, date.max) if argument.type is DATE else (datetime.min, datetime.max)
    first, last = (Constant(argument.type, Interval(epoch(end), epoch(end)), False, end) for end in ends)
    nullable = argument.nullable or argument.interval.known is None
    grain = argument.grain if isinstance(argument, Call) else None
    return Call(argument.type, argument.interval, nullable, SHOWN_YEARS, (argument, first, last), grain=grain)


def _is_within_years(given: Expression) -> bool:
    """Whether it is a date or timestamp that surely lies in the years 1 to 9999; their first day starts every unit."""
    if isinstance(given, Constant) or is_stored(given):
        return given.type in (DATE, TIMESTAMP)
    if isinstance(given, Call):
        return (given.grain is not None or given.template == _DAY_OF) and _is_within_years(given.arguments[0])
    return isinstance(given, Field) and given.computed is not None and _is_within_years(given.computed)


def date_part(node: exp.Expr, part: str, argument: Expression) -> Expression:
    """A part of a date or timestamp as a number."""
    name = part_name(part)
    if name not in DATE_PARTS:
        raise refuse(node, f"the part of a date must be one of {', '.join(DATE_PARTS)}", "write extract(year FROM day)")
    given = to_date(node, argument)
    ends = DATE_PARTS[name]
    interval = Interval.of(*ends) if ends else _part_interval(name, given)
    kind = REAL if name == "epoch" else INTEGER
    is_sure = name not in _OF_WEEKS or given.interval.known is not None or is_stored(given)
    # The first days of the calendar have no week; and of a constant that is missing, every part is a DOUBLE to DuckDB.
    template = f"TRY_CAST(TRY(date_part('{name}', {{0}})) AS {type_name(kind)})"
    return Call(kind, interval, given.nullable or not is_sure, template, (given,))


def _part_interval(name: str, given: Expression) -> Interval:
    if name == "epoch":
        seconds = given.interval * Interval.of(86_400, 86_400) if given.type is DATE else given.interval
        return seconds.in_doubles()
    years = (number_days(given.type, "year", given.interval) + Interval.of(1, 1)).known
    if years is None:
        return UNKNOWN
    first, last = int(years[0]), int(years[1])
    return {
        "year": Interval.of(first, last),
        "isoyear": Interval.of(first - 1, last + 1),  # the first days of January can belong to the year before
        "yearweek": Interval.of((first - 1) * 100 + 1, (last + 1) * 100 + 53),
        "decade": Interval.of(first // 10, last // 10),
        "century": Interval.of((first - 1) // 100 + 1, (last - 1) // 100 + 1),
    }[name]


def truncate_date(node: exp.Expr, unit: str | None, argument: Expression) -> Expression:
    """A date or timestamp moved back to the start of its year, month, …"""
    if unit is None:
        raise refuse(node, f"dates are truncated to one of {', '.join(UNITS)}", "write date_trunc('month', day)")
    given = to_date(node, argument)
    interval = floor_date(given.type, unit, given.interval)
    # The first days of the calendar have no week.
    template = f"TRY(CAST(TRY(date_trunc('{unit}', {{0}})) AS {type_name(given.type)}))"
    nullable = given.nullable or interval.known is None
    return Call(given.type, interval, nullable, template, (given,), grain=unit)


def shift_date(
    node: exp.Expr, argument: Expression, amount: Expression, unit: str | None, *, backwards: bool = False
) -> Expression:
    """A date or timestamp some units later or earlier; a date stays one unless it moves by hours or less."""
    if unit is None:
        raise refuse(node, f"dates are moved by one of {', '.join(UNITS)}", "write day + INTERVAL 30 DAY")
    if amount.type is not INTEGER:
        raise refuse(node, f"dates are moved by whole numbers, not {amount.type.value}", "write INTERVAL 30 DAY")
    given = to_date(node, argument)
    kind = TIMESTAMP if unit in _CLOCK else given.type
    start = given.interval * Interval.of(86_400, 86_400) if kind is not given.type else given.interval
    interval = move_date(kind, start, unit, -amount.interval if backwards else amount.interval)
    template = f"TRY(CAST(TRY({{0}} {'-' if backwards else '+'} {_step(unit)}) AS {type_name(kind)}))"
    nullable = given.nullable or amount.nullable or interval.known is None
    return Call(kind, interval, nullable, template, (given, amount))


def _step(unit: str) -> str:
    """The template of a length of time.

    Each operator is attempted by itself: an engine that computes a part once for several expressions takes it out of
    the TRY around them.
    """
    function, times, bits = _STEPS[unit]
    number = "{1}" if times == 1 else f"TRY({times} * {{1}})"
    return f"TRY({function}({f'TRY_CAST({number} AS INTEGER)' if bits == 32 else number}))"


def difference(
    node: exp.Expr, unit: str | None, later: Expression, earlier: Expression, *, elapsed: bool = False
) -> Expression:
    """How many starts of a unit lie between two dates; or, elapsed, how many whole units."""
    if unit is None:
        raise refuse(node, f"differences are counted in one of {', '.join(UNITS)}", "date_diff('day', first, last)")
    last, first = to_date(node, later), to_date(node, earlier)
    counted = number_days(last.type, unit, last.interval) - number_days(first.type, unit, first.interval)
    interval = _less_by_one(counted) if elapsed or unit == "week" else counted
    function = "date_sub" if elapsed else "date_diff"
    slots = "{1}, {0}" if last.type is first.type else "TRY_CAST({1} AS TIMESTAMP), TRY_CAST({0} AS TIMESTAMP)"
    template = f"TRY({function}('{unit}', {slots}))"
    nullable = last.nullable or first.nullable or interval.known is None
    return Call(INTEGER, interval, nullable, template, (last, first))


def _less_by_one(counted: Interval) -> Interval:
    """Whole units are as many as their starts or one fewer; the engine's weeks begin on another day."""
    return counted + Interval.of(-1, 1)


def last_day(node: exp.Expr, argument: Expression) -> Expression:
    """The last day of a date's month."""
    given = to_date(node, argument)
    days = as_date(given)
    first = floor_date(DATE, "month", days.interval)
    interval = move_date(DATE, first, "month", Interval.of(1, 1)) - Interval.of(1, 1)
    return Call(DATE, interval, given.nullable or interval.known is None, "TRY(last_day({0}))", (days,))


def made_date(node: exp.Expr, parts: list[Expression]) -> Expression:
    """The date of a year, a month and a day; NULL where there is no such day."""
    if any(part.type is not INTEGER for part in parts):
        raise refuse(node, "a date is made of whole numbers", "write make_date(2020, 12, 31)")
    years = parts[0].interval.known
    interval = UNKNOWN
    if years is not None and years[0] >= 1 and years[1] <= 9999:
        ends = date(int(-(-years[0] // 1)), 1, 1), date(int(years[1] // 1), 12, 31)
        interval = Interval(epoch(ends[0]), epoch(ends[1]))
    return Call(DATE, interval, True, "TRY(make_date({0}, {1}, {2}))", tuple(parts))


def format_date(node: exp.Expr, pattern: Expression, argument: Expression) -> Expression:
    """A date as text, by a format of fixed parts."""
    given = to_date(node, argument)
    text = pattern.value if isinstance(pattern, Constant) else None
    # A format without a mark would be the same text for every date, and engines differ in where that is missing.
    if not isinstance(text, str) or len(text) > 100 or not _FORMAT.fullmatch(text) or "%" not in text.replace("%%", ""):
        raise refuse(node, "the format of a date is a constant of %Y %m %d %H %M %S …", "strftime(day, '%Y-%m')")
    used = [_CLOCK_FORMATS[mark] for mark in _CLOCK_FORMATS if f"%{mark}" in text or f"%-{mark}" in text]
    # Truncated first, so that there are finitely many values and they can be groups.
    coarse = truncate_date(node, used[0], given) if used and given.type is TIMESTAMP else as_date(given)
    return Call(TEXT, UNKNOWN, True, "TRY(strftime({0}, {1}))", (coarse, pattern))


def name_date(node: exp.Expr, function: str, argument: Expression) -> Expression:
    """The English name of a date's month or day of the week."""
    return Call(TEXT, UNKNOWN, True, f"TRY({function}({{0}}))", (as_date(to_date(node, argument)),))
