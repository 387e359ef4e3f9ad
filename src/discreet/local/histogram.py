"""Histograms and quantiles of bounded numbers without a curator: a frequency oracle over bins.

Promise. A report is that of the oracle for the bin of the number, so it costs pure ε. The share of people below each
edge is estimated without bias; its intervals cover as stated, and so do those of quantiles. Proof sheet:
``histogram.md``.

>>> ages = BinnedNumbers(2, Bins.between(0, 100, 10))
>>> ages
BinnedNumbers(Pure(ε=2, replace-one), 10 bins, oue)
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from discreet.errors import InvalidType, InvalidValue
from discreet.exact.grid import Integers
from discreet.exact.rational import Number, probability
from discreet.local.domains import Bins
from discreet.local.estimates import Estimates
from discreet.local.frequency import FrequencyOracle
from discreet.local.randomized_response import GeneralizedResponse
from discreet.local.randomizer import Estimator, Randomizer
from discreet.local.reports import Columns
from discreet.local.terms import Terms
from discreet.local.unary import OptimalUnary, SymmetricUnary
from discreet.mechanisms.distribution import FiniteLaw
from discreet.mechanisms.randomized_response import Debias
from discreet.noise.law import Floats, open_probability
from discreet.noise.source import Stream

__all__ = ["BinnedNumbers", "Histogram", "HistogramEstimator", "QuantileEstimate"]


_ORACLES: dict[str, type[FrequencyOracle]] = {
    oracle.kind: oracle for oracle in (OptimalUnary, SymmetricUnary, GeneralizedResponse)
}


@dataclass(frozen=True)
class QuantileEstimate:
    """A number below which a given share of the numbers lies."""

    share: Fraction
    """The share: 1/2 for the median."""
    value: float
    """The estimate, between two edges where the estimated shares say."""
    low: float
    """An edge, or the lower end of the bins."""
    high: float
    """An edge, or the upper end of the bins. The quantile lies between both with the confidence that was asked for."""


@dataclass(frozen=True, eq=False)
class Histogram:
    """How many numbers lie in each bin and below each edge."""

    bins: Bins
    """The bins."""
    estimates: Estimates
    """The share of each bin, as of any category."""
    is_unary: bool
    """Whether reports have a bit for each bin, and not one bin each."""

    @property
    def n(self) -> int:
        """How many reports there were."""
        return self.estimates.n

    @cached_property
    def below(self) -> Floats:
        """The estimated share below each inner edge; unbiased, so it may fall from one edge to the next.

        Summed from whichever end has fewer bins: shares of unary reports do not sum to 1, and every bin adds noise.
        """
        shares = self.estimates.shares
        upwards, downwards = np.cumsum(shares)[:-1], 1 - np.cumsum(shares[::-1])[-2::-1]
        return np.where(np.arange(1, len(self.bins)) <= len(self.bins) // 2, upwards, downwards)

    def band(self, confidence: Number = 0.95) -> Floats:
        """Two columns: low and high for the share below each inner edge, and all of them hold together."""
        failure = (1 - open_probability(confidence, "confidence")) / (len(self.bins) - 1)
        return np.asarray([self._below(edge, 1 - failure) for edge in range(1, len(self.bins))]) / self.n

    def quantile(self, share: Number, confidence: Number = 0.95) -> QuantileEstimate:
        """The quantile of the numbers of those who reported, between two edges with at least this confidence."""
        wanted, sure = probability(share, "share"), open_probability(confidence, "confidence")
        if wanted == 0:
            raise InvalidValue("a quantile needs a share above 0", share, "0.01, for example")
        inner = range(1, len(self.bins))
        first = last = None
        for edge in inner:  # one edge after the other, and none after the first that fails: no union bound is needed
            if not self._below(edge, sure)[1] < wanted * self.n:
                break
            first = edge
        for edge in reversed(inner):
            if not self._below(edge, sure)[0] >= wanted * self.n:
                break
            last = edge
        ends = [float(edge) for edge in self.bins.edges]
        return QuantileEstimate(
            wanted, self._value(float(wanted)), ends[first or 0], ends[len(self.bins) if last is None else last]
        )

    def median(self, confidence: Number = 0.95) -> QuantileEstimate:
        """The quantile of one half."""
        return self.quantile(Fraction(1, 2), confidence)

    def _value(self, share: float) -> float:
        """Where the shares below the edges, made growing, reach ``share``; straight within a bin."""
        rising = np.maximum.accumulate(np.clip([0.0, *self.below, 1.0], 0.0, 1.0))
        rising[-1] = 1.0
        return float(np.interp(share, rising, [float(edge) for edge in self.bins.edges]))

    def _below(self, edge: int, confidence: Fraction) -> tuple[int, int]:
        """How many of the n numbers lie below an edge: a two-sided interval, from whichever side has fewer bins."""
        if edge <= len(self.bins) // 2:
            return self._holders(self.estimates.supports[:edge], confidence)
        low, high = self._holders(self.estimates.supports[edge:], confidence)
        return self.n - high, self.n - low

    def _holders(self, supports: Integers, confidence: Fraction) -> tuple[int, int]:
        """How many people hold one of some bins, from the reports that support one of them."""
        bins, seen, rates = len(supports), int(supports.sum()), self.estimates.rates
        if self.is_unary:  # n·bins bits, of which those at true bins are 1 with p and all others with q
            low, high = rates.interval(seen, self.n * bins, confidence)
            return min(low, self.n), min(high, self.n)
        joined = Debias(rates.yes + (bins - 1) * rates.no, bins * rates.no, rates.gap)
        return joined.interval(seen, self.n, confidence)

    def table(self, confidence: Number = 0.95) -> str:
        """The bins in their order with their shares and intervals, for a terminal."""
        ends = 100 * self.estimates.intervals(confidence)
        width = max(map(len, [*self.bins.names, "numbers"]))
        lines = [f"{'numbers':<{width}}   share        interval"]
        for name, share, (low, high) in zip(self.bins.names, self.estimates.shares, ends, strict=True):
            lines.append(f"{name:<{width}}  {100 * share:5.1f} %  {low:5.1f} to {high:5.1f} %")
        middle = self.median(confidence)
        said = f"median {middle.value:.4g}, from {middle.low:.4g} to {middle.high:.4g}; {self.n:,} reports"
        return "\n".join([*lines, said])

    def __str__(self) -> str:
        return self.table()


class BinnedNumbers(Randomizer[Histogram]):
    """Numbers in bins, and an oracle that hides which."""

    kind = "binned"

    def __init__(self, epsilon: Number, bins: Bins, oracle: type[FrequencyOracle] = OptimalUnary) -> None:
        """Choose the price of a report, the bins, and how a bin is hidden.

        ``oracle`` is `OptimalUnary`, `SymmetricUnary` or, best for few bins and a large ε, `GeneralizedResponse`.
        """
        if not isinstance(bins, Bins):
            raise InvalidType(
                "bins must be Bins", f"<a {type(bins).__name__}>", "Bins.between(0, 100, 10), for example"
            )
        if oracle not in _ORACLES.values():
            remedy = "for any other oracle, pass it the names of the bins as categories"
            raise InvalidType("the oracle must be unary encoding or generalised randomized response", oracle, remedy)
        self.bins = bins
        self.oracle = oracle(epsilon, bins.names)

    def __repr__(self) -> str:
        return f"BinnedNumbers({self.loss!r}, {len(self.bins)} bins, {self.oracle.kind})"

    @classmethod
    def from_terms(cls, terms: Terms) -> BinnedNumbers:
        """The randomizer that has these terms: the names of the bins hold their edges."""
        oracle = _ORACLES.get(str(terms.parameter("oracle")))
        if oracle is None or not isinstance(terms.domain, tuple):
            raise InvalidType("these terms must have bins and one of the oracles for them", "<others>")
        found = cls(terms.epsilon, Bins.named(terms.domain), oracle)
        terms.check_same(found.terms)
        return found

    @cached_property
    def terms(self) -> Terms:
        """What device and server must agree on; the edges are in the names of the categories."""
        return replace(self.oracle.terms, kind=self.kind, parameters=(("oracle", self.oracle.kind),))

    def _codes(self, values: Any) -> Integers:
        return self.bins.positions(values)

    def _draw(self, codes: Integers, stream: Stream) -> Columns:
        return self.oracle._draw(codes, stream)

    def law(self, value: Any) -> FiniteLaw:
        """That of the oracle for the bin of a number."""
        return self.oracle.law(self.bins.names[int(self.bins.positions([value])[0])])

    def _are_possible(self, columns: Columns) -> bool:
        return self.oracle._are_possible(columns)

    @cached_property
    def estimator(self) -> HistogramEstimator:
        """What reads the reports."""
        return HistogramEstimator(self)


class HistogramEstimator(Estimator[Histogram]):
    """Counts of bins."""

    randomizer: BinnedNumbers

    def _estimate(self, columns: Columns, n: int) -> Histogram:
        bins, oracle = self.randomizer.bins, self.randomizer.oracle
        found = Estimates(bins.names, oracle.supports(columns), n, oracle.debias)
        return Histogram(bins, found, not isinstance(oracle, GeneralizedResponse))
