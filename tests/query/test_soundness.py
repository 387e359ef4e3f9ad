"""One person moves what is measured by at most what was declared, whatever the rows are."""

from __future__ import annotations

from functools import cache

import numpy as np
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from discreet.privacy.loss import Pure, ZeroConcentrated
from discreet.privacy.neighbours import Neighbours
from discreet.query.measure import exact_sums
from discreet.query.plan import BlockPlan
from discreet.query.question import prepare
from discreet.query.statement import histogram_of
from tests.query.hostile import PEOPLE, Person, world_of
from tests.query.world import CATALOG, World, read_queries

QUERIES = [*read_queries("answers.sql"), *read_queries("measured.sql")]


@cache
def _plans() -> list[tuple[str, BlockPlan]]:
    return [(query, plan) for query in QUERIES for plan in prepare(query, CATALOG, Pure(1)).plans]


def _check_sums(query: str, plan: BlockPlan, here: World, there: World) -> None:
    sums = zip(exact_sums(plan, here.run), exact_sums(plan, there.run), plan.moves, strict=True)
    for mine, theirs, moves in sums:
        moved = [abs(int(a) - int(b)) for a, b in zip(mine, theirs, strict=True)]
        assert sum(moved) <= moves, query
        assert sum(m * m for m in moved) <= moves * moves, query


def _check_histograms(query: str, plan: BlockPlan, here: World, there: World) -> None:
    times = 2 if _neighbours(plan) is Neighbours.REPLACE_ONE else 1
    for choice in plan.choices:
        first, second = (_histogram(world, plan, k) for k in [plan.choices.index(choice)] for world in (here, there))
        moved = sum(abs(first.get(key, 0) - second.get(key, 0)) for key in first.keys() | second.keys())
        assert moved <= times * plan.rows_per_unit * plan.weight, query
        assert all(choice.ends[0] <= key[-1] <= choice.ends[1] for key in first), query


def _histogram(world: World, plan: BlockPlan, k: int) -> dict[tuple[object, ...], int]:
    table = world.run(*histogram_of(plan, plan.choices[k]))
    *keys, weights = (column.to_pylist() for column in table.columns)
    return {tuple(key): int(weight) for *key, weight in zip(*keys, weights, strict=True)}


def _neighbours(plan: BlockPlan) -> Neighbours:
    assert plan.block.rows.privacy is not None
    return plan.block.rows.privacy.neighbours


EXTREME = ("a", 2**62, 1000.0, 1e300, 2**63 - 1, None, None, True, "", "x")
HEAVY = Person([EXTREME] * 7, [(2020, "f")] * 4, (2, True))
LIGHT = Person([("b", 0, 0.0, -1e300, -(2**63), None, None, False, "", "y")] * 3, [(1900, "m")], (0, False))


@example(crowd=[], one=HEAVY, other=LIGHT)
@settings(max_examples=5, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
@given(crowd=st.lists(PEOPLE, max_size=4), one=PEOPLE, other=PEOPLE)
def test_one_person_moves_every_sum_by_at_most_what_is_declared(
    crowd: list[Person], one: Person, other: Person
) -> None:
    others = dict(enumerate(crowd, start=1))
    here, gone, replaced = world_of({0: one} | others), world_of(others), world_of({0: other} | others)
    for query, plan in _plans():
        there = replaced if _neighbours(plan) is Neighbours.REPLACE_ONE else gone
        _check_sums(query, plan, here, there)
        _check_histograms(query, plan, here, there)


def test_the_worst_person_reaches_the_declared_move() -> None:
    """The bounds are not only held but met, so a test that never fails is not what holds them."""
    row = ("a", 110, 1000.0, 0.0, 0, None, None, True, "", "x")
    worst = Person([row] * 3, [], (0, True))
    for query in (
        "SELECT COUNT(*) FROM visits",
        "SELECT SUM(age) FROM visits",
        "SELECT ward, SUM(cost) FROM visits GROUP BY 1",
    ):
        (plan,) = prepare(query, CATALOG, Pure(1)).plans
        (moved,) = (np.abs(s).sum() for s in exact_sums(plan, world_of({0: worst}).run))
        assert moved == plan.moves[0], query


def test_noise_is_scaled_to_the_declared_move_and_the_shares_add_up_to_the_price() -> None:
    for query, plan in _plans():
        parts = len(plan.noises) + len(plan.choices)
        for noise, moves in zip(plan.noises, plan.moves, strict=True):
            assert moves / noise.scale * parts * len(_of(query)) == 1, query
        for choice in plan.choices:
            assert choice.epsilon * parts == 1, query


def _of(query: str) -> list[BlockPlan]:
    return [plan for other, plan in _plans() if other == query]


def test_gaussian_shares_add_up_to_the_price_too() -> None:
    for query in QUERIES:
        question = prepare(query, CATALOG, ZeroConcentrated(1))
        spent = sum(
            moves * moves / (2 * noise.squared)
            for plan in question.plans
            for noise, moves in zip(plan.noises, plan.moves, strict=True)
        )
        chosen = sum(choice.epsilon**2 / 8 for plan in question.plans for choice in plan.choices)
        assert spent + chosen <= 1, query
        assert spent + chosen > 0.999, query
