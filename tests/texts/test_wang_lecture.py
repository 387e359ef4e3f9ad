"""Di Wang, "CS325: Private Data Analysis, Lecture 2: Definition of Differential Privacy" (2023), as tests."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from discreet.anonymize.models.l_diversity import DistinctDiversity
from discreet.attacks import intersect
from discreet.exact.ball import Ball, ball, exp_up, lower, working_precision
from discreet.mechanisms.laplace import Laplace
from discreet.mechanisms.randomized_response import RandomizedResponse
from discreet.privacy.hypothesis_tests import Pair
from discreet.privacy.loss import Pure
from discreet.privacy.meaning import OddsRatio
from discreet.privacy.sensitivity import Sensitivity
from tests.texts.laws import Law, factor, pair, random_laws, response, side_by_side
from tests.texts.tables import FIGURE_1, FIGURE_2, checked, published

LIGHT = settings(max_examples=30, deadline=None)
F = Fraction
rationals = st.fractions(min_value=-9, max_value=9, max_denominator=20)
positive_epsilons = st.fractions(min_value=F(1, 20), max_value=5, max_denominator=20)

# Section 2.1: k-anonymity.


FIRST, SECOND = published(FIGURE_1), published(FIGURE_2)


def test_figure_2_1_is_4_anonymous_and_figure_2_2_is_6_anonymous() -> None:
    assert checked(FIRST, "condition").k == 4
    assert checked(SECOND, "condition").k == 6


def test_figure_2_1_tells_that_everyone_in_their_thirties_has_cancer() -> None:
    report = checked(FIRST, "condition", models=[DistinctDiversity("condition", 2)])
    assert [found.sensitive for found in report.violating()] == [{"condition": {"Cancer": 4}}]
    assert intersect([FIRST], {"zip": "13012", "age": 34}).pinned == "Cancer"
    assert "Broken leg" not in report.histograms["condition"].domain


def test_alice_has_the_one_condition_that_is_in_both_tables() -> None:
    """Alice is 28 and lives in 13012: each table leaves several conditions, the two together one."""
    alice = {"zip": "13012", "age": 28}
    assert len(intersect([FIRST], alice).candidates) == 3
    assert len(intersect([SECOND], alice).candidates) == 4
    assert intersect([FIRST, SECOND], alice).candidates == ("AIDS",)


# Section 2.2: the definition and the notes on it.


def test_note_4_e_to_a_small_epsilon_is_about_one_plus_epsilon() -> None:
    for epsilon in (F(1, 10), F(1, 100)):
        assert 0 < exp_up(epsilon) - (1 + epsilon) < epsilon**2


@given(rationals, rationals)
def test_note_5_factors_multiply_where_losses_add(a: Fraction, b: Fraction) -> None:
    with working_precision():
        assert (ball(a).exp() * ball(b).exp()).overlaps(ball(a + b).exp())


@LIGHT
@given(st.lists(random_laws(3), min_size=3, max_size=3))
def test_note_6_the_guarantee_is_for_the_worst_pair(laws: list[Law]) -> None:
    """An average over pairs hides one pair that is told apart with certainty."""
    factors = [factor(a, b) for a, b in itertools.combinations(laws, 2)]
    assert max(factors) >= sum(factors) / 3
    sure = {0: F(1)}
    assert max(*factors, factor(laws[0], sure)) == math.inf
    assert pair(laws[0], sure).epsilon() == Ball.pos_inf()


# Section 2.3: randomized response.


def test_the_die_gives_ln_2() -> None:
    """1, 2, 3 or 4: the truth. 5 or 6: the opposite."""
    assert factor(response(0, F(4, 6)), response(1, F(4, 6))) == 2
    assert RandomizedResponse.die().distribution(1).pmf(1) == pytest.approx(2 / 3)
    assert float(RandomizedResponse.die().loss.epsilon) == pytest.approx(math.log(2), abs=1e-15)


@pytest.mark.parametrize("position", [0, 1, 2])
def test_equation_2_2_the_ratio_of_whole_outputs_is_one_half_or_two(position: int) -> None:
    data = (0, 1, 1)
    changed = tuple(1 - x if i == position else x for i, x in enumerate(data))
    both_ways = RandomizedResponse.die().between(data, changed)
    assert float(both_ways.max_divergence()) == float(both_ways.reversed().max_divergence()) == math.log(2)
    here, there = (side_by_side(response(x, F(2, 3)) for x in d) for d in (data, changed))
    assert {here[y] / there[y] for y in here} == {F(1, 2), F(2)}


@LIGHT
@given(random_laws(3), random_laws(3))
def test_theorem_2_2_points_and_events_give_the_same_epsilon(p: Law, q: Law) -> None:
    events = [e for k in range(1, 4) for e in itertools.combinations(range(3), k)]
    sums = [(sum(p[y] for y in e), sum(q[y] for y in e)) for e in events]
    worst = max(max(a / b, b / a) for a, b in sums)
    assert worst == factor(p, q)
    assert float(pair(p, q).epsilon()) == pytest.approx(math.log(worst), abs=1e-12)


def test_theorem_2_2_densities_need_the_factor_too() -> None:
    """f_D(y) ≤ f_D'(y) everywhere would force equal laws; with e^ε the Laplace densities pass."""
    noise = Laplace(epsilon=1, grid=2**-4)
    ratios = noise.between(0, 1, outcomes=[k / 16 for k in range(-80, 81)])
    for one_way in (ratios, ratios.reversed()):
        assert float(one_way.max_divergence()) > 0
        assert lower(one_way.max_divergence()) <= noise.loss.epsilon == 1


@LIGHT
@given(positive_epsilons)
def test_theorem_2_3_generalized_response_is_epsilon_private(epsilon: Fraction) -> None:
    survey = RandomizedResponse(epsilon)
    assert survey.loss == Pure(epsilon, "replace-one")
    laws = [survey.distribution(age, predicate=lambda x: x > 40) for age in (30, 50)]
    with working_precision():
        masses = [[law.mass(y) for y in (0, 1)] for law in laws]
    assert float(Pair(*masses).epsilon()) == pytest.approx(float(epsilon), abs=1e-12)


@LIGHT
@given(st.fractions(min_value=F(6, 5), max_value=50, max_denominator=20), st.integers(0, 1))
def test_theorem_2_4_the_corrected_answer_is_unbiased(e: Fraction, bit: int) -> None:
    """Equations (2.4) and (2.5), exactly, with e in the place of e^ε."""
    law = response(bit, e / (e + 1))
    mean = sum(y * p for y, p in law.items())
    assert mean == (e - 1) / (e + 1) * bit + 1 / (e + 1)
    assert (e + 1) / (e - 1) * mean - 1 / (e - 1) == bit
    survey = RandomizedResponse.truth(e / (e + 1))
    corrected = math.fsum(survey.distribution(bit).pmf(y) * survey.estimate_sum([y]) for y in (0, 1))
    assert corrected == pytest.approx(bit, abs=1e-9)


@given(st.fractions(min_value=F(6, 5), max_value=50, max_denominator=20), st.integers(1, 1000))
def test_theorem_2_5_the_error_of_the_sum_grows_like_the_root_of_n(e: Fraction, n: int) -> None:
    """The exact variance is n e^ε/(e^ε-1)², a quarter or less of the text's n ((e^ε+1)/(e^ε-1))²."""
    truth = e / (e + 1)
    exact = n * ((e + 1) / (e - 1)) ** 2 * truth * (1 - truth)
    assert exact == n * e / (e - 1) ** 2
    assert exact <= n * (1 + 2 / (e - 1)) ** 2 / 4
    assert RandomizedResponse.truth(truth).standard_deviation(n) == pytest.approx(math.sqrt(exact))


@pytest.mark.parametrize("epsilon", [0.01, 0.1, 0.5, 1.0])
def test_theorem_2_5_is_root_n_over_epsilon_for_small_epsilon(epsilon: float) -> None:
    deviation = RandomizedResponse(epsilon).standard_deviation(400)
    assert 0.9 * 20 / epsilon <= deviation <= 20 / epsilon


# Section 2.4: the Laplace mechanism.


answers = st.lists(st.integers(-9, 9), min_size=3, max_size=3)


@LIGHT
@given(answers, answers, answers)
def test_theorem_2_7_each_coordinate_obeys_the_triangle_inequality(
    here: list[int], there: list[int], y: list[int]
) -> None:
    moves = [abs(a - b) for a, b in zip(here, there, strict=True)]
    noise = Laplace(epsilon=1, sensitivity=max(sum(moves), 1))
    with working_precision():
        for a, b, c, move in zip(here, there, y, moves, strict=True):
            exponent = (noise.distribution(a).mass(c) / noise.distribution(b).mass(c)).log()
            assert exponent.overlaps(ball((abs(c - b) - abs(c - a)) / noise.scale))
            assert lower(exponent) <= move / noise.scale
        together = (noise.distribution(here).mass(y) / noise.distribution(there).mass(y)).log()
    assert lower(together) <= noise.loss.epsilon == 1


@pytest.mark.parametrize("scale", [F(1, 2), F(1), F(3)])
def test_lemma_2_8_moments_and_tail_of_one_laplace_variable(scale: Fraction) -> None:
    """E|Z| = λ, √E(Z²) = √2 λ, P(Z > λt) = e^-t/2 < e^-t, P(|Z| > λt) = e^-t."""
    noise = Laplace(epsilon=1 / scale, grid=2**-20)
    assert noise.scale == scale
    assert noise.mean_error() == pytest.approx(scale, rel=1e-6)
    assert noise.standard_deviation == pytest.approx(math.sqrt(2) * scale, rel=1e-6)
    for t in (1, 4):
        tail = float(noise.law.tail(int(noise.law.scale * t) + 1))
        assert tail == pytest.approx(math.exp(-t) / 2, rel=1e-5)
        assert tail < math.exp(-t)
        assert noise.error(1 - F(math.exp(-t))) == pytest.approx(scale * t, rel=1e-5)


@pytest.mark.parametrize("scale", [F(5), F(50)])
def test_lemma_2_8_holds_for_the_integer_noise_that_is_drawn(scale: Fraction) -> None:
    law = Laplace(epsilon=1 / scale).law
    assert math.sqrt(law.variance) <= math.sqrt(2) * float(scale)
    assert math.sqrt(law.variance) == pytest.approx(math.sqrt(2) * float(scale), rel=0.01)
    for t in (1, 3, 8):
        assert float(law.tail(int(scale * t) + 1)) <= math.exp(-t) / 2


@pytest.mark.parametrize("d", [1, 2, 10, 1000])
@pytest.mark.parametrize("t", [0.1, 1.0, 5.0])
def test_lemma_2_8_the_maximum_of_d_variables(d: int, t: float) -> None:
    """P(M > λ(ln d + t)) = 1 - (1 - e^-t/d)^d ≤ e^-t, so that the quantile of M is at most λ(ln d + t)."""
    exact = -math.expm1(d * math.log1p(-math.exp(-t) / d))
    assert exact <= math.exp(-t)
    noise = Laplace(epsilon="1/2", grid=2**-20)
    assert noise.error(1 - F(exact), answers=d) == pytest.approx(2 * (math.log(d) + t), abs=1e-5)
    assert noise.error(1 - F(math.exp(-t)), answers=d) <= 2 * (math.log(d) + t) + 2**-20


@pytest.mark.parametrize("d", [1, 2, 10, 1000, 10**6])
def test_lemma_2_8_the_mean_maximum_is_at_most_ln_d_plus_one(d: int) -> None:
    """E(M)/λ is the harmonic number 1 + 1/2 + ... + 1/d: at most ln d + 1, and above ln d + t for small t."""
    harmonic = math.fsum(1 / k for k in range(1, d + 1))
    assert Laplace(epsilon=1, grid=2**-20).mean_error(answers=d) == pytest.approx(harmonic, rel=1e-5)
    assert math.log(d) + 0.5 < harmonic <= math.log(d) + 1


@pytest.mark.parametrize("n", [10, 1000])
def test_average_query_moves_by_one_over_n(n: int) -> None:
    assert Sensitivity.mean(0, 1, n, "replace-one").value == F(1, n)
    average = Laplace(epsilon=1, sensitivity=Sensitivity.mean(0, 1, n, "replace-one"), grid=2**-20)
    assert float(average.scale) == pytest.approx(1 / n, rel=0.001)
    for zeta in (F(1, 10), F(1, 1000)):  # equation (2.13): within ln(1/ζ)/(nε) but for probability ζ
        assert average.error(1 - zeta) <= float(average.scale) * math.log(1 / zeta) + 2**-20


@pytest.mark.parametrize("zeta", [F(1, 10), F(1, 100)])
@pytest.mark.parametrize("epsilon", [F(1, 4), F(1)])
def test_equation_2_15_response_errors_by_chebyshev_are_within_one_over_root_n_epsilon(
    zeta: Fraction, epsilon: Fraction
) -> None:
    """With probability 1 - ζ the mean is within 1/(√ζ √n ε): ε stands outside of the root."""
    n = 400
    within = 1 / (math.sqrt(zeta * n) * float(epsilon))
    survey = RandomizedResponse(epsilon)
    truth = survey.distribution(1).pmf(1)
    gap = 2 * truth - 1
    assert survey.standard_deviation(n) / n / math.sqrt(zeta) <= within
    means = [(k / n - (1 - truth)) / gap for k in range(n + 1)]
    inside = [binom.pmf(k, n, 1 - truth) for k, mean in enumerate(means) if abs(mean) <= within]
    assert math.fsum(inside) >= 1 - zeta


@pytest.mark.parametrize("n", [100, 10_000])
def test_laplace_beats_randomized_response_for_the_average(n: int) -> None:
    """Errors of order 1/(nε) against 1/(√n ε): the price of having no trusted curator."""
    laplace = math.sqrt(2) / n  # the deviation of the noise on the mean, ε = 1
    local = RandomizedResponse(1).standard_deviation(n) / n
    assert local / laplace == pytest.approx(math.sqrt(n) * 0.9595 / math.sqrt(2), rel=0.001)


@pytest.mark.parametrize("d", [2, 50, 1000])
def test_histogram_query_moves_by_two_however_many_bins(d: int) -> None:
    """One row moves from one bin to another; all counts stay within (2/ε)(ln d + t) but for probability e^-t."""
    states = Laplace(epsilon=1, sensitivity=Sensitivity.histogram("replace-one"))
    assert states.scale == 2
    for t in (1, 3):
        confidence = 1 - F(math.exp(-t)).limit_denominator(10**6)
        assert states.error(confidence, answers=d) <= math.ceil(2 * (math.log(d) + t) + 1e-5)


def test_the_factor_of_the_die_can_be_brought_close_to_one() -> None:
    assert OddsRatio("1.01").loss <= Pure("0.01")
    assert RandomizedResponse("0.01").distribution(1).pmf(1) == pytest.approx(0.5025, abs=1e-4)
