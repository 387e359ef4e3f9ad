"""Two inputs of one mechanism side by side: what a loss means, for the mechanism itself and not for the worst one."""

from __future__ import annotations

import math
from typing import Any

import pytest

import discreet as dp
from discreet.errors import InvalidInput
from discreet.mechanisms.measurement import Measurement

EXAMPLES: list[tuple[Measurement, Any, Any]] = [
    (dp.RandomizedResponse.coins(), 0, 1),
    (dp.RandomizedResponse(1), [0, 1], [1, 1]),
    (dp.CategoricalResponse(1, ["a", "b", "c"]), "a", "b"),
    (dp.Laplace(1), 0, 1),
    (dp.Laplace(1, sensitivity=0.5, grid=0.25), 0.0, 0.5),
    (dp.Exponential(1, monotone=True), [3, 2, 2], [3, 3, 3]),
    (dp.NoisyMax(1), [3, 2, 2], [2, 3, 3]),
    (dp.AboveThreshold(1, threshold=0), [0, 0], [1, -1]),
    (dp.Median(1, lower=0, upper=9), [2, 3, 3, 7], [2, 3, 3]),
]


@pytest.mark.parametrize(("mechanism", "x", "y"), EXAMPLES, ids=lambda value: type(value).__name__)
def test_the_largest_loss_is_within_the_price(mechanism: Measurement, x: Any, y: Any) -> None:
    pair = mechanism.between(x, y)
    assert 0 < float(pair.epsilon()) <= float(mechanism.loss.epsilon_at(0)) * (1 + 1e-12)
    assert float(pair.unlisted) < 1e-15


def test_the_trade_off_of_coins_is_that_of_the_texts() -> None:
    assert dp.RandomizedResponse.coins().between(0, 1).trade_off() == [(0.0, 1.0), (0.25, 0.25), (1.0, 0.0)]


def test_the_trade_off_of_a_mechanism_stays_in_the_region_of_its_loss() -> None:
    for mechanism, x, y in EXAMPLES:
        region = dp.ErrorRegion(mechanism.loss)
        for false_positive, false_negative in mechanism.between(x, y).trade_off():
            assert false_negative >= float(region.least_false_negative(false_positive)) - 1e-12


def test_the_loss_variable_of_a_count() -> None:
    losses = dp.Laplace(1).between(1, 0).loss_variable()
    assert math.isclose(losses.values[0], -1)
    assert math.isclose(losses.values[-1], 1)
    assert math.isclose(losses.mean, math.tanh(1 / 2))  # that of randomized response, exactly


def test_gaussian_noise_meets_its_delta() -> None:
    count = dp.Gaussian(epsilon=1, delta="1e-6")
    reached = float(count.between(0, 1).delta(1))
    assert 0.99e-6 < reached <= 1e-6


def test_outcomes_can_be_named_and_long_laws_ask_for_them() -> None:
    assert float(dp.Laplace(1).between(0, 1, outcomes=[0, 1]).epsilon()) == pytest.approx(1)
    with pytest.raises(InvalidInput, match="outcomes="):
        dp.Laplace("1e-6").between(0, 1)
    with pytest.raises(InvalidInput, match="outcomes="):
        dp.LaplaceThreshold(1, 1e-6).between({"a": 1}, {"a": 2})
