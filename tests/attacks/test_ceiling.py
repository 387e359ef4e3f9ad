"""What a promise allows: the closed forms are the optima of the linear programs that they are said to be."""

from __future__ import annotations

import math

import pytest
from scipy.optimize import linprog
from scipy.stats import binom

from discreet.attacks.attack import Goal
from discreet.attacks.score import Score, average_ceiling, ceiling_beside, ceiling_of, exceeds, surest
from discreet.exact.binomial import Proportion
from discreet.privacy.loss import Approximate, Pure


@pytest.mark.parametrize("epsilon", [0.01, 0.1, 1, 3, 10])
@pytest.mark.parametrize("prior", [0.5, 0.62, 0.9, 0.3])
def test_no_way_to_guess_two_values_is_right_more_often(epsilon, prior):
    """Over all (a, b) that the promise allows, as a linear program."""
    grown = math.exp(epsilon)
    found = linprog([-prior, prior - 1], A_ub=[[1, grown], [grown, 1]], b_ub=[grown, grown], bounds=(0, 1))
    assert average_ceiling(epsilon, prior) == pytest.approx(-found.fun, abs=1e-9)


@pytest.mark.parametrize("epsilon", [0.1, 1, 3])
@pytest.mark.parametrize("outside", [0.0, 0.1, 0.5, 0.9, 1.0])
def test_being_in_the_table_helps_no_more_than_the_promise_allows(epsilon, outside):
    grown = math.exp(epsilon)
    found = linprog([-1], A_ub=[[1], [grown]], b_ub=[grown * outside, grown - (1 - outside)], bounds=(0, 1))
    assert ceiling_beside(epsilon, outside) == pytest.approx(-found.fun, abs=1e-9)


def test_one_answer_moves_odds_by_the_promise():
    likelier = surest(1, 0.7)
    assert likelier / (1 - likelier) == pytest.approx(math.e * 0.7 / 0.3)
    assert surest(1, 0.3) == likelier


def score(hits: int, baseline: int = 100, control: int | None = None) -> Score:
    outside = None if control is None else Proportion(control, 200)
    return Score(Proportion(hits, 200), Proportion(baseline, 200), Proportion(hits, 200), False, control=outside)


def test_every_goal_has_its_ceiling():
    assert ceiling_of(score(120, 130), Goal.BIT, Pure(1)) == pytest.approx(math.e / (1 + math.e))
    assert ceiling_of(score(120, 130), Goal.MEMBERSHIP, Pure("0.1")) == pytest.approx(0.65)
    outside = Proportion(80, 200).interval()[1]
    assert ceiling_of(score(120, control=80), Goal.VALUE, Pure("0.1")) == pytest.approx(outside * math.exp(0.1))
    assert ceiling_of(score(120), Goal.VALUE, Pure(1)) is None
    assert ceiling_of(score(120), Goal.BIT, None) is None
    assert ceiling_of(score(120), Goal.BIT, Approximate(1, "1e-6")) is None


def test_releases_add_up():
    both = ceiling_of(score(120), Goal.BIT, Pure(1), releases=2)
    assert both == ceiling_of(score(120), Goal.BIT, Pure(2))
    assert exceeds(score(185), Goal.BIT, Pure(1))
    assert not exceeds(score(185), Goal.BIT, Pure(1), releases=2)


def test_a_promise_is_doubted_only_where_a_million_to_one_speaks_against_it():
    chance = math.e / (1 + math.e)
    first = next(hits for hits in range(201) if exceeds(score(hits), Goal.BIT, Pure(1)))
    assert binom.sf(first - 1, 200, chance) <= 1e-6 < binom.sf(first - 2, 200, chance)
    assert not exceeds(score(200), Goal.VALUE, Pure(1))
    assert not exceeds(score(200), Goal.BIT, None)
