"""Mistakes that tools for anonymity make, most of them in the unsafe direction. None of them is made here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from discreet.anonymize.check import CheckReport, check
from discreet.anonymize.hierarchies.hierarchy import Hierarchy
from discreet.anonymize.hierarchies.intervals import intervals
from discreet.anonymize.models.l_diversity import EntropyDiversity, RecursiveDiversity
from discreet.anonymize.models.model import Model
from discreet.anonymize.models.t_closeness import Closeness
from discreet.anonymize.roles import Roles
from discreet.errors import InvalidValue


def one_class(counts: Sequence[int], *models: Model) -> CheckReport:
    """A class in which value i occurs ``counts[i]`` times."""
    values = [value for value, times in enumerate(counts) for _ in range(times)]
    table = pa.table({"q": [0] * len(values), "s": values})
    return check(table, Roles.of(["q", "s"], quasi="q", sensitive="s"), models)


def test_recursive_diversity_starts_from_the_most_frequent_value() -> None:
    report = one_class([6, 3, 1], *(RecursiveDiversity("s", c, 3) for c in (1, 6, 7)))
    assert [verdict.holds for verdict in report.verdicts] == [False, False, True]
    assert report.verdicts[0].strictest == 6
    assert not one_class([8, 1, 1], RecursiveDiversity("s", 1, 3)).holds


def test_recursive_diversity_has_a_meaning_for_every_l() -> None:
    assert one_class([6, 3, 1], RecursiveDiversity("s", 1, 1)).holds
    assert one_class([6, 3, 1], RecursiveDiversity("s", 0.6, 1)).holds is False
    assert not one_class([6, 3, 1], RecursiveDiversity("s", 1e9, 4)).holds


@pytest.mark.parametrize("l", range(1, 51))
@pytest.mark.some(15)
def test_equally_frequent_values_are_entropy_diverse_by_their_number(l: int) -> None:  # noqa: E741
    for times in (1, 3, 7):
        report = one_class([times] * l, EntropyDiversity("s", l), EntropyDiversity("s", l + 1e-6))
        assert [verdict.holds for verdict in report.verdicts] == [True, False]
        assert report.verdicts[0].strictest == pytest.approx(l, abs=1e-9)


def test_a_row_with_a_missing_quasi_identifier_is_counted() -> None:
    frame = pd.DataFrame({"q": [1.0, 1.0, 1.0, np.nan], "s": ["a", "b", "c", "d"]})
    report = check(frame, Roles.of(frame.columns, quasi="q", sensitive="s"))
    assert (report.rows, report.k, report.unique_rows) == (4, 1, 1)


@pytest.mark.parametrize("index", [[4, 5, 6, 7], [1, 0, 3, 2], [2, 3, 0, 1], list("abcd")])
def test_labels_of_rows_are_not_their_places(index: list[Any]) -> None:
    frame = pd.DataFrame({"q": [1, 1, 2, 2], "s": ["a", "a", "a", "b"]}, index=index)
    report = check(frame, Roles.of(frame.columns, quasi="q", sensitive="s"))
    assert report.measure("distinct l-diversity", "s") == 1


@pytest.mark.parametrize(("value", "label"), [(25, "[25, 30)"), (20, "[20, 25)"), (24, "[20, 25)")])
def test_a_boundary_belongs_to_the_interval_that_starts_there(value: int, label: str) -> None:
    assert intervals([value], [5]).label(1, 0) == label


def test_a_value_beyond_the_last_edge_has_a_group() -> None:
    assert intervals([50], [[0, 10, 20]]).label(1, 0) == "≥20"


@pytest.mark.parametrize("distance", ["equal", "ordered", "numeric"])
def test_a_sensitive_column_with_one_value_is_no_division_by_zero(distance: str) -> None:
    report = one_class([5], Closeness("s", 0, distance))
    assert report.holds
    assert report.verdicts[0].strictest == 0


def test_t_is_not_ignored() -> None:
    table = pa.table({"q": [1, 1, 2, 2], "s": ["a", "a", "b", "b"]})
    roles = Roles.of(["q", "s"], quasi="q", sensitive="s")
    report = check(table, roles, [Closeness("s", 0.49), Closeness("s", 0.5)])
    assert [verdict.holds for verdict in report.verdicts] == [False, True]


def test_a_value_without_a_place_in_a_hierarchy_is_named() -> None:
    table = pa.table({"q": [1, 2], "s": [1, 2]})
    model = Closeness("s", 1, Hierarchy.suppressing([1]))
    with pytest.raises(InvalidValue, match="it lacks 2"):
        check(table, Roles.of(["q", "s"], quasi="q", sensitive="s"), [model])
