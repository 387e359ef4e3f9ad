"""The two binomial variables behind every interval, against exact rationals and against SciPy."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from discreet.mechanisms.randomized_response import Debias, _first, _probabilities, _sum_reaches

shares = st.floats(0, 1)


def exactly(target: int, n: int, p: float, m: int, q: float) -> Fraction:
    def mass(k: int, size: int, rate: Fraction) -> Fraction:
        return math.comb(size, k) * rate**k * (1 - rate) ** (size - k)

    first, second = Fraction(p), Fraction(q)
    return sum(
        (mass(a, n, first) * mass(b, m, second) for a in range(n + 1) for b in range(m + 1) if a + b >= target),
        Fraction(0),
    )


@given(st.integers(0, 12), shares, st.integers(0, 12), shares, st.integers(-1, 26))
def test_tails_are_those_of_exact_arithmetic(n, p, m, q, target) -> None:
    wanted = float(exactly(target, n, p, m, q))
    assert _sum_reaches(target, (n, p), (m, q)) == pytest.approx(wanted, rel=1e-11, abs=1e-30)


@pytest.mark.parametrize("n", [10, 1000, 10**6, 10**8])
@pytest.mark.parametrize("p", [1e-9, 0.01, 0.5, 0.75, 1 - 1e-6])
def test_probabilities_are_those_of_scipy(n: int, p: float) -> None:
    start, weights = _probabilities(n, p)
    values = np.arange(start, start + len(weights))
    np.testing.assert_allclose(weights, binom.pmf(values, n, p), rtol=1e-8, atol=1e-25)
    assert binom.cdf(start - 1, n, p) + binom.sf(values[-1], n, p) < 1e-25


@given(st.integers(0, 200), st.integers(0, 220), st.floats(-300, 500))
def test_the_search_finds_the_first_wherever_it_starts(most, turn, near) -> None:
    assert _first(lambda k: k >= turn, most, near) == min(turn, most)


@settings(max_examples=40)
@given(st.integers(1, 10), st.floats(0.55, 1), st.floats(0, 0.5), st.data(), st.fractions("1/100", "99/100"))
def test_intervals_hold_what_neither_test_rejects(n, yes, no, data, confidence) -> None:
    """Against a scan over every number of holders."""
    seen = data.draw(st.integers(0, n))
    failure = float(1 - confidence) / 2 * (1 - 1e-9)
    low, high = Debias(yes, no, yes - no).interval(seen, n, confidence)
    reaching = [h for h in range(n + 1) if float(exactly(seen, h, yes, n - h, no)) > failure]
    staying = [h for h in range(n + 1) if 1 - float(exactly(seen + 1, h, yes, n - h, no)) > failure]
    expected = sorted([reaching[0] if reaching else n, staying[-1] if staying else 0])
    assert [low, high] == expected
