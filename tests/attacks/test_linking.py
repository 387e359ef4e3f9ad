"""Joining releases with lists: who is found, who is not, and which columns single people out."""

from __future__ import annotations

import datetime

import numpy as np
import pyarrow as pa
import pytest

import discreet as dp
from discreet import anonymize as an
from discreet.attacks.linkage.link import link, uniqueness
from discreet.errors import InvalidValue
from tests.attacks.crowd import crowd

VOTERS = pa.table(
    {
        "name": ["Ann", "Ben", "Cleo", "Dan"],
        "zip": ["02138", "02138", "02139", "02141"],
        "born": [
            datetime.date(1945, 7, 31),
            datetime.date(1950, 1, 1),
            datetime.date(1950, 1, 1),
            datetime.date(1990, 5, 5),
        ],
        "sex": ["f", "m", "f", "m"],
    }
)


def test_a_release_without_names_gives_everybody_away_who_is_alone_in_both():
    release = VOTERS.drop_columns("name").append_column("illness", [["flu", "none", "cancer", "flu"]])
    found = dp.attacks.link(release, VOTERS, on=["zip", "born", "sex"], names="name")
    assert found.reidentified.to_pydict() == {
        "name": ["Ann", "Ben", "Cleo", "Dan"],
        "illness": ["flu", "none", "cancer", "flu"],
    }
    assert found.share.rate == found.unique.rate == 1
    assert (
        str(found) == "4 of 4 people on the list (100%) are re-identified: one row fits them, and it fits nobody else."
    )


def test_a_row_that_fits_two_people_identifies_neither():
    release = pa.table({"zip": ["02138"], "illness": ["flu"]})
    found = link(release, VOTERS)
    assert found.matches.tolist() == [1, 1, 0, 0]
    assert found.rivals.tolist() == [2]
    assert (found.unique.hits, found.share.hits) == (2, 0)


def test_a_person_whom_two_rows_fit_is_not_identified():
    release = pa.table({"zip": ["02141", "02141"], "illness": ["flu", "none"]})
    found = link(release, VOTERS, on="zip")
    assert found.matches.tolist() == [0, 0, 0, 2]
    assert found.reidentified.num_rows == 0


def test_cells_made_coarser_still_fit():
    release = pa.table(
        {
            "zip": ["0213*", "0213*", "0214*"],
            "born": ["[1940-01-01, 1949-12-31]", "[1950-01-01, 1959-12-31]", "[1990-01-01, 1999-12-31]"],
            "illness": ["flu", "none", "cancer"],
        }
    )
    found = link(release, VOTERS, names=["name", "sex"])
    assert found.matches.tolist() == [1, 1, 1, 1]
    assert found.reidentified.to_pylist() == [
        {"name": "Ann", "sex": "f", "illness": "flu"},
        {"name": "Dan", "sex": "m", "illness": "cancer"},
    ]


def test_numbers_meet_numbers_and_the_text_of_numbers():
    people = pa.table({"name": ["a", "b"], "age": [28, 47]})
    for ages in ([28.0, 33.5], ["28", "33"], pa.array([28, 33], pa.int8())):
        assert link(pa.table({"age": ages, "ill": ["yes", "no"]}), people).matches.tolist() == [1, 0]


def test_a_mean_is_not_taken_for_the_nearest_person():
    assert link(pa.table({"age": [28.4]}), pa.table({"name": ["a"], "age": [28]})).matches.tolist() == [0]


def test_an_anonymous_table_identifies_nobody_and_a_raw_one_the_unique_people():
    people = crowd(300)
    names = people.table.select(["age", "zip", "sex"]).append_column("name", [list(map(str, range(300)))])
    raw = link(people.table, names, on=people.quasi, names="name")
    expected = uniqueness(people.table, sets=[people.quasi]).sets[0].uniqueness
    assert raw.share.rate == pytest.approx(expected)
    truth = dict(zip(names["name"].to_pylist(), people.table["illness"].to_pylist(), strict=True))
    assert all(truth[row["name"]] == row["illness"] for row in raw.reidentified.to_pylist())
    roles = an.Roles.of(people.table.column_names, quasi=people.quasi, sensitive="illness")
    hidden = link(an.mondrian(people.table, roles, [an.KAnonymity(4)]).table, names, on=people.quasi)
    assert hidden.share.hits == 0
    assert hidden.matches.min() >= 4


def test_hierarchies_explain_labels_of_their_own():
    ages = an.Hierarchy.of([20, 30, 70], [["young", "young", "old"]])
    release = pa.table({"age": ["young", "old"], "ill": ["yes", "no"]})
    people = pa.table({"name": ["a", "b", "c"], "age": [20, 30, 70]})
    found = link(release, people, hierarchies={"age": ages})
    assert found.matches.tolist() == [1, 1, 1]
    assert found.reidentified.to_pylist() == [{"name": "c", "ill": "no"}]
    with pytest.raises(InvalidValue, match=r"'age' must stand for values.*pass the hierarchy"):
        link(release, people)


def test_missing_values_fit_missing_cells_only():
    people = pa.table({"name": ["a", "b"], "age": [None, 30]})
    assert link(pa.table({"age": [None, 30]}), people).matches.tolist() == [1, 1]
    assert link(pa.table({"age": ["[20, 40]"]}), people).matches.tolist() == [0, 1]


@pytest.mark.parametrize(
    ("release", "outside", "options", "said"),
    [
        ({"zip": ["1"]}, {"age": [1]}, {}, "must have a column in common"),
        ({"zip": ["1"]}, {"zip": ["1"]}, {"on": []}, "must be joined on a column"),
        ({"zip": ["1"]}, {"zip": ["1"]}, {"on": "zipp"}, "must be in the table, got 'zipp'"),
        ({"zip": ["1"]}, {"zip": ["1"]}, {"names": "nam"}, "must be on the list, got 'nam'"),
        ({"zip": pa.array([], pa.string())}, {"zip": ["1"]}, {}, "a release must have rows"),
        ({"zip": ["1"]}, {"zip": pa.array([], pa.string())}, {}, "must have people on it"),
    ],
)
def test_what_cannot_be_joined_is_refused_in_a_sentence(release, outside, options, said):
    with pytest.raises(InvalidValue, match=said):
        link(pa.table(release), pa.table(outside), **options)


def test_birth_dates_single_people_out_as_often_as_chance_says():
    """P(unique) = (1 - 1/D)^(z-1) with D cells and z people, each cell as likely as the others.

    The share of unique people among z is a mean of z indicators; moving one person changes the number of unique people
    by 2 at most, so by McDiarmid it is off by more than s with probability at most 2 exp(-s² z / 2): below 1e-6 for
    s = 0.08 at z = 5000 (2 exp(-16) = 2e-7).
    """
    people, sexes, days = 5000, 2, 365 * 78
    chance = np.random.default_rng(1)
    table = pa.table(
        {"sex": chance.integers(0, sexes, people), "born": chance.integers(0, days, people), "zip": ["02138"] * people}
    )
    found = uniqueness(table, sets=[["zip", "born", "sex"]]).sets[0].uniqueness
    assert found == pytest.approx((1 - 1 / (sexes * days)) ** (people - 1), abs=0.08)


def test_all_sets_of_columns_are_looked_at_and_the_smallest_that_suffice_are_found():
    table = crowd(400).table.drop_columns("illness")
    found = dp.attacks.uniqueness(table)
    assert len(found.sets) == 7
    by_hand = table.group_by(["age", "zip"]).aggregate([([], "count_all")])["count_all"].to_pylist().count(1) / 400
    assert found.of("zip", "age").uniqueness == by_hand
    assert found.sets[0].columns == ("age", "zip", "sex")
    assert [one.columns for one in found.smallest(0.5)] == [("age", "zip")]
    assert found.smallest(1.0) == ()
    assert [one.uniqueness for one in found.sets] == sorted((one.uniqueness for one in found.sets), reverse=True)


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (lambda table: uniqueness(table, sets=[]), "must be sets of columns"),
        (lambda table: uniqueness(table, sets=[[]]), "a column in each"),
        (lambda table: uniqueness(table, ["agee"]), "must be in the table, got 'agee'"),
        (lambda table: uniqueness(table.slice(0, 0)), "must have rows and columns"),
        (lambda table: uniqueness(table, ["age"]).of("zip"), "must have been looked at"),
        (lambda table: uniqueness(table, ["age"]).smallest(0), "share must be above 0"),
    ],
)
def test_sets_that_make_no_sense_are_refused_in_a_sentence(ask, said):
    with pytest.raises(InvalidValue, match=said):
        ask(crowd(20).table)
