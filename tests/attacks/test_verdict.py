"""A score reads as guessing, as learned from the crowd, as a leak, or as a broken promise."""

from __future__ import annotations

from dataclasses import replace

import pytest
from scipy.stats import fisher_exact

from discreet.attacks.defences.interactive import RawStatistics
from discreet.attacks.methods.queries import DirectQuestion
from discreet.attacks.score import DefenceVerdict, Score, beats_outsiders, verdict_of
from discreet.exact.binomial import Proportion
from discreet.privacy.loss import Pure


@pytest.mark.parametrize("inside", [(150, 200), (120, 200), (115, 200), (3, 10)])
@pytest.mark.parametrize("outside", [(100, 200), (90, 180), (0, 10), (0, 0)])
def test_members_are_compared_with_outsiders_by_fishers_exact_test(inside, outside):
    table = [[inside[0], inside[1] - inside[0]], [outside[0], outside[1] - outside[0]]]
    expected = bool(outside[1]) and fisher_exact(table, alternative="greater").pvalue <= 1e-3
    assert beats_outsiders(Proportion(*inside), Proportion(*outside)) == expected


def score(hits: int, beats: bool, control: int | None = None) -> Score:
    outside = None if control is None else Proportion(control, 200)
    return Score(Proportion(hits, 200), Proportion(100, 200), Proportion(hits, 200), beats, control=outside)


class Promising(RawStatistics):
    """Promises what it does not keep."""

    name = "promises"
    promise = Pure("0.1")


def test_an_attack_that_is_sure_of_a_few_members_uses_their_records():
    """It is right no more often than on outsiders, but nearly always where it claims something."""
    sure = replace(score(104, beats=True, control=100), claims=Proportion(30, 31), control_claims=Proportion(4, 40))
    assert verdict_of(sure, DirectQuestion(), RawStatistics()) is DefenceVerdict.LEAK
    silent = replace(sure, control_claims=Proportion(0, 0))
    assert verdict_of(silent, DirectQuestion(), RawStatistics()) is DefenceVerdict.LEAK
    lucky = replace(sure, control_claims=Proportion(30, 31))
    assert verdict_of(lucky, DirectQuestion(), RawStatistics()) is DefenceVerdict.CROWD


def test_every_reading():
    attack, defence = DirectQuestion(), RawStatistics()
    assert verdict_of(score(100, beats=False), attack, defence) is DefenceVerdict.GUESSING
    assert verdict_of(score(150, beats=False, control=20), attack, defence) is DefenceVerdict.GUESSING
    assert verdict_of(score(150, beats=True, control=145), attack, defence) is DefenceVerdict.CROWD
    assert verdict_of(score(150, beats=True, control=100), attack, defence) is DefenceVerdict.LEAK
    assert verdict_of(score(150, beats=True), attack, defence) is DefenceVerdict.LEAK
    assert verdict_of(score(150, beats=True), attack, Promising()) is DefenceVerdict.BROKEN
    assert verdict_of(score(118, beats=True), attack, Promising()) is DefenceVerdict.BOUNDED


def test_claims_that_hold_of_members_alone_are_no_crowd_knowledge():
    """On all targets the two are alike, because most of them are not claimed."""
    claims = {"gained": 0, "lost": 0, "control": Proportion(150, 200)}
    known = Score(Proportion(156, 200), Proportion(150, 200), Proportion(60, 60), True, **claims)
    attack, defence = DirectQuestion(), RawStatistics()
    assert verdict_of(replace(known, control_claims=Proportion(45, 60)), attack, defence) is DefenceVerdict.LEAK
    assert verdict_of(replace(known, control_claims=Proportion(59, 60)), attack, defence) is DefenceVerdict.CROWD
    silent = replace(known, control_claims=Proportion(0, 0))  # all true, and nothing said of outsiders
    assert verdict_of(silent, attack, defence) is DefenceVerdict.LEAK
