"""Privacy-loss distributions bound the loss from above."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from discreet.errors import InvalidInput, NoProvedPath
from discreet.privacy.loss import Approximate, GaussianDP, Pure, Renyi, ZeroConcentrated
from discreet.privacy.loss_distribution import LossDistribution
from tests.privacy.strategies import approximates, pures

LIGHT = settings(max_examples=50, deadline=None)


def _delta(distribution: LossDistribution, epsilon: float) -> float:
    gaps = -np.expm1(np.minimum(epsilon - distribution.losses, 0.0))
    return float(np.sum(distribution.masses * gaps)) + distribution.infinite


@LIGHT
@given(pures)
def test_a_pure_loss_becomes_randomized_response(loss: Pure) -> None:
    distribution = LossDistribution.of(loss)
    assert Fraction(distribution.losses.max()) >= loss.epsilon
    assert math.isclose(distribution.losses.max(), float(loss.epsilon), rel_tol=1e-12, abs_tol=0)
    for share in (0, Fraction(1, 2), 1):
        wanted = share * loss.epsilon
        assert _delta(distribution, float(wanted)) >= float(loss.delta_at(wanted)) - 1e-14


@LIGHT
@given(approximates)
def test_a_delta_becomes_an_unbounded_loss(loss: Approximate) -> None:
    distribution = LossDistribution.of(loss)
    assert Fraction(distribution.infinite) >= loss.delta
    assert math.isclose(distribution.infinite, float(loss.delta), rel_tol=1e-12)
    assert math.isclose(_delta(distribution, 0.0), float(loss.delta_at(0)), rel_tol=1e-9)


def test_a_delta_too_small_for_a_float_does_not_vanish() -> None:
    assert LossDistribution.of(Approximate(1, "1e-400")).infinite > 0
    assert LossDistribution.of(Approximate(1, 0)).infinite == 0


@pytest.mark.parametrize("loss", [ZeroConcentrated(1), Renyi({2: 1}), GaussianDP(1)])
def test_other_losses_have_no_single_worst_mechanism(loss: Any) -> None:
    with pytest.raises(NoProvedPath, match="loss_distribution"):
        LossDistribution.of(loss)


@pytest.mark.parametrize(
    ("losses", "masses", "infinite"),
    [
        ([1.0, -1.0], [0.5, 0.4], 0.0),
        ([1.0, -1.0], [0.5, 0.6], -0.1),
        ([1.0, -1.0], [1.5, -0.5], 0.0),
        ([math.inf, -1.0], [0.5, 0.5], 0.0),
        ([math.nan, -1.0], [0.5, 0.5], 0.0),
        ([1.0], [0.5, 0.5], 0.0),
        ([[1.0, 2.0]], [[0.5, 0.5]], 0.0),
        ([1.0, 2.0], [0.5, math.nan], 0.0),
        ([1.0, 2.0], [0.5, 0.5], math.nan),
    ],
)
def test_refuses_what_is_not_a_distribution(losses: Any, masses: Any, infinite: float) -> None:
    with pytest.raises(InvalidInput):
        LossDistribution(np.asarray(losses), np.asarray(masses), infinite)


def test_equal_distributions_are_equal_and_hash_alike() -> None:
    first, second = LossDistribution.of(Pure(1)), LossDistribution.of(Pure(1))
    assert first == second
    assert hash(first) == hash(second)
    assert first != LossDistribution.of(Pure(2))
    assert first != LossDistribution.of(Approximate(1, 1e-6))
    assert first != "a distribution"
