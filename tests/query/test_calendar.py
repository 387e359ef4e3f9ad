"""The calendar's bounds hold at single moments, where they have no room to be wrong."""

from __future__ import annotations

from datetime import date, datetime, timedelta

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlglot import exp

from discreet.catalog.column import ColumnType
from discreet.query.expressions.calendar import UNITS, epoch, floor_date, number_days, starts
from discreet.query.expressions.dates import date_part, difference, last_day, shift_date, truncate_date
from discreet.query.expressions.expression import Constant, Expression, Statement
from discreet.query.expressions.interval import Interval
from discreet.query.parse.dialect import DATE_PARTS, unit_named
from tests.thoroughness import many

DATE, TIMESTAMP = ColumnType.DATE, ColumnType.TIMESTAMP
NODE = exp.Null()
DATABASE = duckdb.connect(":memory:")
DAYS = st.dates(date(2, 1, 1), date(9998, 12, 31)) | st.sampled_from(
    [date(2020, 1, 31), date(2020, 2, 29), date(2021, 12, 31), date(1969, 12, 31), date(2021, 1, 3), date(2021, 1, 4)]
)
TIMES = st.datetimes(datetime(2, 1, 1), datetime(9998, 12, 31))
MOMENTS = DAYS | TIMES


def _constant(value: date | datetime) -> Constant:
    place = epoch(value)
    kind = TIMESTAMP if isinstance(value, datetime) else DATE
    return Constant(kind, Interval(place, place), False, value)


def _value(expression: Expression) -> object:
    statement = Statement()
    text = expression.write(statement)
    (found,) = DATABASE.execute(f"SELECT {text}", statement.parameters).fetchone() or (None,)
    return found


def _check(expression: Expression) -> None:
    found = _value(expression)
    known = expression.interval.known
    assert found is not None
    assert known is not None
    place = epoch(found) if isinstance(found, date) else found
    slack = 1e-5 if expression.type is ColumnType.REAL else 0  # a double holds seconds of far years to microseconds
    assert float(known[0]) - slack <= float(place) <= float(known[1]) + slack  # type: ignore[arg-type]


@settings(max_examples=many(40, 150), deadline=None)
@given(first=MOMENTS, last=MOMENTS, unit=st.sampled_from(UNITS), elapsed=st.booleans())
def test_a_difference_lies_within_its_bounds(first: date, last: date, unit: str, elapsed: bool) -> None:
    _check(difference(NODE, unit, _constant(last), _constant(first), elapsed=elapsed))


@settings(max_examples=many(40, 150), deadline=None)
@given(
    moment=MOMENTS,
    amount=st.integers(-400, 400),
    more=st.integers(0, 40),
    unit=st.sampled_from(UNITS),
    back=st.booleans(),
)
def test_a_moved_date_lies_within_its_bounds(moment: date, amount: int, more: int, unit: str, back: bool) -> None:
    exact = Constant.of(amount)
    range_of = Constant(ColumnType.INTEGER, Interval.of(amount - more, amount + more), False, amount)
    for number in (exact, range_of):
        moved = shift_date(NODE, _constant(moment), number, unit, backwards=back)
        if moved.interval.known is not None:  # else it may leave the calendar
            _check(moved)


@settings(max_examples=many(40, 100), deadline=None)
@given(moment=MOMENTS, unit=st.sampled_from(UNITS), part=st.sampled_from(sorted(DATE_PARTS)))
def test_parts_and_truncations_lie_within_their_bounds(moment: date, unit: str, part: str) -> None:
    given = _constant(moment)
    _check(date_part(NODE, part, given))
    _check(last_day(NODE, given))
    cut = truncate_date(NODE, unit, given)
    _check(cut)
    assert _value(cut) in (starts(cut.type, unit, cut.interval, 10) or [])


@settings(max_examples=60, deadline=None)
@given(first=TIMES, seconds=st.integers(0, 10**8), unit=st.sampled_from(UNITS))
def test_the_starts_of_a_range_are_all_there(first: datetime, seconds: int, unit: str) -> None:
    last = min(first + timedelta(seconds=seconds), datetime(9998, 12, 31))
    ends = Interval(epoch(first), max(epoch(last), epoch(first)))
    listed = starts(TIMESTAMP, unit, floor_date(TIMESTAMP, unit, ends), 2000)
    numbers = number_days(TIMESTAMP, unit, ends).known
    assert numbers is not None
    if listed is None:
        assert numbers[1] - numbers[0] >= 2000
    else:
        assert len(listed) == len(set(listed)) == numbers[1] - numbers[0] + 1


@pytest.mark.parametrize(("word", "unit"), [("DAY", "day"), ("months", "month"), ("MM", "month"), ("isoweek", "week")])
def test_units_are_known_in_several_spellings(word: str, unit: str) -> None:
    assert unit_named(word) == unit


def test_what_lies_outside_the_calendar_is_unknown() -> None:
    far = shift_date(NODE, _constant(date(9998, 5, 5)), Constant.of(10), "year")
    assert far.interval.known is None
    assert far.nullable
    assert starts(DATE, "day", Interval.of(-(10**9), 10**9), 10) is None
