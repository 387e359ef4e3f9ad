"""Every figure, computed again from its definition: enumerated tests, added masses, Bayes' rule written out."""

from __future__ import annotations

import math
from fractions import Fraction

import flint
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet as dp
from discreet.interpretation.answers import worst_accuracy
from discreet.interpretation.chapters import chapters
from discreet.interpretation.given import Given
from discreet.interpretation.understanding import Understanding
from tests.interpretation.worst import (
    best_guess,
    caught,
    distance,
    e_to,
    laplace_mass,
    laplace_within,
    majority,
    repeated_pair,
    worst_pair,
)

LOSSES = [("0.01", 0), ("0.5", "1e-5"), (1, 0), (1, "0.001"), (3, "0.2"), (10, 0)]
TINY = Fraction(1, 10**30)


@pytest.fixture(scope="module", params=LOSSES, ids=str)
def found(request: pytest.FixtureRequest) -> Understanding:
    epsilon, delta = request.param
    return dp.understand(epsilon, delta, group=3, prior="0.2", n=500)


def close_above(value: Fraction, truth: Fraction) -> bool:
    return truth - TINY <= value <= truth * (1 + TINY) + TINY


def close_below(value: Fraction, truth: Fraction) -> bool:
    return truth * (1 - TINY) - TINY <= value <= truth + TINY


def test_the_factor_is_e_to_the_epsilon(found: Understanding) -> None:
    assert close_above(found.laws.factor, e_to(found.given.epsilon))


def test_the_two_laws_are_those_of_a_noisy_count(found: Understanding) -> None:
    laws, epsilon = found.laws, found.given.epsilon
    for answer, without_me, with_me in zip(laws.answers, laws.chance_without, laws.chance_with, strict=True):
        assert without_me == pytest.approx(float(laplace_mass(epsilon, answer - 100)), rel=1e-9)
        assert with_me == pytest.approx(float(laplace_mass(epsilon, answer - 101)), rel=1e-9)
    assert {100} < set(laws.answers)
    assert len(laws.answers) <= 70
    assert min(laws.answers) <= 96
    assert max(laws.answers) >= 104


def test_no_ratio_of_the_two_laws_exceeds_the_factor(found: Understanding) -> None:
    for without_me, with_me in zip(found.laws.chance_without, found.laws.chance_with, strict=True):
        assert max(without_me / with_me, with_me / without_me) == pytest.approx(float(found.laws.factor), rel=1e-9)


def test_the_best_accuracy_is_that_of_all_tests_on_the_worst_pair(found: Understanding) -> None:
    laws = worst_pair(found.given.epsilon, found.given.delta)
    factor = e_to(found.given.epsilon)
    assert close_above(found.guessing.accuracy, best_guess(*laws))
    assert close_above(found.guessing.accuracy, (factor + found.given.delta) / (1 + factor))


def test_detections_are_those_of_the_best_test_of_the_worst_pair(found: Understanding) -> None:
    laws = worst_pair(found.given.epsilon, found.given.delta)
    for one in found.guessing.detections:
        assert close_above(one.caught, caught(*laws, one.false_alarms))


def test_the_corners_are_errors_that_the_worst_pair_reaches(found: Understanding) -> None:
    laws = worst_pair(found.given.epsilon, found.given.delta)
    for alarms, misses in found.guessing.corners:
        assert close_below(misses, 1 - caught(*laws, alarms))
    assert len(found.guessing.corners) == 3


@pytest.mark.parametrize("epsilon", ["0.01", "1", "10"])
def test_beliefs_without_delta_are_reached_by_the_worst_pair(epsilon: str) -> None:
    found = dp.understand(epsilon, prior="0.2")
    _, truth, lie, _ = worst_pair(found.given.epsilon, Fraction(0))[0]
    assert [one.before for one in found.believing.beliefs] == [
        Fraction(1, 100),
        Fraction(1, 10),
        Fraction(1, 5),
        Fraction(1, 2),
    ]
    for one in (*found.believing.beliefs, *found.believing.curve):
        p = one.before
        assert close_above(one.high, p * truth / (p * truth + (1 - p) * lie))
        assert close_below(one.low, p * lie / (p * lie + (1 - p) * truth))
    assert found.believing.exception == 0


@pytest.mark.parametrize(("epsilon", "delta"), [("0.5", "1e-5"), ("1", "0.001"), ("3", "0.2")])
def test_beliefs_with_delta_have_more_leeway_and_name_the_exception(epsilon: str, delta: str) -> None:
    found, factor = dp.understand(epsilon, delta), e_to(Fraction(epsilon))
    factor, bound = factor * Fraction(11, 10), Fraction(delta) * (11 + 10 / factor)
    assert close_above(found.believing.exception, min(bound, Fraction(1)))
    for one in found.believing.beliefs:
        p = one.before
        if bound >= 1:
            assert (one.low, one.high, found.believing.factor) == (0, 1, None)
        else:
            assert close_above(one.high, factor * p / (factor * p + 1 - p))
            assert close_below(one.low, p / (p + factor * (1 - p)))


WEIGHTS = st.lists(st.integers(0, 50), min_size=4, max_size=4).filter(any)


@given(WEIGHTS, WEIGHTS, st.sampled_from(["0.01", "0.3", "1", "2.5"]))
def test_the_exception_bounds_how_often_any_two_laws_move_the_odds_further(
    first: list[int], second: list[int], epsilon: str
) -> None:
    """Two random laws, the δ that they really have at ε, and the answers that move the odds by more than 1.1 e^ε."""
    p = [Fraction(weight, sum(first)) for weight in first]
    q = [Fraction(weight, sum(second)) for weight in second]
    factor = e_to(Fraction(epsilon))
    delta = max(
        sum((max(a - factor * b, Fraction(0)) for a, b in zip(one, other, strict=True)), Fraction(0))
        for one, other in ((p, q), (q, p))
    )
    allowed = delta * (11 + 10 / factor)
    limit = factor * Fraction(11, 10)
    far = [t for t in range(4) if p[t] > limit * q[t] or q[t] > limit * p[t]]
    for law in (p, q):
        assert sum((law[t] for t in far), Fraction(0)) <= allowed


def test_the_insurer_follows_bayes_rule(found: Understanding) -> None:
    """All tables of 99 others and Alice, weighed by hand."""
    epsilon, one = found.given.epsilon, found.insurance
    noise = {k: laplace_mass(epsilon, k) for k in range(-101, 101)}
    weights: dict[tuple[str, bool], Fraction] = {}
    for rate in (Fraction(1, 20), Fraction(1, 4)):
        for others in range(100):
            table = math.comb(99, others) * rate**others * (1 - rate) ** (99 - others)
            for alice, chance in ((1, rate), (0, 1 - rate)):
                for world, count in (("with", others + alice), ("without", others)):
                    key = (world, bool(alice))
                    weights[key] = weights.get(key, Fraction(0)) + table * chance * noise[25 - count]
    believed = {
        world: weights[world, True] / (weights[world, True] + weights[world, False]) for world in ("with", "without")
    }
    assert (one.smokers, one.published, one.before) == (100, 25, Fraction(3, 20))
    assert close_above(one.with_her, believed["with"])
    assert close_above(one.without_her, believed["without"])


def test_an_insurer_who_knows_all_others_learns_what_the_worst_answer_tells(found: Understanding) -> None:
    one, factor = found.insurance, e_to(found.given.epsilon)
    likely = {rate: rate**25 * (1 - rate) ** 74 for rate in (Fraction(1, 20), Fraction(1, 4))}
    knows = sum((rate * weight for rate, weight in likely.items()), Fraction(0)) / sum(likely.values())
    assert one.informed == knows
    assert close_above(one.informed_high, factor * knows / (factor * knows + 1 - knows))
    assert close_below(one.informed_low, knows / (knows + factor * (1 - knows)))


def test_beliefs_with_and_without_her_are_within_twice_epsilon(found: Understanding) -> None:
    one, factor = found.insurance, e_to(found.given.epsilon)
    assert close_above(one.bound, factor**2)
    assert one.apart <= one.bound
    for ratio in (one.with_her / one.without_her, (1 - one.with_her) / (1 - one.without_her)):
        assert max(ratio, 1 / ratio) <= one.apart * (1 + TINY)


def test_bad_events_move_as_far_as_the_definition_lets_them(found: Understanding) -> None:
    """The event and its complement, in both directions; the worst pair reaches the ends."""
    factor, delta = e_to(found.given.epsilon), found.given.delta
    laws = worst_pair(found.given.epsilon, delta)
    for one in found.costs.events:
        p = one.without_me
        assert close_above(one.high, caught(*laws, p))
        assert close_below(one.low, max((p - delta) / factor, 1 - factor * (1 - p) - delta, Fraction(0)))


def test_groups_pay_for_every_member(found: Understanding) -> None:
    factor, delta = e_to(found.given.epsilon), found.given.delta
    assert [one.size for one in found.groups] == [1, 2, 3, 4, 10]
    for one in found.groups:
        grown = delta * (factor**one.size - 1) / (factor - 1)
        assert one.epsilon == one.size * found.given.epsilon
        assert close_above(one.factor, factor**one.size)
        if grown < 1:
            assert close_above(one.delta, grown)
            assert close_above(one.accuracy, (one.factor + grown) / (1 + one.factor))
        else:
            assert (one.delta, one.accuracy) == (1, 1)


def test_adding_up_stops_at_the_first_sum_that_allows_the_guess(found: Understanding) -> None:
    epsilon, delta = found.given.epsilon, found.given.delta

    def allowed(count: int) -> Fraction:
        factor = e_to(count * epsilon)
        return (factor + min(count * delta, Fraction(1))) / (1 + factor)

    for one in found.repeated.repetitions:
        assert allowed(one.by_adding) >= one.accuracy
        assert one.by_adding == 1 or allowed(one.by_adding - 1) < one.accuracy


@pytest.mark.parametrize("epsilon", ["0.1", "0.5", "1", "2", "5"])
@pytest.mark.parametrize("count", [1, 2, 3, 4, 7, 20, 51])
def test_many_answers_are_judged_by_their_majority(epsilon: str, count: int) -> None:
    given = Given.of(epsilon, 0, 1, 0.5, 1)
    assert worst_accuracy(given, count) == pytest.approx(float(majority(Fraction(epsilon), count)), abs=1e-12)


@pytest.mark.parametrize(("epsilon", "delta"), [("0.5", "0"), ("0.5", "0.1"), ("1", "0.01"), ("2", "0.3")])
@pytest.mark.parametrize("count", [1, 2, 3, 4, 5])
def test_no_guess_beats_the_worst_accuracy_and_one_reaches_it(epsilon: str, delta: str, count: int) -> None:
    given = Given.of(epsilon, delta, 1, 0.5, 1)
    laws = repeated_pair(Fraction(epsilon), Fraction(delta), count)
    assert worst_accuracy(given, count) == pytest.approx(float((1 + distance(*laws)) / 2), abs=1e-12)


@pytest.mark.parametrize("epsilon", ["0.2", "0.5", "1", "2"])
def test_the_worst_mechanism_reaches_its_target_first_there(epsilon: str) -> None:
    for one in dp.understand(epsilon).repeated.repetitions:
        least = one.at_worst
        assert least < 1000  # so that it was not rounded
        assert majority(Fraction(epsilon), least) >= one.accuracy
        assert least == 1 or majority(Fraction(epsilon), least - 1) < one.accuracy


@pytest.mark.parametrize("epsilon", ["0.001", "0.0001", "0.000001"])
def test_long_runs_are_rounded_down_and_by_less_than_a_hundredth(epsilon: str) -> None:
    """Against the incomplete beta function in balls where that is quick, and the normal law beyond."""
    for one in dp.understand(epsilon).repeated.repetitions:
        assert _reached(epsilon, one.at_worst) <= float(one.accuracy)
        assert _reached(epsilon, math.ceil(one.at_worst * 1.01)) >= float(one.accuracy)


def _reached(epsilon: str, count: int) -> float:
    if count > 10**8:
        z = math.sqrt(count) * float(epsilon) / 2
        return math.erfc(-z / math.sqrt(2)) / 2
    half = (count - 1) // 2 + 1
    factor = flint.arb(flint.fmpq(*Fraction(epsilon).as_integer_ratio())).exp()
    return float((factor / (1 + factor)).beta_lower(half, half, 1))


@settings(max_examples=30)
@given(st.integers(1, 10**4), st.sampled_from(["0.001", "0.1", "3", "700", "1000"]))
def test_more_answers_never_tell_less(count: int, epsilon: str) -> None:
    given = Given.of(epsilon, "0.0001", 1, 0.5, 1)
    assert 0.5 <= worst_accuracy(given, count) <= worst_accuracy(given, count + 2) <= 1


def test_errors_are_quantiles_of_the_noise(found: Understanding) -> None:
    epsilon, confidence = found.given.epsilon, Fraction(19, 20)
    count, mean, histogram = found.usefulness.central
    assert count.within == laplace_within(epsilon, confidence)
    assert histogram.within == laplace_within(epsilon, confidence, answers=10)
    assert mean.within * 500 == pytest.approx(laplace_within(epsilon / 1024, confidence) / 1024)
    assert count.share == count.within / 500
    assert mean.share == mean.within
    assert histogram.share == histogram.within / 500


def test_typical_errors_are_standard_deviations(found: Understanding) -> None:
    epsilon = float(found.given.epsilon)
    noise = math.sqrt(2 * math.exp(-epsilon)) / (1 - math.exp(-epsilon))
    count, mean, _ = found.usefulness.central
    assert count.typical == pytest.approx(noise)
    assert mean.typical * 500 == pytest.approx(math.sqrt(2) / epsilon, rel=1e-3)
    assert found.usefulness.local == pytest.approx(math.sqrt(500 * math.exp(epsilon)) / (math.exp(epsilon) - 1))
    for people, central, local in found.usefulness.by_people:
        assert central * people == pytest.approx(noise)
        assert local == pytest.approx(math.exp(epsilon / 2) / (math.exp(epsilon) - 1) / math.sqrt(people))


def test_delta_lets_records_be_published(found: Understanding) -> None:
    delta = found.given.delta
    if not delta:
        assert found.exposure is None
        return
    assert found.exposure is not None
    assert found.exposure.expected == 500 * delta
    assert close_above(found.exposure.any, 1 - (1 - delta) ** 500)


@pytest.mark.parametrize(
    ("epsilon", "name"),
    [
        ("0.2", "strong"),
        ("0.21", "moderate"),
        ("1.09", "moderate"),
        ("1.1", "limited"),
        ("2.19", "limited"),
        ("2.2", "weak"),
        ("4.59", "weak"),
        ("4.6", "next to none"),
        ("10", "next to none"),
    ],
)
def test_the_verdict_follows_the_best_guess(epsilon: str, name: str) -> None:
    assert dp.understand(epsilon).verdict.name == name


@pytest.mark.parametrize(
    ("delta", "n", "name"),
    [("1e-6", 1000, "strong"), ("1e-5", 1000, "strong"), ("2e-5", 1000, "limited"), ("0.001", 1000, "next to none")],
)
def test_a_delta_that_is_large_for_so_many_people_spoils_the_verdict(delta: str, n: int, name: str) -> None:
    found = dp.understand("0.1", delta, n=n)
    assert found.verdict.name == name
    assert ("δ is too large" in found.verdict.words) is (name != "strong")


def test_ten_means_twenty_two_thousand_times() -> None:
    words = dp.understand(10).verdict.words
    assert "22,027 times likelier" in words
    assert "protects nobody" in words


def test_what_a_record_says_is_two_steps_away_where_records_come_and_go() -> None:
    """A histogram of the ill and the healthy, private for one record more or less; the answer 1 ill, 0 healthy.

    Both cells are right if I am ill and both are off by one if I am healthy.
    """
    found = dp.understand(1)
    odds = (laplace_mass(Fraction(1), 0) / laplace_mass(Fraction(1), 1)) ** 2
    pair = next(group for group in found.groups if group.size == 2)
    assert odds > 2 * found.believing.factor
    assert close_above(pair.factor, odds)
    (note,) = next(one for one in chapters(found) if one.name == "believing").notes
    assert "add-remove-one, the default" in note
    assert "what two people are promised together" in note
