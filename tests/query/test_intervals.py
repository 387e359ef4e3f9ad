"""Intervals cover the truth at least as often as they say."""

from __future__ import annotations

from statistics import stdev, variance

import numpy as np
import pytest

from discreet.noise.source import SYSTEM
from discreet.privacy.loss import Pure, ZeroConcentrated
from discreet.query.answer_table import noisy_table
from discreet.query.measure import Measured, exact_sums, public_groups
from discreet.query.plan import BlockPlan
from discreet.query.question import prepare
from tests.query.hostile import Person, world_of
from tests.query.world import CATALOG

QUERY = "SELECT COUNT(*), SUM(cost), AVG(cost), VAR_POP(cost), STDDEV_POP(age), AVG(age) FROM visits"
TIMES = 400
# At coverage 0.95 and 400 times, fewer than 350 happen with probability below 1e-8.
LEAST = 350
CROWD = {
    k: Person([("a", k % 90, (k * 37) % 1000, 1.0, 1, None, None, True, "", "x")] * 2, [], (1, True))
    for k in range(300)
}


def _noisy(plan: BlockPlan, exact: list[list[np.ndarray]]) -> Measured:
    stream = SYSTEM.open()
    sums = [[each + noise.draw(1, stream) for each in part] for part, noise in zip(exact, plan.noises, strict=True)]
    return Measured(plan, public_groups(plan), sums, [])


@pytest.mark.parametrize("price", [Pure(1), Pure(20), ZeroConcentrated(1)])
def test_an_interval_covers_the_truth_as_often_as_it_says(price: Pure | ZeroConcentrated) -> None:
    (plan,) = prepare(QUERY, CATALOG, price).plans
    exact = exact_sums(plan, public_groups(plan), world_of(CROWD).run)
    truth = noisy_table(Measured(plan, public_groups(plan), exact, []), 0.95, raw=True)
    covered = dict.fromkeys(range(len(plan.block.aggregates)), 0)
    for _ in range(TIMES):
        found = noisy_table(_noisy(plan, exact), 0.95, raw=False)
        for a in covered:
            low, value, high = (found[f"a{a}{end}"][0].as_py() for end in ("_low", "", "_high"))
            assert low - 1 <= value <= high + 1  # counts are rounded to whole numbers
            covered[a] += low - 1e-9 <= truth[f"a{a}"][0].as_py() <= high + 1e-9
    assert min(covered.values()) >= LEAST, covered


@pytest.mark.parametrize("ages", [[0, 110], [0, 110, 0], [0, 110] * 4, [0] * 9 + [110] * 9, [40, 60, 50]])
@pytest.mark.parametrize("price", [Pure("0.5"), Pure(3)])
def test_spreads_of_few_at_the_ends_of_their_bounds_are_covered(ages: list[int], price: Pure) -> None:
    """Of two, the variance of a sample is twice that of a population, which is more than bounds allow the latter."""
    (plan,) = prepare("SELECT VAR_SAMP(age), STDDEV_SAMP(age) FROM survey", CATALOG, price).plans
    few = {k: Person([], [], (age, True)) for k, age in enumerate(ages)}
    exact, covered = exact_sums(plan, public_groups(plan), world_of(few).run), [0, 0]
    for _ in range(TIMES):
        found = noisy_table(_noisy(plan, exact), 0.95, raw=False)
        for a, truth in enumerate((variance(ages), stdev(ages))):
            low, high = (found[f"a{a}{end}"][0].as_py() for end in ("_low", "_high"))
            covered[a] += low - 1e-6 <= truth <= high + 1e-6
    assert min(covered) >= LEAST, covered


@pytest.mark.parametrize("query", ["SELECT STDDEV(age), VARIANCE(cost), AVG(age), COUNT(*) FROM visits"])
def test_values_about_nobody_stay_plausible(query: str) -> None:
    (plan,) = prepare(query, CATALOG, Pure("0.1")).plans
    nobody = exact_sums(plan, public_groups(plan), world_of({}).run)
    for _ in range(50):
        found = noisy_table(_noisy(plan, nobody), 0.95, raw=False)
        for a, most in enumerate((110, 1000**2, 110, float("inf"))):
            low, value, high = (found[f"a{a}{end}"][0].as_py() for end in ("_low", "", "_high"))
            assert low >= 0
            assert low <= value + 1 <= high + 2
            assert value <= most
