"""The calendar in exact numbers: years, quarters, months, weeks, days and smaller, counted from one beginning.

Every unit numbers the moments of time: all moments of one month have one number, and later moments never a smaller one.
So the public bounds of a truncated, moved or subtracted date follow from the numbers of its ends alone. Places count
days since 1970 for dates and seconds since 1970 for timestamps; what lies outside the years 1 to 9999 is unknown.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import date, datetime, timedelta
from fractions import Fraction

from discreet.catalog.column import ColumnType
from discreet.query.expressions.expression import Type
from discreet.query.expressions.interval import UNKNOWN, Interval

__all__ = [
    "UNITS",
    "epoch",
    "floor_date",
    "move_date",
    "number_days",
    "starts",
]


DATE, TIMESTAMP = ColumnType.DATE, ColumnType.TIMESTAMP

UNITS = ("year", "quarter", "month", "week", "day", "hour", "minute", "second")
"""The units of time, long ones first."""

_SECONDS = {"week": 604_800, "day": 86_400, "hour": 3_600, "minute": 60, "second": 1}
_MONTHS = {"year": 12, "quarter": 3, "month": 1}
_DAY = 86_400
_BEGINNING = datetime(1, 1, 1)  # a Monday
_FIRST = Fraction((_BEGINNING - datetime(1970, 1, 1)).days * _DAY)
_LAST = Fraction((datetime(9999, 12, 31) - datetime(1970, 1, 1)).days * _DAY + _DAY) - Fraction(1, 10**6)


def epoch(value: date | datetime) -> Fraction:
    """Days since 1970 of a date, seconds since 1970 of a timestamp."""
    if isinstance(value, datetime):
        return Fraction((value.replace(tzinfo=None) - datetime(1970, 1, 1)) // timedelta(microseconds=1), 10**6)
    return Fraction((value - date(1970, 1, 1)).days)


def floor_date(kind: Type, unit: str, interval: Interval) -> Interval:
    """Where the starts of the units lie in which the values lie."""
    return _from_seconds(kind, _each(_seconds(kind, interval), lambda end: _start(unit, _number(unit, end))))


def number_days(kind: Type, unit: str, interval: Interval) -> Interval:
    """The numbers of the units in which the values lie."""
    return _each(_seconds(kind, interval), lambda end: Fraction(_number(unit, end)))


def move_date(kind: Type, interval: Interval, unit: str, amount: Interval) -> Interval:
    """Where the values lie after ``amount`` units were added; later values and larger amounts never end up earlier.

    Moving by months keeps the time of day but may shorten the day (31 January becomes 28 February), so for
    timestamps it is the day that keeps its order, and a day of slack is left.
    """
    seconds, ends = _seconds(kind, interval), amount.known
    if seconds.known is None or ends is None:
        return UNKNOWN
    if unit in _SECONDS:
        length = Fraction(_SECONDS[unit])
        return _from_seconds(kind, _within(seconds + amount * Interval(length, length)))
    slack = 0 if kind is DATE else _DAY
    low, high = (
        _moved_by_months(Fraction(place // _DAY * _DAY), math.floor(end) * _MONTHS[unit])
        for place, end in zip(seconds.known, ends, strict=True)
    )
    return UNKNOWN if low is None or high is None else _from_seconds(kind, _within(Interval(low, high + slack)))


def starts(kind: Type, unit: str, interval: Interval, most: int) -> list[date] | list[datetime] | None:
    """The start of every unit that begins within the interval; None where that is unknown or more than ``most``."""
    known = _seconds(kind, interval).known
    if known is None or known[0] < _FIRST or known[1] > _LAST:
        return None
    first, last = (_number(unit, end) for end in known)
    if last - first >= most:
        return None
    found = [_moment(_start(unit, number)) for number in range(first, last + 1) if _start(unit, number) >= known[0]]
    return [moment.date() for moment in found] if kind is DATE else found


def _seconds(kind: Type, interval: Interval) -> Interval:
    return interval * Interval.of(_DAY, _DAY) if kind is DATE else interval


def _from_seconds(kind: Type, interval: Interval) -> Interval:
    return interval * Interval.of(Fraction(1, _DAY), Fraction(1, _DAY)) if kind is DATE else interval


def _within(interval: Interval) -> Interval:
    known = interval.known
    return interval if known is not None and _FIRST <= known[0] <= known[1] <= _LAST else UNKNOWN


def _each(interval: Interval, of: Callable[[Fraction], Fraction]) -> Interval:
    known = _within(interval).known
    return UNKNOWN if known is None else Interval(of(known[0]), of(known[1]))


def _moment(seconds: Fraction) -> datetime:
    return datetime(1970, 1, 1) + timedelta(microseconds=math.floor(seconds * 10**6))


def _number(unit: str, seconds: Fraction) -> int:
    if unit in _SECONDS:
        return math.floor((seconds - _FIRST) / _SECONDS[unit])
    moment = _moment(seconds)
    return ((moment.year - 1) * 12 + moment.month - 1) // _MONTHS[unit]


def _start(unit: str, number: int) -> Fraction:
    if unit in _SECONDS:
        return _FIRST + number * _SECONDS[unit]
    years, months = divmod(number * _MONTHS[unit], 12)
    return epoch(datetime(years + 1, months + 1, 1))


def _moved_by_months(seconds: Fraction, months: int) -> Fraction | None:
    """The same day of another month, or the last one where that month is shorter; None outside the calendar."""
    moment = _moment(seconds)
    number = (moment.year - 1) * 12 + moment.month - 1 + months
    if not 0 <= number < 9999 * 12 - 1:
        return None
    first, after = _start("month", number), _start("month", number + 1)
    return min(first + (moment.day - 1) * _DAY, after - _DAY)
