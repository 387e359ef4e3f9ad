"""The table under attack: coded columns, a secret, and what counts as yes."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from discreet.attacks.people import People
from discreet.errors import InvalidValue


def of(**columns: list) -> People:
    return People.of(pa.table(columns), [name for name in columns if name != "secret"], "secret")


def test_codes_follow_the_order_of_the_values_and_not_of_their_text():
    people = of(age=[100, 9, 30], secret=["b", "a", "b"])
    assert people.columns["age"].values == ("9", "30", "100")
    assert people.columns["age"].codes.tolist() == [2, 0, 1]
    assert people.secret.codes.tolist() == [1, 0, 1]


def test_missing_values_are_a_value_of_their_own():
    people = of(age=[3, None, 1], secret=["a", "b", None])
    assert people.columns["age"].values == ("1", "3", "(missing)")
    assert people.columns["age"].codes.tolist() == [1, 2, 0]
    assert people.secret.values == ("a", "b", "(missing)")


def test_a_number_that_is_none_is_missing():
    people = of(age=[2.5, float("nan"), None], secret=["a", "b", "a"])
    assert people.columns["age"].values == ("2.5", "(missing)")


def test_a_number_of_many_values_is_a_secret_of_four_ranges():
    people = of(age=[1] * 100, secret=list(range(100)))
    assert people.secret.values == ("0 to 24", "25 to 49", "50 to 74", "75 to 99")
    assert np.bincount(people.secret.codes).tolist() == [25] * 4


def test_a_number_that_is_nearly_always_the_same_still_has_two_ranges_or_is_refused():
    people = of(age=[1] * 100, secret=[0] * 80 + list(range(1, 21)))
    assert people.secret.values == ("0 to 0", "1 to 20")


def test_marked_secrets_split_the_people_most_evenly():
    people = of(age=[1] * 10, secret=["a"] * 4 + ["b"] * 3 + ["c"] * 2 + ["d"])
    assert people.marked.tolist() == [True, False, False, False]
    assert people.bits.sum() == 4


def test_marked_secrets_are_never_all_or_none():
    assert of(age=[1] * 10, secret=["a"] * 9 + ["b"]).marked.tolist() == [True, False]


def test_some_of_the_people_keep_values_numbers_and_what_counts_as_yes():
    people = of(age=[5, 6, 7, 8], secret=["a", "a", "b", "c"])
    taken = people.take(np.array([3, 0]))
    assert taken.numbers.tolist() == [3, 0]
    assert taken.columns["age"].values == people.columns["age"].values
    assert taken.secret.codes.tolist() == [2, 0]
    assert taken.marked.tolist() == people.marked.tolist()
    assert taken.renumbered().numbers.tolist() == [0, 1]
    assert taken.table["age"].to_pylist() == [8, 5]


@pytest.mark.parametrize(
    ("columns", "rule"),
    [
        ({"age": [1], "secret": ["a"]}, "at least two people"),
        ({"age": [1, 2], "secret": ["a", "a"]}, "a secret must differ between people"),
        ({"age": [1, 2], "secret": [None, None]}, "a secret must differ between people"),
        ({"age": [[1], [2]], "secret": ["a", "b"]}, "a column must hold values that can be told apart"),
        ({"age": [1, 2], "secret": [{"x": 1}, {"x": 2}]}, "a column must hold values that can be told apart"),
    ],
)
def test_refuses_a_table_with_nothing_to_find(columns, rule):
    with pytest.raises(InvalidValue, match=rule):
        of(**columns)


def test_refuses_a_table_of_which_others_know_nothing():
    with pytest.raises(InvalidValue, match="a table must have a quasi-identifier"):
        People.of(pa.table({"secret": ["a", "b"]}), [], "secret")


def test_refuses_a_column_that_is_not_there():
    with pytest.raises(InvalidValue, match="a column must be in the table"):
        People.of(pa.table({"age": [1, 2], "secret": ["a", "b"]}), ["agee"], "secret")


def test_a_missing_value_and_a_text_that_says_so_stay_apart():
    people = of(age=[1, 2, 3, 4], secret=["(missing)", None, "z", "((missing))"])
    assert people.secret.values == ("((missing))", "(missing)", "z", "(((missing)))")
    assert people.secret.codes.tolist() == [1, 3, 2, 0]
