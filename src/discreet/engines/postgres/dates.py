"""Dates and timestamps on rows. Bounds prove that nothing leaves PostgreSQL's calendar; what might is refused.

Timestamps have no zone. Weeks begin on Monday, but differences in weeks are sevenths of differences in days.

What is known about dates is counted in days and seconds since 1970, as far as PostgreSQL's calendar agrees with others.
Tables hold the years 1 to 9999. What a statement moves further is still the same day everywhere, between 4000 before
our time and the year 200,000; but years before the first are counted and spelled differently.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date, datetime
from fractions import Fraction
from typing import Any

from sqlglot import exp

from discreet.engines.postgres.numbers import clamp_between
from discreet.engines.postgres.texts import AS_CODE_POINTS
from discreet.engines.translate.expression import Ends, ValueKind, WriterScope, Written
from discreet.engines.translate.writer import Rule, StatementWriter, Untranslatable

__all__ = [
    "DATE_FUNCTIONS",
    "DATE_RULES",
    "YEARS",
    "in_reach",
    "in_seconds",
    "move_date",
    "within_years",
    "write_days",
    "write_seconds",
]


_EPOCH = date(1970, 1, 1).toordinal()


def write_days(value: date) -> int:
    """Days since 1970."""
    return value.toordinal() - _EPOCH


def write_seconds(value: datetime) -> Fraction:
    """Seconds since 1970."""
    clock = value.hour * 3600 + value.minute * 60 + value.second
    return write_days(value) * 86_400 + clock + Fraction(value.microsecond, 10**6)


YEARS = {
    ValueKind.DATE: (Fraction(write_days(date.min)), Fraction(write_days(date.max))),
    ValueKind.TIMESTAMP: (write_seconds(datetime.min), write_seconds(datetime.max)),
}
"""The calendar of tables, in days or seconds."""
_FARTHEST = (-4000 * 365 - 1970 * 366, 200_000 * 365)


def in_seconds(value: Written) -> Ends:
    """The bounds of a date or timestamp, in seconds."""
    scale = 86_400 if value.kind is ValueKind.DATE else 1
    return (None if value.low is None else value.low * scale), (None if value.high is None else value.high * scale)


def within_years(value: Written) -> None:
    """Refuse what may lie outside the years 1 to 9999, where engines write dates differently."""
    first, last = YEARS[value.kind]
    if value.low is None or value.high is None or value.low < first or value.high > last:
        raise Untranslatable("dates that may lie outside the years 1 to 9999")


def in_reach(kind: ValueKind, ends: Ends) -> tuple[Fraction, Fraction]:
    """The bounds of what was moved; refused where PostgreSQL could run out of calendar before others do."""
    scale = 1 if kind is ValueKind.DATE else 86_400
    low, high = ends
    if low is None or high is None or low < _FARTHEST[0] * scale or high > _FARTHEST[1] * scale:
        raise Untranslatable("dates moved further than some thousand years")
    return low, high


_DATED = (ValueKind.DATE, ValueKind.TIMESTAMP)
_DAY = 86_400
_SECONDS = {"hour": 3600, "minute": 60, "second": 1}
_PARTS = {
    "year": "date_part('year', {0})",
    "isoyear": "date_part('isoyear', {0})",
    "decade": "date_part('decade', {0})",
    "century": "date_part('century', {0})",
    "quarter": "date_part('quarter', {0})",
    "month": "date_part('month', {0})",
    "week": "date_part('week', {0})",
    "yearweek": "(date_part('isoyear', {0}) * 100 + date_part('week', {0}))",
    "day": "date_part('day', {0})",
    "dayofweek": "date_part('dow', {0})",
    "isodow": "date_part('isodow', {0})",
    "dayofyear": "date_part('doy', {0})",
    "hour": "date_part('hour', {0})",
    "minute": "date_part('minute', {0})",
    "second": "floor(date_part('second', {0}))",
}
_MARKS = {
    "Y": "YYYY", "m": "MM", "d": "DD", "j": "DDD", "H": "HH24", "I": "HH12", "M": "MI", "S": "SS", "p": "AM",
    "a": "Dy", "A": "FMDay", "b": "Mon", "B": "FMMonth", "V": "IW", "G": "IYYY", "u": "ID", "y": "YY",
    "-y": "FMYY", "-m": "FMMM", "-d": "FMDD", "-j": "FMDDD", "-H": "FMHH24", "-I": "FMHH12", "-M": "FMMI",
    "-S": "FMSS",
}  # fmt: skip
"""Marks of plans and of PostgreSQL."""


def _stamp(value: Written) -> str:
    """A date or timestamp as a timestamp."""
    if value.kind not in _DATED:
        raise Untranslatable(f"dates made of {value.kind.value}")
    return f"{value.text}::timestamp" if value.kind is ValueKind.DATE else value.text


# Moving.


def _span(unit: str, shortest: int, longest: int) -> Rule:
    """So many units, with bounds in seconds."""

    def rule(writer: StatementWriter, node: Any, scope: WriterScope) -> Written:
        amount = writer.write(node.expressions[0] if isinstance(node, exp.Anonymous) else node.this, scope)
        if amount.low is None or amount.high is None:
            raise Untranslatable("dates moved further than some thousand years")
        lengths = [end * length for end in (amount.low, amount.high) for length in (shortest, longest)]
        if unit == "secs":  # exact, for so many seconds take less than a double holds
            text = f"make_interval(secs => ({amount.text}::int8 * {shortest})::float8)"
        else:
            text = f"make_interval({unit} => {amount.text}::int4)"
        return Written(text, ValueKind.SPAN, min(lengths), max(lengths))

    return rule


def move_date(first: Written, symbol: str, second: Written) -> Written:
    """A date or timestamp and a span, or the days between two dates."""
    if first.kind is ValueKind.DATE and second.kind is ValueKind.DATE and symbol == "-":
        return Written(f"({first.text} - {second.text})::int8", ValueKind.INTEGER, *first.minus(second))
    if second.kind is not ValueKind.SPAN:
        raise Untranslatable("dates moved by what is no span")
    start = Written("", ValueKind.TIMESTAMP, *in_seconds(first))
    ends = in_reach(ValueKind.TIMESTAMP, start.plus(second) if symbol == "+" else start.minus(second))
    return Written(f"({first.text} {symbol} {second.text})", ValueKind.TIMESTAMP, *ends)


# Parts.


def _part(writer: StatementWriter, node: exp.Anonymous, scope: WriterScope) -> Written:
    name, value = node.expressions[0].name.lower(), writer.write(node.expressions[1], scope)
    if name == "epoch":
        return _epoch(value)
    within_years(value)
    return Written(f"{_PARTS[name].format(_stamp(value))}::int8", ValueKind.INTEGER, *_part_ends(name))


def _part_ends(name: str) -> tuple[Fraction, Fraction]:
    most = {"yearweek": 1_000_053, "year": 9999, "isoyear": 10_000, "dayofyear": 366}.get(name, 1000)
    return Fraction(0), Fraction(most)


def _seconds(writer: StatementWriter, node: exp.TimeToUnix, scope: WriterScope) -> Written:
    return _epoch(writer.write(node.this, scope))


def _epoch(value: Written) -> Written:
    return Written(f"date_part('epoch', {_stamp(value)})", ValueKind.REAL, *in_seconds(value))


def _truncate(writer: StatementWriter, node: exp.TimestampTrunc, scope: WriterScope) -> Written:
    value, unit = writer.write(node.this, scope), node.args["unit"].name.lower()
    (low, high), first = in_reach(ValueKind.TIMESTAMP, in_seconds(value)), YEARS[ValueKind.TIMESTAMP][0]
    # The first day of the calendar is a Monday, so it starts a week, too.
    start = low - 366 * _DAY if low < first else max(first, low - 366 * _DAY)
    return Written(f"date_trunc('{unit}', {_stamp(value)})", ValueKind.TIMESTAMP, start, high)


# Differences.


def _months(value: str) -> str:
    return f"(date_part('year', {value}) * 12 + date_part('month', {value}))::int8"


def _starts_between(writer: StatementWriter, node: exp.DateDiff, scope: WriterScope) -> Written:
    """How many starts of a unit lie between two dates."""
    last, first = writer.write(node.this, scope), writer.write(node.expression, scope)
    within_years(last)
    within_years(first)
    return Written(_DIFFERENCES[node.args["unit"].name.lower()](_stamp(first), _stamp(last)), ValueKind.INTEGER)


def _each(count: Callable[[str], str]) -> Callable[[str, str], str]:
    return lambda first, last: f"({count(last)} - {count(first)})"


def _clock(unit: str) -> Callable[[str], str]:
    return lambda value: f"(date_part('epoch', date_trunc('{unit}', {value})) / {_SECONDS[unit]})::int8"


_DIFFERENCES: Mapping[str, Callable[[str, str], str]] = {
    "year": _each(lambda value: f"date_part('year', {value})::int8"),
    "quarter": _each(lambda value: f"(date_part('year', {value}) * 4 + date_part('quarter', {value}))::int8"),
    "month": _each(_months),
    "week": lambda first, last: f"(({last}::date - {first}::date) / 7)::int8",
    "day": lambda first, last: f"({last}::date - {first}::date)::int8",
    **{unit: _each(_clock(unit)) for unit in _SECONDS},
}


def _elapsed(writer: StatementWriter, node: exp.Anonymous, scope: WriterScope) -> Written:
    """How many whole units lie between two dates."""
    unit = node.expressions[0].name.lower()
    first, last = (writer.write(one, scope) for one in node.expressions[1:])
    within_years(last)
    within_years(first)
    one, two = _stamp(first), _stamp(last)
    if (months := {"month": 1, "quarter": 3, "year": 12}.get(unit)) is not None:
        text = f"CASE WHEN {one} <= {two} THEN {_whole_months(one, two)} ELSE -{_whole_months(two, one)} END"
        return Written(f"({text} / {months})", ValueKind.INTEGER)
    length = {"week": 7 * _DAY, "day": _DAY, **_SECONDS}[unit]
    return Written(f"trunc(extract(epoch FROM ({two} - {one})) / {length})::int8", ValueKind.INTEGER)


def _whole_months(one: str, two: str) -> str:
    months = f"({_months(two)} - {_months(one)})"
    return f"({months} - CASE WHEN {one} + make_interval(months => {months}::int4) > {two} THEN 1 ELSE 0 END)"


# Making and naming.


def _last_day(writer: StatementWriter, node: exp.LastDay, scope: WriterScope) -> Written:
    value = writer.write(node.this, scope)
    within_years(value)
    text = f"(date_trunc('month', {_stamp(value)}) + interval '1 month - 1 day')::date"
    ends = value.plus(Written("", ValueKind.DATE, Fraction(0), Fraction(31)))
    return Written(text, ValueKind.DATE, *ends)


def _make(writer: StatementWriter, node: exp.DateFromParts, scope: WriterScope) -> Written:
    year, month, day = (writer.write(node.args[part], scope) for part in ("year", "month", "day"))
    if not clamp_between(year, 1, 9999):
        raise Untranslatable("dates that may lie outside the years 1 to 9999")
    first = f"make_date({year.text}::int4, {month.text}::int4, 1)"
    days = f"date_part('day', {first} + interval '1 month - 1 day')"
    made = f"make_date({year.text}::int4, {month.text}::int4, {day.text}::int4)"
    there = f"CASE WHEN {day.text} BETWEEN 1 AND {days} THEN {made} END"
    text = f"CASE WHEN {month.text} BETWEEN 1 AND 12 AND {year.text} IS NOT NULL THEN {there} END"
    start, end = ((int(year.low or 1) - 1971) * 366, (int(year.high or 1) - 1969) * 366)
    least, most = YEARS[ValueKind.DATE]
    return Written(text, ValueKind.DATE, max(least, Fraction(start)), min(most, Fraction(end)))


def _format(writer: StatementWriter, node: exp.TimeToStr, scope: WriterScope) -> Written:
    value, place = writer.write(node.this, scope), node.args["format"]
    within_years(value)
    if not isinstance(place, exp.Cast) or not isinstance(place.this, exp.Placeholder):
        raise Untranslatable("a format that is no constant")
    pattern = writer.values[int(place.this.name) - 1]
    pieces = [_piece(piece, _stamp(value)) for piece in _pieces(str(pattern))]
    return Written(f"(({' || '.join(pieces) or chr(39) * 2}) {AS_CODE_POINTS})", ValueKind.TEXT)


def _pieces(pattern: str) -> list[str]:
    """The marks of a format, and the letters between them one by one."""
    found, rest = [], pattern
    while rest:
        size = 1 if rest[0] != "%" else 3 if rest[1:2] == "-" else 2
        found.append(rest[:size])
        rest = rest[size:]
    return found


def _piece(piece: str, value: str) -> str:
    if piece == "%w":
        return f"date_part('dow', {value})::text"
    if piece.startswith("%") and piece != "%%":
        mark = _MARKS.get(piece[1:])
        if mark is None:
            raise Untranslatable(f"{piece} in the format of a date")
        return f"to_char({value}, '{mark}')"
    letter = piece[-1]
    if letter == "\x00":
        raise Untranslatable("text with the character NUL")
    return f"chr({ord(letter)})"


def _name(mark: str) -> Rule:
    def rule(writer: StatementWriter, node: Any, scope: WriterScope) -> Written:
        value = writer.write(node.this, scope)
        return Written(f"(to_char({_stamp(value)}, '{mark}') {AS_CODE_POINTS})", ValueKind.TEXT)

    return rule


DATE_RULES: Mapping[type[exp.Expr], Rule] = {
    exp.TimestampTrunc: _truncate,
    exp.DateTrunc: _truncate,
    exp.DateDiff: _starts_between,
    exp.TimeToUnix: _seconds,
    exp.LastDay: _last_day,
    exp.DateFromParts: _make,
    exp.TimeToStr: _format,
    exp.Dayname: _name("FMDay"),
    exp.Monthname: _name("FMMonth"),
    exp.ToDays: _span("days", _DAY, _DAY),
}
DATE_FUNCTIONS: Mapping[str, Rule] = {
    "date_part": _part,
    "date_sub": _elapsed,
    "to_years": _span("years", 365 * _DAY, 366 * _DAY),
    "to_months": _span("months", 28 * _DAY, 31 * _DAY),
    "to_hours": _span("secs", 3600, 3600),
    "to_minutes": _span("secs", 60, 60),
    "to_seconds": _span("secs", 1, 1),
}
