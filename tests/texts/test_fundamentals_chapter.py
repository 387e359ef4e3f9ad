"""The book chapter "Differential Privacy Fundamentals" (draft of 2021, after Ullman and Smith), as tests."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom, laplace

from discreet.errors import InvalidInput
from discreet.exact.ball import Ball, ball, lower, upper, working_precision
from discreet.mechanisms.randomized_response import RandomizedResponse
from discreet.privacy.loss import Approximate, Pure
from discreet.privacy.meaning import Beliefs, OddsRatio, possible_probabilities, with_or_without_me
from tests.texts.laws import (
    Law,
    factor,
    followed_by,
    pair,
    random_laws,
    random_mappings,
    response,
    side_by_side,
    through,
)
from tests.texts.tables import FIGURE_1, FIGURE_2, anonymity, fits, possible_conditions

LIGHT = settings(max_examples=30, deadline=None)
F = Fraction
Rows = tuple[int, ...]
ratios = st.fractions(min_value=F(6, 5), max_value=20, max_denominator=20)

# Section 1: k-anonymity.


def test_figures_1_and_2_are_4_and_6_anonymous_and_pin_alice_down() -> None:
    assert (anonymity(FIGURE_1), anonymity(FIGURE_2)) == (4, 6)
    both = possible_conditions(FIGURE_1, "13012", 28) & possible_conditions(FIGURE_2, "13012", 28)
    assert both == {"AIDS"}


def test_the_classes_as_printed_leave_out_two_ages() -> None:
    """With ">40" and ">35" nobody of exactly 40 or 35 has a class; "≥" closes the gap."""
    assert not any(fits(40, ages) for ages in ("<30", ">40", "3*"))
    assert not any(fits(35, ages) for ages in ("<35", ">35"))
    for age in range(10, 100):
        assert sum(fits(age, ages) for ages in ("<30", "≥40", "3*")) == 1
        assert sum(fits(age, ages) for ages in ("<35", "≥35")) == 1


def test_a_record_elsewhere_matches_k_rows_here_and_not_the_other_way_round() -> None:
    """The other table may hold Alice alone: her record matches four rows, and each of those rows matches one record."""
    elsewhere = [("Alice", "13012", 28)]
    matches = [
        row for _, zip_code, age in elsewhere for row in FIGURE_1 if zip_code[:3] == row[0][:3] and fits(age, row[1])
    ]
    assert len(matches) == 4
    assert len(elsewhere) == 1


# Section 2: randomized response.


def test_truth_with_three_quarters_has_a_factor_of_three() -> None:
    """Equation (1)."""
    one, zero = response(1, F(3, 4)), response(0, F(3, 4))
    assert {one[y] / zero[y] for y in (0, 1)} == {F(1, 3), F(3)}
    assert float(RandomizedResponse.truth(F(3, 4)).loss.epsilon) == pytest.approx(math.log(3), abs=1e-15)


def _moments(data: Rows, truth: Fraction, estimate: Callable[[Rows], Fraction]) -> tuple[Fraction, Fraction]:
    """Mean and mean squared error of an estimate of the number of ones, over every possible output."""
    law = side_by_side(response(x, truth) for x in data)
    mean = sum((p * estimate(y) for y, p in law.items()), F(0))
    return mean, sum((p * (estimate(y) - sum(data)) ** 2 for y, p in law.items()), F(0))


@pytest.mark.parametrize("data", list(itertools.product([0, 1], repeat=4)))
def test_proposition_2_1_the_sum_is_estimated_within_root_n(data: Rows) -> None:
    """A = 2 ΣYᵢ - n/2 has mean Σxᵢ and squared error (3/4) n, exactly."""
    mean, squared = _moments(data, F(3, 4), lambda y: 2 * F(sum(y)) - F(len(y), 2))
    assert mean == sum(data)
    assert squared == F(3, 4) * len(data)


@given(ratios, st.tuples(*[st.integers(0, 1)] * 3))
def test_proposition_2_3_the_bound_is_the_exact_error(e: Fraction, data: Rows) -> None:
    """(e^(ε/2)/(e^ε-1))² n, with e in the place of e^ε; constants a, b as in exercise 2.4."""
    a, b = (e + 1) / (e - 1), 1 / (e - 1)
    mean, squared = _moments(data, e / (e + 1), lambda y: sum((a * bit - b for bit in y), F(0)))
    assert mean == sum(data)
    assert squared == e / (e - 1) ** 2 * len(data)


@pytest.mark.parametrize("epsilon", [0.01, 0.3, 1.0])
def test_proposition_2_3_is_root_n_over_epsilon_below_one(epsilon: float) -> None:
    deviation = RandomizedResponse(epsilon).standard_deviation(100)
    assert deviation == pytest.approx(math.exp(epsilon / 2) / math.expm1(epsilon) * 10)
    assert 0.95 * 10 / epsilon <= deviation <= 10 / epsilon


def test_algorithm_2_flips_the_answer_and_not_the_record() -> None:
    """Records need not be bits: the other answer is 1 - φ(x), and φ(1 - x) may be the same answer again."""

    def is_large(record: int) -> int:
        return int(abs(record) > 5)

    assert is_large(1 - 9) == is_large(9) == 1
    assert 1 - is_large(9) == 0
    assert RandomizedResponse(1).distribution(9, predicate=is_large).pmf(0) == pytest.approx(1 / (1 + math.e))


@pytest.mark.parametrize("epsilon", [0.2, 1.0])
@pytest.mark.parametrize("t", [1.1, 1.5, 2.0])
def test_exercise_2_5_the_tail_falls_like_a_bell(epsilon: float, t: float) -> None:
    """Hoeffding gives c = 2: P(|A - Σφ| ≥ t (e^ε+1)/(e^ε-1) √n) ≤ 2 exp(-2t²), against the exact binomial law."""
    n = 60
    lie = 1 / (1 + math.exp(epsilon))
    width = (math.exp(epsilon) + 1) / math.expm1(epsilon)
    errors = [(abs(width * (k - n * lie)), binom.pmf(k, n, lie)) for k in range(n + 1)]  # all bits 0: the worst mean
    assert math.fsum(p for size, p in errors if size >= t * width * math.sqrt(n)) <= 2 * math.exp(-2 * t**2)
    assert RandomizedResponse(epsilon).error(0.95, reports=n) <= math.sqrt(n * math.log(40) / 2) * width * (1 + 1e-9)


def test_exercise_2_6_how_large_a_dataset_must_be() -> None:
    """n(α, ε) = e^ε / ((e^ε-1)² α²): halving α takes 4 times as many, halving a small ε about 4 times."""
    survey = RandomizedResponse("0.1")
    assert survey.sample_size(standard_deviation="0.05") == math.ceil(math.exp(0.1) / math.expm1(0.1) ** 2 / 0.0025)
    n = survey.sample_size(standard_deviation="0.01")
    assert survey.sample_size(standard_deviation="0.005") == pytest.approx(4 * n, abs=4)
    assert RandomizedResponse("0.05").sample_size(standard_deviation="0.01") == pytest.approx(4 * n, rel=0.01)
    assert n == pytest.approx(1 / (0.1 * 0.01) ** 2, rel=0.01)


# Section 3: the definition.


@pytest.mark.parametrize("shift", [0.25])
def test_figure_3_two_laws_with_epsilon_one_quarter(shift: float) -> None:
    p, q = laplace(0, 1), laplace(shift, 1)
    for low, high in itertools.combinations([-3, -1, 0, 0.1, 0.25, 1, 4], 2):
        a, b = p.cdf(high) - p.cdf(low), q.cdf(high) - q.cdf(low)
        assert a <= math.exp(0.25) * b * (1 + 1e-9)
        assert b <= math.exp(0.25) * a * (1 + 1e-9)


@LIGHT
@given(random_laws(3))
def test_with_epsilon_zero_nothing_leaks(law: Law) -> None:
    assert factor(law, dict(law)) == 1
    moved = {**law, 0: law[0] / 2, 1: law[1] + law[0] / 2}
    assert factor(law, moved) > 1


@given(ratios, st.tuples(*[st.integers(0, 1)] * 3), st.integers(0, 2))
def test_proposition_3_2_only_one_term_of_the_product_changes(e: Fraction, data: Rows, i: int) -> None:
    changed = tuple(1 - x if j == i else x for j, x in enumerate(data))
    laws = [side_by_side(response(x, e / (e + 1)) for x in rows) for rows in (data, changed)]
    assert {laws[1][y] / laws[0][y] for y in laws[0]} == {e, 1 / e}


@LIGHT
@given(random_laws(3), random_laws(3))
def test_exercise_3_3_points_suffice(p: Law, q: Law) -> None:
    events = [e for k in range(1, 4) for e in itertools.combinations(range(3), k)]
    assert all(sum(p[y] for y in e) <= factor(p, q) * sum(q[y] for y in e) for e in events)


@pytest.mark.parametrize(("p", "low", "high"), [("0.2", "0.16", "0.25"), ("0.5", "0.4", "0.6")])
def test_exercise_3_4_what_a_neighbour_makes_possible(p: str, low: str, high: str) -> None:
    """ε = ln(5/4): from 0.2 to [0.16, 0.25]; from 0.5 to [0.4, 0.6], where the complement is the tighter bound."""
    assert possible_probabilities(p, OddsRatio("5/4")) == (F(low), F(high))
    for q in (F(low), F(high)):  # a mechanism with two outcomes reaches both ends
        here, there = {1: F(p), 0: 1 - F(p)}, {1: q, 0: 1 - q}
        assert factor(here, there) <= F(5, 4)


# Section 4: what an attacker learns.

Mechanism = Callable[[Rows], Law]


def _without(data: Rows, person: int) -> Rows:
    return (*data[:person], 0, *data[person + 1 :])


def _learned(prior: dict[Rows, Fraction], mechanism: Mechanism, output: object, person: int) -> Ball:
    """How far p(· | a) and p₋ᵢ(· | a) are apart: equations (6), (7) and (8)."""
    nothing = F(0)
    used = Beliefs(prior).after({x: mechanism(x).get(output, nothing) for x in prior})
    unused = Beliefs(prior).after({x: mechanism(_without(x, person)).get(output, nothing) for x in prior})
    return used.distance(unused)


worlds = list(itertools.product([0, 1], repeat=2))
tables_of_laws = st.lists(random_laws(3), min_size=4, max_size=4).map(lambda laws: dict(zip(worlds, laws, strict=True)))
weights = st.lists(st.integers(0, 9), min_size=4, max_size=4).filter(sum)


@LIGHT
@given(tables_of_laws, weights, st.integers(0, 2), st.integers(0, 1))
def test_theorem_4_1_for_any_mechanism_any_prior_any_output(
    laws: dict[Rows, Law], weight: list[int], output: int, person: int
) -> None:
    """Entries may depend on each other, and the prior may exclude datasets."""
    prior = {x: F(w, sum(weight)) for x, w in zip(worlds, weight, strict=True)}
    neighbours = [(x, y) for x in worlds for y in worlds if sum(a != b for a, b in zip(x, y, strict=True)) == 1]
    worst = max(factor(laws[x], laws[y]) for x, y in neighbours)
    assert isinstance(worst, Fraction)
    limit = with_or_without_me(OddsRatio(worst))
    assert isinstance(limit, OddsRatio)
    with working_precision():
        assert not _learned(prior, laws.__getitem__, output, person) > ball(limit.factor).log() + Ball(2) ** -100


def test_smoking_and_cancer_are_learned_with_or_without_alice() -> None:
    """A prior that mixes "smoking does nothing" and "smoking makes ill": the study moves the belief about Alice."""
    worlds = list(itertools.product([0, 1], repeat=5))  # ill or not; all five smoke, the first is Alice

    def chance(rate: Fraction, data: Rows) -> Fraction:
        return math.prod((rate if x else 1 - rate for x in data), start=F(1))

    prior = {x: (chance(F(1, 10), x) + chance(F(9, 10), x)) / 2 for x in worlds}

    def study(data: Rows) -> Law:
        return side_by_side(response(x, F(3, 4)) for x in data)

    before = Beliefs(prior)
    output = (1, 1, 1, 1, 1)
    used = before.after({x: study(x)[output] for x in worlds})
    unused = before.after({x: study(_without(x, 0))[output] for x in worlds})

    def alice_is_ill(data: Rows) -> bool:
        return data[0] == 1

    assert float(before.that(alice_is_ill)) == pytest.approx(0.5)
    assert float(unused.that(alice_is_ill)) > 0.85
    assert float(used.that(alice_is_ill)) > 0.9
    assert float(used.distance(unused)) <= 2 * math.log(3)


# Section 4.1: a variation that is not so great.


def name_and_shame(data: Rows, delta: Fraction) -> Law:
    return side_by_side({(i, x): delta, None: 1 - delta} for i, x in enumerate(data))


@pytest.mark.parametrize("delta", [F(1, 100), F(1, 3)])
def test_exercise_4_3_name_and_shame_keeps_additive_secrecy(delta: Fraction) -> None:
    for x, y in (((0, 0, 0), (1, 0, 0)), ((0, 1, 1), (0, 1, 0))):
        exact = pair(name_and_shame(x, delta), name_and_shame(y, delta))
        assert float(exact.total_variation()) == pytest.approx(float(delta))
        assert exact.epsilon() == Ball.pos_inf()
    assert Approximate(0, delta).delta == delta


@pytest.mark.parametrize("n", [10, 1000])
def test_exercise_4_3_name_and_shame_publishes_somebody(n: int) -> None:
    assert 1 - (1 - F(5, n)) ** n > F(99, 100)


def test_exercise_4_3_name_and_shame_breaks_theorem_4_1_without_bound() -> None:
    prior = {x: F(1, 4) for x in worlds}

    def mechanism(data: Rows) -> Law:
        return name_and_shame(data, F(1, 10))

    assert _learned(prior, mechanism, ((0, 0), None), person=0) == Ball.pos_inf()
    assert float(_learned(prior, mechanism, (None, None), person=0)) == pytest.approx(0, abs=1e-40)
    with pytest.raises(InvalidInput, match="possible in some world"):  # without me this output cannot even occur
        _learned(prior, mechanism, ((0, 1), None), person=0)


@LIGHT
@given(random_laws(3), random_laws(3), random_laws(3), random_mappings(3, 2))
def test_additive_secrecy_is_closed_under_post_processing_groups_and_composition(
    a: Law, b: Law, c: Law, mapping: dict[int, Law]
) -> None:
    def gap(p: Law, q: Law) -> Fraction:
        return sum((max(p.get(y, F(0)) - q.get(y, F(0)), F(0)) for y in p.keys() | q.keys()), F(0))

    assert gap(through(a, mapping), through(b, mapping)) <= gap(a, b)  # type: ignore[arg-type]
    assert gap(a, c) <= gap(a, b) + gap(b, c)
    assert gap(followed_by(a, lambda _: b), followed_by(b, lambda _: c)) <= gap(a, b) + gap(b, c)


# Appendix A: the function e^x.

POINTS = [F(k, 64) for k in range(-192, 193)]


@pytest.mark.parametrize("x", [p for p in POINTS if p])
def test_appendix_e_to_the_x_exceeds_one_plus_x_but_at_zero(x: Fraction) -> None:
    with working_precision():
        assert lower(ball(x).exp()) > 1 + x
        assert lower(ball(-x).exp()) >= 1 - x
        assert lower(1 - ball(-x).exp()) <= x


def test_appendix_at_zero_the_two_are_equal() -> None:
    assert ball(0).exp() == 1


@pytest.mark.parametrize("x", [p for p in POINTS if 0 <= p <= 1])
def test_appendix_figure_4_bounds_on_the_unit_interval(x: Fraction) -> None:
    with working_precision():
        e = ball(x).exp()
        assert 1 + x <= upper(e)
        assert lower(e) <= 1 + x + x**2 <= 1 + 2 * x


@pytest.mark.parametrize("x", [p for p in POINTS if p and abs(p) <= 1])
def test_appendix_orders_near_zero(x: Fraction) -> None:
    """e^x - 1 - x is of order x²; 1/(e^x-1) is 1/x - 1/2 + O(x) and 1/(1-e^-x) is 1/x + 1/2 + O(x)."""
    with working_precision():
        rest = (ball(x).exp() - 1 - ball(x)) / ball(x) ** 2
        assert F(1, 3) < lower(rest) < upper(rest) < F(3, 4)
        assert lower(1 - ball(-x).exp()) >= x - x**2
        low, high = 1 / ball(x).expm1(), -1 / ball(-x).expm1()
        assert lower(ball(1 / x) - low) > 0
        assert upper(high - ball(1 / x)) > 0
        assert upper(abs(low - ball(1 / x) + ball(F(1, 2)))) <= abs(x) / 10
        assert upper(abs(high - ball(1 / x) - ball(F(1, 2)))) <= abs(x) / 10


@pytest.mark.parametrize("digits", [2, 4, 8])
def test_appendix_the_printed_order_x_squared_fails(digits: int) -> None:
    """1/x - 1/(e^x-1) tends to 1/2, so it is no O(x²): it exceeds any multiple of x² for small x."""
    x = F(1, 10**digits)
    with working_precision():
        gap = lower(ball(1 / x) - 1 / ball(x).expm1())
        assert gap > F(49, 100)
        assert gap > 10 ** (2 * digits - 1) * x**2


def test_the_summary_budget_is_divided_among_efforts() -> None:
    assert Pure("0.5") + Pure("0.3") + Pure("0.2") == Pure(1)
