"""Means of bounded numbers: laws, variances as published, intervals that cover and are not much too wide."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
import pytest
from scipy.stats import binom, norm

from discreet.errors import InvalidInput, InvalidType, InvalidValue
from discreet.exact.ball import working_precision
from discreet.local.domains import Steps
from discreet.local.mean import MeanRandomizer, ReportSpread, SumOfSigns, _largest
from discreet.local.mean_mechanisms import DuchiMean, HybridMean, PiecewiseMean
from discreet.local.randomized_response import GeneralizedResponse
from discreet.mechanisms.randomized_response import Debias
from discreet.noise.experiment import experiment
from discreet.noise.source import ReplayableSource
from tests.local.mean_contract import MeanContract

KINDS = [DuchiMean, PiecewiseMean, HybridMean]


class TestDuchi(MeanContract):
    kind = DuchiMean
    crowd = 6


class TestPiecewise(MeanContract):
    kind = PiecewiseMean
    crowd = 3


class TestPiecewiseWithAWindowOfOne(MeanContract):
    kind = PiecewiseMean
    epsilon: ClassVar[Any] = 4


class TestHybrid(MeanContract):
    kind = HybridMean


class TestHybridBelowTheTurn(MeanContract):
    kind = HybridMean
    epsilon: ClassVar[Any] = Fraction(1, 2)
    crowd = 4

    def impossible(self) -> list[Any]:
        return [0, self.randomizer().reports - 3, *super().impossible()]


def published(kind: type[MeanRandomizer], epsilon: float, t: float) -> float:
    """n·Var for numbers in [-1, 1], as in Wang et al. 2019."""
    e, half = math.exp(epsilon), math.exp(epsilon / 2)
    duchi = ((e + 1) / (e - 1)) ** 2 - t**2
    piecewise = t**2 / (half - 1) + (half + 3) / (3 * (half - 1) ** 2)
    if kind is DuchiMean:
        return duchi
    if kind is PiecewiseMean:
        return piecewise
    above = (half + 3) / (3 * half * (half - 1)) + (e + 1) ** 2 / (half * (e - 1) ** 2)
    return above if epsilon > 0.61 else duchi


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("epsilon", [0.1, 0.5, 1, 2, 4, 8])
def test_variances_match_the_published_formulas(kind: type[MeanRandomizer], epsilon: float) -> None:
    """Duchi exactly; the others up to the effect of the steps, a few parts in w, as the proof sheet says."""
    randomizer = kind(epsilon, -1, 1)
    window = getattr(randomizer, "window", None) or getattr(getattr(randomizer, "numbers", None), "window", 10**12)
    for t in (-1, -0.5, 0, 0.25, 1):
        stated = randomizer.estimator.variance(1, t)
        assert stated == pytest.approx(published(kind, epsilon, t), rel=4 / window)


@pytest.mark.parametrize("epsilon", [0.1, 1, 4])
@pytest.mark.parametrize("steps", [1, 4, 7, 1000])
def test_steps_take_a_twelfth_off_the_variance(epsilon: float, steps: int) -> None:
    """The exact effect of steps: the continuous mechanism with the same window, less a twelfth of a squared step."""
    found = PiecewiseMean(epsilon, -1, 1, steps=steps)
    e, wide = math.exp(epsilon), found.window / steps
    slope = wide * (e - 1) / (wide * e + 1)
    for position in range(0, steps + 1, max(steps // 7, 1)):
        t = 2 * position / steps - 1
        continuous = t**2 * (1 - slope) / slope
        continuous += ((1 + wide) ** 3 + (e - 1) * wide**3) / (3 * (wide * e + 1) * slope**2)
        with working_precision():
            assert 4 * float(found.variance_at(position)) == pytest.approx(
                continuous - 1 / (3 * (slope * steps) ** 2), rel=1e-9
            )


def test_the_hybrid_is_best_in_the_worst_case_above_the_turn() -> None:
    for epsilon in (0.62, 1, 2, 4):
        worst = {kind: max(kind(epsilon, -1, 1).estimator.variance(1, t) for t in (-1, 0, 1)) for kind in KINDS}
        assert worst[HybridMean] == min(worst.values())


@pytest.mark.parametrize("epsilon", [0.05, 0.3, 1, 3, 6])
def test_the_window_takes_the_published_share_of_all_reports(epsilon: float) -> None:
    found = PiecewiseMean(epsilon, 0, 1)
    assert found.window / found.reports == pytest.approx(1 / (math.exp(epsilon / 2) + 1), abs=1e-4)
    with working_precision():
        inside = float(found._masses()[0]) * found.window
    assert inside == pytest.approx(math.exp(epsilon / 2) / (math.exp(epsilon / 2) + 1), abs=1e-4)


def test_whole_numbers_stay_whole() -> None:
    for low, high in ((0, 100), (-3, 4), (0, 1), (18, 2**15 + 18)):
        steps = Steps.between(low, high)
        found = steps.positions(np.arange(low, high + 1)) * Fraction(high - low, steps.count) + low
        assert found.tolist() == list(range(low, high + 1))


def test_numbers_move_by_half_a_step_at_most() -> None:
    steps = Steps.between("-0.3", "12.9", 1000)
    values = experiment(1).uniform(-0.3, 12.9, 1000)
    moved = steps.positions(values) * 13.2 / 1000 - 0.3 - values
    assert np.abs(moved).max() <= steps.rounding * 13.2
    assert steps.positions([*values.tolist(), 1]).tolist()[:-1] == steps.positions(values).tolist()
    assert steps.positions([0.1, 1]).tolist() == [round(0.4 / 13.2 * 1000), round(1.3 / 13.2 * 1000)]


def test_bounds_that_make_no_sense_are_refused() -> None:
    for low, high in ((1, 1), (2, 1), (10**9, 10**9 + 1)):
        with pytest.raises(InvalidValue):
            DuchiMean(1, low, high)
    for bad in (0, 2**31, 1.5):
        with pytest.raises(InvalidInput):
            DuchiMean(1, 0, 1, steps=bad)
    with pytest.raises(InvalidType):
        Steps.between(0, 1).positions(np.zeros((2, 2)))
    with pytest.raises(InvalidType):
        DuchiMean.from_terms(GeneralizedResponse(1, ["a", "b"]).terms)


@pytest.mark.parametrize("kind", KINDS)
def test_ends_of_a_very_large_or_small_epsilon_work(kind: type[MeanRandomizer]) -> None:
    for epsilon in ("1e-9", 60, 2000):
        randomizer = kind(epsilon, 0, 10)
        reports = randomizer.privatize([3] * 100, source=ReplayableSource("ends"))
        low, high = randomizer.estimate(reports).interval()
        assert 0 <= low <= high <= 10
    assert kind(2000, 0, 10).privatize([3.5] * 100).terms.bytes_each <= 4


def test_a_sum_of_unequal_signs_is_covered() -> None:
    """Exactly, on each side: a bound of Clopper and Pearson alone fails for 0.28 and zeros, one more count holds.

    Each of 8 people has her own chance of a plus. The law of the sum is computed by convolution.
    """
    rates = Debias(yes=1.0, no=0.0, gap=1.0)
    crowds = [[1.0] * 3 + [0.0] * 5, [0.9] * 4 + [0.05] * 4, [0.01] * 8, [0.3, 0.7] * 4, [0.28] + [0.0] * 7]
    for chances in [*crowds, *([1 - chance for chance in chances] for chances in crowds)]:
        law, truth = np.ones(1), sum(chances) / 8
        for chance in chances:
            law = np.convolve(law, [1 - chance, chance])
        for confidence in (Fraction(1, 2), Fraction(4, 5), Fraction(19, 20)):
            low, high = np.array([SumOfSigns(plus, 8, rates).interval(confidence) for plus in range(9)]).T
            for missed in (law[low > truth + 1e-12].sum(), law[high < truth - 1e-12].sum()):
                assert missed <= float(1 - confidence) / 2 + 1e-12


def test_the_reach_of_a_spread_is_never_exceeded_too_often() -> None:
    """Exactly, for sums of two-point reports, whose law is binomial: near and far from the bell curve."""
    for chance in (0.5, 0.1, 0.01):
        spread = ReportSpread(chance * (1 - chance), chance * (1 - chance), max(chance, 1 - chance))
        for n in (1, 10, 1000, 100_000, 10**7):
            for failure in (0.3, 0.05, 1e-4):
                reach = spread.within(n, failure)
                low, high = math.ceil((chance - reach) * n), math.floor((chance + reach) * n)
                missed = binom.cdf(low - 1, n, chance) + binom.sf(high, n, chance)
                assert missed <= failure


def test_intervals_are_nearly_as_narrow_as_the_bell_curve_for_large_crowds() -> None:
    spread = HybridMean(1, 0, 1).spread
    usual = norm.isf(0.025) * math.sqrt(spread.most / 10**6)
    assert usual < spread.within(10**6, 0.05) < 1.1 * usual


@pytest.mark.parametrize("steps", [1, 2, 5, 8])
@pytest.mark.parametrize("epsilon", [0.3, 1, 4])
def test_moments_are_those_of_the_law(steps: int, epsilon: float) -> None:
    for kind in (PiecewiseMean, HybridMean, DuchiMean):
        randomizer = kind(epsilon, 0, 1, steps=steps)
        for position in range(steps + 1):
            share = Fraction(position, steps)
            law = randomizer.law(share)
            guesses = [randomizer.estimate(randomizer.reports_of([report])).unit.value for report in law.outcomes]
            masses = [float(mass) for mass in law.masses]
            fourth = sum(m * (g - float(share)) ** 4 for m, g in zip(masses, guesses, strict=True))
            second = sum(m * (g - float(share)) ** 2 for m, g in zip(masses, guesses, strict=True))
            with working_precision():
                stated = (
                    randomizer.central_moment(4, position)
                    if kind is PiecewiseMean
                    else (randomizer.fourth_moment_at(position))
                )
                assert float(stated) == pytest.approx(fourth, rel=1e-9)
                assert float(randomizer.variance_at(position)) == pytest.approx(second, rel=1e-9)


def test_the_largest_of_a_parabola_is_found() -> None:
    for a, b, c in ((-1, 1, 3), (-1, 3, 3), (1, -1, 3), (0, 2, 1), (0, 0, 1), (-2, 1, 0), (-1, -1, 5)):
        grid = np.linspace(0, 1, 10_001)
        largest = (a * grid**2 + b * grid + c).max()
        assert _largest(c, a / 16 + b / 4 + c, a + b + c) == pytest.approx(largest, abs=1e-7)


def test_a_shifted_law_is_caught() -> None:
    """A window that starts one step late is still private and no longer unbiased: the contract must see it."""

    class Late(PiecewiseMean):
        def line(self) -> Any:
            shift, scale = super().line()
            return shift + 1, scale

    class Check(TestPiecewise):
        def randomizer(self) -> Any:
            return Late(1, -2, 6, steps=4)

    with pytest.raises(AssertionError):
        Check().test_estimates_are_unbiased()


def test_a_window_that_is_too_likely_is_caught() -> None:
    class Eager(PiecewiseMean):
        def _masses(self) -> Any:
            inside, outside = super()._masses()
            return inside * 1.2, outside * (1 - 0.2 * inside / outside * self.window / self.steps.count)

    class Check(TestPiecewise):
        def randomizer(self) -> Any:
            return Eager(1, -2, 6, steps=4)

    Check().test_law_sums_to_one()
    with pytest.raises(AssertionError):
        Check().test_keeps_its_promise_at_every_report()
    with pytest.raises(AssertionError):
        Check().test_reports_follow_the_stated_law()
