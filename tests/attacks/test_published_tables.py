"""Published tables: what an outsider reads in them, and what is estimated from them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from discreet import anonymize as an
from discreet.attacks.defences.releases import (
    KAnonymousTable,
    LDiverseTable,
    NamesRemoved,
    PublishedView,
    TCloseTable,
    published,
)
from discreet.attacks.linkage.matching import fitting
from discreet.attacks.people import Coded, People
from discreet.attacks.queries import AnyOf, Is, Listed, Person, TableQuery, Value
from discreet.errors import OutOfReach
from discreet.noise.experiment import experiment
from tests.attacks.contract import with_secrets_of
from tests.attacks.crowd import crowd

DEFENCES = [NamesRemoved(), KAnonymousTable(), LDiverseTable(3), TCloseTable(), KAnonymousTable(20)]


def seen(defence, people: People, everybody: People | None = None) -> PublishedView:
    return defence.defend(people, everybody or people, experiment(0))


@pytest.mark.parametrize("defence", DEFENCES, ids=lambda one: one.name)
class TestEveryTable:
    def test_every_person_of_the_table_is_in_a_class_with_their_secret(self, defence):
        people = crowd()
        table = seen(defence, people).published
        assert (table.class_of >= 0).all()
        np.testing.assert_array_equal(np.bincount(table.class_of), table.sizes)
        cell = table.class_of * 4 + people.secret.codes
        np.testing.assert_array_equal(np.bincount(cell, minlength=table.histograms.size), table.histograms.ravel())

    def test_the_secrets_on_the_outside_list_are_not_read(self, defence):
        everybody = crowd()
        people = everybody.take(np.arange(0, 400, 2))
        others = with_secrets_of(everybody, np.arange(400)[::-1])
        views = [seen(defence, people, one) for one in (everybody, others)]
        question = TableQuery(by=(Value.of(people, "sex"), Value.of(people, "illness")))
        answers = [view.counts([question])[0] for view in views]
        np.testing.assert_array_equal(*answers)
        np.testing.assert_array_equal(*(view.published.class_of for view in views))

    def test_all_rows_are_estimated_to_be_somebodys(self, defence):
        everybody = crowd()
        people = everybody.take(np.arange(0, 400, 2))
        view = seen(defence, people, everybody)
        secret, person = Value.of(people, "illness"), Person(400)
        by_secret, by_person = view.counts([TableQuery(by=(secret,)), TableQuery(by=(person,))])
        np.testing.assert_allclose(by_secret, np.bincount(people.secret.codes))
        assert by_person.sum() == pytest.approx(200)
        assert view.rows == 200

    def test_a_class_is_estimated_exactly_and_a_person_by_the_share(self, defence):
        people = crowd()
        view = seen(defence, people)
        table = view.published
        group = int(table.sizes.argmax())
        inside = np.flatnonzero(table.class_of == group)
        secret = Value.of(people, "illness")
        everybody_there = Listed(tuple(map(int, inside)))
        whole, one = view.counts(
            [
                TableQuery(by=(secret,), where=((everybody_there, 1),)),
                TableQuery(by=(secret,), where=((Is(int(inside[0])), 1),)),
            ]
        )
        np.testing.assert_allclose(whole, table.histograms[group])
        np.testing.assert_allclose(one, table.histograms[group] / table.sizes[group])

    def test_the_greatest_secret_is_what_the_classes_allow(self, defence):
        people = crowd()
        view = seen(defence, people)
        greatest = view.greatest([Is(3), Listed(()), Listed(tuple(range(400)))])
        allowed = np.flatnonzero(view.published.histograms[view.published.class_of[3]])
        assert greatest.tolist() == [allowed.max(), -1, 3]


def test_models_hold_in_what_is_published():
    people = crowd()
    assert seen(KAnonymousTable(7), people).published.sizes.min() >= 7
    assert (seen(LDiverseTable(3), people).published.histograms > 0).sum(axis=1).min() >= 3
    close = seen(TCloseTable(0.2), people).published
    whole = np.bincount(people.secret.codes) / people.size
    assert np.abs(close.histograms / close.sizes[:, None] - whole).sum(axis=1).max() / 2 <= 0.2 + 1e-12
    assert len(close.sizes) > 3


def test_diversity_counts_secrets_as_they_are_attacked():
    """Many salaries in one quarter are one secret."""
    people = People.of(pa.table({"age": range(200), "salary": range(200)}), ["age"], "salary")
    assert len(people.secret.values) == 4
    assert (seen(LDiverseTable(2), people).published.histograms > 0).sum(axis=1).min() == 2


def test_people_whom_no_class_fits_are_not_in_the_table():
    people = crowd(50)
    strangers = People.of(
        pa.table({"age": [5, 200], "zip": [10, 10], "sex": ["f", "m"], "illness": ["flu", "none"]}),
        people.quasi,
        "illness",
    )
    everybody = replace(
        people,
        table=pa.concat_tables([people.table, strangers.table]),
        numbers=np.arange(52),
        columns={name: Coded(np.append(one.codes, [0, 0]), one.values) for name, one in people.columns.items()},
    )
    assert seen(KAnonymousTable(), people, everybody).published.class_of[-2:].tolist() == [-1, -1]


def test_where_two_classes_fit_their_union_is_a_class():
    release = pa.table({"age": ["[1, 5]", "[1, 5]", "[4, 9]", "[4, 9]"], "ill": ["no", "yes", "no", "no"]})
    people = People.of(pa.table({"age": [1, 4, 5, 9], "ill": ["no", "yes", "no", "no"]}), ["age"], "ill")
    table = PublishedView(release, people, 4).published
    assert table.histograms.tolist() == [[1, 1], [2, 0], [3, 1]]
    assert table.class_of.tolist() == [0, 2, 2, 1]


def test_overlapping_classes_still_add_up_to_the_rows():
    people = crowd(200)
    roles = an.Roles.of(people.table.column_names, quasi=people.quasi, sensitive="illness")
    relaxed = an.mondrian(people.table, roles, [an.KAnonymity(5)], relaxed=True).table
    view = PublishedView(relaxed, people, 200)
    assert len(view.published.histograms) > len(fitting(relaxed, people.table, people.quasi).classes.sizes)
    (by_secret,) = view.counts([TableQuery(by=(Value.of(people, "illness"),))])
    np.testing.assert_allclose(by_secret, np.bincount(people.secret.codes))
    members = view.published.histograms[view.published.class_of, people.secret.codes]
    assert (members > 0).all()


def test_hierarchies_make_the_classes_where_they_are_given():
    people = crowd()
    ages = an.intervals(people.table["age"], [10, 20, 40])
    zips = an.Hierarchy.of(range(10, 40), [[f"{zip_code // 10}x" for zip_code in range(10, 40)], ["*"] * 30])
    view = seen(KAnonymousTable(5, {"age": ages, "zip": zips}), people)
    inside = view.published.class_of >= 0
    assert inside.mean() >= 0.98
    assert view.published.sizes.min() >= 5


def test_missing_cells_are_read_as_what_they_are():
    table = crowd().table.slice(0, 60)
    gaps = pa.array([None if place % 7 == 0 else value for place, value in enumerate(table["zip"].to_pylist())])
    people = People.of(table.set_column(1, "zip", gaps), ["age", "zip", "sex"], "illness")
    assert (seen(KAnonymousTable(), people).published.class_of >= 0).all()


@pytest.mark.parametrize(
    ("defence", "said"), [(LDiverseTable(5), "5-diversity"), (KAnonymousTable(401), "401-anonymity")]
)
def test_a_model_that_no_recoding_meets_is_said_to_be_out_of_reach(defence, said):
    with pytest.raises(OutOfReach, match=said):
        seen(defence, crowd())


def test_marked_secrets_can_be_asked_for():
    people = crowd()
    view = seen(NamesRemoved(), people)
    (answer,) = view.counts([TableQuery(by=(AnyOf.secret(people),))])
    np.testing.assert_allclose(answer, np.bincount(people.bits))


def test_published_classes_and_unions_are_found_by_hand_too():
    """Every person's class, read cell by cell as a person would, for a table with overlaps."""
    people = crowd(150, seed=3)
    roles = an.Roles.of(people.table.column_names, quasi=people.quasi, sensitive="illness")
    release = an.mondrian(people.table, roles, [an.KAnonymity(4)], relaxed=True).table
    fits = fitting(release, people.table, list(people.quasi))
    rows = release.to_pylist()
    for place, person in enumerate(people.table.to_pylist()):
        by_hand = sum(all(_covers(row[name], person[name]) for name in people.quasi) for row in rows)
        assert fits.rows[place] == by_hand
    histograms = np.ones((fits.classes.count, 1), np.int64)
    assert published(histograms, fits).sizes[published(histograms, fits).class_of].tolist() == fits.times.tolist()


def test_people_are_compared_with_classes_some_at_a_time(monkeypatch):
    people = crowd(150)
    roles = an.Roles.of(people.table.column_names, quasi=people.quasi, sensitive="illness")
    release = an.mondrian(people.table, roles, [an.KAnonymity(4)], relaxed=True).table
    whole = fitting(release, people.table, list(people.quasi))
    monkeypatch.setattr("discreet.attacks.linkage.matching._MOST_COMPARED", 17)
    parts = fitting(release, people.table, list(people.quasi))
    np.testing.assert_array_equal(whole.person, parts.person)
    np.testing.assert_array_equal(whole.group, parts.group)


def _covers(cell, value) -> bool:
    if cell in ("*", str(value)):
        return True
    if cell.startswith("["):
        low, high = cell[1:-1].split(", ")
        return int(low) <= value <= int(high)
    return str(value) in cell[1:-1].split(", ") if cell.startswith("{") else False
