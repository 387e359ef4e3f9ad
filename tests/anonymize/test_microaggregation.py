"""Microaggregation: groups of near rows with their means, as good as can be along a line, never too small."""

from __future__ import annotations

from collections import Counter
from itertools import product
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.anonymize.check import check
from discreet.anonymize.hierarchies.hierarchy import Hierarchy
from discreet.anonymize.models.k_anonymity import KAnonymity
from discreet.anonymize.models.l_diversity import DistinctDiversity
from discreet.anonymize.recode.microaggregation import consecutive_groups, mdav, microaggregate
from discreet.anonymize.roles import Roles
from discreet.errors import InvalidType, InvalidValue, OutOfReach
from tests.anonymize.plain_models import meets
from tests.anonymize.publishing import models_of
from tests.thoroughness import many

TREE = Hierarchy.of([1, 2, 3, 4], [["low", "low", "high", "high"], ["*"] * 4])
NUMBERS = st.one_of(st.integers(-5, 20), st.sampled_from([0.5, 1e6, -3.25]))


def best_sum_of_squares(numbers: list[float], counts: list[int], k: int) -> float:
    """The least of all ways to cut the line into runs of at least k rows."""
    found = []
    for cuts in product([0, 1], repeat=len(numbers) - 1):
        group = np.cumsum([0, *cuts])
        if (np.bincount(group, counts) >= k).all():
            found.append(sum_of_squares(np.array(numbers), np.array(counts), group))
    return min(found)


def sum_of_squares(numbers: np.ndarray, counts: np.ndarray, group: np.ndarray) -> float:
    means = np.bincount(group, counts * numbers) / np.bincount(group, counts)
    return float((counts * (numbers - means[group]) ** 2).sum())


@settings(max_examples=many(80, 200), deadline=None)
@given(st.dictionaries(st.integers(-20, 20), st.integers(1, 4), min_size=1, max_size=9), st.integers(1, 5))
def test_groups_along_a_line_are_the_best_of_all(often: dict[int, int], k: int) -> None:
    numbers, counts = sorted(often), [often[number] for number in sorted(often)]
    if sum(counts) < k:
        return
    group = consecutive_groups(np.array(numbers, dtype=float), np.array(counts), k)
    assert np.bincount(group, counts).min() >= k
    found = sum_of_squares(np.array(numbers), np.array(counts), group)
    assert found == pytest.approx(best_sum_of_squares([float(one) for one in numbers], counts, k), abs=1e-9)


@settings(max_examples=many(40, 100), deadline=None)
@given(st.lists(st.tuples(NUMBERS, NUMBERS), min_size=1, max_size=60, unique=True), st.integers(1, 6), st.data())
def test_every_group_of_points_is_large_enough(points: list[Any], k: int, data: st.DataObject) -> None:
    counts = np.array(data.draw(st.lists(st.integers(1, 3), min_size=len(points), max_size=len(points))))
    if counts.sum() < k:
        return
    sizes = np.bincount(mdav(np.array(points, dtype=float), counts, k), counts)
    assert sizes.min() >= k


def test_points_that_occur_once_are_grouped_by_k_to_2k() -> None:
    points = np.random.default_rng(0).normal(size=(5_000, 3))  # several blocks
    sizes = np.bincount(mdav(points, np.ones(len(points), dtype=np.int64), 4))
    assert sizes.min() >= 4
    assert sizes.max() < 8


def test_near_points_share_a_group() -> None:
    centres = np.random.default_rng(0).permutation(40) * 100.0
    points = np.concatenate([[[centre, centre + step] for step in (0, 1, 2)] for centre in centres])
    group = mdav(points, np.ones(len(points), dtype=np.int64), 3)
    assert all(len(set(group[start : start + 3])) == 1 for start in range(0, len(points), 3))


@st.composite
def tables(draw: st.DrawFn) -> pa.Table:
    rows = draw(st.integers(1, 40))
    columns: dict[str, list[Any]] = {}
    for place in range(draw(st.integers(1, 3))):
        cells = st.one_of(st.integers(-3, 12), st.sampled_from([0.5, 1e6]), st.none())
        columns[f"q{place}"] = draw(st.lists(cells, min_size=rows, max_size=rows))
    columns["s"] = draw(st.lists(st.integers(1, 4), min_size=rows, max_size=rows))
    columns["id"] = list(range(rows))
    return pa.table(
        {name: pa.array(cells, pa.float64() if name[0] == "q" else pa.int64()) for name, cells in columns.items()}
    )


@settings(max_examples=many(45, 120), deadline=None)
@given(tables(), st.integers(1, 5), st.data())
def test_the_release_meets_all_models_and_tells_means(table: pa.Table, k: int, data: st.DataObject) -> None:
    quasi = [name for name in table.column_names if name[0] == "q"]
    roles = Roles.of(table.column_names, quasi=quasi, sensitive="s")
    models = data.draw(st.lists(models_of("s", TREE), max_size=2))
    try:
        found = microaggregate(table, roles, k, models=models)
    except OutOfReach:
        return
    assert found.suppressed == 0
    assert all(verdict.holds for verdict in check(found.table, roles, [KAnonymity(k), *models]).verdicts)
    assert all(meets(found.table, quasi, model) for model in [KAnonymity(k), *models])
    assert found.recoding.transform(table).equals(found.table)
    assert_means(found.table, table, quasi)


def assert_means(released: pa.Table, table: pa.Table, quasi: list[str]) -> None:
    """Class by class; a class of several groups with equal means has the same mean."""
    originals = {row["id"]: row for row in table.to_pylist()}
    rows = released.to_pylist()
    members: dict[tuple[Any, ...], list[Any]] = {}
    for row in rows:
        members.setdefault(tuple(row[name] for name in quasi), []).append(originals[row["id"]])
    for means, group in members.items():
        for name, mean in zip(quasi, means, strict=True):
            numbers = [row[name] for row in group]
            if mean is None:
                assert None in numbers
            else:
                assert np.mean(numbers) == pytest.approx(mean)


def salaries(*numbers: float | None) -> pa.Table:
    return pa.table({"pay": pa.array(numbers, pa.float64()), "disease": ["flu", "cold"] * (len(numbers) // 2)})


ROLES = Roles.of(["pay", "disease"], quasi="pay", sensitive="disease")


def test_equal_rows_share_a_group() -> None:
    found = microaggregate(salaries(1, 1, 1, 1, 1, 2), ROLES, 3)
    assert found.table["pay"].to_pylist() == pytest.approx([7 / 6] * 6)


def test_a_group_with_a_gap_is_released_without_the_number() -> None:
    assert microaggregate(salaries(1, 2, None, None), ROLES, 2).table["pay"].to_pylist() == [1.5, 1.5, None, None]
    assert microaggregate(salaries(1, 2, 3, None), ROLES, 4).table["pay"].to_pylist() == [None] * 4


def test_new_rows_join_the_nearest_group_unless_a_number_would_be_invented() -> None:
    recoding = microaggregate(salaries(1, 2, 11, 12), ROLES, 2).recoding
    assert recoding.transform(salaries(0, 3, 13, 14, 2, None))["pay"].to_pylist() == [1.5] * 3 + [11.5] * 2


def test_the_loss_is_the_share_of_the_variance() -> None:
    found = microaggregate(salaries(0, 2, 10, 12), ROLES, 2)
    assert found.losses == {"pay": pytest.approx(4 / 104)}


def test_groups_are_merged_until_they_are_diverse() -> None:
    table = pa.table({"pay": [1, 2, 3, 9], "disease": ["flu", "flu", "flu", "cold"]})
    found = microaggregate(table, ROLES, 2, models=DistinctDiversity("disease", 2))
    assert Counter(found.table["pay"].to_pylist()) == {3.75: 4}


def test_progress_grows_to_one() -> None:
    told: list[float] = []
    draw = np.random.default_rng(0)
    table = pa.table({"a": draw.normal(size=5_000), "b": draw.normal(size=5_000)})
    microaggregate(table, Roles.of(["a", "b"], quasi=["a", "b"]), 3, progress=told.append)
    assert told == sorted(told)
    assert told[-1] == 1.0


def test_what_cannot_be_averaged_is_refused() -> None:
    text = pa.table({"pay": ["high", "low"], "disease": ["flu", "cold"]})
    with pytest.raises(InvalidType, match="column 'pay' must be of numbers to be averaged, got 'high'; use mondrian"):
        microaggregate(text, ROLES, 2)
    with pytest.raises(InvalidValue, match="must be finite"):
        microaggregate(salaries(1, float("inf")), ROLES, 2)
    with pytest.raises(OutOfReach, match="5-anonymity must hold at least when all 4 rows"):
        microaggregate(salaries(1, 2, 3, 4), ROLES, 5)
    with pytest.raises(InvalidType, match="k must be a whole number"):
        microaggregate(salaries(1, 2), ROLES, 1.5)  # type: ignore[arg-type]
