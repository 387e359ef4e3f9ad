"""The searches that work on all nodes at once find what a search of one node at a time finds."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.anonymize.equivalence_classes import EquivalenceClasses
from discreet.anonymize.hierarchies.hierarchy import Hierarchy
from discreet.anonymize.models.k_anonymity import KAnonymity
from discreet.anonymize.recode.axes import Axis, GroupLevels
from discreet.anonymize.recode.mondrian import grow_cuts
from discreet.anonymize.recode.recoding import Acceptance
from discreet.anonymize.recode.taxonomy_mondrian import grow_groups
from discreet.anonymize.table import CodedColumn, CodedTable
from discreet.errors import OutOfReach
from tests.anonymize import plain_mondrian
from tests.anonymize.publishing import Request, requests
from tests.thoroughness import many

Meets = Callable[[Sequence[int]], bool]


def parts_of(leaf: np.ndarray) -> set[frozenset[int]]:
    return {frozenset(np.flatnonzero(leaf == number).tolist()) for number in range(leaf.max() + 1)}


def met_by(request: Request) -> Meets:
    """Whether some rows as one class meet every model, held against the whole table."""
    column = CodedTable.of(request.table, ["s"])["s"]
    whole = np.bincount(column.codes, minlength=len(column.values))

    def meets(rows: Sequence[int]) -> bool:
        classes = EquivalenceClasses(np.zeros(len(rows), dtype=np.int64), np.array([len(rows)]))
        histogram = classes.histogram(CodedColumn("s", column.codes[list(rows)], column.values)).against(whole)
        return not any(model.violating(classes, {"s": histogram}).any() for model in request.models)

    return meets


def accepted(request: Request) -> Acceptance | None:
    try:
        return Acceptance.of(CodedTable.of(request.table), request.models)
    except OutOfReach:
        return None


@pytest.mark.parametrize("relaxed", [False, True])
@settings(max_examples=many(60, 150), deadline=None)
@given(request=requests())
def test_cuts_are_those_of_a_textbook(request: Request, relaxed: bool) -> None:
    acceptance = accepted(request)
    if acceptance is None:
        return
    table = CodedTable.of(request.table, request.roles.quasi)
    axes = [Axis.of(table[name]) for name in request.roles.quasi]
    codes = np.stack([axis.codes(table[axis.name]) for axis in axes])
    tree, leaf = grow_cuts(codes, [axis.scale for axis in axes], acceptance, relaxed=relaxed)
    plain = plain_mondrian.relaxed if relaxed else plain_mondrian.strict
    assert parts_of(leaf) == plain(codes.tolist(), [axis.scale.tolist() for axis in axes], met_by(request))
    assert np.array_equal(tree.leaf_of(2 * codes), leaf)


@settings(max_examples=many(80, 200), deadline=None)
@given(request=requests())
def test_hierarchies_are_followed_as_in_a_textbook(request: Request) -> None:
    acceptance = accepted(request)
    if acceptance is None:
        return
    table = CodedTable.of(request.table, request.roles.quasi)
    axes = [Axis.along(name, request.hierarchies[name]) for name in request.roles.quasi]
    levels = [GroupLevels.of(request.hierarchies[name]) for name in request.roles.quasi]
    codes = np.stack([axis.codes(table[axis.name]) for axis in axes])
    tree, leaf = grow_groups(codes, levels, acceptance)
    matrices = [one.group.tolist() for one in levels]
    assert parts_of(leaf) == plain_mondrian.along_hierarchies(codes.tolist(), matrices, met_by(request))
    assert np.array_equal(tree.leaf_of(codes, levels), leaf)


@settings(max_examples=many(40, 100), deadline=None)
@given(
    st.integers(1, 3).flatmap(lambda axes: st.lists(st.tuples(*[st.integers(0, 9)] * axes), min_size=1, max_size=80)),
    st.integers(1, 6),
)
def test_no_strict_leaf_is_larger_than_the_bound(rows: list[tuple[int, ...]], k: int) -> None:
    # LeFevre, DeWitt and Ramakrishnan: 2d(k - 1) + m, where one point occurs at most m times
    codes = np.array(rows, dtype=np.int32).T
    if len(rows) < k:
        return
    _, leaf = grow_cuts(codes, [np.arange(10) / 9] * len(codes), Acceptance((KAnonymity(k),), {}, {}))
    most = max(rows.count(row) for row in rows)
    assert k <= np.bincount(leaf).min()
    assert np.bincount(leaf).max() <= 2 * len(codes) * (k - 1) + most


@settings(max_examples=many(40, 100), deadline=None)
@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 3)), min_size=1, max_size=80), st.integers(1, 6))
def test_a_relaxed_leaf_has_fewer_than_2k_rows_or_equal_ones(rows: list[tuple[int, int]], k: int) -> None:
    codes = np.array(rows, dtype=np.int32).T
    if len(rows) < k:
        return
    _, leaf = grow_cuts(codes, [np.arange(10) / 9] * 2, Acceptance((KAnonymity(k),), {}, {}), relaxed=True)
    for number, size in enumerate(np.bincount(leaf)):
        alike = len({rows[row] for row in np.flatnonzero(leaf == number)}) == 1
        assert k <= size <= 2 * k - 1 or (alike and size >= k)


def test_a_deep_tree_does_not_recurse() -> None:
    powers = np.concatenate([np.full(2**power, power) for power in range(17)])
    columns = {f"q{place}": np.roll(powers, place * 1000) for place in range(3)}
    table = CodedTable.of(pa.table(columns))
    axes = [Axis.of(table[name]) for name in columns]
    codes = np.stack([axis.codes(table[axis.name]) for axis in axes])
    _, leaf = grow_cuts(codes, [axis.scale for axis in axes], Acceptance((KAnonymity(2),), {}, {}))
    assert np.bincount(leaf).min() >= 2


def test_groups_are_laid_out_next_to_each_other() -> None:
    crossed = [["A", "B", "A", "C", "B"], ["one", "two", "one", "two", "two"]]
    tree = Axis.along("q", Hierarchy.of(["u", "v", "w", "x", "y"], crossed)).levels
    assert tree is not None
    for groups in tree.group:
        assert (np.diff(groups) != 0).sum() + 1 == len(set(groups.tolist()))
    assert tree.hierarchy.label(3, 0) == "*"
