from __future__ import annotations

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from discreet.exact.ball import ball, lower, upper, working_precision
from discreet.noise.bernoulli import threshold_of_odds

prices = st.fractions(min_value="1/1000", max_value=200, max_denominator=1000)
odds = st.fractions(min_value="1/1000", max_value=10**6, max_denominator=1000)


@given(prices, odds, st.sampled_from([8, 64, 72, 128]))
def test_a_threshold_is_the_floor_of_the_scaled_probability(x, r, bits) -> None:
    """At four times the precision that the floor needs."""
    edge, whole = threshold_of_odds(x, r)(bits)
    with working_precision(2000):
        scaled = ball(r) / (ball(x).exp() + ball(r)) * 2**bits
        assert lower(scaled) > edge
        assert upper(scaled) < edge + 1
    assert not whole


@given(odds)
def test_a_price_beyond_all_bits_has_no_bit_set(r) -> None:
    assert threshold_of_odds(Fraction(10**9), r)(64) == (0, False)
