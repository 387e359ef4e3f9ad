"""Hadamard's questions: the transform is the matrix, and the closed form is met."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import hadamard

from discreet.attacks.methods.solvers import expected_accuracy_of_signed_sums, rebuilt_from_signed_sums, signed_sums
from discreet.errors import InvalidValue
from discreet.noise.experiment import experiment


@pytest.mark.parametrize("size", [1, 2, 4, 64])
def test_the_quick_transform_is_the_product_with_the_matrix(size):
    values = experiment(size).random(size)
    np.testing.assert_allclose(signed_sums(values), hadamard(size) @ values)


@pytest.mark.parametrize("part", [0.125, 0.25, 0.5, 1.0])
def test_the_closed_form_is_met(part):
    """False alarms: 65,536 bits, wrong independently at the rate of the closed form, stray 7 deviations: below 3e-12.

    The noise on the people is exactly Gaussian and independent, as H/√n is a rotation.
    """
    size = 2**16
    chance = experiment(3)
    bits = chance.integers(0, 2, size)
    sigma = part * np.sqrt(size)
    right = (rebuilt_from_signed_sums(signed_sums(bits) + chance.normal(0, sigma, size)) == bits).mean()
    expected = expected_accuracy_of_signed_sums(size, sigma)
    assert abs(right - expected) < 7 * np.sqrt(expected * (1 - expected) / size) + 1 / size


def test_exact_answers_rebuild_everybody():
    bits = experiment(4).integers(0, 2, 2**12)
    np.testing.assert_array_equal(rebuilt_from_signed_sums(signed_sums(bits)), bits)
    assert expected_accuracy_of_signed_sums(16, 0) == 1


@pytest.mark.parametrize("answers", [[], [1, 2, 3], [[1, 2]], 5])
def test_people_must_be_a_power_of_two(answers):
    with pytest.raises(InvalidValue, match="power of two"):
        rebuilt_from_signed_sums(answers)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_answers_must_be_finite(bad):
    with pytest.raises(InvalidValue, match="finite"):
        rebuilt_from_signed_sums([1, bad])
