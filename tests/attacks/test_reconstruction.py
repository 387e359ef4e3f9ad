"""Everybody's bit from noisy counts of random subsets, as good as the closed forms say and no better under a budget."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import sparse
from scipy.special import ndtr

import discreet as dp
from discreet.attacks.methods import solvers as linear_program
from discreet.attacks.methods import solvers as solver
from discreet.attacks.methods.reconstruction import reconstruct
from discreet.attacks.methods.solvers import (
    NormalEquations,
    SubsetQueries,
    expected_accuracy,
    random_subsets,
    shrunken_least_squares,
)
from discreet.errors import InvalidType, InvalidValue, OutOfReach
from discreet.noise.experiment import experiment

METHODS = ["least squares", "box", "linear program", "greatest error", "within bound"]


def asked(people: int, questions: int, seed: int = 0):
    """Random bits, random subsets and their exact answers, and what is left of the chance."""
    chance = experiment(seed)
    bits = chance.integers(0, 2, people)
    queries = random_subsets(questions, people, chance)
    return bits, queries, queries.times(bits.astype(float)), chance


@pytest.mark.parametrize("method", METHODS)
def test_exact_answers_rebuild_everybody_by_every_method(method):
    bits, queries, answers, _ = asked(40, 120)
    found = reconstruct(queries, answers, method, bound=0 if method == "within bound" else None)
    np.testing.assert_array_equal(found.bits, bits)
    np.testing.assert_allclose(found.fractions, bits, atol=1e-5)
    assert found.residual < 1e-3


@pytest.mark.parametrize("method", METHODS)
def test_a_little_bounded_noise_hides_nobody_from_any_method(method):
    bits, queries, answers, chance = asked(60, 480)
    found = reconstruct(queries, answers + chance.uniform(-1, 1, 480), method, bound=1)
    np.testing.assert_array_equal(found.bits, bits)


def test_a_sparse_matrix_is_as_good():
    bits, queries, answers, _ = asked(30, 90)
    np.testing.assert_array_equal(reconstruct(sparse.csr_matrix(queries.matrix), answers).bits, bits)


@pytest.mark.parametrize("method", ["least squares", "box"])
@pytest.mark.some(1)
def test_noise_of_a_quarter_of_root_n_hides_less_than_one_in_twenty(method):
    """n = 1,000 and 8n questions. False alarms: at the rate 0.996 of the closed form, P(fewer than 950) < 1e-30."""
    bits, queries, answers, chance = asked(1000, 8000)
    sigma = math.sqrt(1000) / 4
    found = reconstruct(queries, answers + chance.normal(0, sigma, 8000), method)
    assert (found.bits == bits).mean() >= 0.95
    assert found.residual == pytest.approx(sigma, rel=0.1)


@pytest.mark.parametrize(("part", "times"), [(0.25, 2), (0.5, 4), (1.0, 8)])
@pytest.mark.some(1)
def test_least_squares_meets_its_closed_form(part, times):
    """False alarms: 1,000 bits, nearly independent, stray 7 deviations at a rate below 3e-12; 0.01 for n finite."""
    bits, queries, answers, chance = asked(1000, times * 1000, seed=times)
    sigma = part * math.sqrt(1000)
    right = ((NormalEquations(queries).solve(answers + chance.normal(0, sigma, len(answers)))) > 0.5) == bits
    expected = expected_accuracy(1000, len(answers), sigma)
    assert abs(right.mean() - expected) < 7 * math.sqrt(expected * (1 - expected) / 1000) + 0.01


def test_the_box_is_never_far_from_the_plain_fit_and_fits_best_inside():
    _, queries, answers, chance = asked(100, 300)
    noisy = answers + chance.normal(0, 4, 300)
    equations = NormalEquations(queries)
    boxed = equations.boxed(noisy)
    cut = np.clip(equations.solve(noisy), 0, 1)
    assert boxed.min() >= 0
    assert boxed.max() <= 1
    assert np.linalg.norm(queries.times(boxed) - noisy) <= np.linalg.norm(queries.times(cut) - noisy)
    slope = queries.transposed_times(queries.times(boxed) - noisy)
    at_ends = np.where(boxed <= 1e-9, np.minimum(slope, 0), np.where(boxed >= 1 - 1e-9, np.maximum(slope, 0), slope))
    assert np.abs(at_ends).max() < 1e-2 * np.abs(queries.transposed_times(noisy)).max()


def test_iteration_finds_what_the_factors_find(monkeypatch):
    _, queries, answers, chance = asked(80, 320)
    noisy = answers + chance.normal(0, 1, 320)
    factored = reconstruct(queries, noisy, "least squares").fractions
    monkeypatch.setattr(solver, "_MOST_FACTORED", 10)
    np.testing.assert_allclose(reconstruct(queries, noisy, "least squares").fractions, factored, atol=1e-4)
    np.testing.assert_array_equal(reconstruct(queries, noisy, "box").bits, factored > 0.5)


@pytest.mark.parametrize("share", [0.05, 0.2])
def test_wild_answers_ruin_least_squares_and_not_the_linear_program(share):
    """n = 150 and 4n questions, of which some are answered at random.

    False alarms: least squares is right at a rate of about 0.6; 150 bits reach 0.9 with probability below 1e-15.
    """
    bits, queries, answers, chance = asked(150, 600)
    noisy = answers + chance.uniform(-0.5, 0.5, 600)
    wild = chance.random(600) < share
    noisy[wild] = chance.uniform(0, 150, int(wild.sum()))
    assert (reconstruct(queries, noisy, "linear program").bits == bits).all()
    assert (reconstruct(queries, noisy, "least squares").bits == bits).mean() < 0.9


class TestUnderABudget:
    """Real mechanisms with one budget for all answers: what is left to rebuild is what a coin knows."""

    PEOPLE, QUESTIONS = 400, 3200

    def test_a_total_epsilon_of_one_leaves_a_coin(self):
        """False alarms: right at a rate of 0.501, 400 bits stray by 0.13, 5.1 deviations, at a rate below 4e-7."""
        bits, queries, answers, _ = asked(self.PEOPLE, self.QUESTIONS)
        each = dp.Laplace(epsilon=f"1/{self.QUESTIONS}")
        found = reconstruct(queries, each.release(answers.astype(np.int64)), "least squares")
        assert abs((found.bits == bits).mean() - 0.5) < 0.13

    @pytest.mark.parametrize("rho", ["1/20", "1/2", "8"])
    def test_concentrated_budgets_give_the_closed_form_and_never_more(self, rho):
        """False alarms: 400 bits stray by 7 deviations from the closed form with probability below 3e-12."""
        bits, queries, answers, _ = asked(self.PEOPLE, self.QUESTIONS, seed=5)
        mechanism = dp.Gaussian(rho=rho, sensitivity=math.sqrt(self.QUESTIONS), dimension=self.QUESTIONS, integers=True)
        found = reconstruct(queries, mechanism.release(answers.astype(np.int64)), "least squares")
        price = float(mechanism.loss.rho)
        expected = expected_accuracy(self.PEOPLE, self.QUESTIONS, mechanism.sigma)
        assert expected <= ndtr(math.sqrt(price / 8))
        deviation = math.sqrt(expected * (1 - expected) / self.PEOPLE)
        assert abs((found.bits == bits).mean() - expected) < 7 * deviation + 0.01


class TestShrunken:
    """The fit that starts from what is known of the crowd."""

    def test_exact_answers_decide_alone(self):
        bits, queries, answers, _ = asked(30, 90)
        np.testing.assert_allclose(shrunken_least_squares(queries, answers, 0.3), bits, atol=1e-4)

    def test_answers_that_are_all_noise_leave_everybody_at_the_share(self):
        _, queries, answers, chance = asked(30, 3000)
        noisy = answers + chance.normal(0, 1e6, 3000)
        np.testing.assert_allclose(shrunken_least_squares(queries, noisy, 0.3), 0.3, atol=1e-2)

    def test_fewer_questions_than_people_are_enough_to_start(self):
        _, queries, answers, _ = asked(40, 30)
        found = shrunken_least_squares(queries, answers, 0.5)
        np.testing.assert_allclose(queries.times(found), answers, atol=1e-3)


@pytest.mark.parametrize(
    ("queries", "answers", "options", "said"),
    [
        (np.eye(3), [1, 0], {}, "one for each of the 3 queries, got <shape"),
        (np.eye(3), [[1, 0, 1]], {}, "one for each of the 3 queries"),
        (np.eye(3), [1, 0, np.nan], {}, "finite"),
        (np.eye(3), [1, 0, np.inf], {}, "leave out the queries that were refused"),
        (np.ones((2, 3)), [1, 0], {}, "at least as many as the 3 people, got 2"),
        (np.ones((4, 3)), [1, 0, 0, 0], {}, "tell all people apart"),
        (np.eye(3), [1, 0, 1], {"method": "guessing"}, "method must be one of"),
        (np.eye(3), [1, 0, 1], {"method": "within bound"}, "bound must be a number"),
        (np.eye(3), [1, 0, 1], {"method": "within bound", "bound": -1}, "bound must be a number"),
        (np.eye(3), [1, 0, 3], {"method": "within bound", "bound": 1}, "no people fit all answers"),
    ],
)
def test_bad_input_is_refused_in_a_sentence(queries, answers, options, said):
    with pytest.raises(InvalidValue, match=said):
        reconstruct(queries, answers, **options)


@pytest.mark.parametrize("answers", [["a", "b", "c"], [[1], [1, 2], [3]], [None, {}, 1]])
def test_answers_that_are_no_numbers_are_refused(answers):
    with pytest.raises(InvalidType, match="answers must be numbers"):
        reconstruct(np.eye(3), answers)


def test_a_bound_of_zero_is_a_bound():
    found = reconstruct(np.eye(3), [1, 0, 1], "within bound", bound=0)
    assert found.bits.tolist() == [True, False, True]


@pytest.mark.parametrize(
    ("limit", "said"), [("_MOST_ITERATIONS", "in 1 iterations"), ("_MOST_ENTRIES", "at most 1 entries")]
)
def test_a_program_that_takes_too_long_says_so(limit, said, monkeypatch):
    monkeypatch.setattr(linear_program, limit, 1)
    _, queries, answers, chance = asked(60, 240)
    with pytest.raises(OutOfReach, match=said):
        reconstruct(queries, answers + chance.normal(0, 3, 240), "linear program")


def test_no_noise_is_expected_to_hide_nothing_and_few_questions_to_tell_nothing():
    assert expected_accuracy(10, 20, 0) == 1
    assert expected_accuracy(10, 10, 1) == 0.5


def test_two_people_who_are_never_told_apart_are_refused():
    chance = experiment(9)
    matrix = chance.integers(0, 2, (50, 6))
    matrix[:, 5] = matrix[:, 4]
    with pytest.raises(InvalidValue, match="tell all people apart"):
        reconstruct(SubsetQueries(matrix), matrix.sum(axis=1))
