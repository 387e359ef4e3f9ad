"""Sarbajit Ghosh, "A survey on Differential Privacy" (slides), as tests."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.accounting.composition import sequential
from discreet.exact.ball import Ball, ball, exp_up, lower, upper, working_precision
from discreet.mechanisms.distribution import FiniteLaw, ShiftedLaw
from discreet.mechanisms.exponential import Exponential
from discreet.mechanisms.laplace import Laplace
from discreet.mechanisms.sensitivity_sampler import SensitivitySampler
from discreet.privacy.hypothesis_tests import Pair
from discreet.privacy.loss import Pure
from discreet.privacy.meaning import ErrorRegion, OddsRatio
from discreet.privacy.sensitivity import Sensitivity
from tests.texts.laws import (
    Law,
    factor,
    followed_by,
    loss,
    pair,
    random_laws,
    random_mappings,
    response,
    side_by_side,
    through,
)

LIGHT = settings(max_examples=30, deadline=None)
F = Fraction
two_laws = st.tuples(random_laws(3), random_laws(3))


# Points on the definition.


@LIGHT
@given(two_laws)
def test_the_definition_is_symmetric(laws: tuple[Law, Law]) -> None:
    assert factor(laws[0], laws[1]) == factor(laws[1], laws[0])
    both = pair(*laws)
    assert both.epsilon().overlaps(both.reversed().epsilon())


@given(st.integers(1, 50), st.integers(51, 10**6))
def test_outliers_are_protected_like_everybody(usual: int, outlier: int) -> None:
    """The loss of a clamped sum is the same for the largest value there is."""
    total = Laplace(epsilon=1, sensitivity=Sensitivity.sum(0, 50, "add-remove-one"))
    moves = [min(value, 50) for value in (usual, outlier)]
    assert max(moves) <= total.sensitivity == 50


# Post-processing, groups, composition.


@LIGHT
@given(two_laws, random_mappings(3, 3))
def test_post_processing_with_random_functions_that_need_not_be_uniform(
    laws: tuple[Law, Law], mapping: dict[Any, Law]
) -> None:
    """G ∘ M: a random G is a mixture of deterministic g, with any weights."""
    functions = {
        g: math.prod((mapping[y][g[y]] for y in range(3)), start=F(1)) for g in itertools.product(range(3), repeat=3)
    }
    assert sum(functions.values()) == 1
    for law in laws:
        mixed: Law = {}
        for g, weight in functions.items():
            for y, p in law.items():
                mixed[g[y]] = mixed.get(g[y], F(0)) + weight * p
        assert mixed == through(law, mapping)
    processed = [FiniteLaw.of(law).through(lambda y: FiniteLaw.of(mapping[y])) for law in laws]
    after = Pair([processed[0].mass(z) for z in range(3)], [processed[1].mass(z) for z in range(3)])
    assert lower(after.epsilon()) <= upper(pair(*laws).epsilon())
    assert factor(*(through(law, mapping) for law in laws)) <= factor(*laws)


@pytest.mark.parametrize("k", [1, 2, 3])
def test_group_privacy_a_group_of_k_loses_k_epsilon(k: int) -> None:
    """Datasets that differ in k rows: randomized response on each row reaches e^(kε), and the chain bounds it."""
    here, there = ((0,) * 3, (1,) * k + (0,) * (3 - k))
    laws = [side_by_side(response(bit, F(3, 4)) for bit in data) for data in (here, there)]
    assert factor(*laws) == 3**k
    assert Pure("0.1").group(k) == Pure(F(k, 10))


@LIGHT
@given(st.lists(two_laws, min_size=2, max_size=3))
def test_composition_of_k_mechanisms_multiplies_the_factors(steps: list[tuple[Law, Law]]) -> None:
    together = [side_by_side(laws) for laws in zip(*steps, strict=True)]
    product = math.prod(factor(*laws) for laws in steps)
    assert factor(*together) <= product
    assert lower(pair(*together).epsilon()) <= sequential([loss(*laws) for laws in steps]).epsilon_at(0)


@LIGHT
@given(two_laws, st.lists(two_laws, min_size=3, max_size=3))
def test_composition_allows_mechanisms_chosen_adaptively(first: tuple[Law, Law], later: list[tuple[Law, Law]]) -> None:
    joint = [followed_by(first[side], lambda y, side=side: later[y][side]) for side in (0, 1)]  # type: ignore[misc]
    assert factor(*joint) <= factor(*first) * max(factor(*laws) for laws in later)
    dearest = max((loss(*laws) for laws in later), key=lambda price: price.epsilon)
    assert lower(pair(*joint).epsilon()) <= sequential([loss(*first), dearest]).epsilon_at(0)


# Hypothesis testing.


@LIGHT
@given(two_laws)
def test_false_positives_and_false_negatives_cannot_both_be_rare(laws: tuple[Law, Law]) -> None:
    """p + e^ε q ≥ 1 and e^ε p + q ≥ 1 for every test, also randomized ones, which lie between."""
    first, second = laws
    e = factor(first, second)
    assert isinstance(e, Fraction)
    for rejects in itertools.product([F(0), F(1, 3), F(1)], repeat=3):
        p = sum((first[y] * rejects[y] for y in first), F(0))
        q = sum((second[y] * (1 - rejects[y]) for y in second), F(0))
        assert p + e * q >= 1
        assert e * p + q >= 1
        assert ErrorRegion(OddsRatio(e)).allows(p, q)


def test_without_loss_the_adversary_guesses_blindly() -> None:
    assert ErrorRegion(Pure(0)).least_error_sum() == 1
    assert ErrorRegion(Pure(0)).least_false_negative("0.3") == F(7, 10)
    assert ErrorRegion(Pure(1)).least_error_sum() < 1


# The Laplace distribution and mechanism.


@pytest.mark.parametrize("scale", [F(1, 2), F(2)])
def test_the_laplace_law_is_symmetric_about_its_location_with_variance_two_b_squared(scale: Fraction) -> None:
    noise = Laplace(epsilon=1 / scale, grid=2**-12)
    assert noise.scale == scale
    law = noise.distribution(3)
    assert isinstance(law, ShiftedLaw)
    assert law.pmf(3 + 1.75) == law.pmf(3 - 1.75) > 0
    assert law.pmf(scale + F(7, 4)) != pytest.approx(law.pmf(scale - F(7, 4)))
    assert noise.standard_deviation**2 == pytest.approx(2 * scale**2, rel=1e-6)
    assert 1 - law.cdf(3 + 5 * scale) == pytest.approx(math.exp(-5) / 2, rel=0.001)


@pytest.mark.parametrize("epsilon", [F(1, 2), F(1)])
def test_intuition_answers_10_and_20_with_a_sensitivity_of_10(epsilon: Fraction) -> None:
    """The ratio is e^ε (or e^-ε) outside [10, 20] and between them inside; the exponents carry a minus sign."""
    noisy = Laplace(epsilon=epsilon, sensitivity=10)
    with working_precision():
        first, second = noisy.distribution(10), noisy.distribution(20)
        log_ratio = {z: float((first.mass(z) / second.mass(z)).log()) for z in range(-30, 61)}
    for z, found in log_ratio.items():
        expected = float(epsilon) * (abs(z - 20) - abs(z - 10)) / 10
        assert found == pytest.approx(expected, abs=1e-12)
        outside = z <= 10 or z >= 20
        assert (abs(found) == pytest.approx(float(epsilon))) == outside


def test_intuition_without_the_minus_sign_is_no_density() -> None:
    """e^(+|z-10|ε/10) grows without bound, so it has no integral; with the minus sign all of the law is near 10."""
    law = Laplace(epsilon=1, sensitivity=10).distribution(10)
    assert isinstance(law, ShiftedLaw)
    assert math.exp(abs(7010 - 10) / 10) > 1e300
    assert law.pmf(7010) == pytest.approx(law.pmf(10) * math.exp(-abs(7010 - 10) / 10), rel=1e-9, abs=0)
    assert law.cdf(1010) - law.cdf(-990) == pytest.approx(1, abs=1e-15)


answers = st.lists(st.integers(-9, 9), min_size=2, max_size=2)


@LIGHT
@given(answers, answers, answers)
def test_the_density_ratio_is_at_most_e_to_the_epsilon_and_not_to_minus_epsilon(
    x: list[int], y: list[int], z: list[int]
) -> None:
    """-(|f(X) - z| - |f(Y) - z|) ≤ +|f(X) - f(Y)|: the sign in the printed proof would bound the ratio below 1."""
    distance = sum(abs(a - b) for a, b in zip(x, y, strict=True))
    noise = Laplace(epsilon=2, sensitivity=max(distance, 1))
    with working_precision():
        here, there = noise.distribution(x), noise.distribution(y)
        at_z, at_the_answer = ((here.mass(o) / there.mass(o)).log() for o in (z, x))
    exponent = sum(abs(b - c) - abs(a - c) for a, b, c in zip(x, y, z, strict=True))
    assert at_z.overlaps(ball(exponent / noise.scale))
    assert lower(at_z) <= noise.loss.epsilon == 2
    if distance:  # z = f(X) reaches ε, so that e^-ε is no bound
        assert at_the_answer.overlaps(Ball(2))


# The mean of a habit.


@pytest.mark.parametrize("n", [10, 1000])
@pytest.mark.parametrize("epsilon", [0.5, 1.0])
def test_the_mean_is_unbiased_with_variance_two_over_n_epsilon_squared(n: int, epsilon: float) -> None:
    habit = Laplace(epsilon=epsilon, sensitivity=Sensitivity.mean(0, 1, n, "replace-one"), grid=2**-24)
    assert habit.law.mean == 0
    assert habit.standard_deviation**2 == pytest.approx(2 / (n * epsilon) ** 2, rel=0.001)


def test_the_mean_divides_by_n_or_its_sensitivity_is_one() -> None:
    assert Sensitivity.mean(0, 1, 25, "replace-one").value == F(1, 25)
    assert Sensitivity.sum(0, 1, "replace-one").value == 1


@pytest.mark.parametrize("k", [F("1.1"), F("1.5"), F(2), F(5)])
def test_tchebychev_with_the_right_variance(k: Fraction) -> None:
    """Within √2 k/(nε) with 1 - 1/k² or more. The exact law keeps even k/(nε), which the printed proof does not."""
    n = 100
    habit = Laplace(epsilon=1, sensitivity=Sensitivity.mean(0, 1, n, "replace-one"), grid=2**-24)
    within = habit.error(confidence=1 - 1 / k**2)
    assert within <= k / n < k * F(habit.standard_deviation)
    assert habit.standard_deviation == pytest.approx(math.sqrt(2) / n, rel=1e-4)


# Counts and histograms.


def test_one_count_moves_by_one() -> None:
    assert Laplace(epsilon=1, sensitivity=Sensitivity.count("replace-one")).scale == 1


@pytest.mark.parametrize("k", [2, 7])
def test_k_counts_move_by_k(k: int) -> None:
    """One person has no properties, the other all of them."""
    nobody, everything = [0] * k, [1] * k
    assert sum(abs(a - b) for a, b in zip(nobody, everything, strict=True)) == k
    assert Laplace(epsilon=1, sensitivity=Sensitivity.counts(k, "replace-one")).scale == k


def test_a_histogram_moves_by_one_only_when_a_person_joins_or_leaves() -> None:
    """The survey's neighbours differ in a row, where two bins move: noise of scale 1/ε then costs 2ε."""
    assert Sensitivity.histogram("add-remove-one").value == 1
    assert Sensitivity.histogram("replace-one").value == 2
    too_little = Laplace(epsilon=1, sensitivity=Sensitivity.histogram("add-remove-one"))
    window = list(itertools.product(range(-15, 18), repeat=2))
    with working_precision():
        here, joined, replaced = (too_little.distribution(bins) for bins in ([2, 1], [2, 2], [1, 2]))
        masses = [[law.mass(z) for z in window] for law in (here, joined, replaced)]
    assert float(Pair(masses[0], masses[1]).epsilon()) == pytest.approx(1, abs=1e-12)
    assert float(Pair(masses[0], masses[2]).epsilon()) == pytest.approx(2, abs=1e-12)


# The exponential mechanism.

PRICES = [F(1), F("1.01"), F("3.01"), F("3.02")]


def revenues(bids: list[Fraction]) -> list[Fraction]:
    return [price * sum(bid >= price for bid in bids) for price in PRICES]


def test_the_auction_with_bids_of_1_1_and_3_01() -> None:
    """Without noise to speak of, the mechanism takes the best price."""
    scores = revenues([F(1), F(1), F("3.01")])
    assert scores == [3, F("1.01"), F("3.01"), 0]
    assert Exponential(10**6, PRICES, sensitivity="3.02").release(scores) == F("3.01")  # but for e^-1655


def test_the_auction_prefers_the_high_quality_objects() -> None:
    auction = Exponential(5, PRICES, sensitivity="3.02")
    law = auction.distribution(revenues([F(1), F(1), F("3.01")]))
    often = [law.pmf(price) for price in PRICES]
    assert often[2] > often[0] > 0.4
    assert often[1] + often[3] < 0.15


def test_the_sensitivity_of_a_score_is_the_largest_over_all_objects() -> None:
    """One bidder leaves: at price 1 the revenue moves by 1, at price 9 by 9, and the 1 would break the promise."""
    before, after = [F(1), F(9)], [F(0), F(0)]
    moves = [abs(a - b) for a, b in zip(before, after, strict=True)]
    assert (moves[0], max(moves)) == (1, 9)
    for sensitivity, holds in ((1, False), (9, True)):
        laws = [Exponential(1, sensitivity=sensitivity).distribution(scores) for scores in (before, after)]
        assert (float(Pair(laws[0].masses, laws[1].masses).epsilon()) <= 1) == holds


@LIGHT
@given(st.lists(st.tuples(st.integers(0, 9), st.integers(-1, 1)), min_size=2, max_size=6))
def test_the_exponential_mechanism_is_private_and_so_are_its_two_halves(moved: list[tuple[int, int]]) -> None:
    before = [score for score, _ in moved]
    after = [score + step for score, step in moved]
    epsilon = F(3, 4)
    laws = [Exponential(epsilon).distribution(scores) for scores in (before, after)]
    assert float(Pair(laws[0].masses, laws[1].masses).epsilon()) <= float(epsilon) * (1 + 1e-12)
    weights = [[math.exp(float(epsilon) * s / 2) for s in scores] for scores in (before, after)]
    half = math.exp(float(epsilon) / 2) * (1 + 1e-12)
    assert max(a / b for a, b in zip(*weights, strict=True)) <= half
    assert sum(weights[1]) / sum(weights[0]) <= half


# Approximate privacy and the privacy loss.


@LIGHT
@given(two_laws)
def test_the_privacy_loss_variable_of_two_laws(laws: tuple[Law, Law]) -> None:
    """Draw t from Y, say ln(P(Y=t)/P(Z=t)): its mean, its largest value, and what exceeds ε."""
    found = pair(*laws).loss_variable()
    by_hand: Counter[float] = Counter()
    for t, p in laws[0].items():
        by_hand[round(math.log(p / laws[1][t]), 9)] += float(p)  # type: ignore[assignment]
    stated = {round(v, 9): p for v, p in zip(found.values, found.probabilities, strict=True)}
    assert stated == pytest.approx(dict(by_hand))


@LIGHT
@given(two_laws, st.fractions(min_value=0, max_value=1, max_denominator=10))
def test_approximate_privacy_follows_from_a_loss_that_rarely_exceeds_epsilon(
    laws: tuple[Law, Law], epsilon: Fraction
) -> None:
    exact = pair(*laws)
    rarely = exact.loss_variable().exceeds(float(epsilon))
    events = [set(e) for k in range(4) for e in itertools.combinations(range(3), k)]
    worst = max(sum((laws[0][y] - exp_up(epsilon) * laws[1][y] for y in e), F(0)) for e in events)
    assert worst <= upper(exact.delta(epsilon))
    assert lower(exact.delta(epsilon)) <= rarely + 1e-12


def test_unequal_supports_give_an_infinite_loss_and_that_is_what_delta_is_for() -> None:
    """The law that gives itself away with probability 1/100 has a loss variable with an atom at infinity."""
    gives_away = {"secret": F(1, 100), "nothing": F(99, 100)}
    says_nothing = {"nothing": F(1)}
    exact = pair(gives_away, says_nothing)
    assert exact.loss_variable().values[-1] == math.inf
    assert exact.loss_variable().probabilities[-1] == pytest.approx(0.01)
    assert exact.epsilon() == Ball.pos_inf()
    assert float(exact.delta(5)) == pytest.approx(0.01)


# The programs in R, in Python.


def test_laplace_mean_of_150_values_as_in_the_program() -> None:
    """n = 150, ε = 1, sensitivity 1/n: the printed difference of 0.0045 is as likely as not."""
    mean = Laplace(epsilon=1, sensitivity=F(1, 150), grid=2**-24)
    answer = mean.release(0.4733297)
    assert isinstance(answer, float)
    assert abs(0.4688349 - 0.4733297) <= mean.error(confidence=0.95) == pytest.approx(math.log(20) / 150, rel=0.001)
    assert math.exp(-150 * (0.4733297 - 0.4688349)) == pytest.approx(0.51, abs=0.01)


def test_exponential_choice_of_the_commonest_letter_as_in_the_program() -> None:
    """Ten names "Object A" to "Object J": b, c, e, j and t share the maximum, so j is as good an answer as b."""
    database = [f"Object {letter}" for letter in "ABCDEFGHIJ"]
    letters = "abcdefghijklmnopqrstuvwxyz"
    scores = {letter: sum(name.count(letter) for name in database) for letter in letters}
    best = [letter for letter in letters if scores[letter] == max(scores.values())]
    assert best == ["b", "c", "e", "j", "t"]
    assert max(letters, key=lambda letter: scores[letter]) == "b"
    law = Exponential(1, list(letters), sensitivity=1).distribution(scores)
    assert law.pmf("j") == law.pmf("b")
    assert sum(law.pmf(letter) for letter in best) > 0.95


def test_the_commonest_letter_has_no_small_sensitivity_that_a_sample_could_prove() -> None:
    """One name may hold any number of one letter, so a sensitivity sampled from usual names can be exceeded."""
    usual = itertools.cycle(["Anna", "Barbara", "Cynthia", "Kim"])

    def letters(names: list[str]) -> list[int]:
        return [sum(name.lower().count(letter) for name in names) for letter in "abc"]

    sampler = SensitivitySampler(letters, lambda size: list(itertools.islice(usual, size)), 4, norm="Linf", gamma="0.1")
    sampled = sampler.sample()
    names, unusual = ["Anna", "Barbara", "Cynthia", "Kim"], ["Anna", "Barbara", "Cynthia", "a" * 50]
    moved = max(abs(a - b) for a, b in zip(letters(names), letters(unusual), strict=True))
    assert moved == 50 > 2 * sampled.value
    choice = sampled.exponential(1, list("abc"))
    assert choice.loss.gamma == F(1, 10)
    assert float(choice.between(names, unusual).epsilon()) > 1
