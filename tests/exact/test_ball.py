from __future__ import annotations

import math
import subprocess
import sys
import threading
from decimal import Decimal, localcontext
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import InvalidValue
from discreet.exact.ball import (
    BITS,
    Ball,
    ball,
    current_precision,
    exp_down,
    exp_up,
    floor_of,
    ln_down,
    ln_up,
    lower,
    normal_cdf,
    round_up,
    sqrt_down,
    sqrt_up,
    upper,
    working_precision,
)

small = st.fractions(min_value=-50, max_value=50, max_denominator=10**6)
above_zero = st.fractions(min_value=Fraction(1, 10**6), max_value=10**6, max_denominator=10**6)


def decimal(x: Fraction) -> Decimal:
    return Decimal(x.numerator) / Decimal(x.denominator)


def encloses(low: Fraction, middle: Decimal, high: Fraction) -> bool:
    """Whether a number computed by libmpdec, which shares no code with Arb, lies between two bounds."""
    slack = Fraction(1, 10**70) * max(1, abs(Fraction(middle)))
    return low <= Fraction(middle) + slack and Fraction(middle) - slack <= high and low <= high


@given(small)
def test_bounds_of_exp_enclose_an_independent_value(x):
    with localcontext(prec=100):
        assert encloses(exp_down(x), decimal(x).exp(), exp_up(x))


@given(above_zero)
def test_bounds_of_ln_enclose_an_independent_value(x):
    with localcontext(prec=100):
        assert encloses(ln_down(x), decimal(x).ln(), ln_up(x))


@given(above_zero)
def test_squares_of_the_bounds_of_a_root_enclose_the_number(x):
    assert sqrt_down(x) ** 2 <= x <= sqrt_up(x) ** 2


@given(small)
def test_bounds_are_tight(x):
    assert exp_up(x) - exp_down(x) <= exp_up(x) * Fraction(1, 2 ** (BITS - 12))


def test_a_root_of_zero_is_zero_from_below():
    assert sqrt_down(0) == 0 == sqrt_up(0)


def test_exponents_beyond_reach_round_to_the_safe_side_or_are_refused():
    assert exp_down(-(2**100)) == 0 < exp_up(-(2**100)) < Fraction(1, 2**10000)
    for bound in (exp_up, exp_down):
        with pytest.raises(InvalidValue, match="logarithm"):
            bound(2**100)


def test_ends_next_to_zero_move_outwards():
    with working_precision():
        tiny = (-(Ball(2) ** 90)).exp()
        assert lower(-tiny) < 0 == lower(tiny) == upper(-tiny) < upper(tiny)


@given(st.fractions())
def test_prices_round_up_by_less_than_one_unit(x):
    assert 0 <= round_up(x) - x < Fraction(1, 2**96)


@given(st.fractions())
def test_ends_of_a_ball_enclose_its_rational(x):
    with working_precision(20):
        assert lower(ball(x)) <= x <= upper(ball(x))


@given(st.integers(1, 10**6), st.integers(0, 200))
def test_floor_finds_as_many_bits_as_it_needs(x, shift):
    with localcontext(prec=100):
        expected = int(decimal(Fraction(x)).sqrt() * Decimal(2) ** shift)
    if math.isqrt(x) ** 2 != x:
        assert floor_of(lambda: Ball(x).sqrt() * Ball(2) ** shift, bits=8) == expected


def test_the_normal_law_is_the_normal_law():
    with working_precision():
        assert float(normal_cdf(Ball(0))) == 0.5
        assert float(normal_cdf(Ball(-10))) == pytest.approx(7.619853024160527e-24, rel=1e-14)


def test_precision_is_restored_after_an_error():
    before = current_precision()
    with pytest.raises(ZeroDivisionError), working_precision(500):
        Fraction(1, 0)
    assert current_precision() == before


def test_threads_do_not_disturb_each_others_precision():
    seen: list[int] = []

    def compute(bits: int) -> None:
        for _ in range(200):
            with working_precision(bits):
                seen.append(current_precision() - bits)

    threads = [threading.Thread(target=compute, args=(bits,)) for bits in (100, 200, 300)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(seen) == {0}


def test_a_fork_inside_a_computation_leaves_no_lock_behind():
    script = """
import os, threading, time
from discreet.exact.ball import exp_up, working_precision
inside, done = threading.Event(), threading.Event()
def hold():
    with working_precision(300):
        inside.set()
        done.wait()
threading.Thread(target=hold).start()
inside.wait()
child = os.fork()
if child == 0:
    os._exit(0 if exp_up(1) > 2 else 1)
status = os.waitpid(child, 0)[1]
done.set()
raise SystemExit(os.waitstatus_to_exitcode(status))
"""
    assert subprocess.run([sys.executable, "-W", "ignore", "-c", script], timeout=20, check=False).returncode == 0
