"""Axes: every value has its place, ticks are round and inside, and no range is too short or too long."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import InvalidValue
from discreet.reports.charts import ChartScale

LARGE = st.floats(-1e100, 1e100, allow_nan=False)
POSITIVE = st.floats(1e-100, 1e100, allow_nan=False)


@given(st.lists(LARGE, min_size=1, max_size=6))
def test_every_value_has_a_place_in_the_room(values: list[float]) -> None:
    axis = ChartScale.of(values, (50, 380))
    assert all(50 - 1e-6 <= axis.place(value) <= 380 + 1e-6 for value in values)


@given(st.lists(POSITIVE, min_size=1, max_size=6))
def test_every_positive_value_has_a_place_on_a_logarithmic_axis(values: list[float]) -> None:
    axis = ChartScale.of(values, (50, 380), log=True)
    assert all(50 - 1e-6 <= axis.place(value) <= 380 + 1e-6 for value in values)


@given(st.lists(LARGE, min_size=1, max_size=6))
def test_ticks_are_few_inside_and_told_apart(values: list[float]) -> None:
    ticks = ChartScale.of(values, (0, 100)).ticks()
    assert 2 <= len(ticks) <= 8
    assert all(-1e-3 <= place <= 100 + 1e-3 for place, _ in ticks)
    assert [place for place, _ in ticks] == sorted(place for place, _ in ticks)


@given(st.lists(POSITIVE, min_size=1, max_size=6))
def test_logarithmic_ticks_are_few_and_inside(values: list[float]) -> None:
    ticks = ChartScale.of(values, (0, 100), log=True).ticks()
    assert 2 <= len(ticks) <= 8
    assert all(-1e-3 <= place <= 100 + 1e-3 for place, _ in ticks)


@given(st.floats(-1e5, 1e5), st.floats(1e-3, 1e5))
def test_a_tick_stands_where_its_words_say(start: float, length: float) -> None:
    axis = ChartScale.of([start, start + length], (0, 100))
    for place, words in axis.ticks():
        if "e" not in words:  # those are rounded to four digits
            assert math.isclose(axis.place(float(words.replace(",", ""))), place, abs_tol=1e-3)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ([0, 1], ["0", "0.2", "0.4", "0.6", "0.8", "1.0"]),
        ([-2, 3], ["-2", "-1", "0", "1", "2", "3"]),
        ([0, 12_000], ["0", "2,000", "4,000", "6,000", "8,000", "10,000", "12,000"]),
        ([0, 0], ["-1.0", "-0.5", "0", "0.5", "1.0"]),
        ([5, 5], ["3", "4", "5", "6", "7"]),
        ([0, 3e6], ["0", "500,000", "1e+06", "1.5e+06", "2e+06", "2.5e+06", "3e+06"]),
    ],
)
def test_ticks_read_well(values: list[float], words: list[str]) -> None:
    assert [label for _, label in ChartScale.of(values, (0, 1)).ticks()] == words


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ([0.01, 10], ["0.01", "0.1", "1", "10"]),
        ([3, 3], ["2", "5"]),
        ([6, 9], ["6.0", "6.5", "7.0", "7.5", "8.0", "8.5", "9.0"]),
        ([1, 100], ["1", "2", "5", "10", "20", "50", "100"]),
    ],
)
def test_logarithmic_ticks_read_well(values: list[float], words: list[str]) -> None:
    assert [label for _, label in ChartScale.of(values, (0, 1), log=True).ticks()] == words


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, 1e101])
def test_what_has_no_place_is_refused(value: float) -> None:
    with pytest.raises(InvalidValue, match="finite"):
        ChartScale.of([0, value], (0, 1))


@pytest.mark.parametrize("value", [0, -1, 1e-101])
def test_a_logarithm_needs_a_positive_number(value: float) -> None:
    with pytest.raises(InvalidValue, match="positive"):
        ChartScale.of([1, value], (0, 1), log=True)
