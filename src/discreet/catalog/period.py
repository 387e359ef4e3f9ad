"""Periods: the days, weeks, months, quarters or years into which a table grows.

A period has a public name and a half-open interval of the time column's own clock. Each follows from the calendar
alone, so that no row decides which periods there are. Weeks begin on Monday and are named as ISO 8601 does.

>>> weekly = TimeColumn("admitted", Every.WEEK, date(2026, 1, 5))
>>> week = weekly.period_of(date(2026, 2, 11))
>>> week.name, week.start.date(), week.end.date()
('2026-W07', datetime.date(2026, 2, 9), datetime.date(2026, 2, 16))
>>> weekly.named("2026-W07") == week, weekly.after(week).name
(True, '2026-W08')
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, tzinfo
from enum import Enum
from typing import Any
from zoneinfo import ZoneInfo

from discreet.catalog.names import check_name, suggestion
from discreet.catalog.problems import Complaints
from discreet.errors import InvalidType, InvalidValue

__all__ = ["MOST_PERIODS", "Every", "Period", "TimeColumn"]


MOST_PERIODS = 4096
"""How many periods a table may have."""
_DAY = timedelta(days=1)
_LONGEST_GRACE = 3660
_FORM = 'write {"column": "admitted", "every": "week", "from": "2026-01-05"}'
_GRACE = re.compile(r"(\d{1,4})(?: (?:day|days))?", re.ASCII)
_DAY_FORM = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
_FIRST_DAYS = (date(1000, 1, 1), date(4999, 12, 31))
"""Between these a table begins: its last period, were it a year, still ends before the calendar does."""


class Every(Enum):
    """How long a period is."""

    DAY = "day"
    WEEK = "week"
    MONTH = "month"
    QUARTER = "quarter"
    YEAR = "year"

    @classmethod
    def of(cls, stated: Every | str) -> Every:
        """The length that somebody wrote down."""
        known = [one.value for one in cls]
        if isinstance(stated, cls):
            return stated
        if stated in known:
            return cls(stated)
        raise InvalidValue("a period is a day, week, month, quarter or year", stated, suggestion(str(stated), known))

    def start(self, day: date) -> date:
        """The first day of the period that a day is in."""
        if self is Every.WEEK:
            return day - timedelta(days=day.weekday())
        months = {Every.MONTH: 1, Every.QUARTER: 3, Every.YEAR: 12}.get(self)
        return day if months is None else date(day.year, (day.month - 1) // months * months + 1, 1)

    def next(self, first: date) -> date:
        """The first day of the period after the one that begins on a day."""
        longest = {Every.DAY: 1, Every.WEEK: 7, Every.MONTH: 31, Every.QUARTER: 92, Every.YEAR: 366}[self]
        return self.start(first + timedelta(days=longest))

    def name_period(self, first: date) -> str:
        """What the period is called that begins on a day.

        >>> [one.name_period(one.start(date(2026, 5, 20))) for one in Every]
        ['2026-05-20', '2026-W21', '2026-05', '2026-Q2', '2026']
        """
        if self is Every.WEEK:
            year, week, _ = first.isocalendar()
            return f"{year:04d}-W{week:02d}"
        if self is Every.QUARTER:
            return f"{first.year:04d}-Q{(first.month + 2) // 3}"
        return first.isoformat()[: {Every.DAY: 10, Every.MONTH: 7, Every.YEAR: 4}[self]]

    def is_within(self, other: Every) -> bool:
        """Whether each of these lies in one of the others: a day in a week, a month in a quarter, no week in a month.

        >>> Every.DAY.is_within(Every.WEEK), Every.WEEK.is_within(Every.MONTH), Every.MONTH.is_within(Every.YEAR)
        (True, False, True)
        """
        inside = {Every.DAY: list(Every), Every.WEEK: [Every.WEEK]}
        return other in inside.get(self, list(Every)[list(Every).index(self) :])


@dataclass(frozen=True)
class Period:
    """One period of a table."""

    name: str
    """As people call it."""
    start: datetime
    """When it begins, on the clock of the time column."""
    end: datetime
    """When the next one begins."""


@dataclass(frozen=True)
class TimeColumn:
    """How a table grows: its time column, the length of its periods, and when they close."""

    column: str
    """The column that says which period a row belongs to: a date or a timestamp."""
    every: Every
    """How long a period is."""
    first: date
    """The day on which the first period begins."""
    zone: str = "UTC"
    """The time zone by which periods are due to close. Values of the column are compared as they are stored."""
    grace: int = 0
    """How many days after its end a period is due."""

    def __post_init__(self) -> None:
        found = Complaints()
        found.checked(("column",), check_name, self.column, "the time column")
        every = found.checked(("every",), Every.of, self.every)
        first = found.checked(("from",), _read_day, self.first)
        found.checked(("zone",), _read_zone, self.zone)
        grace = found.checked(("grace",), _read_grace, self.grace)
        if every is not None and first is not None and every.start(first) != first:
            rule, value = f"time must begin with a {every.value}", first.isoformat()
            found.say(("from",), rule, value, f"write {every.start(first)} or {every.next(every.start(first))}")
        found.refuse_any()
        read: tuple[tuple[str, object], ...] = (("every", every), ("first", first), ("grace", grace))
        for field, fact in read:
            object.__setattr__(self, field, fact)

    @classmethod
    def of(cls, stated: TimeColumn | Mapping[str, Any]) -> TimeColumn:
        """The time column that somebody wrote down: its fields, or a `TimeColumn`."""
        if isinstance(stated, TimeColumn):
            return stated
        if not isinstance(stated, Mapping):
            raise InvalidType("time must say a column, how long periods are, and from when", stated, _FORM)
        known = ("column", "every", "from", "zone", "grace")
        for name in stated:
            if name not in known:
                raise InvalidValue("time has no such field", str(name), suggestion(str(name), known))
        for name in known[:3]:
            if name not in stated:
                raise InvalidValue(f"time must have the field {name}", dict(stated), _FORM)
        return cls(**{("first" if name == "from" else name): value for name, value in stated.items()})

    def period_of(self, value: date) -> Period:
        """The period that a day, or a moment, lies in; in the last year of the calendar there is none."""
        return self._beginning(self.every.start(value.date() if isinstance(value, datetime) else value))

    def after(self, period: Period | None) -> Period:
        """The period after this one; the first of all after none."""
        return self._beginning(self.first if period is None else period.end.date())

    def named(self, name: str) -> Period:
        """The period of this name; refused where there is none."""
        for one in self.through(name):
            if one.name == name:
                return one
        example = self._beginning(self.first).name
        raise InvalidValue(f"a {self.every.value} from {self.first} on must have this name", name, f"{example} is one")

    def through(self, name: str) -> Iterator[Period]:
        """The periods up to the one of this name, in order; as many as there may be where none is called so."""
        one = None
        for _ in range(MOST_PERIODS):
            one = self.after(one)
            yield one
            if one.name == name:
                return

    def due(self, period: Period) -> datetime:
        """When the calendar closes a period: in UTC, by the zone and the days of grace."""
        local = (period.end + self.grace * _DAY).replace(tzinfo=_zone(self.zone))
        return local.astimezone(UTC)

    def _beginning(self, first: date) -> Period:
        if first.year == date.max.year:
            raise InvalidValue("a period must end before the calendar does, in the year 9999", first.isoformat())
        midnight = datetime.min.time()
        start, end = (datetime.combine(day, midnight) for day in (first, self.every.next(first)))
        return Period(self.every.name_period(first), start, end)


def _read_day(stated: date | str) -> date:
    day = _spelled_day(stated) if isinstance(stated, str) else stated
    if isinstance(day, datetime) or not isinstance(day, date):
        raise InvalidType("from must be a day", stated, "write 2026-01-05")
    if not _FIRST_DAYS[0] <= day <= _FIRST_DAYS[1]:
        raise InvalidValue("from must lie between the years 1000 and 4999", day.isoformat(), "write 2026-01-05")
    return day


def _spelled_day(stated: str) -> date:
    try:
        if _DAY_FORM.fullmatch(stated):
            return date.fromisoformat(stated)
    except ValueError:
        pass
    raise InvalidValue("from must be a day of the calendar", stated, "write 2026-01-05")


def _read_zone(stated: str) -> str:
    try:
        _zone(stated)
    except (ValueError, OSError, TypeError, KeyError):
        remedy = "write Europe/Berlin, or UTC"
        raise InvalidValue("zone must be the name of a time zone that this machine knows", stated, remedy) from None
    return stated


def _zone(name: str) -> tzinfo:
    return UTC if name == "UTC" else ZoneInfo(name)


def _read_grace(stated: int | str) -> int:
    known = _GRACE.fullmatch(str(stated))
    if isinstance(stated, bool) or known is None or int(known[1]) > _LONGEST_GRACE:
        raise InvalidValue("grace must be a number of days", stated, 'write 3, or "3 days"')
    return int(known[1])
