"""The names of the largest groups: chosen by selection where that errs less, and one person moves no weight further."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from scipy.stats import norm

from discreet.noise.source import SYSTEM
from discreet.privacy.loss import Pure, ZeroConcentrated
from discreet.privacy.neighbours import Neighbours
from discreet.query.answer.intervals import noisy_table
from discreet.query.plan.sensitivity import AggregationPlan
from discreet.query.plan.top_groups import selection_is_better
from discreet.query.question import prepare
from discreet.query.run.contribution_bounds import write_weights
from discreet.query.run.measure import measure, public_groups
from tests.query.hostile import PEOPLE, Person, world_of
from tests.query.world import CATALOG, World
from tests.thoroughness import many

LARGEST = "SELECT age FROM visits GROUP BY age ORDER BY COUNT(*) DESC LIMIT 1"


def _plan(query: str, price: Pure | ZeroConcentrated | None = None) -> AggregationPlan:
    (plan,) = prepare(query, CATALOG, price or Pure(1)).plans
    return plan


@pytest.mark.parametrize(
    "query",
    [
        LARGEST,
        "SELECT ward AS w, flag FROM visits GROUP BY 1, 2 ORDER BY COUNT(*) DESC LIMIT 1",
        "SELECT age FROM visits GROUP BY age ORDER BY COUNT(cost) FILTER (WHERE flag) DESC LIMIT 1",
        "SELECT TOP 1 age FROM swaps GROUP BY age ORDER BY COUNT(*) DESC",
        "SELECT COUNT(*) FROM (SELECT age FROM visits GROUP BY age ORDER BY COUNT(*) DESC LIMIT 1) t",
    ],
)
def test_the_largest_group_by_name_is_one_selection(query: str) -> None:
    plan = _plan(query)
    assert plan.top is not None
    assert (plan.top.picks, plan.top.epsilon) == (1, 1)
    assert not plan.parts


@pytest.mark.parametrize(
    "query",
    [
        "SELECT age, COUNT(*) FROM visits GROUP BY age ORDER BY COUNT(*) DESC LIMIT 1",
        "SELECT age FROM visits GROUP BY age ORDER BY COUNT(*) LIMIT 1",
        "SELECT age FROM visits GROUP BY age ORDER BY COUNT(*) DESC LIMIT 5",
        "SELECT age FROM visits GROUP BY age ORDER BY SUM(cost) DESC LIMIT 1",
        "SELECT age FROM visits GROUP BY age HAVING COUNT(*) > 3 ORDER BY COUNT(*) DESC LIMIT 1",
        "SELECT age FROM visits GROUP BY age ORDER BY COUNT(*) DESC, age LIMIT 1",
        "SELECT age FROM visits GROUP BY age ORDER BY COUNT(*) DESC LIMIT 1 OFFSET 1",
        "SELECT flag FROM visits GROUP BY flag ORDER BY COUNT(*) DESC LIMIT 3",
    ],
)
def test_other_questions_are_counted(query: str) -> None:
    assert _plan(query).top is None


def _moved(plan: AggregationPlan, here: World, there: World) -> int:
    assert plan.top is not None
    tables = [world.run(*write_weights(plan, plan.top)) for world in (here, there)]
    found = []
    for table in tables:
        places, kept = public_groups(plan).places(table)
        weights = np.zeros(len(plan.groups), np.int64)
        np.add.at(weights, places, np.asarray(table["s"])[kept])
        found.append(weights)
    return int(np.abs(found[0] - found[1]).sum())


@example(crowd=[], one=Person([("a", 5, 1.0, 1.0, 1, None, None, True, "", "x")] * 7, [], (1, True)))
@settings(max_examples=many(5, 10), deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
@given(crowd=st.lists(PEOPLE, max_size=3), one=PEOPLE)
def test_a_person_moves_the_weights_by_what_the_factor_allows(crowd: list[Person], one: Person) -> None:
    others = dict(enumerate(crowd, start=1))
    for query in (LARGEST, LARGEST.replace("visits", "swaps"), LARGEST.replace("COUNT(*)", "COUNT(cost)")):
        plan = _plan(query)
        assert plan.top is not None
        assert plan.block.rows.privacy is not None
        times = 2 if plan.block.rows.privacy.neighbours is Neighbours.REPLACE_ONE else 1
        moved = _moved(plan, world_of({0: one} | others), world_of(others))
        # Joining or leaving costs factor times the move; replacing is both, so a unit's own part is half.
        assert moved * plan.top.factor * times <= plan.top.epsilon


def test_the_race_is_won_by_the_largest_group_and_ranks_stand_for_counts() -> None:
    people = {
        k: Person([("a", (k % 7) ** 2, 1.0, 1.0, 1, None, None, True, "", "x")], [], (1, True)) for k in range(700)
    }
    people |= {k + 700: Person([("b", 50, 1.0, 1.0, 1, None, None, True, "", "x")], [], (1, True)) for k in range(300)}
    plan = _plan("SELECT age FROM visits GROUP BY age ORDER BY COUNT(*) DESC LIMIT 2", ZeroConcentrated(1))
    assert plan.top is not None
    assert plan.top.picks == 2
    assert plan.top.picks * plan.top.epsilon**2 / 8 <= 1
    found = noisy_table(measure(plan, world_of(people).run, SYSTEM), 0.95, raw=False)
    ranked = sorted(zip(found["a0"].to_pylist(), found["k0"].to_pylist(), strict=True), reverse=True)
    assert [rank for rank, _ in ranked] == [2, 1]
    assert ranked[0][1] == 50


def test_which_errs_less_follows_from_the_bounds_that_are_stated() -> None:
    for groups in (2, 5, 20, 1000, 50_000):
        for top in range(1, 12):
            if top >= groups:
                assert not selection_is_better(top, groups, Pure(1))
                continue
            picks = math.log(19 * top * (groups - 1))
            laplace, normal = 2 * math.log(20 * groups), 2 * float(norm.isf(1 / (40 * groups)))
            assert selection_is_better(top, groups, Pure(1)) == (top * picks < laplace)
            if selection_is_better(top, groups, ZeroConcentrated(Fraction(1, 2))):
                # The bound √(2 ln(40G)) that the rule uses is within a third of the exact normal quantile.
                assert math.sqrt(top / 4) * picks < 1.34 * normal
