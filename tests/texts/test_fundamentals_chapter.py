"""The book chapter "Differential Privacy Fundamentals" (draft of 2021, after Ullman and Smith), as tests."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from fractions import Fraction

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from discreet.accounting.composition import sequential
from discreet.attacks import intersect, link
from discreet.errors import InvalidInput
from discreet.exact.ball import Ball, ball, lower, upper, working_precision
from discreet.mechanisms.distribution import FiniteLaw, ShiftedLaw
from discreet.mechanisms.laplace import Laplace
from discreet.mechanisms.randomized_response import RandomizedResponse
from discreet.privacy.loss import Approximate, Pure
from discreet.privacy.meaning import Beliefs, ErrorRegion, OddsRatio, possible_probabilities, with_or_without_me
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
from tests.texts.tables import FIGURE_1, FIGURE_2, checked, published

LIGHT = settings(max_examples=30, deadline=None)
F = Fraction
Rows = tuple[int, ...]
ratios = st.fractions(min_value=F(6, 5), max_value=20, max_denominator=20)

# Section 1: k-anonymity.


HOSPITALS = [published(FIGURE_1), published(FIGURE_2)]


def test_figures_1_and_2_are_4_and_6_anonymous_and_pin_alice_down() -> None:
    assert [checked(table, "condition").k for table in HOSPITALS] == [4, 6]
    both = intersect(HOSPITALS, {"zip": "13012", "age": 28})
    assert both.candidates == ("AIDS",)


@pytest.mark.parametrize(
    ("printed", "right", "gap"),
    [(["<30", ">40", "3*"], ["<30", "≥40", "3*"], 40), (["<35", ">35"], ["<35", "≥35"], 35)],
)
def test_the_classes_as_printed_leave_out_two_ages(printed: list[str], right: list[str], gap: int) -> None:
    """With ">40" and ">35" nobody of exactly 40 or 35 has a class; "≥" closes the gap."""
    ages = range(10, 100)
    people = pa.table({"name": list(ages), "age": list(ages)})
    assert link(pa.table({"age": printed}), people).matches.tolist() == [int(age != gap) for age in ages]
    assert link(pa.table({"age": right}), people).matches.tolist() == [1] * len(ages)


def test_a_record_elsewhere_matches_k_rows_here_and_not_the_other_way_round() -> None:
    """The other table may hold Alice alone: her record matches four rows, and each of those rows matches one record."""
    found = link(HOSPITALS[0], published([("Alice", "13012", 28)], ("name", "zip", "age")))
    assert found.matches.tolist() == [4]
    assert found.rivals.tolist() == [1] * 4 + [0] * 8
    assert found.reidentified.num_rows == 0


# Section 2: randomized response.


def test_truth_with_three_quarters_has_a_factor_of_three() -> None:
    """Equation (1)."""
    one, zero = response(1, F(3, 4)), response(0, F(3, 4))
    assert {one[y] / zero[y] for y in (0, 1)} == {F(1, 3), F(3)}
    assert float(RandomizedResponse.truth(F(3, 4)).loss.epsilon) == pytest.approx(math.log(3), abs=1e-15)


def _check_moments(data: Rows, survey: RandomizedResponse, estimate: Callable[[Rows], Fraction]) -> Fraction:
    """The text's estimate is `estimate_sum`, with the right mean; its squared error over all outputs is returned."""
    assert survey.honesty.truth is not None
    law = side_by_side(response(x, survey.honesty.truth) for x in data)
    assert all(survey.estimate_sum(y) == pytest.approx(float(estimate(y)), abs=1e-9) for y in law)
    assert sum((p * estimate(y) for y, p in law.items()), F(0)) == sum(data)
    return sum((p * (estimate(y) - sum(data)) ** 2 for y, p in law.items()), F(0))


@pytest.mark.parametrize("data", list(itertools.product([0, 1], repeat=4)))
def test_proposition_2_1_the_sum_is_estimated_within_root_n(data: Rows) -> None:
    """A = 2 ΣYᵢ - n/2 has mean Σxᵢ and squared error (3/4) n, exactly."""
    coins = RandomizedResponse.coins()
    squared = _check_moments(data, coins, lambda y: 2 * F(sum(y)) - F(len(y), 2))
    assert squared == F(3, 4) * len(data)
    assert coins.standard_deviation(len(data)) == pytest.approx(math.sqrt(squared))


@LIGHT
@given(ratios, st.tuples(*[st.integers(0, 1)] * 3))
def test_proposition_2_3_the_bound_is_the_exact_error(e: Fraction, data: Rows) -> None:
    """(e^(ε/2)/(e^ε-1))² n, with e in the place of e^ε; constants a, b as in exercise 2.4."""
    a, b = (e + 1) / (e - 1), 1 / (e - 1)
    survey = RandomizedResponse.truth(e / (e + 1))
    squared = _check_moments(data, survey, lambda y: sum((a * bit - b for bit in y), F(0)))
    assert squared == e / (e - 1) ** 2 * len(data)
    assert survey.standard_deviation(len(data)) == pytest.approx(math.sqrt(squared))


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


def test_figure_3_two_laws_with_epsilon_one_quarter() -> None:
    """Laplace noise of scale 1 around 0 and around 1/4: every interval, and every point."""
    noise = Laplace(epsilon="1/4", sensitivity="1/4", grid=2**-6)
    assert noise.scale == 1
    p, q = noise.distribution(0), noise.distribution(0.25)
    assert isinstance(p, ShiftedLaw)
    assert isinstance(q, ShiftedLaw)
    for low, high in itertools.combinations([-3, -1, 0, 0.125, 0.25, 1, 4], 2):
        a, b = p.cdf(high) - p.cdf(low), q.cdf(high) - q.cdf(low)
        assert a <= math.exp(0.25) * b * (1 + 1e-9)
        assert b <= math.exp(0.25) * a * (1 + 1e-9)
    points = [k / 64 for k in range(-64, 129)]
    assert float(noise.between(0, 0.25, outcomes=points).epsilon()) == pytest.approx(0.25, abs=1e-12)


@LIGHT
@given(random_laws(3))
def test_with_epsilon_zero_nothing_leaks(law: Law) -> None:
    assert factor(law, dict(law)) == 1
    assert loss(law, dict(law)) == Pure(0)
    assert ErrorRegion(Pure(0)).least_error_sum() == 1  # no test is better than a blind guess
    moved = {**law, 0: law[0] / 2, 1: law[1] + law[0] / 2}
    assert factor(law, moved) > 1
    assert float(pair(law, moved).least_error_sum()) < 1


@LIGHT
@given(ratios, st.tuples(*[st.integers(0, 1)] * 3), st.integers(0, 2))
def test_proposition_3_2_only_one_term_of_the_product_changes(e: Fraction, data: Rows, i: int) -> None:
    changed = tuple(1 - x if j == i else x for j, x in enumerate(data))
    survey = RandomizedResponse.truth(e / (e + 1))
    laws = [side_by_side(response(x, e / (e + 1)) for x in rows) for rows in (data, changed)]
    assert {laws[1][y] / laws[0][y] for y in laws[0]} == {e, 1 / e}
    between = survey.between(data, changed)
    assert float(between.max_divergence()) == pytest.approx(math.log(e), rel=1e-12)
    assert lower(between.epsilon()) <= survey.loss.epsilon


@LIGHT
@given(random_laws(3), random_laws(3))
def test_exercise_3_3_points_suffice(p: Law, q: Law) -> None:
    events = [e for k in range(1, 4) for e in itertools.combinations(range(3), k)]
    ratios = [sum(p[y] for y in e) / sum(q[y] for y in e) for e in events]
    assert max(ratios) <= factor(p, q)
    assert float(pair(p, q).max_divergence()) == pytest.approx(math.log(max(ratios)), abs=1e-12)


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
    """δ = 5/n: each person alone is within δ, and somebody's record is out all the same."""
    delta = F(5, n)
    assert float(pair(*(name_and_shame((x,), delta) for x in (0, 1))).total_variation()) == pytest.approx(5 / n)
    one = FiniteLaw.of({True: delta, False: 1 - delta})
    anybody = FiniteLaw.of({False: 1})
    for _ in range(n):
        anybody = anybody.through(lambda named: True if named else one)
    assert anybody.pmf(True) == pytest.approx(float(1 - (1 - delta) ** n))
    assert anybody.pmf(True) > 0.99


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
        exact = sum((max(p.get(y, F(0)) - q.get(y, F(0)), F(0)) for y in p.keys() | q.keys()), F(0))
        assert pair(p, q).total_variation().overlaps(ball(exact))
        return exact

    a, b, c = ({y: p / 2 + F(1, 6) for y, p in law.items()} for law in (a, b, c))  # gaps below 1/2, so that two fit
    first, second = Approximate(0, gap(a, b)), Approximate(0, gap(b, c))
    assert gap(through(a, mapping), through(b, mapping)) <= first.delta  # type: ignore[arg-type]
    assert gap(a, c) <= (first | second).group(2).delta
    assert gap(a, c) <= gap(a, b) + gap(b, c) == sequential([first, second]).delta_at(0)
    assert gap(followed_by(a, lambda _: b), followed_by(b, lambda _: c)) <= sequential([first, second]).delta_at(0)


# Appendix A: the function e^x.

POINTS = [F(k, 64) for k in range(-192, 193)]


def test_appendix_e_to_the_x_exceeds_one_plus_x_but_at_zero() -> None:
    with working_precision():
        for x in (p for p in POINTS if p):
            assert lower(ball(x).exp()) > 1 + x
            assert lower(ball(-x).exp()) >= 1 - x
            assert lower(1 - ball(-x).exp()) <= x


def test_appendix_at_zero_the_two_are_equal() -> None:
    assert ball(0).exp() == 1


def test_appendix_figure_4_bounds_on_the_unit_interval() -> None:
    with working_precision():
        for x in (p for p in POINTS if 0 <= p <= 1):
            e = ball(x).exp()
            assert 1 + x <= upper(e)
            assert lower(e) <= 1 + x + x**2 <= 1 + 2 * x


def test_appendix_orders_near_zero() -> None:
    """e^x - 1 - x is of order x²; 1/(e^x-1) is 1/x - 1/2 + O(x) and 1/(1-e^-x) is 1/x + 1/2 + O(x)."""
    with working_precision():
        for x in (p for p in POINTS if p and abs(p) <= 1):
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
