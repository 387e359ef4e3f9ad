from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import InvalidType, InvalidValue
from discreet.exact.rational import integer, positive, probability, rational

TENTH = Fraction(1, 10)


@pytest.mark.parametrize(
    "typed",
    [
        0.1,
        "0.1",
        "1/10",
        " 0.1 ",
        ".1",
        "1e-1",
        "+0.10",
        Decimal("0.1"),
        TENTH,
        np.float64(0.1),
        np.float32(0.1),
        np.float16(0.1),
        np.longdouble("0.1"),
        np.str_("0.1"),
    ],
)
def test_a_tenth_is_a_tenth_however_it_is_typed(typed):
    assert rational(typed) == TENTH


@pytest.mark.parametrize("typed", [3, "3", 3.0, "3.", np.int8(3), np.uint64(3), Decimal(3), Fraction(3)])
def test_whole_numbers_stay_whole(typed):
    assert rational(typed) == 3


def test_ten_tenths_fill_a_budget_of_one():
    assert sum(rational(0.1) for _ in range(10)) == 1


def test_a_million_millionths_fill_a_budget_of_one():
    assert 10**6 * rational(1e-6) == 1


def test_tiny_and_huge_decimals_are_exact():
    assert rational(5e-324) == Fraction(5, 10**324)
    assert rational("1e400") == rational(Decimal("1e400")) == 10**400
    assert rational(-0.0) == 0


@pytest.mark.parametrize(
    "typed",
    [
        float("nan"),
        float("inf"),
        -float("inf"),
        np.float32("nan"),
        Decimal("NaN"),
        Decimal("sNaN"),
        Decimal("-Infinity"),
    ],
)
def test_refuses_what_is_not_finite(typed):
    with pytest.raises(InvalidValue, match="must be finite"):
        rational(typed)


@pytest.mark.parametrize(
    "typed",
    [
        "",
        " ",
        "1/0",
        "１",
        "٣",
        "1e999999999",
        "1_000",
        "0x10",
        "nan",
        "inf",
        "1/2/3",
        "1/-2",
        "1.5/2",
        "one",
        "1" * 1001,
        "--1",
        "1e",
        "e5",
        ".",
        "1\n2",
        Decimal("1e999999"),
    ],
)
def test_refuses_text_that_is_not_a_number(typed):
    with pytest.raises(InvalidValue):
        rational(typed)


@pytest.mark.parametrize("typed", [True, False, np.True_, None, [1], b"1", 1j, np.array([1.0]), object()])
def test_refuses_types_without_a_meaning(typed):
    with pytest.raises(InvalidType):
        rational(typed)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_float_reads_back_as_itself(x):
    assert float(rational(x)) == x


@given(st.fractions())
def test_a_fraction_survives_being_written_down(x):
    assert rational(str(x)) == x


@pytest.mark.parametrize("typed", [0, -1, "-0.5", 5e-324, "1e400", 2**101, Fraction(1, 2**101), -0.0])
def test_refuses_a_parameter_that_protects_nothing_or_is_a_slip(typed):
    with pytest.raises(InvalidValue, match="epsilon must"):
        positive(typed, "epsilon")


def test_the_range_of_parameters_is_closed():
    assert positive(2**100) == 2**100
    assert positive(Fraction(1, 2**100)) == Fraction(1, 2**100)


def test_a_refusal_names_rule_and_value():
    with pytest.raises(InvalidValue) as refusal:
        positive(-1, "epsilon")
    assert str(refusal.value) == "epsilon must be positive, got -1"


@pytest.mark.parametrize(("typed", "exact"), [(0, 0), (1, 1), ("1/3", Fraction(1, 3)), (1.0, 1)])
def test_probabilities_include_both_ends(typed, exact):
    assert probability(typed) == exact


@pytest.mark.parametrize("typed", [-1e-300, 1.0000000000000002, "4/3"])
def test_refuses_a_probability_outside_the_unit_interval(typed):
    with pytest.raises(InvalidValue, match="between 0 and 1"):
        probability(typed)


@pytest.mark.parametrize("typed", [7, np.int64(7), np.uint8(7)])
def test_integers_of_any_width_become_python_integers(typed):
    assert type(integer(typed)) is int


@pytest.mark.parametrize("typed", [7.0, "7", True, np.True_, None, Fraction(7), Decimal(7)])
def test_refuses_integers_that_only_look_whole(typed):
    with pytest.raises(InvalidType):
        integer(typed)


def test_integers_keep_their_bounds():
    assert integer(3, least=3, most=3) == 3
    with pytest.raises(InvalidValue, match="k must be at least 4"):
        integer(3, "k", least=4)
    with pytest.raises(InvalidValue, match="k must be at most 2"):
        integer(3, "k", most=2)
