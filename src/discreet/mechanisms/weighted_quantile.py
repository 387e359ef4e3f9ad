"""Quantiles of weighted values: the exponential mechanism over all grid points between public ends.

Promise. If neighbouring inputs add and remove at most w of weight together, choosing a point with probability
proportional to e^(-ε·d/2Δ), where d is the weight by which its rank misses the target and Δ = w·max(q, 1-q), costs ε of
pure differential privacy, for every ε > 0, w > 0, 0 ≤ q ≤ 1 and any two ends. Neighbours that move a part of w lose
that part of ε. Proof sheet: ``weighted_quantile.md``.

>>> median = WeightedQuantile(2, "1/2", (0, 4), weight=4)
>>> print(median.distribution(([1, 3], [8, 4])))
1  0.5449
2  0.2004
3  0.2004
0  0.02713
4  0.02713
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from discreet.errors import InvalidType, InvalidValue
from discreet.exact.ball import BITS, ln_up, working_precision
from discreet.exact.grid import Integers, exact_array, holds_integers
from discreet.exact.rational import Number, integer, positive, probability
from discreet.mechanisms.distribution import FiniteLaw
from discreet.mechanisms.exponential import worst_shortfall
from discreet.mechanisms.measurement import Measurement
from discreet.noise.law import open_probability
from discreet.noise.race import GumbelChoice
from discreet.noise.source import SYSTEM, Source, Stream
from discreet.noise.uniform import UniformInteger
from discreet.privacy.loss import Pure, ZeroConcentrated

__all__ = ["WeightedQuantile"]


Whole = npt.NDArray[np.object_]

_ODDS = 20  # for a minimum or maximum: one in twenty lies outside the data
_FURTHEST_END = 2**61
_MOST_POINTS = 2**61
"""A gap may have as many, and more cannot stand for one candidate of a race."""
_FURTHEST_RANK = 2**61
_MOST_LISTED = 2**16


class WeightedQuantile(Measurement):
    """A point whose rank by weight is near the wanted one: d(v) = max(L - τ, τ - (n - R), 0) is how far it misses.

    L and R are the weight below and above a point v, n is all weight, and the target τ is q·n, moved inward for a
    minimum or a maximum.
    """

    epsilon: Fraction
    """The price of one release."""
    quantile: Fraction
    """Where the target lies between least and greatest."""
    ends: tuple[int, int]
    """The first and the last answer, in steps."""
    weight: Fraction
    """How much weight neighbours add and remove, together."""
    inward: int
    """By how much weight the target is moved towards the middle."""
    factor: Fraction
    """What a distance in weights is multiplied by: ε/2Δ."""

    def __init__(
        self,
        epsilon: Number,
        quantile: Number,
        ends: tuple[int, int],
        *,
        weight: Number = 1,
        inward: int | None = None,
    ) -> None:
        """Without ``inward``, a minimum or maximum aims so far into the data that one in twenty lies outside it."""
        self.epsilon = positive(epsilon, "epsilon")
        self.quantile = probability(quantile, "quantile")
        first, last = (integer(end, "ends", least=-_FURTHEST_END, most=_FURTHEST_END) for end in ends)
        if not 1 <= last - first + 1 <= _MOST_POINTS:
            raise InvalidValue("there must be between 1 and 2^61 points from end to end", f"<{first} and {last}>")
        self.ends = (first, last)
        self.weight = positive(weight, "weight")
        # The weights below and above a point and the total move together.
        moved = self.weight * max(self.quantile, 1 - self.quantile)
        self.factor = positive(self.epsilon / (2 * moved), "epsilon / weight")
        self.inward = self._default_inward() if inward is None else integer(inward, "inward", least=0)

    def _default_inward(self) -> int:
        return math.ceil(ln_up(Fraction(_ODDS * self.points)) / self.factor) if self.quantile in (0, 1) else 0

    def __repr__(self) -> str:
        return f"WeightedQuantile({self.epsilon}, {self.quantile}, {self.ends}, weight={self.weight})"

    @property
    def points(self) -> int:
        """How many answers are possible."""
        return self.ends[1] - self.ends[0] + 1

    @property
    def loss(self) -> Pure:
        """Pure ε, whatever the number of points."""
        return Pure(self.epsilon)

    def concentrated_loss(self) -> ZeroConcentrated:
        """The same release under zero-concentrated privacy: ρ = ε²/8."""
        return ZeroConcentrated(self.epsilon**2 / 8)

    def release(self, value: Any, *, source: Source = SYSTEM) -> int:
        """A point for a histogram: the pair of the points that have weight, and the weight on each."""
        return int(self.releases(value, 1, source=source)[0])

    def releases(self, value: Any, count: int, *, source: Source = SYSTEM) -> Integers:
        """``count`` independent points for the same histogram, each at the full price: for audits and studies."""
        points, weights = _histogram(value)
        return self.pick(points, weights, integer(count, "count", least=0), source.open())

    def pick(self, points: Integers, weights: Integers, count: int, stream: Stream) -> Integers:
        """``count`` independent points, with probabilities proportional to e^(-factor · d)."""
        starts, lengths, _, law = self._strips_and_law(points, weights)
        strips = law.draw(count, stream)
        found = starts[strips]
        for strip in np.unique(strips[lengths[strips] > 1]).tolist():
            inside = strips == strip
            found[inside] += UniformInteger(int(lengths[strip])).draw(int(inside.sum()), stream)
        return np.asarray(found, np.int64)

    def distribution(self, value: Any) -> FiniteLaw:
        """The exact law of the point for this histogram, for at most 65,536 points."""
        points, weights = _histogram(value)
        if self.points > _MOST_LISTED:
            raise InvalidValue(f"the law is listed for at most {_MOST_LISTED} points", self.points)
        starts, lengths, _, law = self._strips_and_law(points, weights)
        with working_precision(2 * BITS):
            shares = [law.mass(k) / length for k, length in enumerate(lengths.tolist())]
        order = np.argsort(starts).tolist()
        masses = tuple(shares[k] for k in order for _ in range(int(lengths[k])))
        return FiniteLaw(tuple(range(self.ends[0], self.ends[1] + 1)), masses)

    def _strips_and_law(self, points: Integers, weights: Integers) -> tuple[Integers, Integers, Integers, GumbelChoice]:
        starts, lengths, distances = self.score(points, weights)
        law = GumbelChoice(-distances, self.factor / self.quantile.denominator, lengths)
        return starts, lengths, distances, law

    def error(self, confidence: Number = 0.95) -> float:
        """How much weight the rank of the answer may miss the target by, with this confidence, whatever the rows are.

        What ``inward`` moved the target comes on top.
        """
        failure = 1 - open_probability(confidence, "confidence")
        return worst_shortfall(self.factor, self.points, failure)

    def measure_distances(self, points: Integers, weights: Integers) -> dict[int, int]:
        """The distance of every point between the ends, in parts of the quantile's denominator; for checks by hand."""
        strips = zip(*(column.tolist() for column in self.score(points, weights)), strict=True)
        return {start + k: distance for start, length, distance in strips for k in range(length)}

    def score(self, points: Integers, weights: Integers) -> tuple[Integers, Integers, Integers]:
        """Strips of points that are equally far off: where each starts, how long it is, and how far.

        Distances are in parts of the quantile's denominator, so that they are whole.
        """
        # A point outside the ends would lengthen what can be chosen, and so tell that it is there.
        values, inverse = np.unique(np.clip(points, *self.ends), return_inverse=True)
        mass = np.zeros(len(values), object)
        np.add.at(mass, inverse, weights.astype(object))
        starts, lengths, below, at = _strips(values, mass, self.ends)
        return starts, lengths, self._distances(below, at, int(mass.sum()))

    def _distances(self, below: Whole, at: Whole, total: int) -> Integers:
        """How far off each strip is.

        They are integers of Python, which cannot overflow, and are cut at 2^61, which brings no pair further apart.
        """
        part, inward = self.quantile.denominator, self.inward * self.quantile.denominator
        target, half = self.quantile.numerator * total, total * part // 2
        target = min(target + inward, half) if self.quantile <= Fraction(1, 2) else max(target - inward, half)
        missed = np.maximum(below * part - target, target - (below + at) * part)
        return np.asarray(np.clip(missed, 0, _FURTHEST_RANK), np.int64)


def _strips(values: Integers, mass: Whole, ends: tuple[int, int]) -> tuple[Integers, Integers, Whole, Whole]:
    """Runs of points with the same weight below, at and above them: each value, and the gaps between values."""
    edges = np.concatenate([[ends[0] - 1], values, [ends[1] + 1]])
    gaps = np.diff(edges) - 1
    before = np.concatenate([[0], np.cumsum(mass)])
    starts = np.concatenate([edges[:-1] + 1, values])
    lengths = np.concatenate([gaps, np.ones(len(values), np.int64)])
    below = np.concatenate([before, before[:-1]])
    at = np.concatenate([np.zeros(len(gaps), object), mass])
    kept = lengths > 0
    return starts[kept], lengths[kept], below[kept], at[kept]


def _histogram(value: Any) -> tuple[Integers, Integers]:
    """The points and their weights, checked."""
    if not isinstance(value, tuple) or len(value) != 2:
        raise InvalidType("the value must be a pair of points and their weights", f"<{type(value).__name__}>")
    points, weights = (_whole(part, name) for part, name in zip(value, ("points", "weights"), strict=True))
    if len(points) != len(weights):
        raise InvalidValue("points and weights must have equal length", f"<{len(points)} and {len(weights)}>")
    if weights.size and weights.min() < 0:
        raise InvalidValue("weights must not be negative", "<a negative one>")
    return points, weights


def _whole(part: Any, name: str) -> Integers:
    array = exact_array(part, name)
    if array.ndim != 1 or (array.size and not (holds_integers(array) and array.dtype.kind == "i")):
        raise InvalidType(f"{name} must be a flat list of integers of 64 bits", f"<{array.dtype}>")
    return array.astype(np.int64)
