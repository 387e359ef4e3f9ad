"""Tracing somebody in published means: the closed forms are met, and power grows with √(d/n)."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import ndtri

import discreet as dp
from discreet.attacks.methods.tracing import (
    above_threshold,
    area_under_curve,
    expected_area,
    expected_power,
    separation,
    trace,
    tracing_chart,
    tracing_curve,
)
from discreet.errors import InvalidValue
from discreet.noise.experiment import experiment

METHODS = ["inner product", "homer", "likelihood"]


def crowds(people: int, attributes: int, seed: int, low: float = 0.1):
    """Shares, members and others."""
    chance = experiment(seed)
    shares = chance.uniform(low, 1 - low, attributes)
    members, others = (chance.random((people, attributes)) < shares for _ in range(2))
    return shares, members.astype(float), others.astype(float)


@pytest.mark.parametrize("ratio", [0.5, 2, 8])
def test_members_and_others_are_root_d_over_n_deviations_apart(ratio):
    """False alarms: the mean of 20 repetitions is off by a deviation of √(2/400/20) = 0.016, from the two means, and of
    √(1/800/20) = 0.8 % of itself, from the measured deviation; both are allowed more than 5.6 times: below 1e-7."""
    people, found = 400, []
    for seed in range(20):
        shares, members, others = crowds(people, int(ratio * people), seed)
        inside, outside = (trace(members.mean(axis=0), shares, group) for group in (members, others))
        found.append((inside.mean() - outside.mean()) / outside.std())
    assert np.mean(found) == pytest.approx(math.sqrt(ratio), abs=8 / math.sqrt(people * 20) + 0.05 * math.sqrt(ratio))


@pytest.mark.parametrize("method", METHODS)
def test_the_area_meets_its_closed_form(method):
    """False alarms: over 10 repetitions of 200 members and others the area has a deviation of 0.005; 0.03 are 6: 2e-9.

    Homer's statistic gives up a little where shares are far from one half, so 0.02 more are allowed for it below.
    """
    areas = []
    for seed in range(10):
        shares, members, others = crowds(200, 400, seed)
        means = members.mean(axis=0)
        areas.append(area_under_curve(trace(means, shares, members, method), trace(means, shares, others, method)))
    expected = expected_area(400, 200)
    assert expected - 0.03 - 0.02 * (method == "homer") < np.mean(areas) < expected + 0.03


def test_power_rises_with_attributes_as_the_closed_form_says():
    """False alarms: 300 members pass at the rate of the closed form within 6 deviations: 2e-9; 0.05 for a threshold."""
    points = tracing_curve(300, [30, 300, 1500, 4500])
    for point in points:
        spread = math.sqrt(point.expected * (1 - point.expected) / 300)
        assert abs(point.power.rate - point.expected) < 6 * spread + 0.05
        assert abs(point.accused.rate - 0.05) < 6 * math.sqrt(0.05 * 0.95 / 300) + 0.02
    powers = [point.power.rate for point in points]
    assert powers == sorted(powers)
    assert powers[-1] > 0.9


def test_repeats_are_added_up():
    once, twice = tracing_curve(20, [50, 100]), tracing_curve(20, [50, 100], repeats=2)
    assert [point.power.trials for point in once] == [20, 20]
    assert [point.power.trials for point in twice] == [40, 40]
    assert [point.expected for point in once] == [point.expected for point in twice]
    assert all(0 <= point.area <= 1 for point in twice)
    with pytest.raises(InvalidValue, match="repeats must be"):
        tracing_curve(20, [50], repeats=0)


def test_noise_on_the_means_weakens_the_trace_as_the_closed_form_says():
    """False alarms: as above."""
    (point,) = tracing_curve(300, [1500], noise=0.1)
    assert point.expected < expected_power(1500, 300) - 0.2
    assert abs(point.power.rate - point.expected) < 6 * math.sqrt(0.25 / 300) + 0.05


def test_a_budget_bounds_the_trace_whatever_the_number_of_attributes():
    """The means of n people move by √d/n at most, so ρ allows noise √d/(n√2ρ), and s = √(d/n)/√(1 + 2d/nρ) ≤ √(ρ/2).

    False alarms: 100 members pass at a rate below 0.1; more than 40 with probability below 1e-13.
    """
    people, attributes, rho = 100, 5000, 0.1
    chance = experiment(7)
    members, others, controls = (chance.integers(0, 2, (people, attributes)) for _ in range(3))
    mechanism = dp.Gaussian(rho="1/10", sensitivity=math.sqrt(attributes), dimension=attributes, integers=True)
    means = mechanism.release(members.sum(axis=0)) / people
    noise = 2 * mechanism.sigma / people
    assert separation(attributes, people, noise) <= math.sqrt(rho / 2)
    shares = np.full(attributes, 0.5)
    inside, known = (trace(means, shares, group) for group in (members, np.concatenate([others, controls])))
    assert above_threshold(inside, known).hits <= 40
    exact = (trace(members.mean(axis=0), shares, group) for group in (members, np.concatenate([others, controls])))
    assert above_threshold(*exact).hits == 100


def test_a_reference_of_other_people_accuses_the_innocent_and_controls_show_it():
    """Where the people differ from the reference, strangers like them score high; controls like them set it right.

    False alarms: shares that are 0.1 off lift strangers by 0.01·d/0.22 = 90, nine deviations, so each of 200 passes but
    with probability 1e-13. Beside controls like them 5 % pass; 20 % are eight deviations of that: below 1e-14.
    """
    shares, members, others = crowds(200, 2000, 3, low=0.3)
    wrong = np.clip(shares + 0.1, 0.05, 0.95)
    chance = experiment(9)
    of_reference = chance.random((500, 2000)) < wrong
    alike = chance.random((500, 2000)) < shares
    means = members.mean(axis=0)
    accused = above_threshold(trace(means, wrong, others), trace(means, wrong, of_reference))
    assert accused.rate > 0.9
    assert above_threshold(trace(means, wrong, others), trace(means, wrong, alike)).rate < 0.2


def test_the_area_counts_ties_half_and_agrees_with_all_pairs():
    members, others = np.array([1.0, 2, 2, 5]), np.array([0.0, 2, 3])
    pairs = [(inside > outside) + (inside == outside) / 2 for inside in members for outside in others]
    assert area_under_curve(members, others) == pytest.approx(np.mean(pairs))


def test_the_threshold_accuses_no_more_than_its_share_of_controls():
    controls = np.arange(100.0)
    assert above_threshold(controls, controls, 0.05).hits == 5
    assert above_threshold(controls, controls, 0.001).hits == 0
    assert above_threshold(np.full(3, 1e9), controls).rate == 1


def test_closed_forms_at_known_places():
    assert separation(400, 100) == 2
    assert separation(400, 100, noise=0.1) == pytest.approx(math.sqrt(2))
    assert expected_power(10**9, 10) == 1
    tenth = ndtri(0.95) ** 2
    assert expected_power(int(tenth * 10**6), 10**6) == pytest.approx(0.5, abs=1e-3)


def test_the_chart_shows_every_curve_and_the_closed_form():
    drawn = tracing_chart({20: tracing_curve(20, [20, 200]), 50: tracing_curve(50, [50, 500])})
    assert [one.name for one in drawn.series] == ["means of 20 people", "means of 50 people", "closed form"]
    assert drawn.reference_label == "wrongly accused"
    with pytest.raises(InvalidValue, match="at least one curve"):
        tracing_chart({})


@pytest.mark.parametrize(
    ("means", "reference", "profiles", "method", "said"),
    [
        ([0.5], [0.5, 0.5], [[1, 0]], "homer", "a number for each attribute"),
        ([0.5, 0.5], [0.5, 0.5], [[1, 0, 1]], "homer", "a number for each attribute"),
        ([0.5, 0.5], [0.5, 0.5], [1, 0], "homer", "a row for each person"),
        ([], [], [[]], "homer", "a number for each attribute"),
        ([0.5, np.nan], [0.5, 0.5], [[1, 0]], "homer", "finite"),
        ([0.5, np.inf], [0.5, 0.5], [[1, 0]], "homer", "finite"),
        ([0.5, 0.5], [0.5, 0], [[1, 0]], "inner product", "strictly between 0 and 1"),
        ([0.5, 0.5], [0.5, np.nan], [[1, 0]], "inner product", "strictly between 0 and 1"),
        ([0.5, 0.5], [0.5, 0.5], [[1, 0.5]], "inner product", "zeros and ones"),
        ([0.5, 0.5], [0.5, 0.5], [[1, 0]], "magic", "method must be"),
    ],
)
def test_bad_input_is_refused_in_a_sentence(means, reference, profiles, method, said):
    with pytest.raises(InvalidValue, match=said):
        trace(means, reference, profiles, method)


@pytest.mark.parametrize("bad", [[], [math.nan], [[1.0]]])
def test_scores_must_be_numbers(bad):
    with pytest.raises(InvalidValue, match="scores must be"):
        area_under_curve(bad, [1.0])


@pytest.mark.parametrize("alpha", [0, 1, -1, math.nan])
def test_the_share_of_wrongly_accused_must_be_a_share(alpha):
    with pytest.raises(InvalidValue, match="alpha must lie"):
        expected_power(10, 10, alpha)


def test_nobody_and_nothing_cannot_be_traced():
    with pytest.raises(InvalidValue, match="at least 1"):
        separation(0, 10)
