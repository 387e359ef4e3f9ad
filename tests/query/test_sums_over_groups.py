"""A sum over groups is off by no more than was said, at least as often as was said: added up from the exact laws."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pytest

from discreet.noise.gaussian import DiscreteGaussian
from discreet.noise.laplace import DiscreteLaplace
from discreet.query.aggregates.noise_tails import LinearForm, Noise
from discreet.query.answer.intervals import spread

Floats = npt.NDArray[np.float64]

NOISES: list[Noise] = [
    DiscreteLaplace(Fraction(1, 2)),
    DiscreteLaplace(3),
    DiscreteGaussian(variance_parameter=Fraction(1, 4)),
    DiscreteGaussian(variance_parameter=9),
]
FORMS = [(1,), (2,), (1, 3), (-1, 1, 2)]
WIDEST = 400  # no noise here goes so far with a probability above 1e-50
SLACK = 1e-9  # of adding floating-point numbers


def _law_of_one(factor: int, noise: Noise) -> Floats:
    """The probabilities of -WIDEST … WIDEST for one noise times a whole number."""
    law = np.zeros(2 * WIDEST + 1)
    reach = WIDEST // abs(factor)
    values = np.arange(-reach, reach + 1)
    law[WIDEST + factor * values] = noise.pmf(values)
    return law


def _misses(factors: tuple[int, ...], noise: Noise, groups: int, reach: float) -> float:
    """The exact probability that the sum over the groups is off by more than ``reach``."""
    law = np.ones(1)
    for factor in factors:
        for _ in range(groups):
            law = np.convolve(law, _law_of_one(factor, noise))
    middle = len(law) // 2
    return float(law[np.abs(np.arange(len(law)) - middle) > reach].sum())


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("factors", FORMS)
@pytest.mark.parametrize("groups", [1, 2, 5, 12])
@pytest.mark.some(8)
def test_the_sum_misses_no_more_often_than_was_said(factors: tuple[int, ...], noise: Noise, groups: int) -> None:
    form = LinearForm(tuple(map(Fraction, factors)))
    for confidence in (0.1, 0.5, 0.95, 0.9999):
        reach = spread(form, noise, confidence).reach(groups)
        assert _misses(factors, noise, groups, reach) <= 1 - confidence + SLACK


@pytest.mark.parametrize("noise", [NOISES[1], NOISES[3]])
def test_forgetting_how_many_groups_there_are_is_caught(noise: Noise) -> None:
    reach = spread(LinearForm((Fraction(1),)), noise, 0.5).reach(1)
    assert _misses((1,), noise, 30, reach) > 0.5 + SLACK


@pytest.mark.parametrize("noise", [NOISES[1], NOISES[3]])
def test_it_grows_like_the_root_of_the_groups(noise: Noise) -> None:
    law = spread(LinearForm((Fraction(1),)), noise, 0.95)
    assert law.reach(10_000) == pytest.approx(10 * law.reach(100))
    assert law.reach(10_000) < 200 * noise.error(0.95)
