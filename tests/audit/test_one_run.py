"""One run with many canaries: the bound against exact sums, and audits of noisy histograms and sums."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Iterator

import numpy as np
import pytest

from discreet.audit import Verdict, one_run
from discreet.audit.one_run import chance_of_guessing, least_epsilon
from discreet.errors import InvalidType, InvalidValue
from discreet.mechanisms.gaussian import Gaussian
from discreet.mechanisms.laplace import Laplace
from discreet.noise.source import ReplayableSource
from discreet.privacy.loss import Approximate, Pure, ZeroConcentrated

Answer = tuple[tuple[int, bool], ...]
"""For each coin what is said about it, and whether that is known to be true."""


def each_for_itself(coins: tuple[int, ...], epsilon: float, delta: float) -> Iterator[tuple[float, Answer]]:
    """Randomized response for each coin, which gives itself away with probability δ."""
    truth = 1 / (1 + math.exp(-epsilon))
    for said in itertools.product((False, True, None), repeat=len(coins)):
        chances = [delta if right is None else (1 - delta) * (truth if right else 1 - truth) for right in said]
        answer = tuple(
            (coin if right in (True, None) else 1 - coin, right is None)
            for coin, right in zip(coins, said, strict=True)
        )
        yield math.prod(chances), answer


def all_at_once(coins: tuple[int, ...], epsilon: float, delta: float) -> Iterator[tuple[float, Answer]]:
    """Randomized response that gives all coins away together with probability δ."""
    yield delta, tuple((coin, True) for coin in coins)
    for chance, answer in each_for_itself(coins, epsilon, 0.0):
        yield (1 - delta) * chance, answer


def right_guesses(coins: tuple[int, ...], answer: Answer, guesses: int) -> int:
    """Guess those that are known first."""
    order = sorted(range(len(coins)), key=lambda k: not answer[k][1])[:guesses]
    return sum(answer[k][0] == coins[k] for k in order)


def law_of_right_guesses(mechanism, coins: int, guesses: int, epsilon: float, delta: float) -> list[float]:
    masses = [0.0] * (guesses + 1)
    for thrown in itertools.product((0, 1), repeat=coins):
        for chance, answer in mechanism(thrown, epsilon, delta):
            masses[right_guesses(thrown, answer, guesses)] += chance / 2**coins
    return masses


@pytest.mark.parametrize("mechanism", [each_for_itself, all_at_once])
@pytest.mark.parametrize("epsilon", [0.0, 0.5, 2.0])
@pytest.mark.parametrize("delta", [0.0, 0.01, 0.3])
@pytest.mark.some(6)
def test_no_mechanism_guesses_better_than_the_bound(mechanism, epsilon, delta):
    for coins, guesses in ((1, 1), (3, 3), (4, 2), (5, 5)):
        masses = law_of_right_guesses(mechanism, coins, guesses, epsilon, delta)
        assert sum(masses) == pytest.approx(1)
        for right in range(guesses + 1):
            assert sum(masses[right:]) <= chance_of_guessing(coins, guesses, right, epsilon, delta) + 1e-12


def test_the_bound_is_met_by_one_coin_that_gives_itself_away():
    masses = law_of_right_guesses(each_for_itself, 1, 1, 1.0, 0.1)
    assert masses[1] == pytest.approx(chance_of_guessing(1, 1, 1, 1.0, 0.1))


def test_a_bound_without_the_part_of_delta_is_broken():
    """Planted: the tail for δ = 0 alone."""
    masses = law_of_right_guesses(all_at_once, 5, 5, 0.0, 0.3)
    assert masses[5] > chance_of_guessing(5, 5, 5, 0.0, 0.0)


def test_a_refuted_epsilon_is_refuted():
    found = least_epsilon(1000, 500, 450, 1e-5, 0.01)
    assert chance_of_guessing(1000, 500, 450, found, 1e-5) <= 0.01
    assert chance_of_guessing(1000, 500, 450, found + 1e-3, 1e-5) > 0.01
    assert least_epsilon(10, 10, 5, 0.0, 0.01) == 0


CANARIES = 2000


def histogram(epsilon):
    """Every canary has a cell of its own, so that one of them moves one count."""

    def mechanism(included):
        counts = np.zeros(CANARIES, np.int64)
        counts[included] = 1
        return Laplace(epsilon).release(counts)

    return mechanism


def cell(output, canary):
    return output[canary]


def test_a_noisy_histogram_keeps_its_claim_and_shows_most_of_it():
    """False alarm: 1e-6. At ε = 2 the guesses are right 0.79 of the time, so a miss of ε ≥ 0.8 is as rare."""
    report = one_run(histogram(2), range(CANARIES), cell, 2)
    assert report.verdict is Verdict.CONSISTENT
    assert 0.8 < report.epsilon <= 2


def test_half_the_noise_is_found_out():
    """Fails with probability below 1e-6: about 0.93 of 2,000 guesses are right and 0.73 are allowed."""
    report = one_run(histogram(4), range(CANARIES), cell, 1)
    assert report.violated
    assert report.epsilon > 1
    assert json.loads(report.to_json())["verdict"] == "violation"
    assert str(report).startswith("violation: claimed Pure(ε=1), observed ε ≥ ")


def signed_sums(rho):
    """Each canary is a vector of signs; those that are in are added up, with Gaussian noise for one of them."""

    def mechanism(included):
        total = np.sum(included, axis=0) if included else np.zeros(4096, np.int64)
        return Gaussian(rho=rho, sensitivity=64, dimension=4096, integers=True).release(total)

    return mechanism


def test_noisy_sums_are_audited_by_the_inner_product():
    signs = np.where(np.random.default_rng(1).random((128, 4096)) < 0.5, 1, -1)
    score = lambda output, canary: float(np.dot(output, canary))  # noqa: E731
    assert not one_run(signed_sums("0.5"), list(signs), score, ZeroConcentrated("0.5"), guesses=64).violated
    assert one_run(signed_sums(200), list(signs), score, ZeroConcentrated("0.1"), guesses=64, false_alarm=0.01).violated
    assert one_run(signed_sums(200), list(signs), score, Approximate(1, "1e-9"), guesses=[64, 32]).violated


def test_several_numbers_of_guesses_share_the_rate_of_false_alarms():
    report = one_run(histogram(2), range(CANARIES), cell, 2, guesses=[2000, 1000], false_alarm=0.01)
    for one in report.guesses:
        assert one.epsilon == least_epsilon(CANARIES, one.made, one.right, 0.0, 0.005)


def test_few_canaries_say_so():
    report = one_run(lambda included: included, range(10), lambda output, canary: canary in output, Pure(3))
    assert report.verdict is Verdict.TOO_FEW


def test_coins_can_be_thrown_again():
    runs = [
        one_run(sorted, range(64), lambda output, canary: canary in output, 1, source=ReplayableSource(7))
        for _ in range(2)
    ]
    assert runs[0] == runs[1]
    assert runs[0].best.right == runs[0].best.made


def test_scores_that_are_nan_are_guesses_of_no_skill():
    report = one_run(lambda included: included, range(64), lambda output, canary: math.nan, 0)
    assert report.epsilon == 0
    assert not report.violated


def test_refusals():
    with pytest.raises(InvalidValue, match="there must be at least 8 canaries, got 3"):
        one_run(sorted, range(3), lambda output, canary: 0, 1)
    with pytest.raises(InvalidValue, match="the mechanism must answer, got <ZeroDivisionError"):
        one_run(lambda included: 1 / 0, range(9), lambda output, canary: 0, 1)
    with pytest.raises(InvalidType, match="a score must be a number"):
        one_run(sorted, range(9), lambda output, canary: "high", 1)
    with pytest.raises(InvalidValue, match="guesses must be at most 9"):
        one_run(sorted, range(9), lambda output, canary: 0, 1, guesses=10)
    with pytest.raises(InvalidValue, match="some number of guesses"):
        one_run(sorted, range(9), lambda output, canary: 0, 1, guesses=[])


@pytest.mark.parametrize("claim", [Pure(1000), Approximate(1000, "1e-6")], ids=str)
def test_a_claim_beyond_all_floats_is_judged_like_any_other(claim):
    report = one_run(set, range(100), lambda output, canary: canary in output, claim)
    assert report.verdict is Verdict.TOO_FEW


@pytest.mark.parametrize("score", [lambda output, canary: {}[canary], lambda output, canary: 10**400])
def test_a_score_that_fails_is_refused_in_a_sentence(score):
    with pytest.raises(InvalidType, match="a score must be a number"):
        one_run(set, range(100), score, 1)
