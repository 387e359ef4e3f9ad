"""Repeating beats fresh noise, rewording beats sticky noise, and a budget beats both."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

from discreet.attacks.board import Scene
from discreet.attacks.defences.curator import CuratorDefence
from discreet.attacks.defences.interactive import BoundedNoise, MinimumSize, NaiveLaplace, RawStatistics, StickyLaplace
from discreet.attacks.methods.queries import Averaging
from discreet.errors import InvalidInput
from tests.attacks.contract import AttackContract
from tests.attacks.crowd import crowd


class TestAveraging(AttackContract):
    def attack(self):
        return Averaging()

    def defences(self):
        return [NaiveLaplace(), RawStatistics(), BoundedNoise(), MinimumSize()]


class TestAveragingReworded(AttackContract):
    def attack(self):
        return Averaging(is_reworded=True)

    def defences(self):
        return [StickyLaplace(), NaiveLaplace()]


def run(attack, defence):
    return Scene.of(attack, crowd(1000)).run(defence)


@pytest.mark.parametrize(
    ("attack", "defence", "is_broken"),
    [
        (Averaging(), NaiveLaplace(), True),
        (Averaging(), BoundedNoise(), True),
        (Averaging(), StickyLaplace(), False),
        (Averaging(is_reworded=True), NaiveLaplace(), True),
        (Averaging(is_reworded=True), StickyLaplace(), True),
    ],
    ids=lambda value: getattr(value, "name", value),
)
def test_noise_without_a_budget_is_averaged_away(attack, defence, is_broken):
    """The seed fixes these draws. The median of 65 answers of scale 2 has a deviation near 1/4, so a lead of 1 is of
    the right sign in 99 of 100; one answer gets 62 of 100."""
    score = run(attack, defence)
    assert score.asked == 65
    assert score.beats == is_broken
    assert (score.right.rate > 0.95) == is_broken


@pytest.mark.parametrize("is_reworded", [False, True])
@pytest.mark.some(1)
def test_a_curator_tells_little_however_often_he_is_asked(is_reworded):
    """At ε = 1 no test of yes against no that errs alike on both is right with a probability above e/(1 + e), and
    people's noise is drawn apart. False alarms: 1e-6, by the binomial law."""
    score = run(Averaging(is_reworded=is_reworded), CuratorDefence(1))
    assert score.claims.hits <= binom.isf(1e-6, score.claims.trials, np.e / (1 + np.e))


def test_one_time_is_the_direct_question():
    assert run(Averaging(times=1), RawStatistics()).right.rate == 1
    assert not run(Averaging(times=1), NaiveLaplace()).beats


@pytest.mark.parametrize("times", [0, -1, 1.5])
def test_a_number_of_times_without_a_meaning_is_refused(times):
    with pytest.raises(InvalidInput):
        Averaging(times=times)
