"""Calibration finds the last value that fits, and that value fits."""

from __future__ import annotations

from fractions import Fraction

import pytest

from discreet.accounting.calibration import epsilon_each, largest, least, most, most_releases
from discreet.accounting.composition import optimal
from discreet.errors import InvalidInput, NoProvedPath, OutOfReach
from discreet.mechanisms.laplace import Laplace
from discreet.privacy.loss import Approximate, GaussianDP, Pure, Renyi, ZeroConcentrated


def test_most_releases_of_a_pure_loss_is_the_quotient() -> None:
    assert most_releases(Pure("0.01"), Pure(1)) == 100
    assert most_releases(Pure("0.03"), Pure(1)) == 33
    assert most_releases(Pure(2), Pure(1)) == 0


def test_no_release_that_fits_is_left_out() -> None:
    assert most_releases(Pure(Fraction(1, 600_000)), Pure(1)) == 600_000
    assert most_releases(Pure("1e-12"), Pure(1)) == 10**12
    assert most(lambda n: n <= 700_000, 10**6) == 700_000


def test_pure_releases_add_up_in_the_kind_of_the_budget() -> None:
    assert most_releases(Pure("1e-3"), ZeroConcentrated(1)) == 2_000_000
    assert most_releases(GaussianDP("0.5"), ZeroConcentrated(1)) == 8
    assert most_releases(Pure("0.1"), Renyi({2: "0.5"})) == 50
    with pytest.raises(NoProvedPath):
        most_releases(ZeroConcentrated("0.1"), GaussianDP(1))


def test_deltas_that_add_up_past_one_only_end_the_search() -> None:
    budget = Approximate(1, "0.9")
    count = most_releases(Approximate("0.0001", "0.1"), budget)
    assert 1 - Fraction("0.9") ** count <= budget.delta < 1 - Fraction("0.9") ** (count + 1)


def test_delta_buys_more_releases_and_one_more_does_not_fit() -> None:
    budget = Approximate(1, 1e-6)
    count = most_releases(Pure("0.01"), budget)
    assert count > 500
    assert optimal(Pure("0.01"), count, 1e-6).epsilon <= 1 < optimal(Pure("0.01"), count + 1, 1e-6).epsilon


def test_concentrated_and_gaussian_losses_fill_an_approximate_budget() -> None:
    budget = Approximate(1, 1e-6)
    for loss in (ZeroConcentrated("0.0001"), GaussianDP("0.01")):
        count = most_releases(loss, budget)
        assert (count * loss).epsilon_at(1e-6) <= 1 < ((count + 1) * loss).epsilon_at(1e-6)


def test_epsilon_each_fits_and_is_more_than_an_equal_share() -> None:
    each = epsilon_each(1000, Approximate(1, 1e-6))
    assert optimal(Pure(each), 1000, 1e-6).epsilon <= 1
    assert each > Fraction(1, 1000)
    assert epsilon_each(4, Pure(1)) == Fraction(1, 4)


def test_least_noise_for_a_wanted_error() -> None:
    """The cheapest count within ±10 people at 95 %: error first, ε follows."""
    epsilon = least(lambda e: Laplace(e).error(0.95) <= 10, start=Fraction(1, 100), precision=20)
    assert Laplace(epsilon).error(0.95) <= 10
    assert Laplace(epsilon * Fraction(999, 1000)).error(0.95) > 10


def test_searches_return_values_that_fit() -> None:
    assert largest(lambda x: x * x <= 2, most=Fraction(100)) ** 2 <= 2
    assert least(lambda x: x * x >= 2, start=Fraction(1, 100)) ** 2 >= 2
    assert most(lambda n: n * n <= 1000) == 31
    assert largest(lambda _: True, most=Fraction(7)) == 7


def test_says_when_nothing_fits() -> None:
    with pytest.raises(OutOfReach):
        largest(lambda _: False, most=Fraction(1))
    with pytest.raises(OutOfReach):
        least(lambda _: False, start=Fraction(1))
    with pytest.raises(OutOfReach):
        most(lambda _: True)


def test_refuses_budgets_that_mean_nothing() -> None:
    with pytest.raises(InvalidInput):
        epsilon_each(0, Pure(1))
    with pytest.raises(InvalidInput):
        epsilon_each(3, ZeroConcentrated(1))
    with pytest.raises(InvalidInput):
        epsilon_each(3, Approximate(0, 1e-6))
    for strange in ((3, Pure(1)), (Pure(1), 3)):
        with pytest.raises(InvalidInput):
            most_releases(*strange)  # type: ignore[arg-type]
