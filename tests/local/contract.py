"""What every randomizer must pass. To add one: subclass `RandomizerContract` and fill in the methods.

Privacy, the mean and the variance of the estimates and the coverage of the intervals are computed from the exact law
of a report, outcome by outcome. Only the sampling is a statistical test, and it says its false-alarm rate.
"""

from __future__ import annotations

import itertools
import math
from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

from discreet.errors import InvalidInput, InvalidValue
from discreet.exact.ball import Ball, exp_up, lower, upper, working_precision
from discreet.local.randomizer import Randomizer
from discreet.local.reports import Reports
from discreet.noise.source import ReplayableSource, Stream
from tests.noise.goodness import misfit

FALSE_ALARM = 1e-7
"""Chance that one statistical test of a correct randomizer fails."""


class Untouched:
    """A source that must not be opened."""

    trusted = False

    def open(self) -> Stream:
        raise AssertionError("drew before the values were checked")


class RandomizerContract(ABC):
    draws = 20_000
    """Reports for the comparison of sampling and stated law."""
    tight = True
    """Whether two of the values reach the stated ε to within 1e-9."""
    crowd = 2
    """Respondents in the exact computations; the number of outcomes to this power must be affordable."""
    trials = 300
    """Crowds in the test of coverage by simulation."""
    simulated = 200
    """Respondents in each of them."""

    @abstractmethod
    def randomizer(self) -> Randomizer[Any]:
        """The randomizer under test, small enough to list its reports."""

    @abstractmethod
    def other_randomizers(self) -> list[Randomizer[Any]]:
        """Randomizers with other terms, each in another way."""

    @abstractmethod
    def values(self) -> Sequence[Any]:
        """Possible answers, among them the two that are easiest to tell apart; all of them where that is possible."""

    @abstractmethod
    def bad_values(self) -> list[Any]:
        """What must be refused before anything is drawn."""

    @abstractmethod
    def impossible(self) -> list[Any]:
        """Outcomes that fit the layout and that the randomizer never sends."""

    @abstractmethod
    def truth(self, values: Sequence[Any]) -> np.ndarray:
        """What an estimate over these answers should be."""

    @abstractmethod
    def estimated(self, reports: Reports) -> np.ndarray:
        """The estimate, in the form of `truth`."""

    @abstractmethod
    def variances(self, values: Sequence[Any]) -> np.ndarray:
        """The stated variance of each estimate over these answers."""

    @abstractmethod
    def intervals(self, reports: Reports, confidence: float) -> np.ndarray:
        """Two columns, low and high, in the order of `truth`."""

    # Privacy.

    def test_keeps_its_promise_at_every_report(self) -> None:
        factor = exp_up(self.randomizer().loss.epsilon)
        laws = [self.law_of(value) for value in self.values()]
        for here, there in itertools.permutations(laws, 2):
            for outcome, mass in here.items():
                assert outcome in there, "a report that only one of two answers can give"
                assert lower(mass) <= factor * upper(there[outcome])

    def test_claims_no_more_than_it_needs(self) -> None:
        if not self.tight:
            return
        pairs = itertools.combinations(self.values(), 2)
        reached = max(float(self.randomizer().between(first, second).epsilon()) for first, second in pairs)
        assert math.isclose(reached, float(self.randomizer().loss.epsilon), rel_tol=1e-9)

    def test_the_loss_is_that_of_the_terms(self) -> None:
        assert self.randomizer().loss.epsilon == self.randomizer().terms.epsilon

    # The law.

    def test_law_sums_to_one(self) -> None:
        for value in self.values():
            with working_precision():
                assert abs(float(sum(self.law_of(value).values(), Ball(0))) - 1) < 1e-12

    def test_reports_follow_the_stated_law(self) -> None:
        """False alarm: 1e-7 for each value, by the bound in tests/noise/goodness.py."""
        for place, value in enumerate(self.values()):
            law = self.law_of(value)
            order = {outcome: k for k, outcome in enumerate(law)}
            reports = self.randomizer().privatize([value] * self.draws, source=ReplayableSource(f"law {place}"))
            found = [order[outcome] for outcome in self.randomizer().outcomes(reports)]
            masses = np.array([float(mass) for mass in law.values()])
            assert misfit(np.bincount(found, minlength=len(order)), masses / masses.sum()) > FALSE_ALARM

    def test_reports_of_different_people_are_independent(self) -> None:
        """Pairs of neighbours in one batch; false alarm 1e-7 as above."""
        first, second = self.values()[0], self.values()[-1]
        laws = self.law_of(first), self.law_of(second)
        if len(laws[0]) > 64:
            return
        order = {outcome: k for k, outcome in enumerate(laws[0])}
        reports = self.randomizer().privatize([first, second] * self.draws, source=ReplayableSource("pairs"))
        found = np.array([order[outcome] for outcome in self.randomizer().outcomes(reports)])
        here, there = (np.array([float(law[outcome]) for outcome in order]) for law in laws)
        together = np.outer(here, there).ravel()
        counts = np.bincount(found[::2] * len(order) + found[1::2], minlength=len(together))
        assert misfit(counts, together / together.sum()) > FALSE_ALARM

    def test_listed_reports_can_be_written_and_read(self) -> None:
        outcomes = list(self.law_of(self.values()[0]))
        assert self.randomizer().outcomes(self.randomizer().reports_of(outcomes)) == outcomes

    # Estimates.

    def test_estimates_are_unbiased(self) -> None:
        for values in self.crowds():
            mean = sum(weight * self.estimated(reports) for weight, reports in self.every_upload(values))
            np.testing.assert_allclose(mean, self.truth(values), atol=1e-9)

    def test_variances_are_those_stated(self) -> None:
        for values in self.crowds():
            truth = self.truth(values)
            found = sum(
                weight * (self.estimated(reports) - truth) ** 2 for weight, reports in self.every_upload(values)
            )
            np.testing.assert_allclose(found, self.variances(values), rtol=1e-9, atol=1e-12)

    def test_intervals_cover_as_often_as_they_say(self) -> None:
        """Exactly: the probabilities of all uploads whose interval covers the truth, added up."""
        for confidence in (0.5, 0.9):
            for values in self.crowds():
                truth = self.truth(values)
                covered = sum(
                    weight * self.covers(self.intervals(reports, confidence), truth)
                    for weight, reports in self.every_upload(values)
                )
                assert (covered >= confidence - 1e-9).all()

    def test_intervals_cover_in_larger_crowds(self) -> None:
        """False alarm: 1e-7 for each number estimated, by binomial tails."""
        listed = list(self.values())
        values = [listed[k % len(listed)] for k in range(self.simulated)]
        truth, missed = self.truth(values), np.zeros(len(self.truth(values)))
        for trial in range(self.trials):
            reports = self.randomizer().privatize(values, source=ReplayableSource(f"crowd {trial}"))
            missed += ~self.covers(self.intervals(reports, 0.9), truth)
        assert missed.max() <= binom.isf(FALSE_ALARM, self.trials, 0.1)

    def test_intervals_hold_the_estimate(self) -> None:
        reports = self.randomizer().privatize([self.values()[0]] * 50, source=ReplayableSource("held"))
        low, high = self.intervals(reports, 0.9).T
        assert (low <= high).all()

    def test_refuses_to_estimate_from_nothing(self) -> None:
        nobody = self.randomizer().privatize([])
        assert len(nobody) == 0
        with pytest.raises(InvalidValue, match="at least one report"):
            self.randomizer().estimate(nobody)

    # Reports on their way.

    def test_bytes_json_and_arrow_give_the_same_reports_back(self) -> None:
        terms = self.randomizer().terms
        for sent in (self.some_reports(), self.randomizer().privatize([])):
            for received in (
                Reports.from_bytes(sent.to_bytes()),
                Reports.from_bytes(sent.to_bytes(with_terms=False), terms),
                Reports.from_json(sent.to_json()),
                Reports.from_json(sent.to_json(with_terms=False), terms),
                Reports.from_arrow(sent.to_arrow()),
            ):
                assert received.terms == terms
                assert self.randomizer().outcomes(received) == self.randomizer().outcomes(sent)
                self.randomizer().check(received)

    def test_batches_can_be_joined_and_cut(self) -> None:
        sent = self.some_reports()
        again = Reports.together([sent[:3], sent[3:3], sent[3:]])
        assert self.randomizer().outcomes(again) == self.randomizer().outcomes(sent)

    def test_every_truncated_upload_is_refused(self) -> None:
        for with_terms in (False, True):
            data = self.some_reports().to_bytes(with_terms=with_terms)
            for length in range(len(data)):
                with pytest.raises(InvalidInput):
                    Reports.from_bytes(data[:length], self.randomizer().terms)
            with pytest.raises(InvalidInput):
                Reports.from_bytes(data + b"\0", self.randomizer().terms)

    def test_every_damaged_upload_is_refused(self) -> None:
        data = self.some_reports().to_bytes()
        for place in range(len(data)):
            broken = bytearray(data)
            broken[place] ^= 0x10
            with pytest.raises(InvalidInput):
                Reports.from_bytes(bytes(broken), self.randomizer().terms)

    def test_reports_under_other_terms_are_refused(self) -> None:
        ours = self.randomizer()
        for other in self.other_randomizers():
            assert other.terms.fingerprint != ours.terms.fingerprint
            theirs = other.privatize([])
            for refused in (
                lambda theirs=theirs: ours.estimate(theirs),
                lambda theirs=theirs: Reports.from_bytes(theirs.to_bytes(), ours.terms),
                lambda theirs=theirs: Reports.from_bytes(theirs.to_bytes(with_terms=False), ours.terms),
                lambda theirs=theirs: Reports.from_json(theirs.to_json(), ours.terms),
                lambda theirs=theirs: Reports.from_json(theirs.to_json(with_terms=False), ours.terms),
                lambda theirs=theirs: Reports.from_arrow(theirs.to_arrow(), ours.terms),
                lambda theirs=theirs: Reports.together([ours.privatize([]), theirs]),
            ):
                with pytest.raises(InvalidValue, match=r"under the (same )?terms"):
                    refused()

    def test_terms_of_another_version_are_refused(self) -> None:
        with pytest.raises(InvalidValue, match="version 1"):
            replace(self.randomizer().terms, version=2)

    def test_the_terms_alone_rebuild_the_randomizer(self) -> None:
        terms = self.randomizer().terms
        again = type(self.randomizer()).from_terms(type(terms).from_json(terms.to_json()))
        assert again.terms == terms
        assert {k: float(v) for k, v in self.law_of(self.values()[0], again).items()} == {
            k: float(v) for k, v in self.law_of(self.values()[0]).items()
        }

    def test_refuses_values_outside_the_domain_before_drawing(self) -> None:
        for bad in self.bad_values():
            with pytest.raises(InvalidInput):
                self.randomizer().privatize(bad, source=Untouched())
            with pytest.raises(InvalidInput):
                self.randomizer().privatize([self.values()[0], bad], source=Untouched())

    def test_refuses_reports_that_are_never_sent(self) -> None:
        for outcome in self.impossible():
            forged = self.randomizer().reports_of([outcome])
            with pytest.raises(InvalidValue, match="can send"):
                self.randomizer().estimate(forged)

    # How the tests go about it.

    def law_of(self, value: Any, randomizer: Randomizer[Any] | None = None) -> dict[Hashable, Ball]:
        with working_precision(256):
            law = (randomizer or self.randomizer()).law(value)
        return dict(zip(law.outcomes, law.masses, strict=True))

    def crowds(self) -> list[list[Any]]:
        """Crowds of one and of `crowd`, of the same and of different answers."""
        listed = list(self.values())
        alone = [[listed[0]], [listed[-1]]]
        return alone if self.crowd == 1 else [*alone, [listed[0]] * self.crowd, (listed * self.crowd)[: self.crowd]]

    def every_upload(self, values: Sequence[Any]) -> Iterator[tuple[float, Reports]]:
        """Every possible batch of reports with its probability."""
        laws = [[(outcome, float(mass)) for outcome, mass in self.law_of(value).items()] for value in values]
        for reports in itertools.product(*laws):
            weight = math.prod(mass for _, mass in reports)
            yield weight, self.randomizer().reports_of([outcome for outcome, _ in reports])

    def covers(self, intervals: np.ndarray, truth: np.ndarray) -> np.ndarray:
        return (intervals[:, 0] <= truth + 1e-12) & (truth - 1e-12 <= intervals[:, 1])

    def some_reports(self) -> Reports:
        values = (list(self.values()) * 7)[:7]
        return self.randomizer().privatize(values, source=ReplayableSource("some"))


def share_of(values: Sequence[Any], categories: Sequence[Any]) -> np.ndarray:
    """The true share of each category."""
    return np.array([float(Fraction(list(values).count(name), len(values))) for name in categories])


class OracleContract(RandomizerContract):
    """The same for frequency oracles, which estimate the share of each category."""

    def truth(self, values: Sequence[Any]) -> np.ndarray:
        return share_of(values, self.randomizer().categories.names)

    def estimated(self, reports: Reports) -> np.ndarray:
        return self.randomizer().estimate(reports).shares

    def variances(self, values: Sequence[Any]) -> np.ndarray:
        estimator = self.randomizer().estimator
        return np.array([estimator.variance(len(values), float(share)) for share in self.truth(values)])

    def intervals(self, reports: Reports, confidence: float) -> np.ndarray:
        return self.randomizer().estimate(reports).intervals(confidence)

    def values(self) -> Sequence[Any]:
        return self.randomizer().categories.names

    def test_a_report_supports_its_own_category_with_p_and_each_other_with_q(self) -> None:
        oracle = self.randomizer()
        wanted = [float(rate) for rate in oracle.rates()[:2]]
        for place, value in enumerate(self.values()):
            found = np.zeros(len(oracle.categories))
            for outcome, mass in self.law_of(value).items():
                found += float(mass) * oracle.supports(oracle.reports_of([outcome]).columns)
            expected = [wanted[0] if k == place else wanted[1] for k in range(len(found))]
            np.testing.assert_allclose(found, expected, atol=1e-12)

    def test_population_intervals_hold_those_of_the_crowd_estimate(self) -> None:
        reports = self.randomizer().privatize([self.values()[0]] * 50, source=ReplayableSource("held"))
        low, high = self.randomizer().estimate(reports).population_intervals(0.9).T
        assert ((low >= 0) & (low <= high) & (high <= 1)).all()

    def test_intervals_that_hold_together_are_wider(self) -> None:
        reports = self.randomizer().privatize([self.values()[0]] * 50, source=ReplayableSource("held"))
        estimates = self.randomizer().estimate(reports)
        each, together = estimates.intervals(0.9), estimates.intervals(0.9, together=True)
        assert (together[:, 0] <= each[:, 0]).all()
        assert (each[:, 1] <= together[:, 1]).all()
