"""One person in two published tables: the texts' two hospitals pin Alice down."""

from __future__ import annotations

import pyarrow as pa
import pytest

import discreet as dp
from discreet.attacks.linkage.composition import intersect
from discreet.errors import InvalidType, InvalidValue
from tests.texts import tables

ALICE = {"zip": "13012", "age": 28}


def hospital(rows) -> pa.Table:
    return pa.table(dict(zip(("zip", "age", "condition"), zip(*rows, strict=True), strict=True)))


FIRST, SECOND = hospital(tables.FIGURE_1), hospital(tables.FIGURE_2)


def test_two_hospitals_pin_alice_down_exactly():
    """28 years old, ZIP 13012, in a 4-anonymous and a 6-anonymous table: one condition is in both."""
    found = dp.attacks.intersect([FIRST, SECOND], ALICE)
    assert found.candidates == ("AIDS",)
    assert found.pinned == "AIDS"
    assert found.likelihoods == {"AIDS": 1.0}


@pytest.mark.parametrize("figure", [tables.FIGURE_1, tables.FIGURE_2])
def test_either_hospital_alone_leaves_what_the_texts_say(figure):
    found = intersect([hospital(figure)], ALICE)
    assert set(found.candidates) == tables.possible_conditions(figure, "13012", 28)
    assert len(found.candidates) >= 3
    assert found.pinned is None


def test_every_age_is_read_as_the_texts_read_it():
    for age in range(18, 80):
        for figure in (tables.FIGURE_1, tables.FIGURE_2):
            found = intersect([hospital(figure)], {"zip": "13012", "age": age})
            assert set(found.candidates) == tables.possible_conditions(figure, "13012", age)


def test_candidates_are_ordered_by_the_product_of_their_counts():
    found = intersect([FIRST, FIRST], ALICE)
    assert found.candidates[0] == "Viral Infection"
    assert found.likelihoods["Viral Infection"] == pytest.approx(4 / 6)
    assert found.counts[0] == {"AIDS": 1, "Heart Disease": 1, "Viral Infection": 2}


def test_a_release_by_other_columns_still_counts():
    third = pa.table({"sex": ["f", "f", "m"], "condition": ["AIDS", "Cancer", "Flu"]})
    found = intersect([SECOND, third], {**ALICE, "sex": "f"})
    assert set(found.candidates) == {"AIDS", "Cancer"}


def test_somebody_whom_no_row_fits_has_no_candidates():
    found = intersect([FIRST, SECOND], {"zip": "99999", "age": 28})
    assert found.candidates == ()
    assert found.pinned is None
    assert found.likelihoods == {}


def test_the_secret_can_be_named():
    wide = FIRST.append_column("ward", [["A"] * 12])
    assert intersect([wide, wide], ALICE, secret="ward").pinned == "A"


@pytest.mark.parametrize(
    ("ask", "error", "said"),
    [
        (lambda: intersect([], ALICE), InvalidValue, "must be a release"),
        (lambda: intersect([FIRST], ["zip"]), InvalidType, "must map columns to values"),
        (lambda: intersect([FIRST], {}), InvalidValue, "must be named unless"),
        (lambda: intersect([FIRST], {}, secret="condition"), InvalidValue, "must have a column that is known"),
        (lambda: intersect([FIRST], ALICE, secret="conditon"), InvalidValue, "did you mean 'condition'"),
        (lambda: intersect([FIRST.append_column("x", [["A"] * 12])], ALICE), InvalidValue, "must be named unless"),
    ],
)
def test_what_cannot_be_intersected_is_refused_in_a_sentence(ask, error, said):
    with pytest.raises(error, match=said):
        ask()
