"""Hierarchies hold every value once, and what is together stays together."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.anonymize.hierarchies.hierarchy import Hierarchy, matched_hierarchies
from discreet.anonymize.recode.optimal import generalised
from discreet.anonymize.table import CodedColumn, CodedTable
from discreet.errors import InvalidType, InvalidValue
from tests.thoroughness import many

ZIPS = Hierarchy.of(["13053", "13068", "14850"], [["130**", "130**", "148**"], ["*", "*", "*"]])


@st.composite
def random_hierarchies(draw: st.DrawFn) -> Hierarchy:
    """Leaves that are joined at random, level after level."""
    leaves = draw(st.integers(1, 12))
    numbers = list(range(leaves))
    levels = []
    for level in range(draw(st.integers(0, 3))):
        joined = {number: draw(st.integers(0, 3)) for number in set(numbers)}
        numbers = [joined[number] for number in numbers]
        levels.append([f"{level}-{number}" for number in numbers])
    return Hierarchy.of([f"leaf {number}" for number in range(leaves)], levels)


def test_it_knows_its_groups() -> None:
    assert (ZIPS.height, ZIPS.groups(0), ZIPS.groups(1), ZIPS.groups(2)) == (2, 3, 2, 1)
    assert ZIPS.leaves_in(1).tolist() == [2, 1]
    assert ZIPS.parents(0).tolist() == [0, 0, 1]
    assert ZIPS.children(1, 0).tolist() == [0, 1]
    assert ZIPS.ancestors(0, 2) == (2, 1, 0)
    assert ZIPS.ancestors(1, 1) == (1, 0)


@settings(deadline=None, max_examples=many(40, 100))
@given(hierarchy=random_hierarchies())
def test_parents_children_and_leaves_tell_the_same_story(hierarchy: Hierarchy) -> None:
    for level in range(hierarchy.height):
        parents = hierarchy.parents(level)
        assert (parents[hierarchy.levels[level]] == hierarchy.levels[level + 1]).all()
        for group in range(hierarchy.groups(level + 1)):
            children = hierarchy.children(level + 1, group)
            assert hierarchy.leaves_in(level)[children].sum() == hierarchy.leaves_in(level + 1)[group]
        for group in range(hierarchy.groups(level)):
            assert hierarchy.ancestors(level, group)[:2] == (group, parents[group])


@settings(deadline=None, max_examples=many(20, 60))
@given(hierarchy=random_hierarchies(), data=st.data())
def test_the_codes_of_a_column_are_the_groups_of_its_values(hierarchy: Hierarchy, data: st.DataObject) -> None:
    cells = data.draw(st.lists(st.sampled_from(hierarchy.values), min_size=1))
    column = CodedColumn.of("c", cells)
    coded = hierarchy.coded(column)
    for level in range(hierarchy.height + 1):
        written = [hierarchy.label(level, group) for group in coded[level][column.codes]]
        expected = [hierarchy.label(level, hierarchy.levels[level][hierarchy.values.index(cell)]) for cell in cells]
        assert written == expected
        table = generalised(CodedTable({"c": column}, len(cells)), {"c": hierarchy}, {"c": level})
        assert [table["c"].values[code] for code in table["c"].codes] == expected


def test_a_value_that_occurs_twice_is_named() -> None:
    with pytest.raises(InvalidValue, match="must occur once; 'a', 'c' occur more often"):
        Hierarchy.of(["a", "b", "a", "c", "c"], [])


def test_groups_that_split_are_named() -> None:
    with pytest.raises(InvalidValue, match="together at level 1 must stay together at level 2; 'x' is split"):
        Hierarchy.of([1, 2, 3], [["x", "x", "y"], ["low", "high", "high"]])


def test_two_groups_with_one_label_are_refused() -> None:
    with pytest.raises(InvalidValue, match="level 1 must have different labels; 'x' are shared"):
        Hierarchy((1, 2), (np.array([0, 1]), np.array([0, 1])), (("1", "2"), ("x", "x")))


def test_numbers_and_labels_must_fit() -> None:
    with pytest.raises(InvalidValue, match="level 1 must label every one of the 2 values, got 1"):
        Hierarchy.of([1, 2], [["x"]])
    with pytest.raises(InvalidValue, match="level 0 of a hierarchy must be the values"):
        Hierarchy((1, 2), (np.array([1, 0]),), (("1", "2"),))
    with pytest.raises(InvalidValue, match="level 1 must give every value a group"):
        Hierarchy((1, 2), (np.array([0, 1]), np.array([0, 2])), (("1", "2"), ("x", "y")))
    with pytest.raises(InvalidValue, match="every level must have labels"):
        Hierarchy((1, 2), (np.array([0, 1]), np.array([0, 0])), (("1", "2"),))


def test_it_cannot_be_changed() -> None:
    with pytest.raises(ValueError, match="read-only"):
        ZIPS.levels[1][0] = 1


def test_values_that_it_misses_are_named_up_to_ten() -> None:
    with pytest.raises(InvalidValue, match=r"it lacks '1', '99999', \(missing\); add them"):
        ZIPS.places(CodedColumn.of("zip", ["13053", "99999", "1", None]))
    with pytest.raises(InvalidValue, match=r"it lacks 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 90 more;"):
        Hierarchy.suppressing([1000]).places(CodedColumn.of("n", range(100)))


def test_values_of_another_type_are_called_that() -> None:
    with pytest.raises(InvalidValue, match="the values of the column are str, its own are int"):
        Hierarchy.suppressing([13053]).places(CodedColumn.of("zip", ["13053"]))


@pytest.mark.parametrize("cells", [[39, 40], [39.0, 40.0]])
def test_text_leaves_stand_for_numbers_that_are_written_so(cells: list[Any]) -> None:
    ages = Hierarchy.of(["40", "39"], [["40-49", "30-39"]])
    assert ages.coded(CodedColumn.of("age", cells)).tolist() == [[1, 0], [1, 0]]


def test_missing_is_a_group_of_its_own_below_a_common_top() -> None:
    whole = ZIPS.with_missing()
    assert whole.values[-1] is None
    assert [whole.label(level, whole.levels[level][-1]) for level in range(3)] == ["(missing)", "(missing)", "*"]
    assert whole.with_missing() is whole
    open_top = Hierarchy.of(["a", "b"], [["x", "y"]]).with_missing()
    assert open_top.labels[-1] == ("x", "y", "(missing)")


def test_columns_without_a_hierarchy_are_kept_or_suppressed() -> None:
    table = CodedTable({"zip": CodedColumn.of("zip", ["13053", None]), "sex": CodedColumn.of("sex", ["f", "m"])}, 2)
    found = matched_hierarchies(table, ["zip", "sex"], {"zip": ZIPS})
    assert found["sex"].labels == (("f", "m"), ("*",))
    assert found["zip"].values == (*ZIPS.values, None)


def test_hierarchies_of_nothing_and_things_that_are_none_are_refused() -> None:
    table = CodedTable({"zip": CodedColumn.of("zip", ["13053"])}, 1)
    with pytest.raises(InvalidValue, match="belong to a quasi-identifier, got 'zipp'; did you mean 'zip'"):
        matched_hierarchies(table, ["zip"], {"zipp": ZIPS})
    with pytest.raises(InvalidType, match="the hierarchy of 'zip' must be a Hierarchy"):
        matched_hierarchies(table, ["zip"], {"zip": {"13053": "130**"}})  # type: ignore[dict-item]
    with pytest.raises(InvalidValue, match="the level of 'zip' must be from 0 to 2, got 3"):
        generalised(table, {"zip": ZIPS}, {"zip": 3})


def test_a_constant_and_an_all_missing_column_have_hierarchies() -> None:
    for cells in (["x", "x"], [None, None]):
        column = CodedColumn.of("c", cells)
        found = matched_hierarchies(CodedTable({"c": column}, 2), ["c"])["c"]
        assert found.coded(column).tolist() == [[0], [0]]
        assert found.labels[1] == ("*",)
