"""How soon noise is averaged away: exact formulas, held against draws and against what they tend to."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom, norm

from discreet.attacks.algebra.answers import Centre, chance_of_truth, repetitions_needed
from discreet.errors import InvalidInput, OutOfReach

CENTRES = {Centre.MEAN: np.mean, Centre.MEDIAN: np.median}


@pytest.mark.parametrize("centre", Centre)
@pytest.mark.parametrize(("scale", "times"), [(0.5, 1), (1, 5), (2, 15), (10, 101)])
@pytest.mark.some(3)
def test_draws_are_as_often_true_as_the_formula_says(scale, times, centre):
    """False alarms: 2e-7 for each case, by the binomial law."""
    trials = 40_000
    noise = np.random.default_rng(times).laplace(0, scale, (trials, times))
    right = int((np.abs(CENTRES[centre](noise, axis=1)) < 0.5).sum())
    expected = chance_of_truth(scale, times, centre)
    assert binom.ppf(1e-7, trials, expected) <= right <= binom.isf(1e-7, trials, expected)


@pytest.mark.parametrize("centre", Centre)
def test_one_answer_is_true_with_the_probability_of_one_draw(centre):
    assert chance_of_truth(2, 1, centre) == pytest.approx(1 - np.exp(-0.25))


def test_many_answers_are_normal_and_the_median_needs_half_as_many():
    """2Φ(√m/(2√2 b)) − 1 for the mean and 2Φ(√m/(2b)) − 1 for the median; 30.7 b² and 15.4 b² for 95 %."""
    b, m = 10, 4001
    assert chance_of_truth(b, m, Centre.MEAN) == pytest.approx(2 * norm.cdf(0.5 / (b * np.sqrt(2 / m))) - 1, abs=1e-3)
    assert chance_of_truth(b, m, Centre.MEDIAN) == pytest.approx(2 * norm.cdf(np.sqrt(m) / (2 * b)) - 1, abs=1e-3)
    assert repetitions_needed(b, 0.95, Centre.MEAN) == pytest.approx(30.7 * b**2, rel=0.03)
    assert repetitions_needed(b, 0.95) == pytest.approx(15.4 * b**2 * (1 + 1 / (2 * b)), rel=0.005)
    assert repetitions_needed(10 * b, 0.95) == pytest.approx(15.4 * (10 * b) ** 2, rel=0.006)


@pytest.mark.parametrize(
    ("times", "mean", "median"),
    [(101, 0.285, 0.388), (1001, 0.71, 0.90), (10_001, 1.0, 1.0)],
)
def test_figures_at_a_scale_of_ten(times, mean, median):
    assert chance_of_truth(10, times, Centre.MEAN) == pytest.approx(mean, abs=0.03)
    assert chance_of_truth(10, times, Centre.MEDIAN) == pytest.approx(median, abs=0.03)


@pytest.mark.parametrize("centre", Centre)
@pytest.mark.parametrize(("scale", "confidence"), [(0.1, 0.5), (0.5, 0.95), (1, 0.9), (3, 0.99)])
def test_the_number_needed_is_enough_and_two_fewer_are_not(scale, confidence, centre):
    needed = repetitions_needed(scale, confidence, centre)
    assert needed % 2 == 1
    assert chance_of_truth(scale, needed, centre) >= confidence
    assert needed == 1 or chance_of_truth(scale, needed - 2, centre) < confidence


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: chance_of_truth(1, 4), "odd number of answers, got 4"),
        (lambda: chance_of_truth(1, 0), "at least 1"),
        (lambda: chance_of_truth(0, 1), "must be positive"),
        (lambda: repetitions_needed(1, 1), "strictly between 0 and 1"),
        (lambda: repetitions_needed(float("nan")), "finite"),
    ],
)
def test_what_makes_no_sense_is_refused(call, words):
    with pytest.raises(InvalidInput, match=words):
        call()


def test_noise_that_a_million_answers_do_not_remove_is_out_of_reach():
    with pytest.raises(OutOfReach, match="1000000 answers"):
        repetitions_needed(10_000)
