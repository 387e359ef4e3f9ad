"""Pauwels and Gerchinovitz, "An introduction to differential privacy" (draft of 2016), as tests."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.accounting.composition import parallel, sequential
from discreet.exact.ball import Ball, ball, exp_up, lower, upper, working_precision
from discreet.mechanisms.exponential import Exponential
from discreet.mechanisms.laplace import Laplace
from discreet.mechanisms.noisy_max import NoisyMax
from discreet.mechanisms.randomized_response import RandomizedResponse
from discreet.noise.laplace import DiscreteLaplace
from discreet.privacy.hypothesis_tests import Pair
from discreet.privacy.loss import Pure
from discreet.privacy.meaning import ErrorRegion, OddsRatio, pinsker_bound
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
two_laws = st.tuples(random_laws(4), random_laws(4))


def bound(found: Fraction | float) -> OddsRatio:
    assert isinstance(found, Fraction)
    return OddsRatio(found)


# Section 2.3: the definition.


@LIGHT
@given(two_laws)
def test_definition_1_without_delta_controls_likelihood_ratios(laws: tuple[Law, Law]) -> None:
    """Definition 1 with δ = 0: the bound at every point is the bound at every event."""
    p, q = laws
    worst = bound(factor(p, q)).factor
    events = [set(e) for k in range(1, 5) for e in itertools.combinations(range(4), k)]
    for event in events:
        assert sum(p[y] for y in event) <= worst * sum(q[y] for y in event)
        assert sum(q[y] for y in event) <= worst * sum(p[y] for y in event)


@LIGHT
@given(two_laws, st.fractions(min_value=0, max_value=2, max_denominator=10))
def test_definition_1_with_delta_is_the_largest_gap_over_events(laws: tuple[Law, Law], epsilon: Fraction) -> None:
    p, q = laws
    events = [set(e) for k in range(5) for e in itertools.combinations(range(4), k)]
    with working_precision():
        delta = pair(p, q).delta(epsilon)
        worst = max(sum((p[y] - exp_up(epsilon) * q[y] for y in event), F(0)) for event in events)
        assert lower(delta) - F(1, 2**90) <= worst <= upper(delta)


def test_example_1_two_coins_give_log_3() -> None:
    """Heads: the truth. Tails: what a second coin says."""
    coin = {1: F(1, 2), 0: F(1, 2)}

    def answer(bit: int) -> Law:
        return through(coin, lambda heads: {bit: F(1)} if heads else coin)

    assert answer(1) == {1: F(3, 4), 0: F(1, 4)}
    assert factor(answer(0), answer(1)) == 3
    assert float(pair(answer(0), answer(1)).epsilon()) == math.log(3)
    assert float(RandomizedResponse.coins().loss.epsilon) == pytest.approx(math.log(3), abs=1e-15)
    assert RandomizedResponse.coins().distribution(1).pmf(1) == 0.75


@pytest.mark.parametrize("n", [2, 3, 50])
def test_example_2_releasing_a_random_row_has_no_finite_epsilon(n: int) -> None:
    def random_row(data: list[int]) -> Law:
        return {value: F(count, n) for value, count in Counter(data).items()}

    zeros, with_a_one = [0] * n, [0] * (n - 1) + [1]
    assert random_row(with_a_one)[1] == F(1, n)
    assert factor(random_row(zeros), random_row(with_a_one)) == math.inf
    assert pair(random_row(zeros), random_row(with_a_one)).epsilon() == Ball.pos_inf()


# Section 2.4: what the definition guarantees.


@LIGHT
@given(two_laws, random_mappings(4, 3))
def test_proposition_1_post_processing_never_costs(laws: tuple[Law, Law], mapping: dict[Any, Law]) -> None:
    before, after = factor(*laws), factor(*(through(law, mapping) for law in laws))
    assert after <= before
    assert loss(*(through(law, mapping) for law in laws)) <= loss(*laws)


@LIGHT
@given(two_laws, random_mappings(4, 3))
def test_proposition_1_no_divergence_grows(laws: tuple[Law, Law], mapping: dict[Any, Law]) -> None:
    """The data-processing inequality that the proposition is compared with, for δ at any ε and for KL."""
    before, after = pair(*laws), pair(*(through(law, mapping) for law in laws))
    for epsilon in (0, F(1, 4), 1):
        assert lower(after.delta(epsilon)) <= upper(before.delta(epsilon))
    assert lower(after.kullback_leibler()) <= upper(before.kullback_leibler())


@LIGHT
@given(two_laws)
def test_proposition_2_no_test_can_identify_an_individual(laws: tuple[Law, Law]) -> None:
    """Type I and type II risks of any test add up to 1 - √(ε/2) or more, and by steps of the proof."""
    p, q = laws
    promised = loss(p, q)
    tests = [set(e) for k in range(5) for e in itertools.combinations(range(4), k)]
    risks = [sum((p[y] for y in R), F(0)) + sum((q[y] for y in q.keys() - R), F(0)) for R in tests]
    exact = pair(p, q)
    assert min(risks) == pytest.approx(float(1 - exact.total_variation()), abs=1e-12)
    assert float(exact.total_variation()) <= math.sqrt(float(exact.kullback_leibler()) / 2) + 1e-12
    assert lower(exact.kullback_leibler()) <= promised.epsilon
    assert min(risks) >= pinsker_bound(promised)
    assert min(risks) >= ErrorRegion(promised).least_error_sum() >= pinsker_bound(promised)


def test_proposition_2_is_never_reached_and_the_exact_bound_is() -> None:
    """Randomized response attains 2/(1+e^ε); 1 - √(ε/2) is below it, and says nothing from ε = 2 on."""
    coins = pair(response(0, F(3, 4)), response(1, F(3, 4)))
    assert float(coins.least_error_sum()) == float(ErrorRegion(OddsRatio(3)).least_error_sum()) == 0.5
    assert float(pinsker_bound(OddsRatio(3).loss)) == pytest.approx(0.2588, abs=1e-4)
    assert pinsker_bound(Pure(2)) <= 0


# Section 2.5: composition.


@LIGHT
@given(two_laws, two_laws)
def test_proposition_3_two_answers_about_the_same_data_add(first: tuple[Law, Law], second: tuple[Law, Law]) -> None:
    """The product law's factor is at most, and at a joint worst outcome exactly, the product of the factors."""
    together = factor(side_by_side([first[0], second[0]]), side_by_side([first[1], second[1]]))
    assert together <= bound(factor(*first)).factor * bound(factor(*second)).factor
    one_way = [max(a[y] / b[y] for y in a) for a, b in (first, second)]
    assert together >= one_way[0] * one_way[1]
    joint = pair(*(side_by_side(laws) for laws in zip(first, second, strict=True)))
    assert lower(joint.epsilon()) <= sequential([loss(*first), loss(*second)]).epsilon_at(0)


def test_proposition_3_is_reached_by_asking_twice() -> None:
    twice = [side_by_side([response(bit, F(3, 4))] * 2) for bit in (0, 1)]
    assert factor(*twice) == 9
    assert sequential([Pure(1), Pure("0.5")]) == Pure("1.5")


def test_proposition_3_is_not_what_is_called_parallel_today() -> None:
    """On disjoint parts of the data, each part with its own answer, the dearest answer is the price of all."""
    assert parallel([Pure(1), Pure("0.5")], "add-remove-one") == Pure(1, "add-remove-one")

    def both_halves(data: tuple[int, int]) -> Law:
        return side_by_side([response(data[0], F(3, 4)), response(data[1], F(2, 3))])

    worst = max(
        bound(factor(both_halves(x), both_halves(y))).factor
        for x, y in [((0, 0), (1, 0)), ((0, 0), (0, 1)), ((1, 1), (0, 1)), ((1, 1), (1, 0))]
    )
    assert worst == 3


@LIGHT
@given(two_laws, st.lists(two_laws, min_size=4, max_size=4))
def test_proposition_4_the_second_question_may_depend_on_the_first_answer(
    first: tuple[Law, Law], second: list[tuple[Law, Law]]
) -> None:
    each = max(bound(factor(*laws)).factor for laws in second)
    joint = [followed_by(first[side], lambda y, side=side: second[y][side]) for side in (0, 1)]  # type: ignore[misc]
    assert factor(*joint) <= bound(factor(*first)).factor * each


# Section 3.1: the Laplace mechanism.

coordinates = st.lists(st.integers(-9, 9), min_size=3, max_size=3)


def distance(a: Sequence[int], b: Sequence[int]) -> int:
    return sum(abs(x - y) for x, y in zip(a, b, strict=True))


@LIGHT
@given(coordinates, coordinates, coordinates)
def test_proposition_5_the_exponent_of_the_density_ratio_is_at_most_the_distance(
    here: list[int], there: list[int], z: list[int]
) -> None:
    """The proof's one step, exactly: ‖f(D') - z‖₁ - ‖f(D) - z‖₁ ≤ ‖f(D) - f(D')‖₁, so the ratio is at most e^ε."""
    noise = Laplace(epsilon=1, sensitivity=max(distance(here, there), 1))
    with working_precision():
        first, second = noise.distribution(here), noise.distribution(there)
        exponents = [(first.mass(o) / second.mass(o)).log() for o in (z, here)]
    moved = [F(distance(there, o) - distance(here, o)) / noise.scale for o in (z, here)]
    assert all(found.overlaps(ball(exact)) for found, exact in zip(exponents, moved, strict=True))
    assert max(moved) <= moved[1] <= noise.loss.epsilon == 1  # reached at z = f(D)


def test_proposition_5_holds_outcome_by_outcome_for_a_vector() -> None:
    laplace = Laplace(epsilon="1/2", sensitivity=Sensitivity.counts(2, "replace-one"))
    window = list(itertools.product(range(-12, 13), repeat=2))
    with working_precision():
        here, there = laplace.distribution([0, 0]), laplace.distribution([1, 1])
        ratio = Pair([here.mass(z) for z in window], [there.mass(z) for z in window])
        assert float(ratio.epsilon()) == pytest.approx(0.5, abs=1e-12)


@pytest.mark.parametrize("k", [1, 2, 30, 10_000])
@pytest.mark.parametrize("delta", [F(1, 2), F(1, 20), F(1, 10**6)])
def test_proposition_6_no_coordinate_is_far_off(k: int, delta: Fraction) -> None:
    """P(max |Yᵢ| ≥ b ln(k/δ)) = 1 - (1 - δ/k)^k ≤ δ, by the exact tail P(|Y| ≥ bt) = e^-t."""
    exact = 1 - (1 - delta / k) ** k
    assert exact <= delta
    assert exact >= delta - delta**2 / 2  # and the union bound is not far off
    laplace = Laplace(epsilon=1)
    assert laplace.error(1 - delta, answers=k) <= math.ceil(laplace.union_bound(k, 1 - delta))


@pytest.mark.parametrize(("epsilon", "printed"), [(2, 12.21), (1, 24.42)])
def test_example_3_first_names(epsilon: int, printed: float) -> None:
    """10,000 counts of 300 million people: all within 12.21 at ε = 2 and 24.42 at ε = 1, with 95 %."""
    names = Laplace(epsilon=epsilon, sensitivity=Sensitivity.histogram("replace-one"))
    assert names.union_bound(10_000, confidence=0.95) == pytest.approx(printed, abs=0.01)
    assert names.union_bound(10_000, confidence=0.95) <= printed
    assert names.error(0.95, answers=10_000) <= math.ceil(printed)
    assert names.loss == Pure(epsilon, "replace-one")
    assert np.asarray(names.release(np.full(10_000, 30_000))).shape == (10_000,)


# Example 4: noisy max.


@cache
def noisy_max_law(epsilon: Fraction, counts: tuple[int, ...]) -> tuple[Ball, ...]:
    """The law of the winner when noise of scale 1/ε is added to each count."""
    mechanism = NoisyMax(epsilon, monotone=True)
    assert mechanism.law.scale == 1 / epsilon
    return mechanism.distribution(counts).masses


def noisy_max_factor(epsilon: Fraction, first: tuple[int, ...], second: tuple[int, ...]) -> float:
    """e^(true loss) of report noisy max between two vectors of counts."""
    with working_precision():
        return float(Pair(noisy_max_law(epsilon, first), noisy_max_law(epsilon, second)).epsilon().exp())


@pytest.mark.parametrize("epsilon", [F(1, 2), F(1), F(2)])
@pytest.mark.some(1)
def test_example_4_noisy_max_holds_when_one_person_joins_or_leaves(epsilon: Fraction) -> None:
    for counts in itertools.product(range(3), repeat=3):
        for joins in itertools.product(range(2), repeat=3):  # one person may add to any of the counts
            more = tuple(c + j for c, j in zip(counts, joins, strict=True))
            assert noisy_max_factor(epsilon, counts, more) <= math.exp(epsilon) * (1 + 1e-12)


@pytest.mark.parametrize("epsilon", [F(1, 2), F(1), F(2)])
def test_example_4_noisy_max_fails_when_one_person_is_replaced(epsilon: Fraction) -> None:
    """The text's own neighbours differ in a row: one count loses a person and another gains one."""
    found = noisy_max_factor(epsilon, (4, 0), (3, 1))
    assert found > math.exp(epsilon) * 1.05
    assert found <= math.exp(2 * epsilon)


def test_example_4_needs_twice_the_noise_when_one_person_is_replaced() -> None:
    counts = NoisyMax(1, Sensitivity.count("replace-one"))
    assert counts.law.scale == 2
    laws = [counts.distribution(c).masses for c in ([4, 0], [3, 1])]
    assert float(Pair(*laws).epsilon()) <= 1


# Section 3.2: the exponential mechanism.

BIDS = [F(1), F(1), F(3)]
PRICES = [F(1), F("1.01"), F(3), F("3.01")]


def revenue(bids: list[Fraction], price: Fraction) -> Fraction:
    return price * sum(bid >= price for bid in bids)


def test_example_5_a_tiny_change_of_price_changes_the_revenue_completely() -> None:
    """Without noise to speak of, the mechanism takes one of the two best prices and never a cent more."""
    assert [revenue(BIDS, price) for price in PRICES] == [3, F("1.01"), 3, 0]
    assert Exponential(10**6, PRICES, sensitivity="3.01").choose(BIDS, revenue) in (1, 3)  # but for e^-300000


def test_example_5_bidders_at_the_price_itself_buy() -> None:
    """If only those who proposed a higher price bought, 1 and 3 would not be optimal."""

    def strict(bids: list[Fraction], price: Fraction) -> Fraction:
        return price * sum(bid > price for bid in bids)

    assert [strict(BIDS, price) for price in PRICES] == [1, F("1.01"), 0, 0]
    assert Exponential(10**6, PRICES, sensitivity="3.01").choose(BIDS, strict) == F("1.01")  # but for e^-1661


def test_proposition_7_holds_for_the_auction() -> None:
    """A bid in [0, 4] is replaced: revenues move by at most 3.01, and the choice of price loses ε."""
    auction = Exponential(1, [str(p) for p in PRICES], sensitivity="3.01")
    for other in (F(0), F(1), F(2), F("3.01"), F(4)):
        for position in range(3):
            changed = [*BIDS[:position], other, *BIDS[position + 1 :]]
            scores = [[revenue(bids, price) for price in PRICES] for bids in (BIDS, changed)]
            assert max(abs(a - b) for a, b in zip(*scores, strict=True)) <= F("3.01")
            laws = [auction.distribution(s) for s in scores]
            assert float(Pair(laws[0].masses, laws[1].masses).epsilon()) <= 1


def test_example_5_which_price_wins_how_often() -> None:
    law = Exponential(10, PRICES, sensitivity="3.01").distribution([revenue(BIDS, p) for p in PRICES])
    often = {price: law.pmf(price) for price in PRICES}
    assert often[F(1)] == often[F(3)] == pytest.approx(0.4894, abs=1e-4)
    assert often[F("1.01")] == pytest.approx(0.0180, abs=1e-4)
    assert often[F("3.01")] == pytest.approx(0.0034, abs=1e-4)


@LIGHT
@given(st.lists(st.integers(0, 30), min_size=2, max_size=8), st.fractions(min_value=F(1, 10), max_value=4))
def test_example_6_a_bad_choice_is_exponentially_unlikely(scores: list[int], epsilon: Fraction) -> None:
    choice = Exponential(epsilon)
    law = choice.distribution(scores)
    for c in range(max(scores) + 1):
        at_most = [y for y, score in enumerate(scores) if score <= c]
        exact = sum(law.pmf(y) for y in at_most)
        assert exact <= len(at_most) * math.exp(float(epsilon) * (c - max(scores)) / 2) * (1 + 1e-9)
    for t in (1, 3):
        worst = max(scores) - 2 / float(epsilon) * (t + math.log(len(scores)))
        assert sum(law.pmf(y) for y, score in enumerate(scores) if score <= worst) <= math.exp(-t)


POINTS = list(itertools.product(range(4), repeat=2))


def test_remark_1_the_exponential_mechanism_on_integers_is_laplace_noise_of_twice_the_scale() -> None:
    """With u = -|f(D) - y| the law is discrete Laplace of scale 2Δ/ε around f(D), but for the cut of the range."""
    epsilon, answer, window = F(1), 7, range(-200, 215)
    choice = Exponential(epsilon).distribution([-abs(answer - y) for y in window])
    noise = DiscreteLaplace(2 / epsilon)
    for position in (190, 200, 207, 220):
        assert choice.pmf(position) == pytest.approx(float(noise.pmf(window[position] - answer)), rel=1e-9)


def test_remark_1_the_factor_of_two_is_not_needed_there() -> None:
    """On all integers the sum of weights is the same for every dataset, so scale 2Δ/ε costs ε/2."""
    noise, window = DiscreteLaplace(2), range(-100, 100)
    with working_precision():
        shifted = Pair([noise.mass(k) for k in window], [noise.mass(k - 1) for k in window])
    assert float(shifted.epsilon()) == pytest.approx(0.5, abs=1e-12)


@LIGHT
@given(st.sampled_from(POINTS), st.sampled_from(POINTS))
def test_remark_1_the_utility_moves_by_as_much_as_the_answer(here: tuple[int, int], there: tuple[int, int]) -> None:
    """Δ_u = Δ_f: at most by the triangle inequality, and exactly at y = f(D)."""
    utility = {answer: [-distance(answer, y) for y in POINTS] for answer in (here, there)}
    moved = [abs(a - b) for a, b in zip(utility[here], utility[there], strict=True)]
    assert max(moved) == moved[POINTS.index(here)] == distance(here, there)
    choice = Exponential(1, POINTS, sensitivity=max(*moved, 1))
    assert lower(choice.between(utility[here], utility[there]).epsilon()) <= choice.loss.epsilon == 1


def test_section_2_2_a_counting_query_can_also_answer_zero() -> None:
    """And it is answered with noise as any other count is."""
    nobody = sum(x == "sick" for x in ("well", "well"))
    assert nobody == 0
    count = Laplace(epsilon=1, sensitivity=Sensitivity.count("replace-one"))
    assert float(count.between(nobody, nobody + 1).epsilon()) == pytest.approx(1, abs=1e-12)
