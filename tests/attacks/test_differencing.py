"""With and without a person: against exact answers, limits on size, auditors, samples and noise."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.special import gammaincc
from scipy.stats import binom

from discreet.attacks.attack import Defence
from discreet.attacks.board import Scene
from discreet.attacks.defences.curator import CuratorDefence
from discreet.attacks.defences.interactive import (
    InputPerturbation,
    LargeGroups,
    MinimumSize,
    NaiveLaplace,
    RawStatistics,
    Subsampling,
)
from discreet.attacks.defences.query_auditing import QueryAuditing
from discreet.attacks.methods.queries import Differencing, _unravelled
from tests.attacks.contract import AnsweringView, AttackContract
from tests.attacks.crowd import crowd


class TestDifferencing(AttackContract):
    def attack(self):
        return Differencing()

    def defences(self):
        return [RawStatistics(), MinimumSize(), LargeGroups(), QueryAuditing(), Subsampling(), NaiveLaplace()]


@pytest.mark.parametrize(
    ("defence", "asked", "refused"),
    [
        (RawStatistics(), 160, 0),
        (MinimumSize(), 160, 0),
        (LargeGroups(), 320, 160),
        (QueryAuditing(), 399, 160),
        (QueryAuditing(is_simulatable=True), 399, 160),
    ],
    ids=lambda value: getattr(value, "name", value),
)
@pytest.mark.some(2)
def test_exact_answers_disclose_everybody_whatever_is_refused(defence, asked, refused):
    score = Scene.of(Differencing(), crowd()).run(defence)
    assert score.right.rate == 1
    assert score.claims.trials == 80
    assert (score.asked, score.refused) == (asked, refused)


def test_everybody_in_the_sample_is_disclosed_and_nobody_else():
    score = Scene.of(Differencing(), crowd(4000)).run(Subsampling(0.5))
    assert score.claims.rate == 1
    assert 20 < score.claims.trials < 60


def test_a_replaced_secret_is_what_is_disclosed():
    """A claim is wrong with probability 0.2 · 1/2 at most, whichever of the four values are marked: 3/4 of them or
    fewer are on the other side. False alarms: 1e-7, by the binomial law with 0.2 · 3/4."""
    score = Scene.of(Differencing(), crowd()).run(InputPerturbation(0.2))
    assert score.claims.trials == 80
    assert score.claims.hits >= binom.ppf(1e-7, 80, 1 - 0.2 * 0.75)


def test_fresh_noise_is_beaten_as_often_as_the_closed_form_says():
    """The lead is ±1 and four Laplace draws, whose sum has the size of a gamma variable with shape 4 − j with
    probability C(3 + j, j) 2^(−3 − j). False alarms: 2e-7, by the binomial law over 20 scenes of 80 targets."""
    scale = 1.0
    weights = [1 / 8, 4 / 16, 10 / 32, 20 / 64]
    beyond = sum(weight * gammaincc(4 - j, 1 / scale) for j, weight in enumerate(weights))
    expected = 1 - beyond / 2
    people = crowd()
    scores = [Scene.of(Differencing(), people, seed).run(NaiveLaplace(1 / scale)) for seed in range(20)]
    hits, trials = sum(score.claims.hits for score in scores), sum(score.claims.trials for score in scores)
    assert trials == 1600
    assert binom.ppf(1e-7, trials, expected) <= hits <= binom.isf(1e-7, trials, expected)


def test_a_curator_tells_nothing_worth_guessing():
    """A claim rests on two of 160 answers, which have 1/80 of ε = 1 together. No test of yes against no that errs alike
    on both is right with a probability above e^(1/80)/(1 + e^(1/80)), and every target has answers of its own. False
    alarms: 1e-6, by the binomial law."""
    score = Scene.of(Differencing(), crowd()).run(CuratorDefence(1))
    bound = 1 / (1 + np.exp(-1 / 80))
    assert score.claims.hits <= binom.isf(1e-6, score.claims.trials, bound)
    assert (score.asked, score.refused) == (160, 0)


def test_every_question_has_words_of_its_own_so_that_sticky_noise_is_not_shared_by_all_targets():
    asked = []

    class Recording(Defence):
        name, says = "recording", "Everything is zero."

        def defend(self, people, everybody, chance):
            def counts(questions):
                asked.extend(question.sql("people") for question in questions)
                return [np.zeros(question.cells) for question in questions]

            return AnsweringView(people.size, counts, lambda groups: np.zeros(len(groups)))

    Scene.of(Differencing(), crowd()).run(Recording())
    assert len(asked) == len(set(asked)) == 160


@pytest.mark.parametrize("length", range(1, 7))
def test_a_chain_of_pairs_tells_all_or_nothing(length):
    """For all zeros and ones: the chain is silent if and only if neighbours always differ."""
    for bits in itertools.product((0, 1), repeat=length):
        sums = np.add(bits[:-1], bits[1:]).astype(float)
        expected = [] if (sums == 1).all() else list(bits)
        assert _unravelled(sums).tolist() == expected


def test_a_chain_ends_at_a_refusal():
    assert _unravelled(np.array([2, 1, np.nan, 0])).tolist() == [1, 1, 0]
    assert _unravelled(np.array([np.nan])).tolist() == []


def test_sums_that_fit_nobody_tell_nothing():
    assert _unravelled(np.array([0.0, 2.0])).tolist() == []
    assert _unravelled(np.array([0.3, 1.2])).tolist() == []
