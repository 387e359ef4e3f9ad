"""Intervals cover the truth at least as often as they say."""

from __future__ import annotations

from statistics import stdev, variance

import numpy as np
import pytest

from discreet.noise.source import SYSTEM
from discreet.privacy.loss import Pure, ZeroConcentrated
from discreet.query.answer.intervals import noisy_table
from discreet.query.plan.sensitivity import AggregationPlan
from discreet.query.question import prepare
from discreet.query.run.measure import Measured, exact_sums, public_groups
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


def _noisy(plan: AggregationPlan, exact: list[list[np.ndarray]]) -> Measured:
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
            assert low <= value <= high
            covered[a] += low - 1e-9 <= truth[f"a{a}"][0].as_py() <= high + 1e-9
    assert min(covered.values()) >= LEAST, covered


@pytest.mark.parametrize("ages", [[0, 110], [0, 110, 0], [0, 110] * 4, [0] * 9 + [110] * 9, [40, 60, 50]])
@pytest.mark.parametrize("price", [Pure("0.5"), Pure(3)])
@pytest.mark.some(2)
def test_spreads_of_few_at_the_ends_of_their_bounds_are_covered(ages: list[int], price: Pure) -> None:
    """Of two, the variance of a sample is twice that of a population, which is more than bounds allow the latter."""
    (plan,) = prepare("SELECT VAR_SAMP(age), STDDEV_SAMP(age) FROM survey", CATALOG, price).plans
    few = {k: Person([], [], (age, True)) for k, age in enumerate(ages)}
    exact, missed = exact_sums(plan, public_groups(plan), world_of(few).run), [0, 0]
    for _ in range(TIMES):
        found = noisy_table(_noisy(plan, exact), 0.95, raw=False)
        for a, truth in enumerate((variance(ages), stdev(ages))):
            low, value, high = (found[f"a{a}{end}"][0].as_py() for end in ("_low", "", "_high"))
            if value is not None:
                missed[a] += not low - 1e-6 <= truth <= high + 1e-6
    assert max(missed) <= TIMES - LEAST, missed


# Values that noise took to where none can be.


def _bands(query: str, ages: list[int], price: Pure, times: int) -> list[tuple[float, float, float, float]]:
    """What was measured, then low, value and high as shown, of one aggregate over these people; none that is NULL."""
    (plan,) = prepare(query, CATALOG, price).plans
    people = {k: Person([], [], (age, True)) for k, age in enumerate(ages)}
    exact, found = exact_sums(plan, public_groups(plan), world_of(people).run), []
    for _ in range(times):
        noisy = _noisy(plan, exact)
        raw, shown = (noisy_table(noisy, 0.95, raw=raw) for raw in (True, False))
        if shown["a0"][0].as_py() is not None:
            ends = (shown[f"a0{end}"][0].as_py() for end in ("_low", "", "_high"))
            found.append((raw["a0"][0].as_py(), *ends))
    return found


@pytest.mark.parametrize(("query", "ages", "truth", "least", "most"), [
    ("SELECT COUNT(*) FROM survey", [30] * 3, 3, 0, float("inf")),
    ("SELECT AVG(age) FROM survey", [2] * 24, 2, 0, 110),
    ("SELECT AVG(age) FROM survey", [108] * 24, 108, 0, 110),
    ("SELECT VAR_POP(age) FROM survey", [50] * 40, 0, 0, 55**2),
])  # fmt: skip
@pytest.mark.some(2)
def test_moved_values_keep_intervals_as_wide_as_their_noise(
    query: str, ages: list[int], truth: float, least: float, most: float
) -> None:
    """Those that are moved are covered as often as all: an interval cut to a point at a bound would cover nobody."""
    bands = _bands(query, ages, Pure("0.4"), TIMES)
    moved = [band for band in bands if not least <= band[0] <= most]
    assert len(moved) >= 20  # of 400, or the test would look at nothing
    reaches = [max(high - value, value - low) for _, low, value, high in moved]
    assert min(reaches) > 0
    assert all(low <= value <= high for _, low, value, high in bands)
    covered = sum(low <= truth <= high for _, low, _, high in moved)
    assert covered >= 0.95 * len(moved) - 5.2 * (0.95 * 0.05 * len(moved)) ** 0.5


def test_a_mean_of_what_may_be_nobody_is_missing() -> None:
    (plan,) = prepare("SELECT AVG(age), STDDEV(age), MEDIAN(age), COUNT(*) FROM survey", CATALOG, Pure("0.4")).plans
    nobody = exact_sums(plan, public_groups(plan), world_of({}).run)
    missing = [0, 0, 0]
    for _ in range(TIMES):
        noisy = _noisy(plan, nobody)
        table = noisy_table(Measured(plan, noisy.groups, noisy.sums, [np.asarray([50])]), 0.95, raw=False)
        for a in range(3):
            missing[a] += table[f"a{a}"][0].as_py() is None
    assert min(missing) >= LEAST, missing


@pytest.mark.parametrize("query", ["SELECT STDDEV(age), VARIANCE(cost), AVG(age), COUNT(*) FROM visits"])
def test_values_about_nobody_stay_plausible(query: str) -> None:
    (plan,) = prepare(query, CATALOG, Pure("0.1")).plans
    nobody = exact_sums(plan, public_groups(plan), world_of({}).run)
    for _ in range(50):
        found = noisy_table(_noisy(plan, nobody), 0.95, raw=False)
        for a, most in enumerate((110, 1000**2, 110, float("inf"))):
            low, value, high = (found[f"a{a}{end}"][0].as_py() for end in ("_low", "", "_high"))
            if value is None:
                assert a < 3
                continue
            assert low >= 0
            assert low <= value + 1 <= high + 2
            assert value <= most
