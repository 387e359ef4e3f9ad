"""Printed numbers are rounded up and never hide a positive one."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.privacy.format import shown

positive_fractions = st.builds(Fraction, st.integers(1, 10**40), st.integers(1, 10**40))


@given(positive_fractions, st.integers(1, 8))
def test_rounds_up_by_less_than_one_in_the_last_digit(value: Fraction, digits: int) -> None:
    printed = Fraction(shown(value, digits))
    assert value <= printed <= value * (1 + Fraction(1, 10 ** (digits - 1)))


@given(positive_fractions)
def test_never_prints_zero_for_a_positive_number(value: Fraction) -> None:
    assert Fraction(shown(value)) > 0


@given(st.integers(1, 99_999), st.integers(-30, 30))
def test_prints_short_decimals_as_they_are(figures: int, exponent: int) -> None:
    value = figures * Fraction(10) ** exponent
    assert Fraction(shown(value)) == value


@pytest.mark.parametrize(
    ("value", "printed"),
    [
        (Fraction(0), "0"),
        (Fraction(1), "1"),
        (Fraction(1, 2), "0.5"),
        (Fraction(99_999_999, 10**8), "1"),
        (Fraction(1, 10**4), "0.0001"),
        (Fraction(1, 10**5), "1e-05"),
        (Fraction(12_345), "12345"),
        (Fraction(123_456), "1.2346e+05"),
        (Fraction(1, 10**400), "1e-400"),
        (Fraction(10**400), "1e+400"),
        (Fraction(1, 10**5000), "1e-5000"),
        (Fraction(-1, 3), "-0.33333"),
    ],
)
def test_prints_as_people_write(value: Fraction, printed: str) -> None:
    assert shown(value) == printed
