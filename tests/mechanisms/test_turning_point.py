"""The search that calibrations share ends where the condition turns true."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from discreet.mechanisms.gaussian import turning_point


@given(st.integers(1, 10**12), st.integers(-5, 10**12), st.integers(1, 1000))
def test_finds_the_least_number_that_holds(least: int, start: int, width: int) -> None:
    assert turning_point(lambda k: k >= least, start, width) == least


@given(st.sets(st.integers(1, 200)), st.integers(1, 300))
def test_ends_at_a_turn_whatever_the_condition(exceptions: set[int], start: int) -> None:
    def holds(k: int) -> bool:
        return k > 0 and k not in exceptions

    found = turning_point(holds, start)
    assert holds(found)
    assert not holds(found - 1)
