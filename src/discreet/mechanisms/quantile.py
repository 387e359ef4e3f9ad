"""Quantiles: the exponential mechanism over all points of a public range, scored by rank.

Promise. For every q in [0, 1], every public range and grid, and tables of any size, one release costs ε of pure
differential privacy under the neighbour relation that was named. Values outside the range count as its ends. The
error is in ranks, not in values: how many of the table's values may lie between the answer and the target. Proof
sheet: ``quantile.md``.

>>> ages = Median(2, lower=30, upper=36)
>>> print(ages.distribution([29, 33, 33, 33, 34, 34, 41]))
33  0.7135
34  0.2625
30  0.004807
36  0.004807
31  0.004807
32  0.004807
35  0.004807
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from discreet.errors import InvalidType, InvalidValue
from discreet.exact.ball import BITS, ln_up, working_precision
from discreet.exact.grid import LARGEST_STEPS, Grid, Integers, exact_array
from discreet.exact.rational import Number, integer, positive, probability, rational
from discreet.mechanisms.distribution import FiniteLaw
from discreet.mechanisms.exponential import worst_shortfall
from discreet.mechanisms.measurement import Measurement
from discreet.noise.bernoulli import Bernoulli
from discreet.noise.law import open_probability
from discreet.noise.race import GumbelChoice
from discreet.noise.source import SYSTEM, Source, Stream
from discreet.noise.uniform import UniformInteger
from discreet.privacy.loss import Pure, ZeroConcentrated
from discreet.privacy.neighbours import Neighbours

__all__ = ["Maximum", "Median", "Minimum", "Quantile"]


_LARGEST_DENOMINATOR = 2**20  # ranks times this must fit 64 bits
_LARGEST_LIST = 2**12
_LONGEST_STRIP = 2**61
_RARE = 2**10


class Quantile(Measurement):
    """A grid point v with probability proportional to e^(-ε·d/2Δ), where d is how many ranks v is off the target."""

    def __init__(
        self,
        epsilon: Number,
        q: Number,
        lower: Number,
        upper: Number,
        *,
        grid: Number = 1,
        neighbours: Neighbours | str = Neighbours.ADD_REMOVE_ONE,
        inward: int | None = None,
    ) -> None:
        """Choose the price ``epsilon``, the quantile ``q`` and the public range of the answer.

        ``inward`` moves the target this many ranks towards the median and never past it. Left out, it is 0, except
        for q = 0 and q = 1: there it is the rank error at 95% confidence, which keeps the answer from lying outside
        the data.
        """
        self.epsilon = positive(epsilon, "epsilon")
        self.q = _coarse(probability(q, "q"), q)
        self.neighbours = Neighbours.of(neighbours)
        self.grid = Grid.of_step(grid)
        self._first, self._last = _ends(lower, upper, self.grid)
        default = math.ceil(self.error(0.95)) if self.q in (0, 1) else 0
        self.inward = default if inward is None else integer(inward, "inward", least=0, most=2**40)
        # Ranks are counted in this part of one, so that the target and all distances from it are integers.
        self._part = math.lcm(self.q.denominator, 2)
        positive(self._rate, "epsilon / parts of a rank")

    def __repr__(self) -> str:
        ends = f"lower={self.grid.value_of(self._first)}, upper={self.grid.value_of(self._last)}"
        return f"{type(self).__name__}(epsilon={self.epsilon}, q={self.q}, {ends}, neighbours='{self.neighbours}')"

    @property
    def size(self) -> int:
        """How many points the answer is chosen from."""
        return self._last - self._first + 1

    @property
    def sensitivity(self) -> Fraction:
        """How many ranks closer to the target, or further from it, one unit can move a point."""
        return Fraction(1) if self.neighbours is Neighbours.REPLACE_ONE else max(self.q, 1 - self.q)

    @cached_property
    def factor(self) -> Fraction:
        """What a distance in ranks is multiplied by: ε/2Δ."""
        return self.epsilon / (2 * self.sensitivity)

    @property
    def loss(self) -> Pure:
        """Pure ε."""
        return Pure(self.epsilon, self.neighbours)

    def concentrated_loss(self) -> ZeroConcentrated:
        """The same release under zero-concentrated privacy: ρ = ε²/8, as for every exponential mechanism."""
        return ZeroConcentrated(self.epsilon**2 / 8, self.neighbours)

    def target(self, size: int) -> Fraction:
        """The rank that is aimed at in a table of ``size`` values: q·size, moved inward."""
        if self.q <= Fraction(1, 2):
            return min(self.q * size + self.inward, Fraction(size, 2))
        return max(self.q * size - self.inward, Fraction(size, 2))

    def release(self, value: npt.ArrayLike, *, source: Source = SYSTEM) -> int | float:
        """The private quantile of these values."""
        return self.grid.value_of(int(self._points(value, 1, source)[0]))

    def releases(self, value: npt.ArrayLike, count: int, *, source: Source = SYSTEM) -> npt.NDArray[Any]:
        """``count`` independent answers for these values, each at the full price: for audits and studies."""
        return self.grid.values_of(self._points(value, count, source))

    def _points(self, value: npt.ArrayLike, count: int, source: Source) -> Integers:
        """``count`` private points, in steps."""
        table = self._table(value)
        # Points further off than this are so rare together that one bound for all of them will do.
        reach = math.ceil(ln_up(_RARE * self.size) / self.factor) * self._part
        strips = self._strips(table, reach)
        race, stream = self._race(strips), source.open()
        found = np.empty(count, np.int64)
        open_places = np.arange(count)
        while len(open_places):
            drawn = race.draw(len(open_places), stream)
            points = strips.points(drawn, stream)
            excess = table.distances(points) - strips.distances[drawn]
            kept = excess == 0
            for place in np.flatnonzero(excess).tolist():
                kept[place] = Bernoulli.exponential(self._rate * int(excess[place])).draw(1, stream)[0]
            found[open_places[kept]] = points[kept]
            open_places = open_places[~kept]
        return found

    def distribution(self, value: npt.ArrayLike) -> FiniteLaw:
        """The exact law of the answer, for ranges of at most 4096 points."""
        if self.size > _LARGEST_LIST:
            rule = f"the law is listed for at most {_LARGEST_LIST} points"
            raise InvalidValue(rule, self.size, "use a coarser grid; release has no such limit")
        table = self._table(value)
        strips = self._strips(table, reach=table.part * len(table.values))
        race = self._race(strips)
        points = [int(s) + k for s, n in zip(strips.starts, strips.lengths, strict=True) for k in range(n)]
        with working_precision(2 * BITS):
            masses = [race.mass(k) / int(n) for k, n in enumerate(strips.lengths) for _ in range(n)]
        return FiniteLaw(tuple(self.grid.value_of(p) for p in points), tuple(masses))

    def error(self, confidence: Number = 0.95) -> float:
        """How many ranks the answer may be off the target, with this confidence, whatever the values are."""
        return worst_shortfall(self.factor, self.size, 1 - open_probability(confidence, "confidence"))

    @property
    def _rate(self) -> Fraction:
        return self.factor / self._part

    def _race(self, strips: _Strips) -> GumbelChoice:
        return GumbelChoice(-strips.distances, self._rate, multiplicities=strips.lengths)

    def _table(self, values: npt.ArrayLike) -> _Table:
        array = exact_array(values)
        if array.ndim != 1:
            raise InvalidType("values must be a flat list of numbers", f"<shape {array.shape}>")
        steps = np.clip(self.grid.steps_of(array), self._first, self._last)
        steps.sort()
        return _Table(steps, int(self.target(len(steps)) * self._part), self._part)

    def _strips(self, table: _Table, reach: int) -> _Strips:
        """Points of the range in strips of equal distance; all points further off than ``reach`` count as just that.

        So distances are never overstated, and a coin with P(heads) = e^(-rate · excess) makes up for it.
        """
        low, high = table.near(reach, self._first, self._last)
        near = table.strips(low, high)
        ends = np.asarray([self._first, high + 1]), np.asarray([low - self._first, self._last - high])
        far = _Strips(*ends, np.full(2, reach))
        return near.joined(far).cut()


class Median(Quantile):
    """The private median: half of the values lie on either side."""

    def __init__(
        self,
        epsilon: Number,
        lower: Number,
        upper: Number,
        *,
        grid: Number = 1,
        neighbours: Neighbours | str = Neighbours.ADD_REMOVE_ONE,
    ) -> None:
        """Choose the price ``epsilon`` and the public range of the answer."""
        super().__init__(epsilon, "1/2", lower, upper, grid=grid, neighbours=neighbours)


class Minimum(Quantile):
    """A private value near the low end of the data: the target lies ``inward`` ranks above the smallest value."""

    def __init__(
        self,
        epsilon: Number,
        lower: Number,
        upper: Number,
        *,
        grid: Number = 1,
        neighbours: Neighbours | str = Neighbours.ADD_REMOVE_ONE,
        inward: int | None = None,
    ) -> None:
        """Choose the price ``epsilon`` and the public range of the answer."""
        super().__init__(epsilon, 0, lower, upper, grid=grid, neighbours=neighbours, inward=inward)


class Maximum(Quantile):
    """A private value near the high end of the data: the target lies ``inward`` ranks below the largest value."""

    def __init__(
        self,
        epsilon: Number,
        lower: Number,
        upper: Number,
        *,
        grid: Number = 1,
        neighbours: Neighbours | str = Neighbours.ADD_REMOVE_ONE,
        inward: int | None = None,
    ) -> None:
        """Choose the price ``epsilon`` and the public range of the answer."""
        super().__init__(epsilon, 1, lower, upper, grid=grid, neighbours=neighbours, inward=inward)


@dataclass(frozen=True)
class _Strips:
    """Runs of neighbouring points that are equally far from the target."""

    starts: Integers
    lengths: Integers
    distances: Integers

    def joined(self, other: _Strips) -> _Strips:
        pairs = zip(self._columns(), other._columns(), strict=True)
        starts, lengths, distances = (np.concatenate(pair) for pair in pairs)
        kept = lengths > 0
        return _Strips(starts[kept], lengths[kept], distances[kept])

    def cut(self) -> _Strips:
        """The same points, in strips short enough for the race."""
        long = self.lengths > _LONGEST_STRIP
        halves = np.where(long, self.lengths // 2, self.lengths)
        rest = _Strips(self.starts + halves, self.lengths - halves, self.distances)
        return _Strips(self.starts, halves, self.distances).joined(rest)

    def points(self, chosen: Integers, stream: Stream) -> Integers:
        """For each chosen strip one of its points, all equally likely."""
        found = self.starts[chosen]
        for strip in np.unique(chosen).tolist():
            places = np.flatnonzero(chosen == strip)
            found[places] += UniformInteger(int(self.lengths[strip])).draw(len(places), stream)
        return found

    def _columns(self) -> tuple[Integers, Integers, Integers]:
        return self.starts, self.lengths, self.distances


@dataclass(frozen=True)
class _Table:
    """Sorted values in steps, and the target rank; ranks and distances are counted in ``1/part`` of a rank."""

    values: Integers
    target: int
    part: int

    def distances(self, points: Integers) -> Integers:
        """How far the target lies outside the ranks of each point: from the values below it to those not above it."""
        below, not_above = np.searchsorted(self.values, points, "left"), np.searchsorted(self.values, points, "right")
        return self._distances(below, not_above)

    def near(self, reach: int, first: int, last: int) -> tuple[int, int]:
        """The first and the last of the points between ``first`` and ``last`` whose distance is at most ``reach``."""
        least = -((reach - self.target) // self.part)  # values that must not lie above the point
        most = (self.target + reach) // self.part  # values that may lie below it
        low = first if least <= 0 else int(self.values[least - 1])
        high = last if most >= len(self.values) else int(self.values[most])
        return low, high

    def strips(self, low: int, high: int) -> _Strips:
        """Every value between ``low`` and ``high``, and every gap before, between and after them, as a strip."""
        start, stop = np.searchsorted(self.values, low, "left"), np.searchsorted(self.values, high, "right")
        inside = self.values[start:stop]
        fresh = np.flatnonzero(np.diff(inside, prepend=low - 1) > 0) if len(inside) else np.empty(0, np.int64)
        points, below = inside[fresh], start + fresh
        at_most = np.append(below[1:], stop) if len(fresh) else below
        gap_starts, gap_stops = np.append(low, points + 1), np.append(points, high + 1)
        gap_ranks = np.append(start, at_most)
        singles = _Strips(points, np.ones_like(points), self._distances(below, at_most))
        gaps = _Strips(gap_starts, gap_stops - gap_starts, self._distances(gap_ranks, gap_ranks))
        return singles.joined(gaps)

    def _distances(self, below: Integers, not_above: Integers) -> Integers:
        missed = np.maximum(self.part * below - self.target, self.target - self.part * not_above)
        return np.maximum(missed, 0)


def _coarse(q: Fraction, typed: Number) -> Fraction:
    if q.denominator > _LARGEST_DENOMINATOR:
        raise InvalidValue("q must be a fraction with a denominator of at most 2^20", typed, "write '1/3' or 0.95")
    return q


def _ends(lower: Number, upper: Number, grid: Grid) -> tuple[int, int]:
    """The first and the last grid point of the range, in steps."""
    low, high = rational(lower, "lower"), rational(upper, "upper")
    first, last = math.ceil(low / grid.step), math.floor(high / grid.step)
    if first > last:
        raise InvalidValue("the range must hold a point of the grid", (lower, upper), "use a finer grid")
    if max(abs(first), abs(last)) > LARGEST_STEPS or last - first >= LARGEST_STEPS:
        remedy = "use a coarser grid"
        raise InvalidValue(
            "the range must hold at most 2^62 points, within 2^62 steps of zero", last - first + 1, remedy
        )
    return first, last
