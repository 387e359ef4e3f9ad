"""The reach of sums of noises is never less than the truth, and not much more."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from discreet.exact.ball import working_precision
from discreet.noise.gaussian import DiscreteGaussian
from discreet.noise.laplace import DiscreteLaplace
from discreet.query.aggregates.noise_tails import LinearForm, Noise

CONFIDENCES = (0.5, 0.9, 0.95, 0.999)


def _masses(noise: Noise, factor: int, size: int) -> np.ndarray:
    """The law of factor · X on -size … size, as floats."""
    reach = size // factor
    single = noise.pmf(np.arange(-reach, reach + 1))
    law = np.zeros(2 * size + 1)
    law[size - reach * factor : size + reach * factor + 1 : factor] = single
    return law


def _missed(factors: list[int], noise: Noise, reach: float) -> float:
    """P(|Σ fX| > reach), by convolution of the exact laws."""
    size = 4000
    law = np.array([1.0])
    for factor in factors:
        law = np.convolve(law, _masses(noise, factor, size))
    distances = np.abs(np.arange(len(law)) - len(law) // 2)
    return float(law[distances > reach].sum())


@pytest.mark.parametrize(
    "noise",
    [
        DiscreteLaplace(Fraction(1, 2)),
        DiscreteLaplace(3),
        DiscreteLaplace(40),
        DiscreteGaussian(1),
        DiscreteGaussian(20),
    ],
)
@pytest.mark.parametrize("factors", [[1], [1, 1], [1, 1, 1], [2, 1], [3, 3, 1], [5, 2]])
@pytest.mark.some(5)
def test_the_reach_covers_and_is_not_much_too_wide(noise: Noise, factors: list[int]) -> None:
    form = LinearForm(tuple(map(Fraction, factors)))
    for confidence in CONFIDENCES:
        reach = form.reach(noise, confidence)
        assert _missed(factors, noise, reach) <= (1 - confidence) * (1 + 1e-9), confidence
        if noise.variance > 400:
            assert _missed(factors, noise, 0.93 * reach - 3) > 1 - confidence


@pytest.mark.parametrize(
    "noise", [DiscreteLaplace(2**11), DiscreteLaplace(10**9), DiscreteGaussian(2**11), DiscreteGaussian(10**8)]
)
def test_for_wide_noise_the_bound_is_close_to_the_exact_reach(noise: Noise) -> None:
    for confidence in CONFIDENCES:
        bound, exact = LinearForm((Fraction(1, 3),)).reach(noise, confidence), float(noise.error(confidence)) / 3
        with working_precision():
            assert exact <= bound <= 1.002 * exact


def test_a_form_of_nothing_has_no_reach_and_zero_value() -> None:
    form = LinearForm((Fraction(0), Fraction(0)))
    assert form.reach(DiscreteLaplace(1), 0.95) == 0
    assert form.value([np.array([1, 2]), np.array([3, 4])]).tolist() == [0, 0]


def test_a_planted_bug_that_forgets_a_noise_is_seen() -> None:
    noise = DiscreteLaplace(40)
    forgotten = LinearForm((Fraction(1),)).reach(noise, 0.95)
    assert _missed([1, 1], noise, forgotten) > 0.05
