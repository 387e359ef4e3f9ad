"""Histograms and quantiles of bounded numbers: bins, shares below edges, intervals that cover."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

from discreet.errors import InvalidInput, InvalidValue
from discreet.local.domains import Bins
from discreet.local.hadamard import HadamardResponse
from discreet.local.histogram import BinnedNumbers, Histogram
from discreet.local.randomized_response import GeneralizedResponse
from discreet.local.reports import Reports
from discreet.local.unary import OptimalUnary, SymmetricUnary
from discreet.noise.experiment import experiment
from discreet.noise.source import ReplayableSource
from tests.local.contract import RandomizerContract, Untouched

ORACLES = [OptimalUnary, SymmetricUnary, GeneralizedResponse]


def small(oracle: Any) -> BinnedNumbers:
    return BinnedNumbers(1, Bins.between(0, 4, 4), oracle)


class TestThreeBins(RandomizerContract):
    oracle: Any = OptimalUnary

    def randomizer(self) -> BinnedNumbers:
        return BinnedNumbers(1, Bins.at([0, 1, "2.5", 4]), self.oracle)

    def other_randomizers(self) -> list[Any]:
        edges = [0, 1, "2.5", 4]
        others = [oracle for oracle in ORACLES if oracle is not self.oracle]
        return [
            BinnedNumbers(2, Bins.at(edges), self.oracle),
            BinnedNumbers(1, Bins.at([0, 1, "2.6", 4]), self.oracle),
            *(BinnedNumbers(1, Bins.at(edges), other) for other in others),
            self.oracle(1, Bins.at(edges).names),
        ]

    def values(self) -> Any:
        return [0.0, 1.7, 4.0]

    def bad_values(self) -> list[Any]:
        return [-0.1, 4.1, math.nan, math.inf, None, "1", True, {}, 1j]

    def impossible(self) -> list[Any]:
        return [8, 255]

    def truth(self, values: Any) -> np.ndarray:
        places = self.randomizer().bins.positions(list(values))
        return np.bincount(places, minlength=3) / len(places)

    def estimated(self, reports: Reports) -> np.ndarray:
        return self.randomizer().estimate(reports).estimates.shares

    def variances(self, values: Any) -> np.ndarray:
        estimator = self.randomizer().oracle.estimator
        return np.array([estimator.variance(len(values), float(share)) for share in self.truth(values)])

    def intervals(self, reports: Reports, confidence: float) -> np.ndarray:
        return self.randomizer().estimate(reports).estimates.intervals(confidence)


class TestThreeBinsOneOfThem(TestThreeBins):
    oracle = GeneralizedResponse


def every_upload(numbers: BinnedNumbers, values: list[float]) -> Any:
    """Every possible batch of reports with its probability."""
    laws = [numbers.law(value) for value in values]
    listed = [list(zip(law.outcomes, map(float, law.masses), strict=True)) for law in laws]
    for drawn in itertools.product(*listed):
        weight = math.prod(mass for _, mass in drawn)
        yield weight, numbers.estimate(numbers.reports_of([outcome for outcome, _ in drawn]))


def quantile_of(values: list[float], share: Fraction) -> float:
    """The least number with at least this share of the numbers up to it."""
    ordered = sorted(values)
    return ordered[max(math.ceil(share * len(ordered)) - 1, 0)]


@pytest.mark.parametrize("oracle", ORACLES)
@pytest.mark.parametrize("values", [[0.5], [2.5], [0.5, 1.5], [1.2, 3.9]])
@pytest.mark.some(3)
def test_shares_below_edges_are_unbiased_and_covered(oracle: Any, values: list[float]) -> None:
    """Exactly, over all uploads."""
    numbers = small(oracle)
    edges = (1, 2, 3)
    truth = np.array([sum(value < edge for value in values) / len(values) for edge in edges])
    mean, covered, together = np.zeros(3), np.zeros(3), 0.0
    for weight, found in every_upload(numbers, values):
        mean += weight * found.below
        ends = np.array([found._below(edge, Fraction(4, 5)) for edge in edges]) / found.n
        covered += weight * ((ends[:, 0] <= truth) & (truth <= ends[:, 1]))
        band = found.band("0.8")
        together += weight * bool(((band[:, 0] <= truth) & (truth <= band[:, 1])).all())
    np.testing.assert_allclose(mean, truth, atol=1e-12)
    assert covered.min() >= 0.8 - 1e-12
    assert together >= 0.8 - 1e-12


@pytest.mark.parametrize("oracle", ORACLES)
@pytest.mark.parametrize("values", [[0.5], [2.5], [0.5, 1.5], [1.0, 2.9]])
@pytest.mark.some(4)
def test_quantiles_lie_between_their_ends_as_often_as_stated(oracle: Any, values: list[float]) -> None:
    """Exactly, over all uploads."""
    for share in (Fraction(1, 4), Fraction(1, 2), Fraction(9, 10)):
        truth, covered = quantile_of(values, share), 0.0
        for weight, found in every_upload(small(oracle), values):
            quantile = found.quantile(share, "0.7")
            covered += weight * (quantile.low <= truth <= quantile.high)
        assert covered >= 0.7 - 1e-12


def supports_law(numbers: BinnedNumbers, place: int, bins: int) -> np.ndarray:
    """How many of the first bins one report supports, for somebody in the bin ``place``: from the law of a report."""
    law = numbers.oracle.law(numbers.bins.names[place])
    found = np.zeros(bins + 1)
    for outcome, mass in zip(law.outcomes, map(float, law.masses), strict=True):
        found[numbers.oracle.supports(numbers.oracle.reports_of([outcome]).columns)[:bins].sum()] += mass
    return found


@pytest.mark.parametrize("oracle", ORACLES)
@pytest.mark.parametrize("bins", [1, 2, 3])
def test_people_in_several_bins_are_counted_as_stated(oracle: Any, bins: int) -> None:
    """Exactly, on each side, for 60 people of whom none, some or all are in the first bins."""
    numbers = BinnedNumbers(1, Bins.between(0, 6, 6), oracle)
    inside, outside = supports_law(numbers, 0, bins), supports_law(numbers, bins, bins)
    example = numbers.estimate(numbers.privatize([0] * 60))
    ends = np.array([_counted(example, seen, bins) for seen in range(60 * bins + 1)])
    for holders in (0, 1, 20, 60):
        law = np.ones(1)
        for person in range(60):
            law = np.convolve(law, inside if person < holders else outside)
        law = np.pad(law, (0, 60 * bins + 1 - len(law)))
        assert law[ends[:, 0] > holders].sum() <= 0.1 + 1e-9
        assert law[ends[:, 1] < holders].sum() <= 0.1 + 1e-9
        assert law @ (ends[:, 1] - ends[:, 0]) < 60


def _counted(example: Histogram, seen: int, bins: int) -> tuple[int, int]:
    supports = np.zeros(bins, np.int64)
    supports[0] = seen
    return example._holders(supports, Fraction(4, 5))


def test_edges_are_passed_in_order_and_none_after_the_first_that_fails() -> None:
    """Everybody is in the first of 40 bins, so every edge is a chance to be wrong; one side, false alarm 1e-7."""
    numbers = BinnedNumbers(1, Bins.between(0, 40, 40))
    missed = 0
    for trial in range(300):
        found = numbers.estimate(numbers.privatize([0.5] * 50, source=ReplayableSource(f"edges {trial}")))
        missed += found.quantile("0.97", "0.8").low > 0.5
    assert missed <= binom.isf(1e-7, 300, 0.1)


@pytest.mark.parametrize("oracle", ORACLES)
@pytest.mark.some(1)
def test_quantiles_cover_in_larger_crowds(oracle: Any) -> None:
    """40 crowds of 400; false alarm 1e-7 for each quantile, by binomial tails."""
    numbers = BinnedNumbers(2, Bins.between(0, 10, 10), oracle)
    values = np.sqrt(experiment(5).uniform(0, 100, 400))
    missed = np.zeros(3)
    for trial in range(40):
        found = numbers.estimate(numbers.privatize(values, source=ReplayableSource(f"crowd {trial}")))
        for place, share in enumerate((Fraction(1, 4), Fraction(1, 2), Fraction(9, 10))):
            quantile = found.quantile(share, "0.8")
            missed[place] += not quantile.low <= quantile_of(values.tolist(), share) <= quantile.high
    assert missed.max() <= binom.isf(1e-7, 40, 0.2)


def test_large_crowds_pin_their_quantiles_down() -> None:
    """The ends are one bin apart or two; false alarm below 1e-7, because shares are off by 9 deviations then."""
    numbers = BinnedNumbers(2, Bins.between(0, 100, 20))
    values = experiment(6).uniform(0, 100, 200_000)
    found = numbers.estimate(numbers.privatize(values, source=ReplayableSource("large")))
    for share in (0.13, 0.52, 0.88):
        quantile = found.quantile(share, 0.999)
        assert quantile.low <= 100 * share <= quantile.high
        assert quantile.high - quantile.low <= 10
        assert abs(quantile.value - 100 * share) < 2
    assert found.median().value == found.quantile("1/2").value
    band = found.band()
    assert band.shape == (19, 2)
    assert ((band[:, 0] <= found.below) & (found.below <= band[:, 1])).all()
    assert str(found).splitlines()[1].startswith("0 to 5")
    assert "200,000 reports" in str(found)


def test_nothing_known_means_the_whole_range() -> None:
    numbers = BinnedNumbers("0.01", Bins.at([0, 1, 10]))
    quantile = numbers.estimate(numbers.privatize([0.5] * 10)).median()
    assert (quantile.low, quantile.high) == (0, 10)
    assert 0 <= quantile.value <= 10


def test_edges_are_in_the_terms() -> None:
    ours, theirs = BinnedNumbers(1, Bins.at([0, 1, 3])), BinnedNumbers(1, Bins.at([0, 2, 3]))
    with pytest.raises(InvalidValue, match="'0 to 1' against '0 to 2'"):
        ours.estimate(theirs.privatize([1]))
    again = Reports.from_bytes(ours.privatize([1]).to_bytes(), ours.terms)
    assert ours.estimate(again).n == 1
    assert Bins.at(["0.1", "1/3", 2]).names == ("0.1 to 1/3", "1/3 to 2")


def test_numbers_fall_into_their_bins() -> None:
    bins = Bins.at([-1, 0, "0.1", 5])
    assert bins.positions([-1, -0.0, 0.1, 0.0999, 5]).tolist() == [0, 1, 2, 1, 2]
    assert bins.positions(np.array([-1, 0, 5])).tolist() == [0, 1, 2]
    assert bins.positions([Fraction(1, 20), 3]).tolist() == [1, 2]
    assert bins.positions([]).tolist() == []


@pytest.mark.parametrize("bad", [-0.1, 4.1, math.nan, math.inf, None, "1", True, {}, [[1]], [0.5, None], 1j])
def test_values_outside_are_refused_before_drawing(bad: Any) -> None:
    with pytest.raises(InvalidInput):
        small(OptimalUnary).privatize(bad, source=Untouched())


def test_bins_that_make_no_sense_are_refused() -> None:
    for edges in ([0], [0, 1], [0, 0, 1], [2, 1, 0], "012", 3, [0, 1, math.nan], [0, 1, None]):
        with pytest.raises(InvalidInput):
            Bins.at(edges)
    for low, high, count in ((0, 1, 1), (1, 0, 5), (0, 1, 2**16 + 1), (0, 1, 1.5)):
        with pytest.raises(InvalidInput):
            Bins.between(low, high, count)
    with pytest.raises(InvalidInput):
        BinnedNumbers(1, [0, 1, 2])
    with pytest.raises(InvalidInput):
        BinnedNumbers(1, Bins.at([0, 1, 2]), HadamardResponse)
    for names in ([], ["a"], ["0 to 1", "2 to"], ["0 to 1 to 2"]):
        with pytest.raises(InvalidInput):
            Bins.named(names)
    for share in (-0.1, 0, 1.1):
        with pytest.raises(InvalidInput):
            small(OptimalUnary).estimate(small(OptimalUnary).privatize([1])).quantile(share)


def test_an_edge_that_counts_one_bin_too_many_is_caught() -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Bins, "positions", lambda _self, values: np.asarray(values, np.int64) // 2)
        with pytest.raises(AssertionError):
            test_shares_below_edges_are_unbiased_and_covered(OptimalUnary, [1.2, 3.9])
