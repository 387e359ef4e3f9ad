"""The distances of t-closeness on the vectors that the literature prints, and where they must coincide."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.anonymize.equivalence_classes import EquivalenceClasses
from discreet.anonymize.hierarchies.builders import taxonomy
from discreet.anonymize.hierarchies.hierarchy import Hierarchy
from discreet.anonymize.models.t_closeness import Closeness
from discreet.anonymize.table import CodedTable
from discreet.errors import InvalidType, InvalidValue
from tests.anonymize import reference
from tests.anonymize.test_hierarchy import random_hierarchies
from tests.thoroughness import many


def classes_of(values: list[int]) -> st.SearchStrategy[list[list[int]]]:
    return st.lists(st.lists(st.sampled_from(values), min_size=1, max_size=6), min_size=1, max_size=5)


def distances(classes: list[list[Any]], distance: str | Hierarchy) -> list[float]:
    numbers = [number for number, values in enumerate(classes) for _ in values]
    table = CodedTable.of(pa.table({"q": numbers, "s": [value for values in classes for value in values]}))
    grouped = EquivalenceClasses.of([table["q"].codes])
    return Closeness("s", 0, distance).met(grouped, {"s": grouped.histogram(table["s"])}).tolist()


@pytest.mark.parametrize("distance", ["ordered", "numeric"])
def test_salaries_of_the_paper(distance: str) -> None:
    assert distances([[3, 4, 5], [6, 8, 11], [7, 9, 10]], distance) == pytest.approx([0.375, 1 / 6, 17 / 72])
    assert distances([[3, 5, 9], [6, 8, 11], [4, 7, 10]], distance) == pytest.approx([1 / 6, 1 / 6, 1 / 12])


def test_diseases_of_the_paper_by_hierarchy() -> None:
    # The tree of Li, Li and Venkatasubramanian: respiratory infections, vascular lung, stomach and colon diseases.
    tree = taxonomy(
        {
            "respiratory & digestive": {
                "respiratory": {
                    "infection": ["flu", "pneumonia", "bronchitis"],
                    "vascular": ["pulmonary edema", "pulmonary embolism"],
                },
                "digestive": {
                    "stomach": ["gastric ulcer", "stomach cancer", "gastritis"],
                    "colon": ["colitis", "colon cancer"],
                },
            }
        }
    )
    classes = [
        ["gastric ulcer", "gastritis", "stomach cancer"],
        ["gastritis", "flu", "bronchitis"],
        ["bronchitis", "pneumonia", "stomach cancer"],
    ]
    # Worked by hand. In the table ulcer, flu and pneumonia have 1/9, gastritis, bronchitis and cancer 2/9. The first
    # class has 4/9 too much in the stomach, all of which goes to infections; they meet at the top, where it costs 1.
    first, second, third = distances(classes, tree)
    assert first == pytest.approx(4 / 9)
    # Second: flu +2/9, bronchitis +1/9, pneumonia -1/9: 1/9 moves among infections, at height 1 of 3. Gastritis +1/9,
    # ulcer -1/9, cancer -2/9: 1/9 moves within the stomach. The rest, 2/9, moves at the top.
    assert second == pytest.approx(1 / 9 / 3 + 1 / 9 / 3 + 2 / 9)
    assert third == pytest.approx(1 / 9 / 3 + 1 / 9 / 3 + 2 / 9)


def test_ranks_ignore_how_far_numbers_are_apart_and_numbers_do_not() -> None:
    near, far = [[1, 1], [1, 2], [3, 3]], [[1, 1], [1, 2], [10**6, 10**6]]
    assert distances(near, "ordered") == distances(far, "ordered")
    assert distances(near, "numeric") == pytest.approx(distances(near, "ordered"))
    assert distances(far, "numeric")[2] > distances(far, "ordered")[2] + 0.05


def test_a_given_order_ranks_values_that_do_not_sort_by_rank() -> None:
    classes = [["3K", "4K", "5K"], ["6K", "8K", "11K"], ["7K", "9K", "10K"]]
    order = tuple(f"{pay}K" for pay in range(3, 12))
    assert distances(classes, order) == pytest.approx([0.375, 1 / 6, 17 / 72])
    assert distances(classes, "ordered")[0] != pytest.approx(0.375)
    assert distances([["low", None], ["low", "low"]], ("low", "high")) == pytest.approx([0.25, 0.25])
    with pytest.raises(InvalidValue, match=r"the order of 's' must hold every value of the column, got \['11K'\]"):
        distances(classes, order[:-1])
    with pytest.raises(InvalidValue, match="every value must occur once; '3K'"):
        distances(classes, ("3K", *order))


@settings(deadline=None, max_examples=many(20, 60))
@given(
    classes=st.lists(st.lists(st.sampled_from([1, 2, 5, 9]), min_size=1), min_size=1),
    order=st.permutations([1, 2, 5, 9]),
)
def test_an_order_is_the_order_of_the_values_renamed_by_rank(classes: list[list[int]], order: list[int]) -> None:
    steps = [[float(order.index(value)) for value in values] for values in classes]
    assert distances(classes, tuple(order)) == pytest.approx(distances(steps, (0.0, 1.0, 2.0, 3.0)))


@settings(deadline=None, max_examples=many(20, 60))
@given(classes=classes_of([1, 2, 5, 9]))
def test_a_tree_of_one_level_is_the_equal_distance(classes: list[list[int]]) -> None:
    assert distances(classes, Hierarchy.suppressing([1, 2, 5, 9])) == pytest.approx(distances(classes, "equal"))


@settings(deadline=None, max_examples=many(20, 60))
@given(classes=classes_of([0, 1]))
def test_all_distances_coincide_for_two_values(classes: list[list[int]]) -> None:
    expected = pytest.approx(distances(classes, "equal"))
    for distance in ("ordered", "numeric", Hierarchy.suppressing([0, 1])):
        assert distances(classes, distance) == expected


@settings(deadline=None, max_examples=many(20, 60))
@given(tree=random_hierarchies(), data=st.data())
def test_the_distance_in_any_tree_is_the_cost_of_the_best_transport(tree: Hierarchy, data: st.DataObject) -> None:
    joined = Hierarchy.of(tree.values, [*map(tree.written, range(1, tree.height + 1)), ["*"] * len(tree.values)])
    paths = dict(zip(joined.values, zip(*map(joined.written, range(joined.height + 1)), strict=True), strict=True))
    values = st.lists(st.sampled_from(joined.values), min_size=1, max_size=6)
    classes = data.draw(st.lists(values, min_size=1, max_size=3))
    whole = reference.shares([[value] for group in classes for value in group])
    apart = reference.by_meeting(paths)
    expected = [reference.transport(whole, reference.shares([[v] for v in group]), apart) for group in classes]
    assert distances(classes, joined) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("distance", ["equal", "ordered", "numeric", Hierarchy.suppressing([7])])
def test_a_column_with_one_value_is_at_distance_zero(distance: str | Hierarchy) -> None:
    assert distances([[7, 7], [7]], distance) == [0, 0]


@settings(deadline=None, max_examples=many(20, 60))
@given(classes=classes_of([1, 2, 5, 9]))
def test_leaves_that_no_row_has_change_nothing(classes: list[list[int]]) -> None:
    groups = ["a", "a", "b", "b", "b", "c"]
    wide = Hierarchy.of([1, 2, 5, 9, 10, 11], [groups, ["*"] * 6])
    narrow = Hierarchy.of([1, 2, 5, 9], [groups[:4], ["*"] * 4])
    assert distances(classes, wide) == pytest.approx(distances(classes, narrow))


def test_missing_cells_are_a_value_of_their_own_where_that_has_a_meaning() -> None:
    classes = [[1, None], [1, 1]]
    assert distances(classes, "equal") == pytest.approx([0.25, 0.25])
    assert distances(classes, "ordered") == pytest.approx([0.25, 0.25])
    assert distances(classes, Hierarchy.suppressing([1])) == pytest.approx([0.25, 0.25])
    with pytest.raises(InvalidValue, match="missing cells of 's' have no numeric distance"):
        distances(classes, "numeric")


def test_numeric_distance_needs_finite_numbers() -> None:
    with pytest.raises(InvalidType, match="needs numbers in 's', got 'flu'; use the ordered"):
        distances([["flu"]], "numeric")
    with pytest.raises(InvalidValue, match="finite numbers"):
        distances([[1.0, float("inf")]], "numeric")
    with pytest.raises(InvalidValue, match="finite numbers"):
        distances([["1", "2"]], "numeric")


def test_a_tree_that_does_not_meet_is_refused() -> None:
    with pytest.raises(InvalidValue, match="must end in one group"):
        distances([[1, 2]], Hierarchy.of([1, 2], [["odd", "even"]]))


def test_a_tree_that_misses_a_value_is_refused_and_the_value_named() -> None:
    with pytest.raises(
        InvalidValue, match="the hierarchy of 's' must hold every value of the column; it lacks 3; add it"
    ):
        distances([[1, 3]], Hierarchy.suppressing([1, 2]))
