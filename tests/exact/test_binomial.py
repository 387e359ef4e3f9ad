"""Bounds on a probability hold for every probability, by summing the binomial law exactly."""

from __future__ import annotations

import numpy as np
import pytest
from flint import arb, ctx
from scipy import stats

from discreet.errors import InvalidValue
from discreet.exact.binomial import Proportion, lower_bounds, upper_bounds


@pytest.mark.parametrize("trials", [1, 2, 7, 40])
@pytest.mark.parametrize("alpha", [0.3, 0.05, 1e-6])
def test_bounds_miss_the_truth_at_most_as_often_as_stated_whatever_it_is(trials, alpha):
    hits = np.arange(trials + 1)
    low, high = lower_bounds(hits, trials, alpha), upper_bounds(hits, trials, alpha)
    for truth in np.linspace(0, 1, 501):
        mass = stats.binom.pmf(hits, trials, truth)
        assert mass[low > truth].sum() <= alpha * (1 + 1e-9)
        assert mass[high < truth].sum() <= alpha * (1 + 1e-9)


def test_the_lower_bound_is_where_so_many_hits_are_as_rare_as_stated():
    assert stats.binom.sf(7 - 1, 20, Proportion(7, 20).lower(0.01)) == pytest.approx(0.01)


def test_bounds_stay_exact_where_hits_are_rare_or_sure():
    million = 10**6
    assert Proportion(0, million).upper(1e-6) == pytest.approx(1 - 1e-6 ** (1 / million), rel=1e-9)
    assert Proportion(million, million).lower(1e-6) == pytest.approx(1e-6 ** (1 / million), rel=1e-9)
    assert Proportion(0, 5).lower(0.1) == 0
    assert Proportion(5, 5).upper(0.1) == 1


@pytest.mark.parametrize(
    ("hits", "trials", "digits"),
    [(0, 10**6, 13), (5, 10**6, 13), (100, 10**7, 13), (0, 10**9, 13), (1, 572_463_295, 8), (2**30 - 3, 2**30, 8)],
)
@pytest.mark.parametrize("alpha", [6e-8, 0.02])
def test_upper_bounds_keep_their_digits_where_hits_are_rare_among_many(hits, trials, digits, alpha):
    """A bit above and a bit below the bound, so few hits are rarer and commoner than stated: in balls of 200 bits."""
    found, part = Proportion(hits, trials).upper(alpha), 10.0**-digits
    with ctx.workprec(200):
        above, below = (
            arb.beta_lower(1 - arb(found) * (1 + sign * arb(part)), trials - hits, hits + 1, regularized=1)
            for sign in (1, -1)
        )
        assert above <= alpha <= below


def test_no_trials_prove_nothing():
    assert Proportion(0, 0).interval() == (0, 1)
    assert np.isnan(Proportion(0, 0).rate)


@pytest.mark.parametrize(("hits", "trials"), [(-1, 3), (4, 3)])
def test_refuses_more_hits_than_trials(hits, trials):
    with pytest.raises(InvalidValue, match="hits must lie between 0 and the 3 trials"):
        Proportion(hits, trials)


@pytest.mark.parametrize("alpha", [0, 1, -0.1])
def test_refuses_a_confidence_that_means_nothing(alpha):
    with pytest.raises(InvalidValue, match="alpha must lie strictly between 0 and 1"):
        Proportion(1, 3).lower(alpha)
