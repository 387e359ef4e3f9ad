from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import InvalidInput, InvalidType, InvalidValue
from discreet.exact.rational import rational
from discreet.noise.race import Scores

numbers = st.one_of(
    st.integers(-(2**62), 2**62),
    st.floats(-(2.0**61), 2.0**61),
    st.fractions(min_value=-(2**62), max_value=2**62),
)


def is_bounded(scores: Scores, exact: list[Fraction]) -> bool:
    """Whether every gap is exact in rationals and within the stated error in floats."""
    best = max(exact)
    return all(
        scores.gap(i) == best - s
        and abs(Fraction(scores.gaps[i]) - (best - s)) <= Fraction(scores.gap_error) + (best - s) / 2**51
        for i, s in enumerate(exact)
    )


@given(st.lists(numbers, min_size=1, max_size=6))
def test_gaps_of_lists_are_exact_and_their_floats_bounded(values):
    assert is_bounded(Scores(values), [rational(v) for v in values])


@pytest.mark.parametrize("dtype", ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", ">i4"])
def test_narrow_integers_do_not_overflow(dtype):
    ends = np.iinfo(dtype)
    values = np.array([max(ends.min, -(2**62)), 0, 7, min(ends.max, 2**62)]).astype(dtype)
    assert is_bounded(Scores(values), [Fraction(int(v)) for v in values])


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", ">f8", "longdouble"])
def test_floats_of_every_width_mean_their_shortest_decimal(dtype):
    values = np.array([0.1, 0.3, -7.7, 1000.1], dtype)
    scores = Scores(values)
    assert is_bounded(scores, [rational(v) for v in values])
    if dtype == "f4":
        assert scores.gap(0) == Fraction(10001, 10) - Fraction(1, 10)


def test_the_widest_gap_fits():
    scores = Scores([2**62, -(2**62)])
    assert scores.gaps.tolist() == [0.0, 2.0**63]
    assert scores.gap(1) == 2**63


def test_a_mix_of_integers_and_floats_loses_nothing():
    scores = Scores([2**53 + 1, 0.5, 2**53])
    assert scores.best == 2**53 + 1
    assert scores.gap(2) == 1


def test_close_floats_keep_their_order():
    scores = Scores(np.array([1e18, 1e18 + 128]))
    assert scores.gap(0) == 100  # the shortest decimal of 1e18 + 128 is 1.0000000000000001e18


@pytest.mark.parametrize(
    "values", [["0.1", Decimal("0.3"), Fraction(1, 3)], range(3), (1, 2), np.array([1, 2], object)]
)
def test_every_sequence_of_numbers_is_read(values):
    assert len(Scores(values)) == len(values)


@pytest.mark.parametrize("values", [[], np.array([]), ()])
def test_refuses_an_empty_race(values):
    with pytest.raises(InvalidValue, match="at least one candidate"):
        Scores(values)


@pytest.mark.parametrize(
    "values",
    [
        5,
        "123",
        "",
        None,
        {1, 2},
        (x for x in [1]),
        [[1, 2], [3, 4]],
        np.ones((2, 2)),
        [[1], [2, 3]],
        np.array(3),
        [True, False],
        np.array([True]),
        [1, True],
        [None],
        [1j],
        np.array(["2020"], "M8[Y]"),
        {1: 2},
    ],
)
def test_refuses_what_is_no_flat_sequence_of_numbers(values):
    with pytest.raises(InvalidInput):
        Scores(values)


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), -float("inf")])
@pytest.mark.parametrize("wrap", [list, np.array, lambda v: np.array(v, np.float32), lambda v: [*v, 1]])
def test_refuses_what_is_not_finite(bad, wrap):
    with pytest.raises(InvalidValue, match="finite"):
        Scores(wrap([0.5, bad]))


@pytest.mark.parametrize(
    "values",
    [
        [2**62 + 1],
        [-(2**62) - 1],
        [2**63, -1],
        [2**64],
        np.array([-(2**63)]),
        np.array([2**63], np.uint64),
        [1e300],
        ["1e400"],
        [0, -(2**70)],
    ],
)
def test_refuses_scores_whose_gaps_outgrow_64_bits(values):
    with pytest.raises(InvalidValue, match="between -2\\^62 and 2\\^62"):
        Scores(values)


def test_refusals_name_a_type_where_the_type_is_wrong():
    with pytest.raises(InvalidType, match="flat sequence"):
        Scores(np.zeros((0, 3)))
