"""Answers about all subsets, each within E of the truth: whoever fits them differs from it in 4E bits at most."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.attacks.methods.solvers import MOST_PEOPLE, all_subset_sums, consistent_people
from discreet.errors import InvalidValue
from discreet.noise.experiment import experiment


def test_the_sums_of_all_subsets():
    np.testing.assert_array_equal(all_subset_sums([1, 0, 1]), [0, 1, 0, 1, 1, 2, 1, 2])


@pytest.mark.parametrize("people", range(1, 17))
def test_noise_of_n_over_401_hides_nobody(people):
    """At most 4n/401 < 1 bit is wrong, so none is: certain, not likely."""
    chance = experiment(people)
    bits = chance.integers(0, 2, people)
    bound = people / 401
    answers = all_subset_sums(bits) + chance.choice([-bound, bound], 2**people)
    np.testing.assert_array_equal(consistent_people(answers, bound), bits)


@settings(deadline=None)
@given(st.integers(1, 10), st.floats(0, 3), st.integers(0, 10**6))
def test_the_found_people_fit_every_answer_and_are_within_four_times_the_bound(people, bound, seed):
    chance = experiment(seed)
    bits = chance.integers(0, 2, people)
    answers = all_subset_sums(bits) + chance.uniform(-bound, bound, 2**people)
    found = consistent_people(answers, bound)
    assert np.abs(all_subset_sums(found) - answers).max() <= bound + 1e-8
    assert (found != bits).sum() <= 4 * (bound + 1e-8)


def test_the_theorem_is_tight():
    """Answers halfway between two tables that differ in 4E bits fit both."""
    first, second = np.array([1, 1, 0, 0, 1]), np.array([0, 0, 1, 1, 1])
    answers = (all_subset_sums(first) + all_subset_sums(second)) / 2
    found = consistent_people(answers, 1)
    assert np.abs(all_subset_sums(found) - answers).max() <= 1
    with pytest.raises(InvalidValue, match="no people fit"):
        consistent_people(answers, 0.4)


@settings(deadline=None)
@given(st.integers(1, 5), st.floats(0, 1.2), st.integers(0, 10**6))
def test_the_search_finds_somebody_exactly_where_trying_everybody_does(people, bound, seed):
    answers = experiment(seed).integers(0, 2, 2**people) * experiment(seed + 1).uniform(0, people, 2**people)
    fits = [np.abs(all_subset_sums(bits) - answers).max() <= bound for bits in product([0, 1], repeat=people)]
    if any(fits):
        assert np.abs(all_subset_sums(consistent_people(answers, bound)) - answers).max() <= bound + 1e-8
    else:
        with pytest.raises(InvalidValue, match="no people fit"):
            consistent_people(answers, bound - 1e-8 if bound > 1e-8 else bound)


@pytest.mark.parametrize(
    ("answers", "bound", "said"),
    [
        ([0, 1, 2], 1, "every subset"),
        ([[0, 1]], 1, "every subset"),
        ([0.0], 1, "every subset"),
        ([0, np.nan], 1, "finite"),
        ([0, np.inf], 1, "finite"),
        ([0, 1], -1, "not negative"),
        ([0, 1], np.nan, "not negative"),
        (np.zeros(2 ** (MOST_PEOPLE + 1)), 1, "1 to 20 people"),
    ],
)
def test_bad_answers_are_refused_in_a_sentence(answers, bound, said):
    with pytest.raises(InvalidValue, match=said):
        consistent_people(answers, bound)


def test_too_many_people_for_all_subsets_are_refused():
    with pytest.raises(InvalidValue, match="random subsets do for more"):
        all_subset_sums(np.zeros(MOST_PEOPLE + 1))
