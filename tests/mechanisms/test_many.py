"""Many answers of which few are different."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from discreet.mechanisms.distribution import Many, coded_rows

SMALL = arrays(np.int64, st.tuples(st.integers(0, 20), st.integers(0, 3)), elements=st.integers(-3, 3))
LARGE = arrays(np.int64, st.tuples(st.integers(0, 20), st.integers(1, 3)), elements=st.integers(-(2**61), 2**61))


@given(st.one_of(SMALL, LARGE))
@settings(deadline=None)
def test_every_row_is_found_again_and_no_row_is_listed_twice(rows):
    different, places = coded_rows(rows)
    assert np.array_equal(different[places], rows)
    assert len({tuple(row) for row in different.tolist()}) == len(different)
    assert len(set(places.tolist())) == len(different)


def test_many_answers_are_a_sequence():
    many = Many.of_rows(np.array([[0, 1], [1, 0], [0, 1]]), tuple)
    assert list(many) == [(0, 1), (1, 0), (0, 1)]
    assert many[-1] == (0, 1)
    assert list(many[np.array([True, True, False])]) == [(0, 1), (1, 0)]
    assert list(many[::-1]) == list(many)[::-1]
    assert len(many[1:]) == 2
