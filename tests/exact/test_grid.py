"""Grids: R1 (answers lie on a grid fixed in advance) and the rounding half of R5 (a move of d stays a move of d)."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from discreet.errors import InvalidType, InvalidValue
from discreet.exact.grid import LARGEST_STEPS, Grid

exponents = st.integers(-1000, 900)
finite = st.floats(allow_nan=False, allow_infinity=False)
edges = st.sampled_from([0.0, -0.0, 5e-324, -5e-324, 2.2e-308, 1e308, -1e308, 0.5, -0.5, 1.5, 2.5, 2.0**62, -(2.0**63)])
wide_integers = st.one_of(
    st.integers(-(2**63), 2**64 - 1), st.sampled_from([2**62, 2**63 - 1, -(2**63), 2**64 - 1, 2**61])
)


def half_up(value: Fraction, grid: Grid) -> int:
    """The rule in one line of rational arithmetic, saturated."""
    return min(max(math.floor(value / grid.step + Fraction(1, 2)), -LARGEST_STEPS), LARGEST_STEPS)


@given(st.one_of(finite, edges), exponents)
@example(0.49999999999999994, 0)
@example(-0.5000000000000001, 0)
@example(4503599627370495.5, 0)
@example(-1e-300, 0)
def test_floats_land_on_the_nearest_point_with_halves_up(x, exponent):
    grid = Grid(exponent)
    assert grid.steps_of(x) == half_up(Fraction(x), grid)


@given(wide_integers, st.one_of(st.integers(-70, 70), exponents))
@example(2**62, 62)
@example(2**62, 63)
@example(2**63 - 1, 10)
@example(2**64 - 1, 1)
@example(-(2**63), 64)
def test_integers_are_never_rounded_through_floats(x, exponent):
    grid = Grid(exponent)
    array = np.asarray([x])
    assert array.dtype.kind in "iu"
    assert grid.steps_of(array).tolist() == [half_up(Fraction(x), grid)]


@given(st.integers(-(2**80), 2**80), st.integers(-70, 70))
def test_integers_beyond_64_bits_saturate_instead_of_telling(x, exponent):
    grid = Grid(exponent)
    assert grid.steps_of(np.asarray([x], dtype=object)).tolist() == [half_up(Fraction(x), grid)]
    assert grid.steps_of([2**70]).tolist() == [half_up(Fraction(2**70), grid)]


@given(st.lists(st.one_of(finite, edges, st.integers(-(2**80), 2**80)), min_size=1), exponents)
@example([2**54 + 3, 0.5], 0)
@example([2**63, -1], 0)
def test_each_entry_of_a_list_is_rounded_as_if_it_were_alone(values, exponent):
    grid = Grid(exponent)
    assert grid.steps_of(values).tolist() == [half_up(Fraction(value), grid) for value in values]


@given(st.one_of(finite, edges), st.one_of(finite, edges), exponents)
@example(1e308, -1e308, -1000)
@example(5e-324, -5e-324, -1000)
@example(0.5, -0.5, 0)
def test_neighbours_land_no_further_apart_than_promised(x, y, exponent):
    grid = Grid(exponent)
    moved = abs(int(grid.steps_of(x)) - int(grid.steps_of(y)))
    assert moved <= grid.steps_within(abs(Fraction(x) - Fraction(y)))


@given(wide_integers, wide_integers, st.integers(-70, 70))
def test_neighbouring_integers_land_no_further_apart_than_promised(x, y, exponent):
    grid = Grid(exponent)
    moved = abs(int(grid.steps_of(np.asarray([x]))[0]) - int(grid.steps_of(np.asarray([y]))[0]))
    assert moved <= grid.steps_within(Fraction(abs(x - y)))


@given(st.integers(-(2**40), 2**40), st.integers(-1000, 1000))
def test_rounding_commutes_with_whole_shifts(eighths, shift):
    x = eighths / 8
    assert Grid().steps_of(x + shift) == Grid().steps_of(x) + shift


def test_rounding_to_even_would_turn_one_step_into_two():
    halves = np.array([0.5, 1.5])
    assert np.diff(np.rint(halves)).tolist() == [2.0]
    assert np.diff(Grid().steps_of(halves)).tolist() == [1]


def test_the_order_of_values_is_kept():
    values = np.sort(np.concatenate([np.linspace(-3, 3, 1001), [1e308, -1e308, 5e-324]]))
    assert (np.diff(Grid(-2).steps_of(values)) >= 0).all()


@given(st.integers(-(2**62), 2**62), exponents)
def test_released_values_are_multiples_of_the_step(steps, exponent):
    grid = Grid(exponent)
    assert (Fraction(grid.value_of(steps)) / grid.step).denominator == 1
    assert (Fraction(float(grid.values_of(np.array([steps]))[0])) / grid.step).denominator == 1


@given(st.integers(-(2**52), 2**52), st.integers(-1000, 900))
def test_values_come_back_to_the_steps_they_came_from(steps, exponent):
    grid = Grid(exponent)
    assert grid.steps_of(grid.values_of(np.array([steps]))).tolist() == [steps]


def test_whole_number_grids_give_integers():
    assert Grid().value_of(np.int64(3)) == 3
    assert type(Grid(2).value_of(3)) is int
    assert Grid().values_of(np.array([3])).dtype == np.int64


@pytest.mark.parametrize("values", [[], np.array([], dtype=int), np.zeros((0, 3))])
def test_no_values_give_no_steps(values):
    steps = Grid(-3).steps_of(values)
    assert steps.dtype == np.int64
    assert steps.shape == np.shape(values)


@pytest.mark.parametrize("dtype", ["i1", "i2", "i4", "u1", "u2", "u4", "u8", "f2", "f4", "f8", ">i4", ">f8"])
def test_every_width_and_byte_order_is_read(dtype):
    assert Grid(-1).steps_of(np.array([3, 100], dtype)).tolist() == [6, 200]


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), -float("inf")])
def test_refuses_what_is_not_finite(bad):
    with pytest.raises(InvalidValue, match="finite"):
        Grid().steps_of([1.0, bad])


@pytest.mark.parametrize(
    "bad", [[True], ["1"], [None], [1j], np.array([1], "M8[s]"), np.array([2**70, Fraction(1, 2)], object)]
)
def test_refuses_what_is_not_a_number(bad):
    with pytest.raises(InvalidType):
        Grid().steps_of(bad)


def test_refuses_wide_floats_that_would_be_rounded_twice():
    if np.dtype(np.longdouble).itemsize > 8:
        with pytest.raises(InvalidType, match="64 bits"):
            Grid().steps_of(np.array([1], np.longdouble))


@pytest.mark.parametrize(
    ("step", "exponent"), [(1, 0), (0.25, -2), ("1/1024", -10), (1024, 10), (2.0**-60, -60), (2**70, 70)]
)
def test_a_step_names_its_grid(step, exponent):
    assert Grid.of_step(step) == Grid(exponent)


@pytest.mark.parametrize("step", [0, -1, 3, 0.1, "1/3", "1e400"])
def test_refuses_a_step_that_is_no_power_of_two(step):
    with pytest.raises(InvalidValue, match="power of two"):
        Grid.of_step(step)


@pytest.mark.parametrize("exponent", [-1001, 901])
def test_refuses_grids_that_floats_cannot_hold(exponent):
    with pytest.raises(InvalidValue):
        Grid(exponent)


@given(st.fractions(min_value=Fraction(1, 10**9), max_value=10**9))
def test_the_coarsest_grid_below_a_length(length):
    grid = Grid.finer_than(length)
    assert grid.step <= length < 2 * grid.step


def test_refuses_a_length_without_extent():
    with pytest.raises(InvalidValue):
        Grid.finer_than(Fraction(0))


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64, float])
def test_a_power_of_two_is_one_in_every_float_type(kind):
    assert Grid.of_step(kind(2.0**-13)) == Grid(-13)
    with pytest.raises(InvalidValue):
        Grid.of_step(kind(0.3))


def test_the_type_of_an_array_of_answers_depends_on_the_grid_alone():
    for steps in (np.asarray([0]), np.asarray([2**62])):
        assert Grid(0).values_of(steps).dtype == np.int64
        assert Grid(3).values_of(steps).dtype == Grid(-3).values_of(steps).dtype == np.float64
