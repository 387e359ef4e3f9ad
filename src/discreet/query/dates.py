"""Dates: parts, truncation and differences. Intervals count days since 1970 for dates and seconds for timestamps."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from fractions import Fraction

from sqlglot import exp

from discreet.catalog.column import ColumnType
from discreet.query.expression import Call, Constant, Expression, type_name
from discreet.query.interval import UNKNOWN, Interval
from discreet.query.refusal import refuse

__all__ = ["DATE_PARTS", "date_part", "dated_constant", "days_between", "epoch", "truncated_date"]

INTEGER, DATE, TIMESTAMP = ColumnType.INTEGER, ColumnType.DATE, ColumnType.TIMESTAMP

DATE_PARTS: dict[str, tuple[int, int] | None] = {
    "year": None,
    "quarter": (1, 4),
    "month": (1, 12),
    "week": (1, 53),
    "day": (1, 31),
    "dayofweek": (0, 6),
    "isodow": (1, 7),
    "dayofyear": (1, 366),
    "hour": (0, 23),
    "minute": (0, 59),
    "second": (0, 60),
}
"""Parts of a date that can be taken, with the values they have."""

_TRUNCATIONS = {"year": 366, "quarter": 92, "month": 31, "week": 7, "day": 1, "hour": 1, "minute": 1, "second": 1}
_EPOCH = date(1970, 1, 1)


def epoch(value: date | datetime) -> Fraction:
    """Days since 1970 of a date, seconds since 1970 of a timestamp."""
    if isinstance(value, datetime):
        return Fraction((value.replace(tzinfo=None) - datetime(1970, 1, 1)) / timedelta(microseconds=1)) / 10**6
    return Fraction((value - _EPOCH).days)


def dated_constant(node: exp.Expr, text: str, kind: ColumnType) -> Constant:
    """The date or timestamp that a text of the query stands for."""
    try:
        value = date.fromisoformat(text) if kind is DATE else datetime.fromisoformat(text)
    except ValueError:
        raise refuse(node, "a date must be written as '2020-12-31'", "or compare with a column") from None
    if isinstance(value, datetime) and value.tzinfo is not None:
        raise refuse(node, "timestamps have no time zone here", "convert it to UTC")
    place = epoch(value)
    return Constant(kind, Interval(place, place), False, value)


def date_part(node: exp.Expr, part: str, argument: Expression) -> Expression:
    """A part of a date or timestamp as a whole number."""
    name = {"dow": "dayofweek", "day_of_week": "dayofweek", "doy": "dayofyear", "day_of_month": "day"}.get(part, part)
    if name not in DATE_PARTS:
        raise refuse(node, f"the part of a date must be one of {', '.join(DATE_PARTS)}", "write extract(year FROM day)")
    if argument.type not in (DATE, TIMESTAMP):
        raise refuse(node, f"this needs a date, not {argument.type.value}", "use CAST(… AS DATE) first")
    ends = DATE_PARTS[name]
    interval = Interval.of(*ends) if ends else _years(argument)
    return Call(INTEGER, interval, argument.nullable, f"date_part('{name}', {{0}})", (argument,))


def _years(argument: Expression) -> Interval:
    ends = argument.interval.known
    if ends is None:
        return UNKNOWN
    per_day = 1 if argument.type is DATE else 86_400
    try:
        first, last = (_EPOCH + timedelta(days=int(end // per_day)) for end in ends)
    except OverflowError:  # before the year 1 or after 9999
        return UNKNOWN
    return Interval.of(first.year, last.year)


def truncated_date(node: exp.Expr, part: str, argument: Expression) -> Expression:
    """A date or timestamp moved back to the start of its year, month, …"""
    if part not in _TRUNCATIONS:
        raise refuse(node, f"dates are truncated to one of {', '.join(_TRUNCATIONS)}", "write date_trunc('month', day)")
    if argument.type not in (DATE, TIMESTAMP):
        raise refuse(node, f"this needs a date, not {argument.type.value}", "use CAST(… AS DATE) first")
    back = Fraction(_TRUNCATIONS[part] * (1 if argument.type is DATE else 86_400))
    interval = Interval(None if argument.interval.low is None else argument.interval.low - back, argument.interval.high)
    template = f"TRY(CAST(date_trunc('{part}', {{0}}) AS {type_name(argument.type)}))"  # the first days have no week
    nullable = argument.nullable or interval.known is None
    return Call(argument.type, interval, nullable, template, (argument,))


def days_between(node: exp.Expr, part: str, later: Expression, earlier: Expression) -> Expression:
    """Whole days, months or years from one date to another."""
    if part not in ("day", "month", "year", "week") or {later.type, earlier.type} - {DATE, TIMESTAMP}:
        raise refuse(
            node, "DATE_DIFF takes day, week, month or year and two dates", "write date_diff('day', first, last)"
        )
    interval = UNKNOWN
    if later.type is DATE and earlier.type is DATE and (later.interval - earlier.interval).known:
        interval = (later.interval - earlier.interval).hull(Interval.of(0, 0)).whole(1)
    template = f"TRY(date_diff('{part}', {{1}}, {{0}}))"
    return Call(INTEGER, interval, True, template, (later, earlier))
