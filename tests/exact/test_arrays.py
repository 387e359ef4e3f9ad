"""Reading numbers changes none of them, whatever stands next to them."""

from __future__ import annotations

from collections import deque
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import InvalidType
from discreet.exact.grid import Grid, exact_array, holds_integers

numbers = st.one_of(st.integers(-(2**70), 2**70), st.floats(allow_nan=False))


@given(st.lists(numbers))
def test_no_entry_depends_on_its_neighbours(values):
    for listed in (values, tuple(values), deque(values)):
        assert exact_array(listed).tolist() == values


@pytest.mark.parametrize("values", [[1, 2], (3, 4), range(3), np.arange(3), 5, np.int8(5), [2**64], [np.int64(1), 2]])
def test_whole_numbers_are_known_as_such(values):
    assert holds_integers(exact_array(values))


@pytest.mark.parametrize(
    "values", [[1, 0.5], [True], [1, True], True, 0.5, "5", [None], [Fraction(1)], (x for x in [1])]
)
def test_nothing_else_counts_as_whole(values):
    assert not holds_integers(exact_array(values))


def test_plain_lists_become_plain_arrays():
    assert exact_array([1, 2]).dtype == np.int64
    assert exact_array([0.5, 2.0]).dtype == np.float64
    assert exact_array([[1, 2], [3, 4]]).shape == (2, 2)
    assert exact_array([]).shape == (0,)


@pytest.mark.parametrize("ragged", [[[1, 2], [3]], [1, [2]], [[[1]], [2]]])
def test_refuses_rows_of_different_lengths(ragged):
    with pytest.raises(InvalidType):
        Grid().steps_of(ragged)


def test_refuses_to_look_behind_a_mask():
    with pytest.raises(InvalidType, match="mask"):
        exact_array(np.ma.array([1, 2], mask=[False, True]))
