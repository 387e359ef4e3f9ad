"""Intervals, masks, taxonomies, dates and ordered groups."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.anonymize.hierarchies.builders import dates, masked, ordered, taxonomy, taxonomy_of_parents
from discreet.anonymize.hierarchies.hierarchy import Hierarchy
from discreet.anonymize.hierarchies.intervals import intervals
from discreet.anonymize.table import CodedColumn
from discreet.errors import InvalidType, InvalidValue
from tests.thoroughness import many


def written(hierarchy: Hierarchy, level: int) -> dict[Any, str]:
    """How every value is written at a level."""
    return dict(zip(hierarchy.values, hierarchy.written(level), strict=True))


# Intervals --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (25, "[25, 30)"),
        (24, "[20, 25)"),
        (20, "[20, 25)"),
        (0, "[0, 5)"),
        (-1, "[-5, 0)"),
        (10**6, "[1000000, 1000005)"),
    ],
)
def test_an_interval_holds_its_lower_end_and_not_its_upper_one(value: int, expected: str) -> None:
    assert written(intervals([value], [5]), 1) == {value: expected}


@pytest.mark.parametrize(("value", "expected"), [(0.3, "[0.3, 0.4)"), (0.1 + 0.2, "[0.3, 0.4)"), (0.29, "[0.2, 0.3)")])
def test_fractions_are_taken_as_they_are_written(value: float, expected: str) -> None:
    assert written(intervals([value], [0.1]), 1) == {value: expected}


def test_intervals_of_exact_numbers_from_an_origin() -> None:
    found = intervals([Decimal("1.5"), Fraction(7, 2), 4], [2], origin=1)
    assert list(written(found, 1).values()) == ["[1, 3)", "[3, 5)", "[3, 5)"]


@settings(deadline=None, max_examples=many(80, 200))
@given(
    values=st.lists(st.integers(-100, 100), min_size=1, unique=True),
    width=st.integers(1, 40),
    origin=st.integers(-50, 50),
    ends=st.tuples(st.none() | st.integers(-90, -1), st.none() | st.integers(0, 90)),
)
def test_every_number_lies_in_the_interval_it_is_given(
    values: list[int], width: int, origin: int, ends: tuple[int | None, int | None]
) -> None:
    bottom, top = ends
    found = intervals(values, [width, 2 * width], origin=origin, bottom=bottom, top=top)
    for level in (1, 2):
        for value, label in written(found, level).items():
            if label.startswith("<"):
                assert label == f"<{bottom}"
                assert value < bottom
            elif label.startswith("≥"):
                assert label == f"≥{top}"
                assert value >= top
            else:
                low, high = map(int, label[1:-1].split(", "))
                assert low <= value < high
                assert high - low <= level * width
    assert found.labels[3] == ("*",)


def test_edges_code_what_lies_beyond_them_so_that_no_number_is_lost() -> None:
    found = intervals([-5, 0, 17, 18, 64, 65, 100, 120], [[0, 18, 65, 100]])
    assert list(written(found, 1).values()) == [
        "<0", "[0, 18)", "[0, 18)", "[18, 65)", "[18, 65)", "[65, 100)", "≥100", "≥100",
    ]  # fmt: skip


def test_ends_cut_intervals_short() -> None:
    found = intervals(range(20, 60), [20], bottom=30, top=50)
    assert found.labels[1] == ("<30", "[30, 40)", "[40, 50)", "≥50")
    inside = intervals(range(20, 60), [[0, 30, 100]], bottom=25, top=50)
    assert inside.labels[1] == ("<25", "[25, 30)", "[30, 50)", "≥50")


def test_widths_that_cross_are_refused() -> None:
    with pytest.raises(InvalidValue, match="must stay together"):
        intervals(range(12), [2, 3])


@pytest.mark.parametrize(
    ("make", "problem"),
    [
        (lambda: intervals([1], [0]), "width of intervals must be positive"),
        (lambda: intervals([1], [-2]), "width of intervals must be positive"),
        (lambda: intervals([1], [[3, 2]]), "edges of intervals must increase"),
        (lambda: intervals([1], [[]]), "edges of intervals must increase"),
        (lambda: intervals([1], [5], bottom=3, top=3), "bottom must be below the top"),
        (lambda: intervals(["1"], [5]), "must be made of numbers, got '1'"),
        (lambda: intervals([True], [5]), "must be made of numbers, got True"),
        (lambda: intervals([float("inf")], [5]), "needs a bottom or a top"),
        (lambda: intervals([1], [float("inf")]), "must be finite"),
    ],
)
def test_intervals_without_a_meaning_are_refused(make: Callable[[], Hierarchy], problem: str) -> None:
    with pytest.raises((InvalidValue, InvalidType), match=problem):
        make()


def test_infinite_numbers_fall_into_open_ends() -> None:
    infinity = float("inf")
    found = intervals([-infinity, 1.0, infinity], [5], bottom=0, top=10)
    assert list(written(found, 1).values()) == ["<0", "[0, 5)", "≥10"]


# Masks ------------------------------------------------------------------------------------------------------------


def test_suffixes_are_hidden_one_character_at_a_time() -> None:
    found = masked(["13053", "13068", "14850"])
    assert [written(found, level)["13053"] for level in range(6)] == ["13053", "1305*", "130**", "13***", "1****", "*"]


def test_prefixes_are_hidden_from_the_start() -> None:
    found = masked(["13053", "14853"], side="prefix")
    assert found.labels[3:] == (("***53",), ("****3",), ("*",))


def test_numbers_and_short_values_are_masked_as_they_are_written() -> None:
    found = masked([130, 13053, 1])
    assert written(found, 2) == {130: "130**", 13053: "130**", 1: "1**"}


def test_some_levels_alone() -> None:
    assert masked(["47677", "47602"], hidden=[2]).labels == (("47677", "47602"), ("476**",), ("*",))


@settings(deadline=None, max_examples=many(40, 100))
@given(values=st.lists(st.text("ab1*", max_size=5), unique=True), side=st.sampled_from(["suffix", "prefix"]))
def test_masks_of_any_text_are_hierarchies_that_end_in_one_group(values: list[str], side: Any) -> None:
    found = masked(values, side=side)
    assert found.labels[-1] == (("*",) if values else ())


@pytest.mark.parametrize("hidden", [[0], [2, 2], [3, 2], [6]])
def test_masks_that_do_not_grow_are_refused(hidden: list[int]) -> None:
    with pytest.raises(InvalidValue, match="must grow from level to level, from 1 to at most 5"):
        masked(["13053"], hidden=hidden)


def test_a_mask_on_no_side_is_refused() -> None:
    with pytest.raises(InvalidValue, match="a suffix or a prefix"):
        masked(["13053"], side="middle")  # type: ignore[arg-type]


# Taxonomies -------------------------------------------------------------------------------------------------------

TREE = {"Medical": {"Doctor": ["Surgeon", "GP"], "Nurse": None}, "Office": ["Clerk"]}
PARENTS = {
    "Surgeon": "Doctor", "GP": "Doctor", "Doctor": "Medical", "Nurse": "Medical", "Clerk": "Office",
}  # fmt: skip


@pytest.mark.parametrize("found", [taxonomy(TREE), taxonomy_of_parents(PARENTS)], ids=["nested", "parents"])
def test_both_ways_of_writing_a_taxonomy_agree(found: Hierarchy) -> None:
    assert found.values == ("Surgeon", "GP", "Nurse", "Clerk")
    assert [list(written(found, level).values()) for level in (1, 2, 3)] == [
        ["Doctor", "Doctor", "Nurse", "Clerk"],
        ["Medical", "Medical", "Medical", "Office"],
        ["*", "*", "*", "*"],
    ]


def test_a_root_of_its_own_is_kept() -> None:
    assert taxonomy({"Any": {"A": ["a"], "B": ["b"]}}).labels[-1] == ("Any",)
    assert taxonomy_of_parents({"a": "Any", "b": "Any"}).labels[-1] == ("Any",)


def test_values_of_a_taxonomy_may_be_numbers() -> None:
    assert taxonomy({"odd": [1, 3], "even": [2]}).coded(CodedColumn.of("n", [1, 2, 3]))[1].tolist() == [0, 1, 0]


@pytest.mark.parametrize(
    ("make", "problem"),
    [
        (lambda: taxonomy({"A": ["x"], "B": ["x", "y"]}), "must occur once; 'x'"),
        (lambda: taxonomy({"A": "x"}), "must be a dict or a list, got 'x'"),
        (lambda: taxonomy({"A": {"G": ["x"]}, "B": {"G": ["y"]}}), "'G' is split"),
        (lambda: taxonomy_of_parents({"a": "b", "b": "c", "c": "b"}), "must not run in a circle"),
        (lambda: taxonomy_of_parents({"a": "b", "b": "a"}), "must end in values"),
        (lambda: taxonomy_of_parents({}), "must end in values"),
        (lambda: taxonomy({}), "must end in values"),
    ],
)
def test_trees_that_are_none_are_refused(make: Callable[[], Hierarchy], problem: str) -> None:
    with pytest.raises((InvalidValue, InvalidType), match=problem):
        make()


# Dates ------------------------------------------------------------------------------------------------------------


def test_dates_go_from_days_to_decades() -> None:
    days = [dt.date(1984, 3, 9), dt.date(1984, 3, 31), dt.date(1989, 12, 31), dt.date(1990, 1, 1)]
    found = dates(days)
    assert [list(written(found, level).values()) for level in range(5)] == [
        ["1984-03-09", "1984-03-31", "1989-12-31", "1990-01-01"],
        ["1984-03", "1984-03", "1989-12", "1990-01"],
        ["1984", "1984", "1989", "1990"],
        ["1980s", "1980s", "1980s", "1990s"],
        ["*"] * 4,
    ]


def test_times_go_by_day_first_and_levels_can_be_chosen() -> None:
    times = [dt.datetime(2020, 2, 1, 10), dt.datetime(2020, 2, 1, 11), dt.datetime(2020, 5, 1)]
    assert dates(times).labels[1] == ("2020-02-01", "2020-05-01")
    assert dates(times, ["quarter", "year"]).labels[1:] == (("2020-Q1", "2020-Q2"), ("2020",), ("*",))


def test_dates_that_are_none_and_levels_nobody_knows_are_refused() -> None:
    with pytest.raises(InvalidType, match="must be made of dates, got '2020-01-01'"):
        dates(["2020-01-01"])
    with pytest.raises(InvalidValue, match="'moth'; did you mean 'month'"):
        dates([dt.date(2020, 1, 1)], ["moth"])
    with pytest.raises(InvalidValue, match="must stay together"):
        dates([dt.date(2020, 1, 1), dt.date(2020, 2, 1)], ["year", "month"])


# Ordered groups ---------------------------------------------------------------------------------------------------


def test_neighbours_are_grouped_in_the_order_given() -> None:
    found = ordered(["none", "low", "middle", "high", "extreme"], [2, 4])
    assert found.labels[1:] == (("none – low", "middle – high", "extreme"), ("none – high", "extreme"), ("*",))


def test_groups_of_chosen_sizes() -> None:
    assert ordered([1, 2, 3, 4, 5], [[1, 3, 1]]).labels[1] == ("1", "2 – 4", "5")


@pytest.mark.parametrize(
    ("sizes", "problem"), [([0], "at least one value, got 0"), ([[2, 0]], "at least one"), ([[2, 2]], "sum to the 3")]
)
def test_groups_that_do_not_fit_are_refused(sizes: Any, problem: str) -> None:
    with pytest.raises(InvalidValue, match=problem):
        ordered([1, 2, 3], sizes)


# What all of them share -------------------------------------------------------------------------------------------

BUILDERS: list[Callable[[Any], Hierarchy]] = [
    lambda values: intervals(values, [5]),
    masked,
    lambda values: ordered(values, [2]),
]


@pytest.mark.parametrize("build", BUILDERS)
def test_a_missing_value_gets_a_leaf_of_its_own(build: Callable[[Any], Hierarchy]) -> None:
    found = build([11, None, 12])
    assert found.values == (11, 12, None)
    assert written(found, 1)[None] == "(missing)"
    assert dates([dt.date(2020, 1, 1), None]).values[-1] is None


@pytest.mark.parametrize("build", BUILDERS)
def test_values_may_come_from_columns_and_arrays(build: Callable[[Any], Hierarchy]) -> None:
    expected = build([1, 2, None]).labels
    column = [1, 2, 2, None]
    for values in (CodedColumn.of("c", column), pa.array(column), pd.Series(column), np.array([1, 2, np.nan])):
        assert build(values).labels == expected


@pytest.mark.parametrize("build", [*BUILDERS, dates])
def test_no_values_make_an_empty_hierarchy(build: Callable[[Any], Hierarchy]) -> None:
    assert build([]).values == ()


@pytest.mark.parametrize("build", [*BUILDERS, dates])
def test_a_column_of_missing_cells_has_a_hierarchy(build: Callable[[Any], Hierarchy]) -> None:
    column = CodedColumn.of("c", [None, None])
    assert build(column).coded(column)[:, 0].tolist() == [0] * len(build(column).levels)
