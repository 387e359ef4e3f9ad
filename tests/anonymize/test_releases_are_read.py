"""Every release that a method writes is read back: what its cells are taken for is what the method says they cover."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.anonymize.hierarchies.builders import ordered
from discreet.anonymize.hierarchies.hierarchy import Hierarchy
from discreet.anonymize.loss.release_loss import Publication
from discreet.anonymize.models.k_anonymity import KAnonymity
from discreet.anonymize.recode.local import local_recoding
from discreet.anonymize.recode.mondrian import mondrian
from discreet.anonymize.recode.recoding import Recoded
from discreet.anonymize.recode.taxonomy_mondrian import taxonomy_mondrian
from discreet.anonymize.report.report import table_report
from discreet.anonymize.roles import Roles

NAMES = ["n", "d", "c"]
ROLES = Roles.of(NAMES, quasi=NAMES)
TEXTS = ["a", "b, c", "{d}", "[e, f]", "e", "g or h", "<i"]
"""Values that look like sets, ranges and ends."""

numbers = st.one_of(st.none(), st.sampled_from([-1.5, 0.0, 2.0, 3.0, 7.25, 40.0]))
days = st.one_of(st.none(), st.integers(0, 6).map(lambda n: date(2020, 1, 1) + timedelta(days=40 * n)))
rows = st.lists(st.tuples(numbers, days, st.sampled_from(TEXTS)), min_size=4, max_size=24)
K = [KAnonymity(2)]


def table_of(people: list[tuple[Any, ...]]) -> pa.Table:
    columns = list(zip(*people, strict=True))
    types = [pa.float64(), pa.date32(), pa.string()]
    return pa.table({name: pa.array(cells, kind) for name, cells, kind in zip(NAMES, columns, types, strict=True)})


def hierarchies_of(table: pa.Table) -> dict[str, Hierarchy]:
    return {name: ordered(sorted(set(table[name].to_pylist()) - {None}) or ["nothing"], [2, 4]) for name in NAMES}


def shares(publication: Publication, name: str) -> float:
    """The mean share of the values of a column that a cell covers; 1 where a row is suppressed."""
    covering = publication.coverings[name]
    covered = publication.released_counts(name) @ (covering.leaves / len(covering.domain))
    return float(covered + publication.suppressed) / publication.before.rows


def is_read(table: pa.Table, made: Recoded, hierarchies: dict[str, Hierarchy] | None = None) -> None:
    publication = Publication.of(table, made.table, ROLES, hierarchies)
    for name in NAMES:
        assert shares(publication, name) == pytest.approx(made.losses[name]), name
    assert table_report(made.table, ROLES, K, original=table, hierarchies=hierarchies).to_html()


@pytest.mark.parametrize("labels", ["range", "set"])
@pytest.mark.parametrize("tight", [True, False])
@pytest.mark.parametrize("relaxed", [True, False])
@settings(deadline=None, max_examples=25)
@given(people=rows)
@pytest.mark.some(1)
def test_ranges_and_sets_are_read(labels: Any, tight: bool, relaxed: bool, people: list[tuple[Any, ...]]) -> None:
    table = table_of(people)
    is_read(table, mondrian(table, ROLES, K, labels=labels, tight=tight, relaxed=relaxed))


@settings(deadline=None, max_examples=25)
@given(people=rows)
def test_groups_of_hierarchies_are_read(people: list[tuple[Any, ...]]) -> None:
    table = table_of(people)
    hierarchies = hierarchies_of(table)
    is_read(table, mondrian(table, ROLES, K, hierarchies=hierarchies, labels="hierarchy"), hierarchies)
    is_read(table, taxonomy_mondrian(table, ROLES, hierarchies, K), hierarchies)
    is_read(table, local_recoding(table, ROLES, hierarchies, K), hierarchies)


@settings(deadline=None, max_examples=25)
@given(people=rows)
def test_histograms_of_a_release_hold_its_rows(people: list[tuple[Any, ...]]) -> None:
    table = table_of(people)
    report = table_report(mondrian(table, ROLES, K).table, ROLES, original=table)
    assert report.comparison is not None
    for one in report.comparison.histograms:
        assert sum(one.before) == pytest.approx(len(people))
        assert sum(one.after) == pytest.approx(len(people))
        assert np.all(np.array(one.after) >= 0)
