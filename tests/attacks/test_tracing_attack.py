"""Who is in the table, from tables of one and two columns, with strangers to compare with."""

from __future__ import annotations

import math

import numpy as np
import pytest

from discreet.attacks.attack import Guesses
from discreet.attacks.board import Scene
from discreet.attacks.defences.curator import CuratorDefence
from discreet.attacks.defences.interactive import RawStatistics
from discreet.attacks.methods.tracing import Tracing, log_odds_of_member
from tests.attacks.contract import AttackContract, Listening, assert_tells_nothing
from tests.attacks.crowd import crowd
from tests.attacks.test_reconstruction_attack import Noisy


class TestTracing(AttackContract):
    def attack(self):
        return Tracing()

    def defences(self):
        return [RawStatistics(), Noisy(0, refusing=0.2), Noisy(2)]


def test_exact_tables_tell_members_from_others():
    """Crowd and scene are seeded: one fixed case, which cannot alarm by chance."""
    score = Scene.of(Tracing(), crowd(2000)).run(RawStatistics())
    assert score.right.rate > 0.9
    assert score.baseline.rate == 0.5
    assert score.asked == 10


def test_noise_that_covers_the_cells_leaves_guessing():
    """False alarms: 1e-7, by `assert_tells_nothing`."""
    assert_tells_nothing(Scene.of(Tracing(), crowd(2000)).run(Noisy(1e3)))


def test_about_one_in_twenty_others_is_wrongly_accused():
    """False alarms: of 50 strangers two score above the threshold, so a fresh one does with probability 3/51.

    Over 20 scenes with 50 others each, 59 are expected, with a deviation of 10 (that of the threshold included); 135
    are seven deviations more, below 1e-9. Strangers who speak for themselves make it 200 and more.
    """
    people, accused = crowd(4000), 0
    for seed in range(20):
        heard: list[Guesses] = []
        scene = Scene.of(Listening(Tracing(), heard), people, seed)
        scene.run(Noisy(3))
        accused += int(heard[0].values[len(scene.targets) // 2 :].sum())
    assert accused < 135


def test_without_strangers_nobody_is_claimed():
    score = Scene.of(Tracing(), crowd(4)).run(RawStatistics())
    assert score.note == "There are no strangers to compare with."
    assert score.right == score.baseline


@pytest.mark.parametrize(("count", "expected"), [(1, 0.01), (1, 2.0), (5, 2.0), (3, 3.0)])
def test_exact_counts_give_the_closed_form(count, expected):
    odds = log_odds_of_member(np.array([float(count)]), np.array([expected]), 0.0)
    assert odds[0] == pytest.approx(math.log(count / expected), abs=1e-6)


def test_an_empty_cell_rules_a_person_out_and_noise_takes_the_certainty_away():
    sure, unsure, blind = (log_odds_of_member(np.zeros(1), np.full(1, 0.5), noise)[0] for noise in (0.0, 1.0, 1e3))
    assert sure == -20
    assert -2 < unsure < 0
    assert blind == pytest.approx(0, abs=0.01)


def test_a_curator_whose_budget_hides_nothing_shows_who_is_there_and_a_small_one_does_not():
    """False alarms: 1e-7 for the small budget, by `assert_tells_nothing`; noise of a thousandth never moves a count."""
    scene = Scene.of(Tracing(), crowd(2000))
    assert scene.run(CuratorDefence(6_000)).right.rate > 0.9
    assert_tells_nothing(scene.run(CuratorDefence("1/1000")))
