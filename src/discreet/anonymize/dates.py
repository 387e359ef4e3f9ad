"""Hierarchies of dates: the day, the month, the year, the decade.

>>> from datetime import date
>>> born = dates([date(1984, 3, 9), date(1984, 5, 1), date(1991, 5, 1)])
>>> born.labels[1:]
(('1984-03', '1984-05', '1991-05'), ('1984', '1991'), ('1980s', '1990s'), ('*',))
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date, datetime

from discreet.anonymize.domain import Values, completed, present_values
from discreet.anonymize.hierarchy import SUPPRESSED, Hierarchy
from discreet.catalog.suggestion import suggestion
from discreet.errors import InvalidType, InvalidValue

__all__ = ["dates"]

_WRITTEN: dict[str, Callable[[date], str]] = {
    "day": lambda day: f"{day.year:04}-{day.month:02}-{day.day:02}",
    "month": lambda day: f"{day.year:04}-{day.month:02}",
    "quarter": lambda day: f"{day.year:04}-Q{(day.month + 2) // 3}",
    "year": lambda day: f"{day.year:04}",
    "decade": lambda day: f"{day.year // 10:03}0s",
}


def dates(values: Values, levels: Sequence[str] | None = None) -> Hierarchy:
    """The hierarchy of dates, or of dates with a time, with ``*`` on top.

    The levels may be ``day``, ``month``, ``quarter``, ``year`` and ``decade``; by default dates go by month, year and
    decade, and dates with a time by day before that.
    """
    present, has_missing = present_values(values)
    for value in present:
        if not isinstance(value, date):
            raise InvalidType("a hierarchy of dates must be made of dates", value, "read them as dates first")
    timed = any(isinstance(value, datetime) for value in present)
    chosen = levels if levels is not None else [*(["day"] if timed else []), "month", "year", "decade"]
    written = [_level(present, name) for name in chosen]
    return completed(Hierarchy.of(present, [*written, [SUPPRESSED] * len(present)]), has_missing)


def _level(days: Sequence[date], name: str) -> list[str]:
    if name not in _WRITTEN:
        raise InvalidValue("a level of dates must be known", name, suggestion(name, _WRITTEN))
    return [_WRITTEN[name](day) for day in days]
