"""One person moves what is measured by at most what was declared, whatever the rows are."""

from __future__ import annotations

import math
from datetime import date, datetime
from fractions import Fraction
from functools import cache

import numpy as np
from hypothesis import HealthCheck, Phase, example, given, settings
from hypothesis import strategies as st

from discreet.noise.gaussian import DiscreteGaussian
from discreet.noise.laplace import DiscreteLaplace
from discreet.privacy.loss import Pure, ZeroConcentrated
from discreet.privacy.neighbours import Neighbours
from discreet.query.aggregates.quantile import QuantileSelection
from discreet.query.plan.sensitivity import AggregationPlan
from discreet.query.question import prepare
from discreet.query.run.contribution_bounds import write_histogram
from discreet.query.run.measure import exact_sums, public_groups
from tests.query.hostile import PEOPLE, Person, world_of
from tests.query.world import CATALOG, World, prepared, read_pairs, read_queries
from tests.thoroughness import IS_THOROUGH, some

SPELLED = [query for query, _ in read_pairs("spelled.sql")]
QUERIES = [*read_queries("answers.sql"), *read_queries("measured.sql"), *SPELLED]


@cache
def _plans() -> list[tuple[str, AggregationPlan]]:
    return [(query, plan) for query in QUERIES for plan in prepared(query, Pure(1)).plans]


def _check_sums(query: str, plan: AggregationPlan, here: World, there: World) -> None:
    groups = public_groups(plan)
    both = zip(exact_sums(plan, groups, here.run), exact_sums(plan, groups, there.run), plan.parts, strict=True)
    for mine, theirs, priced in both:
        moved = [abs(int(a) - int(b)) for x, y in zip(mine, theirs, strict=True) for a, b in zip(x, y, strict=True)]
        assert sum(moved) <= priced.l1_sensitivity, (query, priced.part)
        assert sum(m * m for m in moved) <= priced.l2_sensitivity_squared, (query, priced.part)


def _check_histograms(query: str, plan: AggregationPlan, here: World, there: World) -> None:
    times = 2 if _neighbours(plan) is Neighbours.REPLACE_ONE else 1
    for choice in plan.choices:
        first, second = (_histogram(world, plan, k) for k in [plan.choices.index(choice)] for world in (here, there))
        moved = sum(abs(first.get(key, 0) - second.get(key, 0)) for key in first.keys() | second.keys())
        assert moved <= times * plan.rows_per_unit * plan.weight, query
        if isinstance(choice, QuantileSelection):
            assert all(choice.ends[0] <= key[-1] <= choice.ends[1] for key in first), query


def _histogram(world: World, plan: AggregationPlan, k: int) -> dict[tuple[object, ...], int]:
    table = world.run(*write_histogram(plan, plan.choices[k]))
    *keys, weights = (column.to_pylist() for column in table.columns)
    return {tuple(key): int(weight) for *key, weight in zip(*keys, weights, strict=True)}


def _neighbours(plan: AggregationPlan) -> Neighbours:
    assert plan.block.rows.privacy is not None
    return plan.block.rows.privacy.neighbours


EXTREME = ("a", 2**62, 1000.0, 1e300, 2**63 - 1, None, None, True, "", "x")
HEAVY = Person([EXTREME] * 7, [(2020, "f")] * 4, (2, True))
LIGHT = Person([("b", 0, 0.0, -1e300, -(2**63), None, None, False, "", "y")] * 3, [(1900, "m")], (0, False))
TWICE = Person([EXTREME] * 2, [(2020, "f")], (2, True))  # as often as a value that a public table lists twice

MIXED = Person(
    [
        ("it's", 37, 12.5, -0.0, 5, date(2020, 2, 29), datetime(2021, 1, 1, 12), None, "tea", "y"),
        ("Ω", -5, math.nan, 0.1, -7, date(1500, 1, 1), None, False, "it's", None),
        (None,) * 10,
        ("b", 110, 1000.0, math.inf, 0, date(2021, 12, 31), datetime(2021, 3, 31), True, "", "x"),
    ],
    [(1950, "f"), (None, None)],
    (50, False),
)
PHASES = [Phase.explicit, Phase.generate] if IS_THOROUGH else [Phase.explicit]
"""The first people that are made up have hardly a row, and each takes as long as those who have many."""


@example(crowd=[LIGHT, HEAVY, TWICE], one=MIXED, other=LIGHT)
@example(crowd=[], one=HEAVY, other=LIGHT)
@settings(max_examples=6, phases=PHASES, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
@given(crowd=st.lists(PEOPLE, max_size=4), one=PEOPLE, other=PEOPLE)
def test_one_person_moves_every_sum_by_at_most_what_is_declared(
    crowd: list[Person], one: Person, other: Person
) -> None:
    others = dict(enumerate(crowd, start=1))
    here, gone, replaced = world_of({0: one} | others), world_of(others), world_of({0: other} | others)
    for query, plan in some(_plans(), 60):
        there = replaced if _neighbours(plan) is Neighbours.REPLACE_ONE else gone
        _check_sums(query, plan, here, there)
        _check_histograms(query, plan, here, there)


def test_the_worst_person_reaches_the_declared_move() -> None:
    """The bounds are not only held but met, so a test that never fails is not what holds them."""
    row = ("a", 110, 1000.0, 0.0, 0, None, None, True, "", "x")
    worst = Person([(*row[:8], note, "x") for note in "abc"], [], (0, True))
    for query in (
        "SELECT COUNT(*) FROM visits",
        "SELECT SUM(age) FROM visits",
        "SELECT ward, SUM(cost) FROM visits GROUP BY 1",
        "SELECT ward, COUNT(*), AVG(cost), SUM(cost) FROM visits GROUP BY 1",
        "SELECT COUNT(*), VARIANCE(age), COUNT(age) FROM visits",
        "SELECT COUNT(*), COUNT_IF(flag) FROM visits",
        "SELECT COUNT(DISTINCT patient_id) FROM visits",
        "SELECT COUNT(DISTINCT note) FROM visits",
    ):
        (plan,) = prepare(query, CATALOG, Pure(1)).plans
        (found,) = exact_sums(plan, public_groups(plan), world_of({0: worst}).run)
        assert sum(np.abs(each).sum() for each in found) == plan.parts[0].l1_sensitivity, query


def test_noise_is_scaled_to_the_declared_move_and_the_shares_add_up_to_the_price() -> None:
    for query in QUERIES:
        plans = prepared(query, Pure(1)).plans
        for priced in (priced for plan in plans for priced in plan.parts):
            assert isinstance(priced.noise, DiscreteLaplace)
            assert priced.l1_sensitivity / priced.noise.scale == priced.share, query
            assert priced.mechanism.loss == Pure(priced.share), query
        spent = [plan.parts[family[0]].share for plan in plans for family in plan.families]
        chosen = [choice.epsilon for plan in plans for choice in plan.choices]
        assert sum(spent) + sum(chosen) == 1, query


def test_a_price_beyond_the_finest_noise_is_not_spent_in_full() -> None:
    for price in (Pure(2**60), ZeroConcentrated(2**80)):
        (priced,) = prepared("SELECT COUNT(*) FROM visits", price).plans[0].parts
        finest = priced.noise.scale if isinstance(priced.noise, DiscreteLaplace) else priced.noise.squared
        assert finest == (Fraction(1, 2**10) if isinstance(price, Pure) else Fraction(1, 2**20))
        assert priced.mechanism.loss < price


def test_gaussian_shares_add_up_to_the_price_too() -> None:
    for query in QUERIES:
        plans = prepared(query, ZeroConcentrated(1)).plans
        spent = Fraction(0)
        for priced in (priced for plan in plans for priced in plan.parts):
            assert isinstance(priced.noise, DiscreteGaussian)
            assert priced.l2_sensitivity_squared / (2 * priced.noise.squared) == priced.share, query
            assert priced.mechanism.loss == ZeroConcentrated(priced.share), query
        spent += sum(plan.parts[family[0]].share for plan in plans for family in plan.families)
        spent += sum(choice.epsilon**2 / 8 for plan in plans for choice in plan.choices)
        assert 0.999 < spent <= 1, query
