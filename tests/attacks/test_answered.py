"""Answered questions disclose whom linear algebra says, and how: examples of the texts, trackers, noise, nonsense."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from flint import fmpz_mat
from scipy.stats import binom, norm

from discreet.attacks.algebra.answers import differences
from discreet.errors import InvalidInput, InvalidValue

TRAIT = {"A": 1, "B": 1, "C": 0, "D": 0, "X": 0, "Y": 1, "Z": 0}
SUGAR = {"Alice": "4.2", "Bob": "5.9", "Cathy": "5.2", "Diana": "6.9", "Ellen": "5.7"}


def test_with_and_without_x():
    everybody, but_x = set(TRAIT), set(TRAIT) - {"X"}
    (found,) = differences([everybody, but_x], [sum(TRAIT.values()), sum(TRAIT[name] for name in but_x)])
    assert (found.person, found.value, found.error) == ("X", 0, 0)
    assert str(found) == "X: q1 − q2 = 0"


def test_the_blood_sugar_of_bob():
    groups = [set(SUGAR), set(SUGAR) - {"Bob"}]
    averages = [sum(Fraction(SUGAR[name]) for name in group) / len(group) for group in groups]
    assert averages == [Fraction("5.58"), Fraction("5.5")]
    (found,) = differences(groups, [5.58, 5.5], averages=True)
    assert (found.person, found.value) == ("Bob", Fraction("5.9"))
    assert found.combination == ((0, 5), (1, -4))
    assert str(found) == "Bob: 5·q1 − 4·q2 = 5.9"


def test_the_noise_of_the_texts_leaves_an_estimate_of_bob():
    """Noise between −2 and 2 on each number has variance 4/3, so the averages of five and of four have 4/15 and 1/3."""
    groups = [set(SUGAR), set(SUGAR) - {"Bob"}]
    spread = np.sqrt([4 / 15, 1 / 3])
    (found,) = differences(groups, [5.23, 5.46], averages=True, noise_sd=spread)
    assert found.value == pytest.approx(4.31)
    assert found.error == pytest.approx(np.sqrt(5**2 * 4 / 15 + 4**2 / 3)) == pytest.approx(np.sqrt(12))
    assert str(found) == "Bob: 5·q1 − 4·q2 = 4.31 ± 3.46"


def test_answers_with_less_noise_weigh_more():
    """Two answers about one person, of variances 1 and 4: the best weights are 4/5 and 1/5, and the variance is 4/5."""
    (found,) = differences([{"X"}, {"X"}], [1, 2], noise_sd=[1, 2])
    assert found.value == pytest.approx(1.2)
    assert found.error == pytest.approx(np.sqrt(0.8))


def test_a_general_tracker_pads_a_small_group_with_a_large_one_and_its_rest():
    """q(C) = q(C or T) + q(C or not T) − q(T) − q(not T), with groups between a quarter and three quarters only."""
    people = np.arange(40)
    target, tracker = people == 7, people % 2 == 0
    groups = np.array([target | tracker, target | ~tracker, tracker, ~tracker])
    assert ((groups.sum(axis=1) >= 10) & (groups.sum(axis=1) <= 30)).all()
    secrets = np.random.default_rng(0).integers(0, 2, 40)
    found = differences(groups.astype(int), (groups @ secrets).tolist())
    assert [(each.person, each.value) for each in found] == [(7, secrets[7])]


def test_a_combination_that_is_no_plain_difference_is_found():
    found = differences([{1, 2}, {2, 3}, {1, 3}], [1, 2, 3])
    assert [str(each) for each in found] == [
        "1: 0.5·q1 − 0.5·q2 + 0.5·q3 = 1",
        "2: 0.5·q1 + 0.5·q2 − 0.5·q3 = 0",
        "3: −0.5·q1 + 0.5·q2 + 0.5·q3 = 2",
    ]


def test_a_question_about_one_person_needs_no_other():
    found = differences([{1, 2}, {2}], [1, 1])
    assert [str(each) for each in found] == ["1: q1 − q2 = 0", "2: q2 = 1"]


def test_people_whom_nothing_discloses_are_not_listed():
    assert differences([{1, 2}, {3, 4}, {1, 2, 3, 4}], [1, 1, 2]) == ()
    assert differences([], []) == ()
    assert differences([set()], [0]) == ()


@pytest.mark.parametrize("seed", range(40))
def test_exactly_those_are_disclosed_whose_unit_vector_the_questions_span(seed):
    chance = np.random.default_rng(seed)
    questions, people = (int(number) for number in chance.integers(1, 9, 2))
    weights = chance.integers(0, 2, (questions, people))
    secrets = chance.integers(-5, 6, people)
    found = differences(weights, (weights @ secrets).tolist())
    units = np.eye(people, dtype=int)
    rank = fmpz_mat(weights.tolist()).rank()
    spanned = [p for p in range(people) if fmpz_mat([*weights.tolist(), units[p].tolist()]).rank() == rank]
    assert [each.person for each in found] == spanned
    for each in found:
        assert each.value == secrets[each.person]
        combined = sum((factor * weights[query].astype(object) for query, factor in each.combination), 0 * units[0])
        assert combined.tolist() == units[each.person].tolist()


@pytest.mark.parametrize("seed", range(20))
def test_estimates_know_the_same_people_and_their_errors(seed):
    """The error of an unbiased combination is the length of its factors, and no other combination has a smaller one."""
    chance = np.random.default_rng(seed)
    weights = chance.integers(0, 2, (int(chance.integers(2, 9)), 5))
    sums = (weights @ chance.integers(0, 2, 5)).tolist()
    exact, estimated = differences(weights, sums), differences(weights, sums, noise_sd=0.3)
    assert [each.person for each in exact] == [each.person for each in estimated]
    for certain, each in zip(exact, estimated, strict=True):
        assert each.value == pytest.approx(float(certain.value))
        assert each.error == pytest.approx(0.3 * np.linalg.norm([factor for _, factor in each.combination]))
        assert each.error <= 0.3 * np.linalg.norm([float(factor) for _, factor in certain.combination]) + 1e-12


@pytest.mark.parametrize("sigma", [0.5, 1, 2, 5])
def test_two_counts_with_normal_noise_tell_a_bit_as_often_as_the_closed_form_says(sigma):
    """Φ(1/(2√2σ)). False alarms: 2e-7 for each σ, by the binomial law."""
    (found,) = differences([{"X", "Y"}, {"Y"}], [1, 1], noise_sd=sigma)[:1]
    expected = norm.cdf(1 / (2 * np.sqrt(2) * sigma))
    assert norm.cdf(0.5 / found.error) == pytest.approx(expected)
    chance, trials = np.random.default_rng(17), 100_000
    bits, noise = chance.integers(0, 2, trials), chance.normal(0, sigma, (2, trials))
    right = int(((bits + noise[0] - noise[1] > 0.5) == bits).sum())
    assert binom.ppf(1e-7, trials, expected) <= right <= binom.isf(1e-7, trials, expected)


@pytest.mark.parametrize("scale", [0.5, 1, 2, 5])
def test_the_same_with_laplace_noise(scale):
    """P(L − L' > −1/2) = 1 − e^(−1/(2b)) (1 + 1/(4b))/2. False alarms: 2e-7 for each b, by the binomial law."""
    expected = 1 - np.exp(-0.5 / scale) * (1 + 0.25 / scale) / 2
    chance, trials = np.random.default_rng(18), 100_000
    bits, noise = chance.integers(0, 2, trials), chance.laplace(0, scale, (2, trials))
    right = int(((bits + noise[0] - noise[1] > 0.5) == bits).sum())
    assert binom.ppf(1e-7, trials, expected) <= right <= binom.isf(1e-7, trials, expected)


@pytest.mark.parametrize(
    ("queries", "answers", "options", "words"),
    [
        ([[1, 1], [1, 0, 0]], [1, 1], {}, "the same 2 people .*question 2: 3"),
        ([{"a"}, {"z"}], [1, 1], {"people": ["a", "b"]}, "people that are named, got 'z'"),
        ([[1, 1]], [1], {"people": ["a", "b", "c"]}, "the same 3 people"),
        ([[1, 2]], [1], {}, "1 for those in the group and 0 for others"),
        ([["Ann", "Ben"], ["Ben", "Cem"]], [1, 1], {}, "a question is a set of people, or a row"),
        ([{1, 2}, [1, 1]], [1, 1], {}, "a question is a set of people, or a row"),
        ([1, 1], [1, 1], {}, "a question is a set of people, or a row"),
        ([[[1, 0]], [[1, 1]]], [1, 1], {}, "a question is a set of people, or a row"),
        ([[0.5, 1]], [1], {}, "a question is a set of people, or a row"),
        (5, [1], {}, "a list or as a matrix"),
        ([{1, 2}, {1}, {2}], [1, 1, 1], {}, "possible together, got <answer 3 contradicts"),
        ([set(), {1}], [1, 1], {}, "answer 1 contradicts"),
        ([{1}, {1}, {2}, {2, 3}], [1, 2, 1, 1], {}, "answer 2 contradicts"),
        ([{1}, set()], [1, 1], {"averages": True}, "average .*<question 2: nobody>"),
        ([{1}], [float("nan")], {}, "must be a number, got nan; leave out the questions that were refused"),
        ([{1}], [np.float64("nan")], {}, "must be a number"),
        ([{1}], [float("inf")], {}, "must be finite"),
        ([{1}], [None], {}, "must be a number"),
        ([{1}], [1, 2], {}, "every one of the 1 questions needs an answer, got 2"),
        ([{1}], [1], {"noise_sd": -1}, "noise_sd must be positive"),
        ([{1}] * 3, [1] * 3, {"noise_sd": [1, 2]}, "one for each of the 3 questions, got 2"),
        (np.ones((301, 301)), [1] * 301, {}, "300 questions or 300 people at most"),
    ],
)
def test_what_makes_no_sense_is_refused_in_a_sentence(queries, answers, options, words):
    with pytest.raises(InvalidInput, match=words):
        differences(queries, answers, **options)


def test_noisy_answers_that_contradict_each_other_are_averaged_and_not_refused():
    (found,) = differences([{"X"}, {"X"}], [1, 2], noise_sd=1)
    assert found.value == pytest.approx(1.5)
    assert found.error == pytest.approx(np.sqrt(0.5))
    with pytest.raises(InvalidValue, match="contradicts"):
        differences([{"X"}, {"X"}], [1, 2])
