"""Scores: right, claimed, guessed, and whether the difference is more than chance."""

from __future__ import annotations

from math import comb

import numpy as np
import pytest
from scipy.stats import binom

from discreet.attacks.attack import Guesses
from discreet.attacks.score import scored
from discreet.exact.binomial import Proportion

TRUTH = np.array([0, 1, 2, 1, 0])
USUAL = np.zeros(5, np.int64)


def test_what_is_not_claimed_is_guessed_like_the_baseline():
    score = scored(Guesses(np.array([-1, 1, -1, 0, -1])), TRUTH, USUAL)
    assert score.right == Proportion(3, 5)
    assert score.claims == Proportion(1, 2)
    assert score.baseline == Proportion(2, 5)
    assert score.advantage == 3 / 5 - 2 / 5


def test_an_attack_that_claims_nothing_is_guessing():
    score = scored(Guesses(np.full(5, -1)), TRUTH, USUAL)
    assert score.right == score.baseline
    assert score.claims.trials == 0
    assert not score.beats


def beats(only_attack: int, only_baseline: int) -> bool:
    truth = np.array([1] * only_attack + [0] * only_baseline)
    return scored(Guesses(1 - truth * 0), truth, truth * 0).beats


def test_chance_alone_beats_guessing_once_in_two_thousand_times_at_most():
    for differ in (1, 9, 10, 60, 300):
        wins = sum(comb(differ, heads) for heads in range(differ + 1) if beats(heads, differ - heads))
        assert wins * 2000 <= 2**differ
    assert beats(11, 0)
    assert not beats(10, 0)


@pytest.mark.parametrize("usual", [0.2, 0.5, 0.9])
@pytest.mark.parametrize("claims", [1, 5, 40, 300])
def test_claims_that_are_true_by_chance_alone_beat_guessing_as_rarely(usual, claims):
    """All claims are of the most frequent secret, so that nothing is gained on the baseline."""

    def is_beaten(hits: int) -> bool:
        truth = np.array([0] * hits + [1] * (claims - hits))
        return scored(Guesses(truth * 0), truth, truth * 0, usual).beats

    enough = [hits for hits in range(claims + 1) if is_beaten(hits)]
    assert binom.pmf(enough, claims, usual).sum() <= 1 / 2000
    assert enough == list(range(claims + 1 - len(enough), claims + 1))
    if enough:
        assert binom.sf(enough[0] - 2, claims, usual) > 1 / 2000


def test_claims_are_not_judged_where_no_share_is_given():
    truth = np.zeros(300, np.int64)
    assert not scored(Guesses(truth), truth, truth).beats
    assert scored(Guesses(truth), truth, truth, 0.5).beats


def test_many_targets_do_not_overflow():
    assert beats(3000, 1000)
    assert not beats(2000, 2000)
