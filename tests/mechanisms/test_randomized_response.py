"""Randomized response keeps the promise on its proof sheet."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

from discreet.errors import InvalidInput, InvalidType, InvalidValue
from discreet.exact.ball import ball, floor_of, lower, upper
from discreet.mechanisms.randomized_response import Honesty, RandomizedResponse
from discreet.noise.source import ReplayableSource, ScriptedSource
from discreet.privacy.loss import Pure
from tests.mechanisms.contract import MechanismContract


class TestOneBit(MechanismContract):
    def mechanism(self) -> RandomizedResponse:
        return RandomizedResponse(epsilon=1)

    def worst_neighbours(self) -> list[tuple[Any, Any]]:
        return [(0, 1), (True, False)]

    def outcomes(self) -> list[Any]:
        return [0, 1]

    def bad_inputs(self) -> list[Any]:
        return [2, -1, 0.5, 1.0, math.nan, "yes", None, [0, 1, 2], [None], [[1], [1, 0]]]


class TestTwoCoins(TestOneBit):
    def mechanism(self) -> RandomizedResponse:
        return RandomizedResponse.coins()


class TestThreeRespondents(TestOneBit):
    def mechanism(self) -> RandomizedResponse:
        return RandomizedResponse(epsilon="1/3")

    def worst_neighbours(self) -> list[tuple[Any, Any]]:
        return [([0, 1, 1], [0, 0, 1]), ([False, False, False], [True, False, False])]

    def outcomes(self) -> list[Any]:
        return list(itertools.product((0, 1), repeat=3))


def test_coins_and_die_tell_the_truth_as_often_as_the_texts_say() -> None:
    assert RandomizedResponse.coins().distribution(1).pmf(1) == 0.75
    assert RandomizedResponse.die().distribution(0).pmf(0) == float(Fraction(2, 3))
    assert float(RandomizedResponse.coins().loss.epsilon) == math.log(3)
    assert float(RandomizedResponse.die().loss.epsilon) == math.log(2)


def test_a_loss_from_a_probability_is_rounded_up() -> None:
    loss = RandomizedResponse.truth("3/4").loss
    assert loss.epsilon > lower(ball(3).log())
    assert loss.epsilon - upper(ball(3).log()) < Fraction(1, 2**50)
    assert RandomizedResponse(epsilon="0.1").loss == Pure("1/10", "replace-one")


@pytest.mark.parametrize("epsilon", [Fraction(1, 7), Fraction(1), Fraction(40), Fraction(90)])
def test_words_at_the_threshold_are_settled_by_the_next_bits(epsilon: Fraction) -> None:
    honesty = Honesty.priced(epsilon)
    edge = floor_of(lambda: 2**64 / (1 + ball(epsilon).exp()), 256)
    next_edge = floor_of(lambda: 2**128 / (1 + ball(epsilon).exp()), 512) - (edge << 64)
    around = [(edge + 1, False)] + ([(edge - 1, True)] if edge else [])
    for word, lie in around:
        assert bool(honesty.lies(1, ScriptedSource([word]))[0]) is lie
    for second, lie in ((next_edge - 1, True), (next_edge + 1, False)):
        if second >= 0:
            assert bool(honesty.lies(1, ScriptedSource([edge, second]))[0]) is lie


def test_rational_thresholds_are_exact() -> None:
    honesty = Honesty.telling("3/4")
    assert honesty.lies(2, ScriptedSource([2**62 - 1, 2**62])).tolist() == [True, False]


def test_many_bits_at_once_keep_their_shape() -> None:
    bits = np.zeros((200, 300), bool)
    reports = RandomizedResponse(epsilon=2).release(bits, source=ReplayableSource("shape"))
    assert isinstance(reports, np.ndarray)
    assert reports.shape == (200, 300)
    expected, spread = 60_000 / (1 + math.exp(2)), math.sqrt(60_000 * 0.12 * 0.88)
    assert abs(reports.sum() - expected) < 6 * spread
    assert type(RandomizedResponse(1).release(True)) is int


def test_no_answers_give_no_reports() -> None:
    survey = RandomizedResponse(1)
    assert survey.release([]).size == 0  # type: ignore[union-attr]
    assert survey.estimate_sum([]) == 0
    for share in (survey.estimate_mean, survey.interval, survey.population_interval):
        with pytest.raises(InvalidValue, match="at least one"):
            share([])


def test_any_predicate_will_do() -> None:
    survey = RandomizedResponse.truth("999999/1000000")
    people = [{"age": 30}, {"age": 61}, {"age": 80}]
    reports = survey.release(people, lambda person: person["age"] > 60, source=ReplayableSource(1))
    assert reports.tolist() == [0, 1, 1]  # type: ignore[union-attr]
    assert survey.release("smoker", lambda answer: answer == "smoker", source=ReplayableSource(1)) == 1
    assert survey.distribution(people, lambda person: person["age"] > 60).pmf((0, 1, 1)) > 0.99
    with pytest.raises(InvalidType):
        survey.release(people, lambda person: person["age"] / 100, source=ScriptedSource([]))


@pytest.mark.parametrize("survey", [RandomizedResponse("0.7"), RandomizedResponse.coins()])
def test_estimates_are_unbiased_with_the_stated_deviation(survey: RandomizedResponse) -> None:
    truth = [1, 0, 0, 1, 1, 0]
    law = survey.distribution(truth)
    mean = square = 0.0
    for reports in itertools.product((0, 1), repeat=6):
        estimate = survey.estimate_sum(reports)
        mean += law.pmf(reports) * estimate
        square += law.pmf(reports) * (estimate - 3) ** 2
    assert math.isclose(mean, 3, rel_tol=1e-12)
    assert math.isclose(math.sqrt(square), survey.standard_deviation(6), rel_tol=1e-12)
    epsilon = float(survey.loss.epsilon)
    stated = math.exp(epsilon / 2) / (math.exp(epsilon) - 1) * math.sqrt(6)
    assert math.isclose(survey.standard_deviation(6), stated, rel_tol=1e-12)


def reports_law(n: int, holders: int, p: float) -> np.ndarray:
    return np.convolve(
        binom.pmf(np.arange(holders + 1), holders, p), binom.pmf(np.arange(n - holders + 1), n - holders, 1 - p)
    )


@pytest.mark.parametrize("confidence", ["0.5", "0.8", "0.95"])
@pytest.mark.parametrize("survey", [RandomizedResponse("0.2"), RandomizedResponse.coins(), RandomizedResponse(5)])
def test_intervals_cover_every_truth_as_often_as_stated(survey: RandomizedResponse, confidence: str) -> None:
    p = survey.distribution(1).pmf(1)
    for n in (1, 2, 7, 30):
        spans = [survey.interval([1] * s + [0] * (n - s), confidence) for s in range(n + 1)]
        for holders in range(n + 1):
            covers = np.asarray([low <= holders / n <= high for low, high in spans])
            assert reports_law(n, holders, p)[covers].sum() >= float(confidence) - 1e-12


@pytest.mark.parametrize("survey", [RandomizedResponse("0.5"), RandomizedResponse.coins()])
def test_population_intervals_cover_every_share(survey: RandomizedResponse) -> None:
    p, n = survey.distribution(1).pmf(1), 40
    spans = [survey.population_interval([1] * s + [0] * (n - s), "0.9") for s in range(n + 1)]
    for share in np.linspace(0, 1, 41):
        covers = np.asarray([low <= share <= high for low, high in spans])
        rate = (1 - p) + (2 * p - 1) * share
        assert binom.pmf(np.arange(n + 1), n, rate)[covers].sum() >= 0.9 - 1e-12


def test_hoeffding_bound_of_the_exercise_holds_exactly() -> None:
    survey = RandomizedResponse(1)
    p = survey.distribution(1).pmf(1)
    for n, holders in ((20, 0), (50, 25), (50, 50)):
        bound = survey.error("0.9", reports=n)
        errors = np.asarray([abs((s - n * (1 - p)) / (2 * p - 1) - holders) for s in range(n + 1)])
        assert reports_law(n, holders, p)[errors >= bound].sum() <= 0.1


def test_one_report_is_off_by_no_more_than_it_can_be() -> None:
    assert math.isclose(RandomizedResponse.coins().error("0.999", reports=1), 1.5)


def test_large_surveys_have_short_intervals_in_little_time() -> None:
    survey = RandomizedResponse(1)
    reports = np.zeros(1_000_000, np.int8)
    reports[:400_000] = 1
    low, high = survey.interval(reports)
    estimate = survey.estimate_mean(reports)
    assert low < estimate < high
    assert math.isclose(high - low, 2 * 1.96 * survey.standard_deviation(10**6) / 10**6, rel_tol=0.01)


def test_sample_size_is_the_explicit_function_of_the_exercise() -> None:
    survey = RandomizedResponse("0.1")
    n = survey.sample_size(standard_deviation="0.01")
    assert n == math.ceil(math.exp(0.1) / (math.exp(0.1) - 1) ** 2 / 0.01**2)
    assert survey.standard_deviation(n) / n <= 0.01 < survey.standard_deviation(n - 1) / (n - 1)
    assert math.isclose(survey.sample_size(standard_deviation="0.005"), 4 * n, rel_tol=1e-4)
    halved = RandomizedResponse("0.05").sample_size(standard_deviation="0.01")
    assert math.isclose(halved, 4 * n, rel_tol=1e-2)
    assert RandomizedResponse.coins().sample_size(standard_deviation="0.05") == 300


def test_sample_size_for_an_error_meets_it() -> None:
    survey = RandomizedResponse(1)
    n = survey.sample_size(error="0.05", confidence="0.99")
    assert survey.error("0.99", reports=n) / n <= 0.05
    assert survey.error("0.99", reports=n - 2) / (n - 2) > 0.05
    for wrong in ({}, {"error": "0.1", "standard_deviation": "0.1"}, {"error": 0}, {"standard_deviation": -1}):
        with pytest.raises(InvalidInput):
            survey.sample_size(**wrong)  # type: ignore[arg-type]


def test_loss_distribution_is_two_points() -> None:
    stated = RandomizedResponse(1).loss_distribution()
    assert stated.losses.max() >= 1
    assert math.isclose(stated.masses[stated.losses > 0].sum(), math.e / (1 + math.e))


@pytest.mark.parametrize("epsilon", [0, -1, math.nan, math.inf, "1e400", True, None])
def test_refuses_prices_that_mean_nothing(epsilon: Any) -> None:
    with pytest.raises(InvalidInput):
        RandomizedResponse(epsilon)


@pytest.mark.parametrize("p", [0, "1/2", 1, 2, -1, math.nan, "0.4"])
def test_refuses_truths_that_hide_or_say_nothing(p: Any) -> None:
    with pytest.raises(InvalidInput):
        RandomizedResponse.truth(p)


@pytest.mark.parametrize("confidence", [0, 1, -0.5, math.nan])
def test_refuses_a_confidence_that_is_none(confidence: Any) -> None:
    with pytest.raises(InvalidInput):
        RandomizedResponse(1).interval([1, 0], confidence)


def test_a_price_beyond_every_bit_still_draws() -> None:
    assert RandomizedResponse(2**90).release(1) == 1


def test_prints_how_it_was_made() -> None:
    assert repr(RandomizedResponse("1/2")) == "RandomizedResponse(epsilon=1/2)"
    assert repr(RandomizedResponse.coins()) == "RandomizedResponse.truth('3/4')"
