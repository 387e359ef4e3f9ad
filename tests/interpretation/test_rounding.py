"""Printed figures lie on the safe side, within a unit of their last digit."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.interpretation.given import float_down, float_up, number, share, times
from tests.interpretation.printed import is_down, is_up, read

SHARES = st.fractions(0, 1) | st.builds(lambda k: Fraction(1, 10**k), st.integers(0, 30))


@given(SHARES)
def test_shares_round_to_the_side_that_is_asked_for(value: Fraction) -> None:
    for one in (value, 1 - value):
        assert is_up(share(one, up=True), one)
        assert is_down(share(one, up=False), one)


@given(SHARES)
def test_shares_have_three_digits_near_the_ends(value: Fraction) -> None:
    """But for the last six decimals, beyond which nobody reads."""
    shown, unit = read(share(value, up=True))
    assert unit <= max(min(value, 1 - value) / 10, Fraction(1, 10**8)) or shown in (0, 1) or shown == value


@pytest.mark.parametrize(
    ("value", "up", "down"),
    [
        (Fraction(0), "0 %", "0 %"),
        (Fraction(1), "100 %", "100 %"),
        (Fraction(1, 2), "50 %", "50 %"),
        (Fraction(1, 1000), "0.1 %", "0.1 %"),
        (Fraction(2, 3), "66.7 %", "66.6 %"),
        (Fraction(1, 10**12), "0.000001 %", "0 %"),
        (1 - Fraction(1, 10**12), "100 %", "99.999999 %"),
    ],
)
def test_shares_read_well(value: Fraction, up: str, down: str) -> None:
    assert (share(value, up=True), share(value, up=False)) == (up, down)


@given(st.fractions(1, 10**12) | st.builds(lambda k: 1 + Fraction(1, 10**k), st.integers(0, 20)))
def test_factors_round_up(value: Fraction) -> None:
    shown, unit = read(times(value))
    assert value <= shown
    assert shown < value + unit or times(value).startswith("10^")
    if times(value).startswith("10^"):
        assert shown < 10 * value


@pytest.mark.parametrize("power", [9, 100, 434, 4343])
def test_vast_factors_are_powers_of_ten(power: int) -> None:
    assert times(Fraction(10) ** power) == f"10^{power}"
    assert times(Fraction(10) ** power + 1) == f"10^{power + 1}"


@given(st.fractions(0, 1))
def test_floats_lie_on_their_side_and_no_float_is_nearer(value: Fraction) -> None:
    up, down = float_up(value), float_down(value)
    assert up is not None
    assert Fraction(down) <= value <= Fraction(up)
    assert abs(Fraction(up) - value) <= Fraction(1, 2**52)


def test_a_number_beyond_floats_has_none() -> None:
    assert float_up(Fraction(10) ** 400) is None


@pytest.mark.parametrize(
    ("value", "words"), [(1e15, "1e+15"), (999.6, "1,000"), (999.4, "999"), (1000, "1,000"), (0.5, "0.5")]
)
def test_sizes_read_well(value: float, words: str) -> None:
    assert number(value) == words
