"""An onlooker sees what noise hides, and a measurement is the same with one and without."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from discreet.noise.source import ReplayableSource
from discreet.privacy.loss import ZeroConcentrated
from discreet.query.question import prepare
from discreet.query.run.measure import Measured, NoiseObservation, SelectionObservation, measure
from tests.query.hostile import Person, world_of
from tests.query.world import CATALOG

QUERIES = [
    "SELECT ward, COUNT(*), AVG(age), COUNT(DISTINCT patient_id) FROM visits GROUP BY ward",
    "SELECT MEDIAN(age), MODE(ward), SUM(cost) FROM visits",
    "SELECT note, COUNT(*), SUM(cost) FROM visits GROUP BY note",
    "SELECT ward FROM visits GROUP BY ward ORDER BY COUNT(*) DESC LIMIT 1",
]
PRINCIPAL = Person([("a", 50, 10.0, 1.0, 1, None, None, True, "tea", "x")], [], (2, True))


@pytest.mark.parametrize("query", QUERIES)
def test_measuring_is_the_same_with_an_onlooker_who_sees_every_integer(query: str) -> None:
    (plan,) = prepare(query, CATALOG, ZeroConcentrated(1), delta=Fraction(1, 10**6)).plans
    world, seen = world_of(dict.fromkeys(range(60), PRINCIPAL)), []
    alone = measure(plan, world.run, ReplayableSource(5))
    watched = measure(plan, world.run, ReplayableSource(5), seen.append)
    assert _integers(alone) == _integers(watched)
    _check_sums(watched, [one for one in seen if isinstance(one, NoiseObservation)])
    _check_choices(watched, [one for one in seen if isinstance(one, SelectionObservation)])


def _integers(measured: Measured) -> list[list[int]]:
    return [each.tolist() for each in [*(one for part in measured.sums for one in part), *measured.chosen]]


def _check_sums(measured: Measured, hidden: list[NoiseObservation]) -> None:
    assert sorted((one.part, one.place) for one in hidden) == [
        (k, j) for k, part in enumerate(measured.sums) for j in range(len(part))
    ]
    for one in hidden:
        assert one.law == measured.plan.parts[one.part].noise
        noisy = dict(zip(one.groups.tuples(), one.exact + one.noise, strict=True))
        released = measured.sums[one.part][one.place]
        assert [noisy[keys] for keys in measured.groups.tuples()] == released.tolist()


def _check_choices(measured: Measured, chosen: list[SelectionObservation]) -> None:
    if measured.plan.top is not None:
        (one,) = chosen
        assert one.weights[0][1].max() == 60 * measured.plan.weight
        assert one.groups.tuples()[one.picked[0]] == measured.groups.tuples()[0]
        return
    assert [one.place for one in chosen] == list(range(len(measured.plan.choices)))
    for one in chosen:
        assert one.choice == measured.plan.choices[one.place]
        assert np.array_equal(one.picked, measured.chosen[one.place])
        assert sum(weights.sum() for _, weights in one.weights) == 60 * measured.plan.weight
