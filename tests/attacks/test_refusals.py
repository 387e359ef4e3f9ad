"""Greatest secrets disclose by answers, and by refusals of an auditor who looks."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.attacks.board import Scene
from discreet.attacks.defences.interactive import MinimumSize, RawStatistics, Subsampling
from discreet.attacks.defences.query_auditing import QueryAuditing
from discreet.attacks.methods.queries import Refusals, _disclosed
from tests.attacks.contract import AttackContract
from tests.attacks.crowd import crowd


class TestRefusals(AttackContract):
    def attack(self):
        return Refusals()

    def defences(self):
        return [RawStatistics(), QueryAuditing(), Subsampling(), MinimumSize()]


def run(defence):
    return Scene.of(Refusals(), crowd()).run(defence)


def test_an_auditor_who_looks_tells_by_refusing_what_he_would_have_told_by_answering():
    answered, audited = run(RawStatistics()), run(QueryAuditing())
    assert answered.refused == 0
    assert audited.refused > 20
    assert audited.claims == answered.claims
    assert audited.claims.rate == 1
    assert audited.claims.trials > 30
    assert audited.beats


@pytest.mark.parametrize("defence", [QueryAuditing(is_simulatable=True), MinimumSize()], ids=lambda each: each.name)
def test_who_refuses_whatever_the_answer_is_tells_nothing(defence):
    score = run(defence)
    assert score.claims.trials == 0
    assert score.refused == score.asked == 264
    assert score.note == "Everything was refused, which tells nothing."


def test_people_who_are_not_in_the_table_are_not_asked_about():
    assert run(RawStatistics()).control is None


@pytest.mark.parametrize(
    ("whole", "without", "secrets"),
    [
        (3, [2, 3, 3], [3, -1, -1]),
        (3, [3, 3, np.nan], [-1, -1, 3]),
        (3, [3, 3, 3], [-1, -1, -1]),
        (0, [0, 0, 0], [0, 0, 0]),
        (np.nan, [np.nan] * 3, [0, 0, 0]),  # others were answered, so that this refusal says something
        (3, [np.nan, np.nan, 3], [-1, -1, -1]),  # no auditor who looks would do so
        (-1, [-1, -1, -1], [-1, -1, -1]),  # nobody of the group is in the table
        (5.2, [1.1, 4.9, 5.3], [3, -1, -1]),
    ],
)
def test_one_group(whole, without, secrets):
    found = _disclosed(np.array([whole, 1.0]), np.array([without, [1, 1, 1]]), 4)
    assert found.tolist() == [secrets, [-1, -1, -1]]


def test_nothing_but_refusals_says_nothing():
    assert (_disclosed(np.full(4, np.nan), np.full((4, 3), np.nan), 4) == -1).all()
