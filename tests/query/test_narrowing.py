"""Bounds follow from what WHERE, FILTER and CASE say, and from CLAMP; nothing follows from what may not hold."""

from __future__ import annotations

from fractions import Fraction

import pytest

from discreet.errors import QueryRefused
from discreet.privacy.loss import Pure
from discreet.query.aggregates.statistics import bound_values
from discreet.query.question import prepare
from discreet.query.run.measure import exact_sums, public_groups
from tests.query.hostile import Person, world_of
from tests.query.world import CATALOG

BOUNDED = {
    "SELECT SUM(score) FROM visits WHERE score BETWEEN 0 AND 100": (0, 100),
    "SELECT SUM(score) FROM visits WHERE score >= 0 AND 99.5 > score": (0, 99.5),
    "SELECT SUM(score) FROM visits WHERE NOT (score < -2 OR score > 7)": (-2, 7),
    "SELECT SUM(big) FROM visits WHERE big IN (3, 9, 5)": (3, 9),
    "SELECT SUM(big) FROM visits WHERE big = 4": (4, 4),
    "SELECT SUM(big) FROM visits WHERE big > -1.5 AND big < 3.5": (-2, 4),
    "SELECT SUM(score) FROM visits WHERE score >= age AND score <= cost": (0, 1000),
    "SELECT SUM(score) FILTER (WHERE score BETWEEN 0 AND 10) FROM visits": (0, 10),
    "SELECT SUM(CASE WHEN score BETWEEN 0 AND 10 THEN score END) FROM visits": (0, 10),
    "SELECT SUM(CASE WHEN score < 0 THEN 0 WHEN score > 5 THEN 5 ELSE score END) FROM visits": (0, 5),
    "SELECT SUM(CLAMP(score, -1, 1)) FROM visits": (-1, 1),
    "SELECT SUM(CLAMP(big * 2, 0, 8)) FROM visits": (0, 8),
    "SELECT SUM(y) FROM (SELECT score * 2 AS y FROM visits) t WHERE y BETWEEN 1 AND 2": (1, 2),
    "SELECT SUM(age) FROM visits WHERE age BETWEEN 20 AND 30": (0, 110),  # what the policy states stays
}
UNBOUNDED = [
    "SELECT SUM(score) FROM visits WHERE score > 0",
    "SELECT SUM(score) FROM visits WHERE score > 0 OR score < 5",
    "SELECT SUM(score) FROM visits WHERE NOT (score > 0 AND score > 5)",
    "SELECT SUM(score) FROM visits WHERE big BETWEEN 0 AND 100",
    "SELECT SUM(score) FROM visits WHERE score <> 3",
    "SELECT SUM(score) FILTER (WHERE age > 3) FROM visits",
    "SELECT SUM(CASE WHEN score BETWEEN 0 AND 10 THEN 1 ELSE score END) FROM visits",
    "SELECT SUM(CASE WHEN NOT (score < 0) THEN 1 WHEN score > 5 THEN 5 ELSE score END) FROM visits",
    "SELECT SUM(CLAMP(score, 5, 1)) FROM visits",
]


@pytest.mark.parametrize("text", BOUNDED)
def test_conditions_give_bounds(text: str) -> None:
    (plan,) = prepare(text, CATALOG, Pure(1)).plans
    assert bound_values(plan.block.aggregates[0].argument) == tuple(Fraction(end) for end in BOUNDED[text])


@pytest.mark.parametrize("text", UNBOUNDED)
def test_what_may_not_hold_gives_none(text: str) -> None:
    with pytest.raises(QueryRefused, match="needs public bounds"):
        prepare(text, CATALOG, Pure(1))


def test_clamp_leaves_missing_values_out() -> None:
    """Half of the scores are missing: of the others 10 and 40, the mean is 25."""
    scores = [None, 10.0, None, 40.0, None, 400.0]
    people = {
        k: Person([("a", 1, 1, score, 1, None, None, True, "", "x")], [], (1, True)) for k, score in enumerate(scores)
    }
    for text, counted in (("CLAMP(score, 0, 100)", 3), ("GREATEST(0, LEAST(100, score))", 6)):
        (plan,) = prepare(f"SELECT COUNT({text}) FROM visits", CATALOG, Pure(1)).plans
        ((count,),) = exact_sums(plan, public_groups(plan), world_of(people).run)
        assert count[0] * plan.parts[0].unit == counted
