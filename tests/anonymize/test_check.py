"""A check tells what holds, where it fails and why, whatever the order, the index and the gaps of a table."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.anonymize.check import CheckReport, check
from discreet.anonymize.models.disclosure import DeltaDisclosure
from discreet.anonymize.models.k_anonymity import KAnonymity
from discreet.anonymize.models.l_diversity import DistinctDiversity
from discreet.anonymize.models.t_closeness import Closeness
from discreet.anonymize.roles import Roles
from discreet.errors import InvalidType, InvalidValue
from tests.anonymize import reference
from tests.thoroughness import many

cell = st.one_of(st.sampled_from(["a", "b"]), st.none())
tables = st.lists(st.tuples(cell, cell, cell, st.sampled_from(["x", "y", None])), min_size=1, max_size=30)
ROLES = Roles.of(["p", "q", "r", "s"], quasi=["p", "q", "r"], sensitive="s")


def table_of(rows: list[tuple[Any, ...]]) -> pa.Table:
    columns = zip("pqrs", zip(*rows, strict=True), strict=True)
    return pa.table({name: pa.array(list(cells), pa.string()) for name, cells in columns})


def summary(report: CheckReport) -> tuple[Any, ...]:
    return report.measures, report.contributions, report.k, report.unique_rows


@settings(deadline=None, max_examples=many(20, 60))
@given(rows=tables)
def test_missing_cells_count_as_a_value(rows: list[tuple[Any, ...]]) -> None:
    report = check(table_of(rows), ROLES)
    assert report.rows == len(rows)
    assert report.k == reference.k(rows, 3)
    assert report.measure("k-anonymity") == reference.k(rows, 3)
    assert report.measure("distinct l-diversity", "s") == reference.distinct_l(rows, 3)


@settings(deadline=None, max_examples=many(20, 60))
@given(rows=tables)
def test_a_contribution_is_what_is_left_without_the_column(rows: list[tuple[Any, ...]]) -> None:
    report = check(table_of(rows), ROLES)
    alone = sum(len(group) == 1 for group in reference.classes(rows, 3))
    assert report.unique_rows == alone
    for one in report.contributions:
        place = "pqr".index(one.column)
        groups = reference.classes([row[:place] + row[place + 1 :] for row in rows], 2)
        left = sum(len(group) == 1 for group in groups)
        assert (one.unique_rows, one.classes, one.smallest_class) == (left, len(groups), min(map(len, groups)))
        assert one.unique_rows_removed == alone - left
    removed = [one.unique_rows_removed for one in report.contributions]
    assert removed == sorted(removed, reverse=True)


@settings(deadline=None, max_examples=40)
@given(rows=tables, order=st.randoms(use_true_random=False))
def test_neither_order_nor_index_plays_a_part(rows: list[tuple[Any, ...]], order: Any) -> None:
    frame = pd.DataFrame(rows, columns=list("pqrs"))
    labels = list(range(len(rows)))
    order.shuffle(labels)
    expected = summary(check(table_of(rows), ROLES))
    assert summary(check(frame.set_axis(labels, axis=0), ROLES)) == expected
    assert summary(check(frame.iloc[labels], ROLES)) == expected
    assert summary(check(frame.set_axis([0] * len(rows), axis=0), ROLES)) == expected


def test_the_one_quasi_identifier_is_all_that_tells_rows_apart() -> None:
    roles = Roles.of(["p"], quasi="p")
    (one,) = check(pa.table({"p": [1, 2, 3]}), roles).contributions
    assert (one.unique_rows, one.classes, one.smallest_class, one.unique_rows_removed) == (0, 1, 3, 3)


def test_violating_classes_come_smallest_first_with_all_that_they_break() -> None:
    table = pa.table({"p": [1, 1, 1, 2, 3, 3], "s": ["x", "x", "x", "x", "x", "y"]})
    roles = Roles.of(table.column_names, quasi="p", sensitive="s")
    report = check(table, roles, [KAnonymity(2), DistinctDiversity("s", 2)])
    assert [(one.values, one.rows, one.breaks) for one in report.violating()] == [
        ({"p": "2"}, 1, ("2-anonymity", "distinct 2-diversity of s")),
        ({"p": "1"}, 3, ("distinct 2-diversity of s",)),
    ]
    assert report.violating()[1].sensitive == {"s": {"x": 3}}
    assert [(one.violating_classes, one.violating_rows) for one in report.verdicts] == [(1, 1), (2, 4)]
    assert len(report.violating(limit=1)) == 1
    assert report.rows_of(report.violating()[1].number).tolist() == [0, 1, 2]
    assert not report.holds


def test_every_sensitive_column_is_looked_at_on_its_own() -> None:
    table = pa.table({"p": [1, 1, 2, 2], "s": ["x", "y", "x", "y"], "t": [5, 5, 6, 7]})
    roles = Roles.of(table.column_names, quasi="p", sensitive=["s", "t"])
    report = check(table, roles)
    assert report.measure("distinct l-diversity", "s") == 2
    assert report.measure("distinct l-diversity", "t") == 1
    numeric = {one.column for one in report.measures if "numeric" in one.model}
    assert numeric == {"t"}


def test_measures_say_which_side_they_bound() -> None:
    table = pa.table({"p": [1, 1, 1], "s": ["x", "x", "y"]})
    report = check(table, Roles.of(table.column_names, quasi="p", sensitive="s"))
    sides = {one.model: (one.parameter, one.value, one.is_largest, one.is_open) for one in report.measures}
    assert sides["k-anonymity"] == ("k", 3, True, False)
    assert sides["distinct l-diversity"] == ("l", 2, True, False)
    assert sides["recursive (c, 2)-diversity"] == ("c", 2.0, False, True)
    assert sides["t-closeness (equal distance)"] == ("t", 0.0, False, False)


def test_a_release_is_compared_with_the_table_it_was_made_from() -> None:
    whole = pa.table({"p": [1, 1, 2, 2, 2, 2], "s": ["x", "y", "x", "x", "x", "z"]})
    release = whole.slice(0, 2)
    roles = Roles.of(whole.column_names, quasi="p", sensitive="s")
    models = [Closeness("s", 0.2), DeltaDisclosure("s", 1)]
    assert [one.holds for one in check(release, roles, models).verdicts] == [True, True]
    compared = check(release, roles, models, reference=whole)
    assert [one.strictest for one in compared.verdicts] == [pytest.approx(1 / 3), math.inf]
    with pytest.raises(InvalidValue, match="every value of 's' must occur in the reference"):
        check(whole, roles, models, reference=release)


def test_columns_without_a_part_in_the_check_may_hold_anything() -> None:
    table = pa.table({"p": [1, 1], "s": ["x", "y"], "lists": [[1], [2]]})
    assert check(table, Roles.of(table.column_names, quasi="p", sensitive="s")).k == 2


def test_a_constant_and_an_all_missing_column_tell_nothing_apart() -> None:
    frame = pd.DataFrame({"c": [7, 7], "m": [None, None], "s": [np.nan, np.nan]})
    report = check(frame, Roles.of(frame.columns, quasi=["c", "m"], sensitive="s"))
    assert report.k == 2
    assert report.measure("distinct l-diversity", "s") == 1
    assert report.measure("t-closeness (equal distance)", "s") == 0


def test_k_larger_than_the_table_is_violated_and_not_an_error() -> None:
    report = check(pa.table({"p": [1, 1]}), Roles.of(["p"], quasi="p"), [KAnonymity(5)])
    assert not report.holds
    assert report.verdicts[0].strictest == 2


def test_sixty_columns_are_checked() -> None:
    generator = np.random.default_rng(5)
    table = pa.table({f"c{place}": generator.integers(0, 50, 200) for place in range(60)})
    report = check(table, Roles.of(table.column_names, quasi=table.column_names))
    assert (report.unique_rows, len(report.contributions)) == (200, 60)


@pytest.mark.parametrize(
    ("models", "problem"),
    [
        ([DistinctDiversity("q", 2)], "distinct l-diversity must speak of a sensitive column, got 'q'; known: s"),
        (["k"], "must be a model, got 'k'"),
    ],
)
def test_models_that_do_not_fit_the_roles_are_refused(models: list[Any], problem: str) -> None:
    with pytest.raises((InvalidValue, InvalidType), match=problem):
        check(table_of([("a", "b", "c", "x")]), ROLES, models)


def test_a_table_without_rows_or_columns_is_refused() -> None:
    with pytest.raises(InvalidValue, match="must have rows"):
        check(pa.table({"p": pa.array([], pa.int64())}), Roles.of(["p"], quasi="p"))
    with pytest.raises(InvalidValue, match="must be in the table, got 'q'"):
        check(pa.table({"p": [1]}), Roles.of(["p", "q"], quasi="q"))


def test_a_check_prints_what_a_person_wants_to_know() -> None:
    table = pa.table({"zip": ["130**", "130**", "148**"], "disease": ["flu", "flu", "cancer"]})
    roles = Roles.of(table.column_names, quasi="zip", sensitive="disease")
    report = check(table, roles, [KAnonymity(1), DistinctDiversity("disease", 2)])
    printed = str(report).splitlines()
    assert printed[:2] == ["3 rows in 2 classes, the smallest with 1 row.", "This is not differential privacy."]
    assert "yes  1-anonymity: holds" in printed
    assert "no   distinct 2-diversity of disease: broken by 2 classes with 3 rows" in printed
    assert "     strictest k-anonymity: k up to 1" in printed
    assert "     1 row with zip 148**: not distinct 2-diversity of disease" in printed
    assert "array(" not in f"{report!r} {report.verdicts!r}"
