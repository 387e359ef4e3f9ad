"""Frequent texts without a curator: the law of a report, what is found, what is not."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

from discreet.errors import InvalidInput, InvalidValue
from discreet.local.heavy_hitters import HeavyHitters
from discreet.local.mean import SumOfSigns
from discreet.local.reports import Reports
from discreet.noise.experiment import experiment
from discreet.noise.source import ReplayableSource
from tests.local.contract import RandomizerContract, share_of
from tests.noise.goodness import misfit

LETTERS = ("", "a", "q")
TOO_LONG = ["ab", "ß", "a\0", "\0", None, 1, b"a", "\ud800", ["ab"], {}]


class TestOneLetter(RandomizerContract):
    crowd = 1
    trials = 100

    def randomizer(self) -> HeavyHitters:
        return HeavyHitters(1, length=1)

    def other_randomizers(self) -> list[Any]:
        return [HeavyHitters(2, length=1), HeavyHitters(1, length=2)]

    def values(self) -> Sequence[str]:
        return LETTERS

    def bad_values(self) -> list[Any]:
        return TOO_LONG

    def impossible(self) -> list[Any]:
        return [(1, 0, 0), (0, 0, 2)]

    def truth(self, values: Sequence[str]) -> np.ndarray:
        return share_of(values, LETTERS)

    def estimated(self, reports: Reports) -> np.ndarray:
        return self.randomizer().estimator.known(reports, LETTERS).shares

    def variances(self, values: Sequence[str]) -> np.ndarray:
        rates = self.randomizer().rates
        return np.array([(rates.deviation(len(values), share) / len(values)) ** 2 for share in self.truth(values)])

    def intervals(self, reports: Reports, confidence: float) -> np.ndarray:
        return self.randomizer().estimator.known(reports, LETTERS).intervals(confidence)


def test_reports_about_longer_texts_follow_their_law() -> None:
    """Levels and sets are uniform, and parities agree with the prefix as often as stated: false alarm 3e-7."""
    hitters = HeavyHitters(1, length=3)
    columns = hitters.privatize(["abc"] * 40_000, source=ReplayableSource("law")).columns
    levels = columns["level"]
    assert misfit(np.bincount(levels, minlength=2), np.full(2, 0.5)) > 1e-7
    text = np.frombuffer(b"abc", np.uint8)
    truth = float(hitters.honesty.rates()[0])
    for level, prefix in enumerate(hitters.prefixes):
        bits = columns["bits"][levels == level]
        assert not bits[:, prefix:].any()
        for place in range(prefix):
            assert misfit(np.bincount(bits[:, place], minlength=256), np.full(256, 1 / 256)) > 1e-8
        parity = np.bitwise_count(bits & text).sum(axis=1) & 1
        agreeing = (parity == columns["odd"][levels == level]).astype(int)
        assert misfit(np.bincount(agreeing, minlength=2), np.array([1 - truth, truth])) > 1e-8


def crowd(n: int, seed: int) -> list[str]:
    """Three frequent texts, and one of their own for all others."""
    chance = experiment(seed)
    drawn = chance.choice(4, n, p=[0.4, 0.3, 0.2, 0.1])
    others = chance.integers(0, 10**5, n)
    return [["cat", "straße", "ca"][k] if k < 3 else f"x{other:05d}" for k, other in zip(drawn, others, strict=True)]


def test_frequent_texts_are_found_and_no_others() -> None:
    """20,000 reports at each level, and shares more than 20 deviations above 0: false alarm below 1e-7 by far."""
    hitters = HeavyHitters(4, length=7)
    texts = crowd(120_000, 1)
    reports = hitters.privatize(texts, source=ReplayableSource("found"))
    found = hitters.estimator.find(reports, confidence=Fraction(10**8 - 1, 10**8))
    assert [one.text for one in found] == ["cat", "straße", "ca"]
    for one in found:
        assert one.low <= texts.count(one.text) / len(texts) <= one.high
        assert one.low <= one.share <= one.high
    again = hitters.estimate(Reports.from_bytes(reports.to_bytes(), hitters.terms))
    assert [one.text for one in again][:3] == ["cat", "straße", "ca"]
    known = hitters.estimator.known(reports, ["cat", "dog"])
    assert known.share("cat") == pytest.approx(found[0].share)


def test_nothing_is_found_where_nothing_is_frequent() -> None:
    """Everybody holds a text of her own; false alarm 1e-7 by the promise itself."""
    hitters = HeavyHitters(3, length=5)
    reports = hitters.privatize([f"{k:05d}" for k in range(30_000)], source=ReplayableSource("nothing"))
    found = hitters.estimator.find(reports, confidence=Fraction(10**7 - 1, 10**7))
    assert all(one.low <= 1 / 30_000 for one in found)
    assert not found


def test_intervals_of_what_is_found_cover_together() -> None:
    """40 crowds; the share among all people, though each level hears some of them. False alarm 1e-7."""
    hitters = HeavyHitters(3, length=3)
    texts = ["ab"] * 500 + ["abc"] * 300 + ["b"] * 200
    missed, listed = 0, 0
    for trial in range(40):
        reports = hitters.privatize(texts, source=ReplayableSource(f"crowd {trial}"))
        found = hitters.estimator.find(reports, keep=8, confidence="0.5")
        missed += not all(one.low <= texts.count(one.text) / 1000 <= one.high for one in found)
        listed += len(found)
    assert listed >= 40
    assert missed <= binom.isf(1e-7, 40, 0.5)


def test_a_lie_that_is_told_too_seldom_is_caught() -> None:
    class Frank(HeavyHitters):
        def law(self, value: Any) -> Any:
            return HeavyHitters("1.2", length=1).law(value)

    class Check(TestOneLetter):
        def randomizer(self) -> Any:
            return Frank(1, length=1)

    with pytest.raises(AssertionError):
        Check().test_keeps_its_promise_at_every_report()
    with pytest.raises(AssertionError):
        Check().test_estimates_are_unbiased()


def test_bad_input_is_refused() -> None:
    for length in (0, 65, 1.5):
        with pytest.raises(InvalidInput):
            HeavyHitters(1, length=length)
    with pytest.raises(InvalidInput):
        HeavyHitters(0, length=4)
    hitters = HeavyHitters(1, length=8)
    with pytest.raises(InvalidValue, match="every level needs a report"):
        hitters.estimate(hitters.privatize(["one"]))
    reports = hitters.privatize(["one"] * 500)
    for keep in (0, 1.5, -1):
        with pytest.raises(InvalidInput):
            hitters.estimator.find(reports, keep=keep)
    with pytest.raises(InvalidInput):
        hitters.estimator.known(reports, ["far too long for it"])
    forged = Reports(hitters.terms, reports.columns | {"bits": np.full_like(reports.columns["bits"], 255)})
    with pytest.raises(InvalidValue, match="can send"):
        hitters.estimate(forged)


def test_given_the_other_levels_the_people_of_the_last_one_are_no_uniform_sample() -> None:
    """Two people, two texts, two levels; the report at the first level tells who sent it, and so who is left."""
    p = Fraction(3, 4)  # of the truth
    alike = {"x": p, "y": 1 - p}  # how likely each, alone at the first level, sends the parity that speaks for x
    at_last = {"x": alike["y"] / sum(alike.values()), "y": alike["x"] / sum(alike.values())}
    assert at_last == {"x": Fraction(1, 4), "y": Fraction(3, 4)}


@pytest.mark.parametrize(("holders", "people"), [(0, 40), (3, 40), (20, 40), (40, 40), (11, 200)])
@pytest.mark.parametrize("confidence", ["0.9", "0.9999"])
def test_the_interval_covers_the_share_among_those_at_the_last_level(
    holders: int, people: int, confidence: str
) -> None:
    """Exactly: C is Bin(holders, p) + Bin(others, 1/2), whatever the other levels said."""
    rates = HeavyHitters(1, length=2).rates
    of_holders = binom.pmf(range(holders + 1), holders, rates.yes)
    of_others = binom.pmf(range(people - holders + 1), people - holders, 0.5)
    covered = 0.0
    for agreeing, mass in enumerate(np.convolve(of_holders, of_others)):
        low, high = SumOfSigns(agreeing, people, rates).interval(Fraction(confidence))
        covered += mass * (low <= holders / people <= high)
    assert covered >= float(confidence) - 1e-12
