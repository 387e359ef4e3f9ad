"""Where DuckDB's calendars end: outside of them is nothing, and Spark's go on, turn around, or raise.

Dates are counted in 32 bits, of which DuckDB keeps the first two numbers and the last for itself. Timestamps are
counted in 64 bits of microseconds, from the first whole day on; the last of them stands for infinity. A number is held
between two ends by moving it until what lies outside no longer fits, and back: so its expression is written once, and
those that hold others in turn stay short.
"""

from __future__ import annotations

__all__ = ["DAY", "date_with_time", "date_with_week", "date_within", "day_within", "last_of_month", "moment_within"]

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
