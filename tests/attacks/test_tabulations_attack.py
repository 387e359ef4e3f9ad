"""Tables of two columns each, put together: single people come out where the tables are exact."""

from __future__ import annotations

from discreet.attacks.board import Scene
from discreet.attacks.defences.curator import CuratorDefence
from discreet.attacks.defences.interactive import RawStatistics
from discreet.attacks.methods.tabulations import TwoWayTables
from tests.attacks.contract import AttackContract, assert_tells_nothing
from tests.attacks.crowd import crowd
from tests.attacks.test_reconstruction_attack import Noisy


class TestTwoWayTables(AttackContract):
    def attack(self):
        return TwoWayTables()

    def defences(self):
        return [RawStatistics(), Noisy(0, refusing=0.2), Noisy(3)]


def test_exact_tables_of_two_columns_show_nearly_everybody():
    """Crowd and scene are seeded, and the solver is exact: one fixed case, which cannot alarm by chance."""
    score = Scene.of(TwoWayTables(), crowd(2000)).run(RawStatistics())
    assert score.right.rate > 0.8
    assert score.control.rate < 0.6
    assert score.asked == 6


def test_noise_that_covers_the_cells_leaves_guessing():
    """False alarms: 1e-7, by `assert_tells_nothing`; with noise of 1,000 on counts below 100 nothing is told."""
    assert_tells_nothing(Scene.of(TwoWayTables(), crowd()).run(Noisy(1e3)))


def test_a_curator_whose_budget_hides_nothing_shows_the_same_people_and_a_small_one_shows_nobody():
    """False alarms: 1e-7 for the small budget, by `assert_tells_nothing`; noise of a thousandth never moves a count."""
    scene = Scene.of(TwoWayTables(), crowd(2000))
    assert scene.run(CuratorDefence(6_000)).right.rate > 0.8
    assert_tells_nothing(scene.run(CuratorDefence("1/1000")))
