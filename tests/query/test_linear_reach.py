"""A linear form of noises is off by no more than was said, at least as often as was said: from the exact laws."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pytest

from discreet.noise.gaussian import DiscreteGaussian
from discreet.noise.laplace import DiscreteLaplace
from discreet.query.aggregates import noise_tails as linear_reach
from discreet.query.aggregates.noise_tails import Noise, reach

Floats = npt.NDArray[np.float64]

NOISES: list[Noise] = [
    DiscreteLaplace(Fraction(1, 3)),
    DiscreteLaplace(2),
    DiscreteLaplace(7),
    DiscreteGaussian(variance_parameter=Fraction(1, 4)),
    DiscreteGaussian(variance_parameter=5),
    DiscreteGaussian(variance_parameter=60),
]
FORMS = [(1, 1), (10, 11), (1, 2, 3), (7, -3, 1, 1), (1,) * 12, (30, 1, 1)]
CONFIDENCES = (0.5, 0.9, 0.95, 0.999, 1 - 1e-6, 1 - 1e-10)
SLACK = 1e-12  # of adding floating-point numbers


def _law(factors: tuple[int, ...], noise: Noise) -> Floats:
    """The probabilities of the values of a form with whole factors, around zero in the middle."""
    law, widest = np.ones(1), 30 * int(np.sqrt(noise.variance) + 1)
    values = np.arange(-widest, widest + 1)
    for factor in factors:
        one = np.zeros(2 * widest * abs(factor) + 1)
        one[:: abs(factor)] = noise.pmf(values)
        law = np.convolve(law, one)
    return law


def _missing(law: Floats, distance: float) -> float:
    return float(law[np.abs(np.arange(len(law)) - len(law) // 2) > distance].sum())


def _exact(law: Floats, confidence: float) -> int:
    """The least reach that there is."""
    return next(k for k in itertools.count() if _missing(law, k) <= 1 - confidence)


@pytest.mark.parametrize("noise", NOISES)
def test_a_form_misses_no_more_often_than_was_said_and_not_much_less_often(noise: Noise) -> None:
    for factors in FORMS:
        law, terms = _law(factors, noise), [(noise, np.array(factors, float))]
        for confidence in CONFIDENCES:
            found = reach(terms, confidence)
            assert _missing(law, found) <= 1 - confidence + SLACK, (factors, confidence)
            if 0.9 <= confidence < 1 - 1e-7 and len(set(factors)) > 1:
                deviation = np.sqrt(noise.variance * np.sum(np.square(factors)))
                assert found <= 1.05 * _exact(law, confidence) + 0.1 * deviation, (factors, confidence)


def test_noises_of_several_laws_are_added_up() -> None:
    one, other = DiscreteLaplace(2), DiscreteGaussian(variance_parameter=5)
    law = np.convolve(_law((2, 3), one), _law((1, 4), other))
    for confidence in CONFIDENCES:
        found = reach([(one, np.array([2.0, -3.0])), (other, np.array([1.0, 4.0]))], confidence)
        assert _missing(law, found) <= 1 - confidence + SLACK
        assert found <= 1.5 * _exact(law, min(confidence, 1 - 1e-9))


def test_what_cancels_has_no_reach_and_a_factor_scales_it() -> None:
    noise = DiscreteLaplace(3)
    assert reach([(noise, np.zeros(2))], 0.95) == 0.0
    assert reach([], 0.95) == 0.0
    one, many = (reach([(noise, factor * np.array([1.0, 0.3, -0.7]))], 0.95) for factor in (1.0, 1e6))
    assert many == pytest.approx(1e6 * one, rel=1e-6)


def test_hundreds_of_different_factors_have_a_bound() -> None:
    noise, factors = DiscreteLaplace(5), 1 + np.arange(1000) / 1000
    found = reach([(noise, factors)], 0.95)
    deviation = np.sqrt(noise.variance * np.sum(factors**2))
    assert 1.9 * deviation < found < 3 * deviation


def test_a_reach_that_forgets_its_last_noise_is_caught() -> None:
    noise, factors = NOISES[2], (7, 3, 7)
    law = _law(factors, noise)
    assert _missing(law, reach([(noise, np.array(factors[:2], float))], 0.95)) > 0.05 + SLACK


def test_a_transform_of_a_narrower_law_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    noise, right = DiscreteLaplace(7), linear_reach._of_laplace
    monkeypatch.setattr(linear_reach, "_of_laplace", lambda noise, u: right(noise, 0.9 * u))
    linear_reach._linear_reach.cache_clear()
    found = reach([(noise, np.array([10.0, 11.0]))], 0.95)
    linear_reach._linear_reach.cache_clear()
    assert _missing(_law((10, 11), noise), found) > 0.05 + SLACK
