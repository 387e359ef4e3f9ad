"""Attacks are scored against the truth, beside guessing, on people they know nothing of."""

from __future__ import annotations

from discreet.attacks.defences.raw import RawStatistics
from discreet.attacks.methods.direct import DirectQuestion
from discreet.attacks.scene import Scene
from tests.attacks.crowd import crowd


def test_exact_answers_about_one_person_tell_everything():
    score = Scene.of(DirectQuestion(), crowd()).run(RawStatistics())
    assert score.right.rate == 1
    assert score.claims.rate == 1
    assert score.beats
    assert 0.3 < score.baseline.rate < 0.7
    assert (score.asked, score.refused) == (1, 0)
