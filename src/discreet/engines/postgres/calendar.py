"""Days and seconds since 1970: what is known about dates, and how far PostgreSQL's calendar agrees with others.

Tables hold the years 1 to 9999. What a statement moves further is still the same day everywhere, between 4000 before
our time and the year 200,000; but years before the first are counted and spelled differently.
"""

from __future__ import annotations

from datetime import date, datetime
from fractions import Fraction

from discreet.engines.translation.untranslatable import Untranslatable
from discreet.engines.translation.written import Ends, Kind, Written

__all__ = ["YEARS", "days_of", "in_reach", "in_seconds", "seconds_of", "within_years"]

_EPOCH = date(1970, 1, 1).toordinal()


def days_of(value: date) -> int:
    """Days since 1970."""
    return value.toordinal() - _EPOCH


def seconds_of(value: datetime) -> Fraction:
    """Seconds since 1970."""
    clock = value.hour * 3600 + value.minute * 60 + value.second
    return days_of(value) * 86_400 + clock + Fraction(value.microsecond, 10**6)


YEARS = {
    Kind.DATE: (Fraction(days_of(date.min)), Fraction(days_of(date.max))),
    Kind.TIMESTAMP: (seconds_of(datetime.min), seconds_of(datetime.max)),
}
"""The calendar of tables, in days or seconds."""
_FARTHEST = (-4000 * 365 - 1970 * 366, 200_000 * 365)


def in_seconds(value: Written) -> Ends:
    """The bounds of a date or timestamp, in seconds."""
    scale = 86_400 if value.kind is Kind.DATE else 1
    return (None if value.low is None else value.low * scale), (None if value.high is None else value.high * scale)


def within_years(value: Written) -> None:
    """Refuse what may lie outside the years 1 to 9999, where engines write dates differently."""
    first, last = YEARS[value.kind]
    if value.low is None or value.high is None or value.low < first or value.high > last:
        raise Untranslatable("dates that may lie outside the years 1 to 9999")


def in_reach(kind: Kind, ends: Ends) -> tuple[Fraction, Fraction]:
    """The bounds of what was moved; refused where PostgreSQL could run out of calendar before others do."""
    scale = 1 if kind is Kind.DATE else 86_400
    low, high = ends
    if low is None or high is None or low < _FARTHEST[0] * scale or high > _FARTHEST[1] * scale:
        raise Untranslatable("dates moved further than some thousand years")
    return low, high
