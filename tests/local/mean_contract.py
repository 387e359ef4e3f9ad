"""What every randomizer of numbers must pass: the contract of randomizers, with the mean as the estimate."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
import pytest
from scipy.stats import binom

from discreet.errors import InvalidInput, OutOfReach
from discreet.exact.ball import working_precision
from discreet.local.mean import MeanRandomizer
from discreet.local.reports import Reports
from discreet.noise.experiment import experiment
from discreet.noise.source import ReplayableSource
from tests.local.contract import RandomizerContract

OUTSIDE = [-2.0001, 6.0001, math.nan, math.inf, -math.inf, None, "1", True, {}, b"1", Fraction(61, 10), 1j]


class MeanContract(RandomizerContract):
    kind: ClassVar[type[MeanRandomizer]]
    epsilon: ClassVar[Any] = 1
    trials = 150
    draws = 10_000

    def randomizer(self) -> MeanRandomizer:
        return self.kind(self.epsilon, -2, 6, steps=4)

    def other_randomizers(self) -> list[MeanRandomizer]:
        others = [(self.epsilon * 2, -2, 6, 4), (self.epsilon, -2, 7, 4), (self.epsilon, -2, 6, 5)]
        return [self.kind(epsilon, low, high, steps=steps) for epsilon, low, high, steps in others]

    def values(self) -> Sequence[Any]:
        return [-2.0, 0.0, 2.0, 4.0, 6.0]

    def bad_values(self) -> list[Any]:
        return OUTSIDE

    def impossible(self) -> list[Any]:
        return [self.randomizer().reports, 255]

    def truth(self, values: Sequence[Any]) -> np.ndarray:
        return np.array([float(sum(map(Fraction, values)) / len(values))])

    def estimated(self, reports: Reports) -> np.ndarray:
        return np.array([self.randomizer().estimate(reports).mean])

    def variances(self, values: Sequence[Any]) -> np.ndarray:
        """The mean of independent reports: their variances added up, over n²."""
        each = [self.randomizer().estimator.variance(1, value) for value in values]
        return np.array([sum(each) / len(each) ** 2])

    def intervals(self, reports: Reports, confidence: float) -> np.ndarray:
        return np.array([self.randomizer().estimate(reports).interval(confidence)])

    def test_the_deviation_is_at_least_the_true_one(self) -> None:
        estimate = self.randomizer().estimate(self.some_reports())
        for value in self.values():
            true = math.sqrt(self.randomizer().estimator.variance(estimate.n, value))
            assert estimate.deviation >= true * (1 - 1e-12)

    def test_the_spread_bounds_every_report(self) -> None:
        """The variance and the distance of a guess stay within what intervals assume, at every position."""
        randomizer = self.randomizer()
        spread = getattr(randomizer, "spread", None)
        if spread is None:
            return
        guesses = [randomizer.estimate(randomizer.reports_of([outcome])) for outcome in self.law_of(2)]
        cubes = []
        for value in self.values():
            share = (float(value) + 2) / 8
            assert max(abs(guess.unit.value - share) for guess in guesses) <= spread.furthest + 1e-12
            with working_precision():
                variance = float(randomizer.variance_at(randomizer.position_of(value)))
            assert spread.least - 1e-12 <= variance <= spread.most + 1e-12
            masses = [float(mass) for mass in self.law_of(value).values()]
            cubes += [sum(m * abs(g.unit.value - share) ** 3 for g, m in zip(guesses, masses, strict=True))]
        assert max(cubes) <= spread.third <= 2 * max(cubes)

    def test_population_intervals_cover_the_population(self) -> None:
        """People drawn from a half at -2 and a half at 6, which is as spread as it gets: false alarm 1e-7."""
        chance, missed = experiment(7), 0
        for trial in range(self.trials):
            people = chance.choice([-2.0, 6.0], self.simulated)
            reports = self.randomizer().privatize(people, source=ReplayableSource(f"drawn {trial}"))
            low, high = self.randomizer().estimate(reports).population_interval(0.9)
            missed += not low <= 2 <= high
        assert missed <= binom.isf(1e-7, self.trials, 0.1)

    def test_as_many_are_asked_as_an_error_needs(self) -> None:
        estimator = self.kind(self.epsilon, -2, 6).estimator
        for error in (4, 1, 0.3):
            n = estimator.sample_size(error=error, confidence=0.9)
            assert estimator.error(n, 0.9) <= error
            assert n == 1 or estimator.error(n - 1, 0.9) > error
        with pytest.raises(OutOfReach):
            estimator.sample_size(error="1e-9")
        with pytest.raises(InvalidInput):
            estimator.sample_size(error=0)

    def test_means_are_seldom_further_off_than_the_stated_error(self) -> None:
        """Everybody at an end or in the middle; false alarm 1e-7 by binomial tails."""
        estimator, missed = self.randomizer().estimator, 0
        for trial in range(self.trials):
            value = (-2.0, 2.0, 6.0)[trial % 3]
            reports = self.randomizer().privatize([value] * 100, source=ReplayableSource(f"error {trial}"))
            missed += abs(estimator.estimate(reports).mean - value) > estimator.error(100, 0.9)
        assert missed <= binom.isf(1e-7, self.trials, 0.1)

    def test_a_batch_that_is_drawn_in_parts_is_whole(self) -> None:
        """Sum of 70,000 reports of one number; 7 deviations: false alarm below 3e-12 by the central limit theorem."""
        randomizer = self.kind(self.epsilon, -2, 6)
        reports = randomizer.privatize(np.full(70_000, 4.5), source=ReplayableSource("parts"))
        found = randomizer.estimate(reports)
        assert abs(found.mean - 4.5) <= 7 * found.deviation
        low, high = found.interval(0.999999)
        assert low <= 4.5 <= high
        assert str(found).endswith("from 70,000 reports")
        assert found.sum == pytest.approx(70_000 * found.mean)
