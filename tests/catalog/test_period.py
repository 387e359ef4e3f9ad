"""Periods follow from the calendar alone: they cover every day once, and each has one name."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from itertools import islice, pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.catalog.period import MOST_PERIODS, Every, Period, TimeColumn
from discreet.errors import InvalidInput, PolicyError
from tests.thoroughness import many

DAY = timedelta(days=1)
days = st.dates(date(1, 1, 1), date(9998, 12, 31))
starts = st.dates(date(1000, 1, 5), date(4999, 1, 1))


def column(every: Every | str = Every.WEEK, first: date | str = date(2026, 1, 5), **more: Any) -> TimeColumn:
    return TimeColumn("admitted", every, first, **more)  # type: ignore[arg-type]  # what owners write is read


def beginning(every: Every, day: date, **more: Any) -> TimeColumn:
    return column(every, every.start(day), **more)


# The calendar -------------------------------------------------------------------------------------------------------


@given(st.sampled_from(Every), days)
@settings(max_examples=many(200, 2000), deadline=None)
def test_every_day_is_in_one_period_and_the_next_one_begins_where_it_ends(every: Every, day: date) -> None:
    growing = column(every, every.start(date(2026, 1, 5)))
    period = growing.period_of(day)
    assert period.start.date() <= day < period.end.date()
    assert {growing.period_of(one) for one in (period.start, period.end - DAY, period.end.date() - DAY)} == {period}
    if period.end.year < date.max.year:
        assert growing.after(period) == growing.period_of(period.end)
        assert growing.after(period).start == period.end


@given(st.sampled_from(Every), days, days)
@settings(max_examples=many(200, 2000), deadline=None)
def test_names_are_different_and_sort_as_the_periods_do(every: Every, one: date, other: date) -> None:
    growing = column(every, every.start(date(2026, 1, 5)))
    first, second = growing.period_of(one), growing.period_of(other)
    assert (first.name == second.name) == (first == second)
    assert (first.name < second.name) == (first.start < second.start)


@given(st.sampled_from(Every), starts, st.integers(0, 200))
@settings(max_examples=many(50, 500), deadline=None)
def test_a_name_finds_its_period_again(every: Every, day: date, steps: int) -> None:
    growing = beginning(every, day)
    period = growing.after(None)
    for _ in range(steps):
        period = growing.after(period)
    assert growing.named(period.name) == period
    assert [one.name for one in growing.through(period.name)][-1] == period.name


@pytest.mark.parametrize("every", Every)
def test_the_most_periods_that_there_may_be_end_before_the_calendar(every: Every) -> None:
    growing = beginning(every, date(4999, 12, 31))
    found = list(growing.through("none is called so"))
    assert len(found) == MOST_PERIODS
    assert all(one.end == other.start for one, other in pairwise(found))
    assert growing.due(found[-1]) > growing.due(found[-2])


@pytest.mark.parametrize(
    ("day", "name"),
    [
        (date(2024, 12, 29), "2024-W52"),
        (date(2024, 12, 30), "2025-W01"),
        (date(2026, 12, 31), "2026-W53"),
        (date(2027, 1, 3), "2026-W53"),
        (date(2027, 1, 4), "2027-W01"),
        (date(2021, 1, 1), "2020-W53"),
        (date(2023, 1, 1), "2022-W52"),
    ],
)
def test_weeks_are_those_of_iso_8601_at_the_ends_of_years(day: date, name: str) -> None:
    assert column().period_of(day).name == name


@pytest.mark.parametrize(
    ("every", "day", "name", "first", "length"),
    [
        (Every.DAY, date(2028, 2, 29), "2028-02-29", date(2028, 2, 29), 1),
        (Every.WEEK, date(2028, 2, 29), "2028-W09", date(2028, 2, 28), 7),
        (Every.MONTH, date(2028, 2, 29), "2028-02", date(2028, 2, 1), 29),
        (Every.MONTH, date(2100, 2, 28), "2100-02", date(2100, 2, 1), 28),
        (Every.QUARTER, date(2028, 2, 29), "2028-Q1", date(2028, 1, 1), 91),
        (Every.QUARTER, date(2026, 12, 31), "2026-Q4", date(2026, 10, 1), 92),
        (Every.YEAR, date(2028, 12, 31), "2028", date(2028, 1, 1), 366),
        (Every.YEAR, date(2026, 12, 31), "2026", date(2026, 1, 1), 365),
    ],
)
def test_lengths_are_those_of_the_calendar(every: Every, day: date, name: str, first: date, length: int) -> None:
    period = beginning(every, day).period_of(day)
    assert (period.name, period.start.date(), (period.end - period.start).days) == (name, first, length)


def test_a_moment_lies_in_the_period_of_its_day() -> None:
    assert column().period_of(datetime(2026, 2, 15, 23, 59, 59, 999_999)).name == "2026-W07"
    assert column().period_of(datetime(2026, 2, 16)).name == "2026-W08"


@pytest.mark.parametrize("every", Every)
@pytest.mark.parametrize("other", Every)
def test_within_is_what_a_hundred_years_of_periods_say(every: Every, other: Every) -> None:
    outer = beginning(other, date(1999, 1, 4))
    inner = islice(beginning(every, date(1999, 1, 4)).through(""), min(MOST_PERIODS, 400))
    lies = all(outer.period_of(one.start) == outer.period_of(one.end - DAY) for one in inner)
    assert every.is_within(other) is lies


# Closing ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("zone", "every", "name", "grace", "due"),
    [
        ("UTC", "week", "2026-W07", 0, datetime(2026, 2, 16)),
        ("Europe/Berlin", "week", "2026-W07", 0, datetime(2026, 2, 15, 23)),
        ("Europe/Berlin", "week", "2026-W13", 0, datetime(2026, 3, 29, 22)),  # the clock went forward that Sunday
        ("Europe/Berlin", "day", "2026-03-28", 0, datetime(2026, 3, 28, 23)),
        ("Europe/Berlin", "day", "2026-03-28", 1, datetime(2026, 3, 29, 22)),  # one day of grace has 23 hours
        ("Europe/Berlin", "day", "2026-10-24", 1, datetime(2026, 10, 25, 23)),  # and one has 25
        ("Africa/Cairo", "day", "2026-04-23", 0, datetime(2026, 4, 23, 22)),  # midnight itself is left out
        ("America/Havana", "day", "2026-10-31", 0, datetime(2026, 11, 1, 4)),  # midnight comes twice: the first
        ("America/New_York", "month", "2026-01", 3, datetime(2026, 2, 4, 5)),
        ("Pacific/Kiritimati", "year", "2026", 0, datetime(2026, 12, 31, 10)),
    ],
)
def test_a_period_is_due_at_midnight_of_its_zone(zone: str, every: str, name: str, grace: int, due: datetime) -> None:
    growing = beginning(Every.of(every), date(2026, 1, 5), zone=zone, grace=grace)
    assert growing.due(growing.named(name)) == due.replace(tzinfo=UTC)


@given(st.sampled_from(Every), starts, st.integers(0, 3660))
@settings(max_examples=many(50, 300), deadline=None)
@pytest.mark.parametrize("zone", ["UTC", "Europe/Berlin", "Pacific/Apia", "America/St_Johns"])
def test_periods_are_due_in_their_order_and_never_before_they_end(
    zone: str, every: Every, day: date, grace: int
) -> None:
    growing = beginning(every, day, zone=zone, grace=grace)
    found = list(islice(growing.through(""), 4))
    due = [growing.due(one) for one in found]
    assert all(one < other for one, other in pairwise(due))
    local = [abs(one.replace(tzinfo=None) - period.end - grace * DAY) for one, period in zip(due, found, strict=True)]
    assert max(local) <= DAY


# What owners write --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("grace", [3, "3", "3 days", "3 day", "03"])
def test_what_is_written_is_read(grace: object) -> None:
    stated = {"column": "admitted", "every": "week", "from": "2026-01-05", "zone": "Europe/Berlin", "grace": grace}
    assert TimeColumn.of(stated) == column(zone="Europe/Berlin", grace=3)
    assert TimeColumn.of(column()) == column()


WRONG = [
    ({"column": ""}, "must not be empty"),
    ({"column": 3}, "the time column"),
    ({"every": "fortnight"}, "a period is a day, week, month, quarter or year, got 'fortnight'"),
    ({"every": "Week"}, "did you mean 'week'?"),
    ({"every": None}, "a period is a day"),
    ({"every": ["week"]}, "a period is a day"),
    ({"from": "2026-01-06"}, "time must begin with a week, got '2026-01-06'; write 2026-01-05 or 2026-01-12"),
    ({"every": "year"}, "time must begin with a year, got '2026-01-05'; write 2026-01-01 or 2027-01-01"),
    ({"from": "2026-02-30"}, "from must be a day of the calendar"),
    ({"from": "20260105"}, "from must be a day of the calendar"),
    ({"from": "2026-W02-1"}, "from must be a day of the calendar"),
    ({"from": "2026-01-05\n"}, "from must be a day of the calendar"),
    ({"from": "٢٠٢٦-٠١-٠٥"}, "from must be a day of the calendar"),
    ({"from": 2026}, "from must be a day, got 2026"),
    ({"from": datetime(2026, 1, 5)}, "from must be a day"),
    ({"from": "0999-12-30"}, "from must lie between the years 1000 and 4999"),
    ({"from": "9999-12-27"}, "from must lie between the years 1000 and 4999"),
    ({"zone": "Europe/Nowhere"}, "zone must be the name of a time zone that this machine knows"),
    ({"zone": "../../etc/passwd"}, "zone must be the name"),
    ({"zone": "/etc/localtime"}, "zone must be the name"),
    ({"zone": "Europe"}, "zone must be the name"),
    ({"zone": ""}, "zone must be the name"),
    ({"zone": "a\0b"}, "zone must be the name"),
    ({"zone": "\ud800"}, "zone must be the name"),
    ({"zone": "x" * 5000}, "zone must be the name"),
    ({"zone": 3}, "zone must be the name"),
    ({"zone": None}, "zone must be the name"),
    ({"grace": -1}, "grace must be a number of days, got -1"),
    ({"grace": 3661}, "grace must be a number of days"),
    ({"grace": 10**30}, "grace must be a number of days"),
    ({"grace": 2.5}, "grace must be a number of days"),
    ({"grace": True}, "grace must be a number of days"),
    ({"grace": "3 weeks"}, "grace must be a number of days"),
    ({"grace": "3 days\n"}, "grace must be a number of days"),
    ({"grace": "٣ days"}, "grace must be a number of days"),
    ({"grace": None}, "grace must be a number of days"),
    ({"dela": 3}, "time has no such field, got 'dela'"),
    ({3: 3}, "time has no such field, got '3'"),
]


@pytest.mark.parametrize(("facts", "said"), WRONG, ids=str)
def test_what_cannot_be_meant_is_refused(facts: dict[Any, Any], said: str) -> None:
    with pytest.raises((InvalidInput, PolicyError)) as refused:
        TimeColumn.of({"column": "admitted", "every": "week", "from": "2026-01-05"} | facts)
    assert said in str(refused.value)


@pytest.mark.parametrize("field", ["column", "every", "from"])
def test_a_column_a_length_and_a_day_must_be_said(field: str) -> None:
    stated = {"column": "admitted", "every": "week", "from": "2026-01-05"}
    del stated[field]
    with pytest.raises(InvalidInput, match=f"time must have the field {field}"):
        TimeColumn.of(stated)


@pytest.mark.parametrize("stated", ["week", 7, ["admitted", "week"]])
def test_time_is_said_in_fields(stated: Any) -> None:
    with pytest.raises(InvalidInput, match="time must say a column, how long periods are, and from when"):
        TimeColumn.of(stated)


@pytest.mark.parametrize(
    "name", ["2026-W01", "2026-W54", "2026-w07", "2026-W7", "2026-02", " 2026-W07", "", "x" * 9999]
)
def test_a_name_that_no_period_has_is_refused_with_one_that_is(name: str) -> None:
    with pytest.raises(InvalidInput, match=r"a week from 2026-01-05 on must have this name.*2026-W02 is one"):
        column().named(name)


def test_a_day_at_the_end_of_the_calendar_is_in_no_period() -> None:
    with pytest.raises(InvalidInput, match="a period must end before the calendar does"):
        column().period_of(date.max)


def test_a_period_is_a_value() -> None:
    assert column().period_of(date(2026, 1, 7)) == Period("2026-W02", datetime(2026, 1, 5), datetime(2026, 1, 12))
