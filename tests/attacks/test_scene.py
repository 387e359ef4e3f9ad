"""Attacks are scored against the truth, beside guessing, on people they know nothing of."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from discreet.attacks.attack import Attack, Goal, Guesses
from discreet.attacks.board import Inapplicable, Scene
from discreet.attacks.defences.interactive import RawStatistics
from discreet.attacks.methods.queries import DirectQuestion
from discreet.attacks.people import People
from discreet.attacks.queries import TableQuery, Value
from tests.attacks.crowd import crowd


def test_exact_answers_about_one_person_tell_everything():
    score = Scene.of(DirectQuestion(), crowd()).run(RawStatistics())
    assert score.right.rate == 1
    assert score.claims.rate == 1
    assert score.beats
    assert 0.3 < score.baseline.rate < 0.7
    assert (score.asked, score.refused) == (1, 0)


class Recording(Attack):
    """Keeps what it was given."""

    name = needs = claims = "recording"

    def __init__(self, goal=Goal.VALUE, releases=1, **limits):
        self.goal, self.releases = goal, releases
        self.__dict__.update(limits)

    def guess(self, views, known, chance):
        self.views, self.known = views, known
        return Guesses(np.full(len(known.targets), -1))


def run(attack: Recording, size: int = 400) -> tuple[Scene, Recording]:
    scene = Scene.of(attack, crowd(size))
    scene.run(RawStatistics())
    return scene, attack


def test_controls_are_guessed_but_are_in_no_release():
    scene, attack = run(Recording(releases=2, most_targets=50))
    assert attack.known.targets.tolist() == [*scene.targets, *scene.controls]
    assert len(scene.targets) == len(scene.controls) == 50
    for release in scene.releases:
        assert np.isin(scene.targets, release).all()
        assert not np.isin(scene.controls, release).any()


def test_overlapping_releases_share_the_targets_alone():
    scene, _ = run(Recording(releases=3, most_targets=50))
    shared = set.intersection(*(set(release.tolist()) for release in scene.releases))
    assert shared == set(scene.targets.tolist())


def test_half_of_the_traced_people_are_members():
    scene, attack = run(Recording(Goal.MEMBERSHIP, most_targets=60))
    assert np.isin(scene.targets, scene.releases[0]).sum() == 30
    assert attack.known.profiles.numbers.tolist() == scene.targets.tolist()
    strangers = attack.known.outsiders.numbers
    assert not np.isin(strangers, [*scene.releases[0], *scene.targets]).any()
    assert len(strangers) == 170


def test_the_truth_is_never_ruled_out_and_two_others_are():
    scene, attack = run(Recording(rules_out=True))
    people = attack.known.targets
    excluded = attack.known.excluded
    assert (excluded.sum(axis=1) == 2).all()
    assert not excluded[np.arange(len(people)), scene.everybody.secret.codes[people]].any()


def test_an_attack_that_needs_a_small_table_gets_one():
    scene, attack = run(Recording(Goal.BIT, most_people=40, most_targets=100))
    assert attack.views[0].rows == len(scene.targets) == 32
    assert len(scene.controls) == 8


def test_a_defence_that_leaves_nothing_to_do_says_so():
    class Idle(Recording):
        def does_not_apply(self, view):
            return "there are no classes"

    assert Scene.of(Idle(), crowd()).run(RawStatistics()) == Inapplicable("there are no classes")


def test_nothing_is_ruled_out_for_an_attack_that_needs_no_such_knowledge():
    _, attack = run(Recording())
    assert not attack.known.excluded.any()


def test_guessing_without_the_release_knows_what_was_ruled_out_too():
    scene, attack = run(Recording(rules_out=True))
    times = np.bincount(scene.everybody.secret.codes)
    truth = scene.everybody.secret.codes[scene.targets]
    best = [max(np.flatnonzero(~row), key=lambda value: times[value]) for row in attack.known.excluded]
    score = scene.run(RawStatistics())
    assert score.baseline.hits == (np.array(best)[: len(truth)] == truth).sum()


def test_every_defence_meets_the_same_knowledge():
    class Drawing(RawStatistics):
        def defend(self, people, everybody, chance):
            chance.random(7)
            return super().defend(people, everybody, chance)

    scene, attack = run(Recording(rules_out=True))
    before = attack.known.excluded
    scene.run(Drawing())
    np.testing.assert_array_equal(before, attack.known.excluded)


def test_one_of_two_values_is_never_ruled_out_for_that_would_tell_the_other():
    for values in (2, 3, 4):
        people = People.of(pa.table({"age": range(60), "ill": list("abcd"[:values]) * (60 // values)}), ["age"], "ill")
        attack = Recording(rules_out=True)
        Scene.of(attack, people).run(RawStatistics())
        assert set(attack.known.excluded.sum(axis=1).tolist()) == {values - 2}


def test_knowing_what_was_ruled_out_is_no_attack():
    """Claims of the likelier of two values are true far more often than the most frequent secret occurs."""

    class Reasoning(Recording):
        def guess(self, views, known, chance):
            (times,) = views[0].counts([TableQuery(by=(Value(known.secret, known.values),))])
            return Guesses(np.where(known.excluded, -1, times).argmax(axis=1))

    score = Scene.of(Reasoning(rules_out=True, most_targets=1000), crowd(2000)).run(RawStatistics())
    assert score.claims.lower(1e-6) > 0.4
    assert not score.beats


def test_releases_differ_however_many_people_are_attacked():
    scene = Scene.of(Recording(releases=2, most_targets=1000), crowd())
    first, second = (set(rows.tolist()) for rows in scene.releases)
    assert first & second == set(scene.targets.tolist())
    assert len(first - second) == len(second - first) > len(scene.targets) // 2
