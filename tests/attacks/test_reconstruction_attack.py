"""Random halves of the table, solved for everybody at once, against what owners try."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.attacks.attack import Defence, View
from discreet.attacks.board import Scene
from discreet.attacks.defences.curator import CuratorDefence
from discreet.attacks.defences.interactive import ExactView, RawStatistics
from discreet.attacks.methods.reconstruction import Reconstruction
from discreet.attacks.people import People
from discreet.noise.experiment import Chance
from tests.attacks.contract import AttackContract, assert_tells_nothing
from tests.attacks.crowd import crowd


class NoisyView(ExactView):
    """Counts with noise of a deviation, and some of them refused."""

    def __init__(self, people: People, deviation: float, refusing: float, chance: Chance) -> None:
        super().__init__(people)
        self.deviation, self.refusing, self.chance = deviation, refusing, chance

    def _counts(self, questions):
        return [self._clouded(answer) for answer in super()._counts(questions)]

    def _clouded(self, answer):
        noisy = answer + self.chance.normal(0, self.deviation, answer.shape)
        return np.where(self.chance.random(answer.shape) < self.refusing, np.nan, noisy)


@dataclass(frozen=True)
class Noisy(Defence):
    deviation: float
    refusing: float = 0.0
    name, says = "noisy", "Noise on every count."

    def defend(self, people: People, everybody: People, chance: Chance) -> View:
        return NoisyView(people, self.deviation, self.refusing, chance)


class TestReconstruction(AttackContract):
    def attack(self):
        return Reconstruction()

    def defences(self):
        return [RawStatistics(), Noisy(2), Noisy(2, refusing=0.3)]


def test_exact_answers_about_halves_tell_everybody():
    score = Scene.of(Reconstruction(), crowd()).run(RawStatistics())
    assert score.right.rate == 1
    assert score.asked == 400


def test_noise_of_two_and_refusals_of_a_third_hide_nobody():
    """False alarms: 400 questions with four counts each leave noise of 0.15 on a person; a bit fails at 3e-4.

    A hundred bits then have six wrong with probability below 1e-12.
    """
    score = Scene.of(Reconstruction(), crowd()).run(Noisy(2, refusing=0.3))
    assert score.right.hits >= 95


def test_half_of_the_answers_is_enough_and_a_few_are_used_as_far_as_they_go():
    few = Scene.of(Reconstruction(), crowd()).run(Noisy(0, refusing=0.97))
    assert few.right.rate > few.baseline.rate


def test_noise_that_covers_everything_leaves_guessing():
    """False alarms: 1e-7, by `assert_tells_nothing`."""
    assert_tells_nothing(Scene.of(Reconstruction(), crowd()).run(Noisy(1e4)))


def test_a_curator_whose_budget_hides_nothing_answers_about_the_same_halves():
    """The halves are arithmetic in SQL here and in NumPy there. Noise of a thousandth never moves a count."""
    score = Scene.of(Reconstruction(), crowd(10)).run(CuratorDefence(6_000))
    assert score.right.rate == 1
    assert score.asked == 40
