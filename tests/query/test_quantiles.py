"""Quantiles are chosen by weight: a person moves no distance further than declared, and answers are near the truth."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

from discreet.mechanisms.weighted_quantile import WeightedQuantile
from discreet.noise.source import SYSTEM
from discreet.privacy.loss import Pure
from discreet.query.question import prepare
from discreet.query.run.measure import measure
from tests.query.hostile import Person, world_of
from tests.query.world import CATALOG
from tests.thoroughness import many

ENDS = (0, 8)
WEIGHTS = st.lists(st.integers(0, 2**40), min_size=9, max_size=9)


def _choice(quantile: Fraction, inward: int) -> WeightedQuantile:
    return WeightedQuantile(1, quantile, ENDS, weight=1 / max(quantile, 1 - quantile), inward=inward)


@settings(max_examples=many(50, 200), deadline=None)
@given(
    before=WEIGHTS,
    added=WEIGHTS,
    quantile=st.sampled_from([Fraction(0), Fraction(1, 3), Fraction(1, 2), Fraction(19, 20), Fraction(1)]),
    inward=st.integers(0, 2**41),
)
def test_a_distance_moves_by_at_most_the_weight_times_the_larger_share(
    before: list[int], added: list[int], quantile: Fraction, inward: int
) -> None:
    choice = _choice(quantile, inward if quantile in (0, 1) else 0)
    after = [a + b for a, b in zip(before, added, strict=True)]
    first, second = (choice.measure_distances(np.arange(9), np.asarray(w, np.int64)) for w in (before, after))
    allowed = sum(added) * max(quantile, 1 - quantile) * quantile.denominator
    assert all(abs(first[point] - second[point]) <= allowed for point in range(9))


@pytest.mark.parametrize(
    ("call", "truth"), [("MEDIAN(age)", 50), ("quantile_cont(age, 0.9)", 90), ("MIN(age)", 0), ("MAX(age)", 100)]
)
def test_at_a_high_price_a_quantile_is_the_true_one(call: str, truth: int) -> None:
    people = {k: Person([("a", k % 101, 1.0, 1.0, 1, None, None, True, "", "x")], [], (1, True)) for k in range(2020)}
    (plan,) = prepare(f"SELECT {call} FROM visits", CATALOG, Pure(100)).plans
    (found,) = measure(plan, world_of(people).run, SYSTEM).chosen
    assert abs(found[0] - truth) <= 1


def test_nobody_at_all_gives_some_point_of_the_range() -> None:
    none = np.empty(0, np.int64)
    found = _choice(Fraction(1, 2), 0).pick(none, none, 50, SYSTEM.open())
    assert ENDS[0] <= found.min() <= found.max() <= ENDS[1]


def test_weights_beyond_64_bits_do_not_wrap_around() -> None:
    points, weights = np.arange(9), np.full(9, 2**62)
    found = _choice(Fraction(1, 3), 0).measure_distances(points, weights)
    assert all(distance >= 0 for distance in found.values())
    assert found[0] == 2**61


def test_points_are_chosen_with_exactly_the_stated_law_also_many_at_once() -> None:
    """A false alarm comes once in a million runs."""
    points, weights, choice = np.array([2, 3, 7]), np.array([4, 1, 2]), _choice(Fraction(1, 2), 0)
    distances = choice.measure_distances(points, weights)
    law = np.exp([-float(choice.factor) / choice.quantile.denominator * distances[k] for k in range(9)])
    found = np.bincount(choice.pick(points, weights, 20_000, SYSTEM.open()), minlength=9)
    assert chisquare(found, law / law.sum() * 20_000).pvalue > 1e-6


def test_groups_that_are_alike_are_chosen_for_one_by_one() -> None:
    """All groups are empty; ten times a hundred points for each of them are the same with probability below 10^-20."""
    (plan,) = prepare("SELECT ward, MEDIAN(age) FROM visits GROUP BY ward", CATALOG, Pure(1)).plans
    assert len(plan.groups) > 1
    found = [measure(plan, world_of({}).run, SYSTEM).chosen[0] for _ in range(10)]
    assert any(len(set(chosen.tolist())) > 1 for chosen in found)
