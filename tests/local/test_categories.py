from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from discreet.errors import InvalidInput, InvalidType, InvalidValue
from discreet.local.terms import Categories


@pytest.mark.parametrize(
    "values", [["b", "a"], ("b", "a"), np.array(["b", "a"]), np.array(["b", "a"], object), pd.Series(["b", "a"])]
)
def test_positions_of_every_kind_of_list(values: object) -> None:
    assert Categories.named(["a", "b"]).positions(values).tolist() == [1, 0]


def test_one_value_is_a_list_of_one() -> None:
    assert Categories.named(["a", "b"]).positions("b").tolist() == [1]
    assert Categories.named(range(5)).positions(4).tolist() == [4]
    assert Categories.named([False, True]).positions(np.True_).tolist() == [1]


@pytest.mark.parametrize("dtype", [np.int8, np.uint16, np.int64, np.bool_])
def test_numbers_that_count_up_are_their_own_positions(dtype: type) -> None:
    found = Categories.named(range(2)).positions(np.array([1, 0, 1], dtype))
    assert found.tolist() == [1, 0, 1]
    assert found.dtype == np.int64


def test_other_numbers_are_looked_up() -> None:
    assert Categories.named([5, 3]).positions(np.array([3, 5])).tolist() == [1, 0]


@pytest.mark.parametrize("values", [np.array([2]), np.array([-1]), [0, 2], [[0]], np.array([[0]]), {"a": 1}, None, 0.5])
def test_refuses_other_answers_without_repeating_them(values: object) -> None:
    with pytest.raises(InvalidInput) as refusal:
        Categories.named(range(2)).positions(values)
    assert "0.5" not in str(refusal.value)


def test_refuses_masked_answers() -> None:
    with pytest.raises(InvalidType, match="masked"):
        Categories.named(range(2)).positions(np.ma.masked_array([0, 1], [True, False]))


@pytest.mark.parametrize(
    "names",
    [["a"], [], ["a", "a"], "ab", 3, [0.5, 1.5], ["a", None], [b"a"], ["a", ["b"]], ["\ud800", "a"], [1, True]],
)
def test_refuses_names_that_cannot_be_told_apart_or_written(names: object) -> None:
    with pytest.raises(InvalidInput):
        Categories.named(names)


def test_refuses_more_than_can_be_counted() -> None:
    with pytest.raises(InvalidValue, match="at most"):
        Categories.named(range(2**40))
