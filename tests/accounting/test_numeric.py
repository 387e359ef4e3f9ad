"""Numeric composition: never below the exact value, and close above it."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.accounting.composition import optimal
from discreet.accounting.pld import Batch
from discreet.errors import InvalidInput, NoProvedPath, OutOfReach
from discreet.mechanisms.laplace import Laplace
from discreet.privacy.loss import Approximate, GaussianDP, Pure, ZeroConcentrated
from discreet.privacy.loss_distribution import LossDistribution
from discreet.privacy.neighbours import Neighbours
from discreet.privacy.sensitivity import Sensitivity


def gaussian(sigma: float) -> LossDistribution:
    """The loss of Gaussian noise on the integers, where one unit moves the answer by 1; written down from scratch."""
    y = np.arange(-math.ceil(15 * sigma), math.ceil(15 * sigma) + 1)
    weights = np.exp(-y * y / (2 * sigma**2))
    return LossDistribution((1 - 2 * y) / (2 * sigma**2), weights / weights.sum())


@pytest.mark.parametrize("delta", [1e-2, 1e-6, 1e-12, 1e-25])
@pytest.mark.parametrize(("epsilon", "count"), [("0.01", 1000), ("0.3", 40), ("1", 5), ("2", 1)])
@pytest.mark.some(5)
def test_agrees_with_optimal_composition_from_above(epsilon: str, count: int, delta: float) -> None:
    exact = float(optimal(Pure(epsilon), count, delta).epsilon)
    found = float(Batch([Pure(epsilon)] * count).epsilon_at(delta))
    assert exact <= found + 1e-11
    assert found <= exact * 1.004


@pytest.mark.parametrize("delta", [1e-3, 1e-6, 1e-10, 1e-20])
def test_agrees_with_the_exact_gaussian_curve_from_above(delta: float) -> None:
    exact = float((1000 * GaussianDP(Fraction(1, 100))).epsilon_at(delta))
    found = float(Batch([gaussian(100)] * 1000).epsilon_at(delta))
    assert exact * (1 - 1e-9) <= found <= exact * 1.002


def test_the_three_batches_are_within_one_percent_of_the_published_figures() -> None:
    laplace = [Laplace(epsilon=Fraction(1, 100)).loss_distribution()] * 1000
    normal = [gaussian(100)] * 1000
    for batch, exact in ((laplace, 1.3629), (normal, 1.3676), (laplace + normal, 1.9919)):
        found = float(Batch(batch).epsilon_at(1e-6))
        assert exact - 5e-5 <= found <= exact * 1.01  # published with four decimals


def test_equal_releases_are_recognised_whoever_made_them() -> None:
    once = Batch([gaussian(20)] * 30).epsilon_at(1e-6)
    apart = Batch([gaussian(20) for _ in range(30)]).epsilon_at(1e-6)
    assert once == apart


def test_delta_and_epsilon_are_inverse() -> None:
    batch = Batch([gaussian(10)] * 20)
    epsilon = batch.epsilon_at(1e-5)
    assert math.isclose(float(batch.delta_at(epsilon)), 1e-5, rel_tol=1e-2)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.fractions(min_value="1/50", max_value=2, max_denominator=50), min_size=1, max_size=6))
def test_never_below_the_exact_product_law(epsilons: list[Fraction]) -> None:
    exact = {0.0: 1.0}
    for epsilon in map(float, epsilons):
        truth = 1 / (1 + math.exp(-epsilon))
        step: dict[float, float] = {}
        for loss, p in exact.items():
            step[loss + epsilon] = step.get(loss + epsilon, 0.0) + p * truth
            step[loss - epsilon] = step.get(loss - epsilon, 0.0) + p * (1 - truth)
        exact = step
    batch = Batch([Pure(e) for e in epsilons])
    for wanted in (0.0, 0.1, 0.5, 1.0):
        delta = sum(p * max(1 - math.exp(wanted - loss), 0) for loss, p in exact.items())
        assert float(batch.delta_at(wanted)) >= delta * (1 - 1e-9) - 1e-15


def test_more_releases_never_cost_less() -> None:
    found = [float(Batch([gaussian(30)] * k).epsilon_at(1e-6)) for k in (1, 2, 4, 8, 16)]
    assert found == sorted(found)


def test_counts_a_chance_of_unbounded_loss() -> None:
    batch = Batch([Approximate(0.1, 1e-8)] * 10)
    assert batch.delta_at(5) >= Fraction(99, 10**9)
    with pytest.raises(OutOfReach):
        batch.epsilon_at(1e-8)


@pytest.mark.parametrize("delta", ["1e-9", "1e-15", "1e-20", "1e-30"])
def test_a_chance_too_small_to_subtract_from_one_still_counts(delta: str) -> None:
    batch = Batch([Approximate("0.1", delta)] * 3)
    assert batch.delta_at(5) >= 3 * Fraction(delta) * (1 - Fraction(delta))
    assert batch.delta_at("1e400") == batch.delta_at(5)
    with pytest.raises(OutOfReach):
        batch.epsilon_at(delta)


def test_a_delta_that_the_window_does_not_reach_falls_back_to_the_largest_loss() -> None:
    releases = {"1.953": 14, "0.065": 24, "0.00052": 113, "0.00395": 813}
    batch = Batch([Pure(epsilon) for epsilon, count in releases.items() for _ in range(count)])
    for delta in ("1e-120", "1e-144", "1e-180"):
        assert batch.delta_at(batch.epsilon_at(delta)) <= Fraction(delta)


def test_nothing_costs_nothing() -> None:
    assert Batch([]).epsilon_at(1e-6) == 0
    assert Batch([Pure(0)]).epsilon_at(1e-6) == 0
    assert Batch([]).delta_at(0) == 0


def test_never_exceeds_the_sum_of_the_largest_losses() -> None:
    assert Batch([Pure(1)] * 3).epsilon_at(1e-300) <= Fraction(3) * (1 + Fraction(1, 10**12))


def test_states_the_batch_as_one_loss() -> None:
    stated = Batch([gaussian(10)] * 3).approximate(1e-6)
    assert stated.delta == Fraction(1, 10**6)


@pytest.mark.parametrize("delta", [0, 1, -1, "nan"])
def test_refuses_a_delta_that_means_nothing(delta: object) -> None:
    with pytest.raises(InvalidInput):
        Batch([Pure(1)]).epsilon_at(delta)  # type: ignore[arg-type]


def test_refuses_losses_without_a_worst_mechanism() -> None:
    with pytest.raises(NoProvedPath):
        Batch([ZeroConcentrated(1)])
    with pytest.raises(InvalidInput):
        Batch(["cheap"])  # type: ignore[list-item]


def test_a_planted_rounding_down_would_be_seen() -> None:
    """The comparison with optimal composition turns red when each loss is rounded down instead of split."""
    exact = float(optimal(Pure("0.01"), 1000, 1e-6).epsilon)
    step = 2.0**-9
    down = LossDistribution.two_point(Fraction(1, 100))
    rounded = LossDistribution(np.floor(down.losses / step) * step, down.masses)
    assert float(Batch([rounded] * 1000).epsilon_at(1e-6)) < exact


def mixed_batches() -> list[tuple[Batch, float]]:
    """Batches of all kinds of releases, drawn once and for all, each with a δ."""
    rng = np.random.default_rng(19)
    found = []
    for _ in range(12):
        parts: list[LossDistribution | Pure | Approximate] = []
        for _ in range(int(rng.integers(1, 4))):
            epsilon = Fraction(10 ** rng.uniform(-3, 0.7)).limit_denominator(10**4)
            release = [
                Pure(epsilon),
                Laplace(epsilon, int(rng.integers(1, 6))).loss_distribution(),
                gaussian(10 ** rng.uniform(0, 1.5)),
                Approximate(epsilon, 1e-12),
            ][int(rng.integers(4))]
            parts += [release] * int(rng.choice([1, 2, 5, 40]))
        found.append((Batch(parts), 10 ** rng.uniform(-9, -1)))
    return found


def test_epsilon_is_the_least_that_the_curve_allows() -> None:
    for batch, delta in mixed_batches():
        epsilon = batch.epsilon_at(delta)
        assert batch.delta_at(epsilon) <= Fraction(str(delta))
        if epsilon:
            assert batch.delta_at(epsilon * Fraction(999, 1000)) > Fraction(str(delta))


def test_twenty_tenths_cost_what_optimal_composition_says() -> None:
    batch = Batch([Pure("0.1")] * 20)
    exact = optimal(Pure("0.1"), 20, 1e-6).epsilon
    assert exact <= batch.epsilon_at(1e-6) <= exact * Fraction(10001, 10000)


def test_a_batch_of_one_relation_says_it_and_of_two_is_refused() -> None:
    joined, replaced = (Laplace(1, Sensitivity.count(relation)) for relation in ("add-remove-one", "replace-one"))
    batch = Batch([joined.loss_distribution(), joined.loss, Pure(1)])
    assert batch.approximate(1e-6).neighbours is Neighbours.ADD_REMOVE_ONE
    with pytest.raises(NoProvedPath, match="share one relation"):
        Batch([joined.loss_distribution(), replaced.loss])
