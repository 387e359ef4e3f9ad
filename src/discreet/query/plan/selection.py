"""Choices: quantiles, minima, maxima and modes by the exponential mechanism, decided before any row is read.

The largest groups by name alone: k selections instead of a noisy count for every group, where that errs less.

A query that orders groups by one count, keeps the first k and shows nothing but their keys does not need the counts. A
race among the groups with the first k over the line costs k exponential mechanisms (`mechanisms/top_k.md`): a unit's
weights all point the same way, so each costs factor times the unit's weight.

Which errs less does not depend on the price. At 95 %, k picks among G groups fall short of the truth by at most
k·ln(19k(G-1)) in units of B/ε, or by √k·ln(19k(G-1))/√8 in units of B/√ρ; noisy counts may be off by ln(20G), or by
√(ln(40G)), twice, for a group that is too high and one that is too low.

A private quantile of weighted values: the exponential mechanism over all grid points between public bounds.

A point v is as good as the rank it is off: d(v) = max(L - τ, τ - (n - R), 0) with L and R the weight below and above v,
n all weight and τ the target q·n. Adding a unit of weight at most B moves d by at most B·max(q, 1-q), because L, R
and n move together; over several groups a unit's weights add up to B, so all groups together cost ε once.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt
from sqlglot import exp

from discreet.catalog.column import ColumnType
from discreet.exact.ball import ln_up
from discreet.exact.grid import Grid, Integers
from discreet.noise.race import GumbelChoice
from discreet.noise.source import Stream
from discreet.noise.uniform import UniformInteger
from discreet.privacy.loss import Pure
from discreet.query.bind.aggregate import Aggregate, AggregateKind
from discreet.query.plan.budget_split import Price
from discreet.query.plan.public_groups import Key
from discreet.query.plan.statistics import bound_values

__all__ = [
    "ModeSelection",
    "PlannedSelection",
    "QuantileSelection",
    "TopSelection",
    "choose_quantiles",
    "measure_distances",
    "read_mode",
    "read_quantile",
    "read_top",
    "selection_is_better",
    "weigh_selection",
]


_POINTS = 2**14
_FURTHEST = 2**49
"""Points are doubles before they are integers, so the ends must be exact as both: at most 2^50 steps from zero."""
_ODDS = 20  # for a minimum or maximum: one in twenty lies outside the data
_ENDS = {AggregateKind.MINIMUM: Fraction(0), AggregateKind.MAXIMUM: Fraction(1)}


@dataclass(frozen=True)
class QuantileSelection:
    """A quantile on the weighted histogram of each group."""

    aggregate: Aggregate
    """Which quantile of which values."""
    epsilon: Fraction
    """The loss over all groups together: their sum where prices are pure, else the root of the sum of squares."""
    quantile: Fraction
    """Where the target lies between least and greatest."""
    step: Fraction
    """The distance between two possible answers."""
    ends: tuple[int, int]
    """The first and the last answer, in steps."""
    factor: Fraction
    """What a distance in weights is multiplied by: ε/2Δ."""
    inward: int
    """By how much weight the target of a minimum or maximum is moved into the data."""

    @property
    def points(self) -> int:
        """How many answers are possible."""
        return self.ends[1] - self.ends[0] + 1


@dataclass(frozen=True)
class ModeSelection:
    """The heaviest of the listed values, in each group.

    A unit's weights all point the same way, so one that joins or leaves raises or lowers every score by at most its
    weight in the group, and e^(factor · score) costs factor times that weight.
    """

    aggregate: Aggregate
    """Of which values."""
    epsilon: Fraction
    """The loss over all groups together: their sum where prices are pure, else the root of the sum of squares."""
    values: tuple[Key, ...]
    """What can be chosen."""
    factor: Fraction
    """What a weight is multiplied by: ε/Δ."""

    @property
    def points(self) -> int:
        """How many answers are possible."""
        return len(self.values)


@dataclass(frozen=True)
class TopSelection:
    """The heaviest groups themselves, best first, each from those that are left."""

    aggregate: Aggregate
    """Which rows count."""
    epsilon: Fraction
    """The pure loss of one pick."""
    picks: int
    """How many are chosen."""
    points: int
    """Among how many."""
    factor: Fraction
    """What a weight is multiplied by: ε/Δ."""


PlannedSelection = QuantileSelection | ModeSelection


def weigh_selection(aggregate: Aggregate) -> Fraction:
    """The square of the scale, in whole rows, at which worse answers become rarer, at ε = 1."""
    if aggregate.kind is AggregateKind.MODE:
        return Fraction(1)
    quantile = _ENDS.get(aggregate.kind, aggregate.quantile)
    return (2 * max(quantile, 1 - quantile)) ** 2


def read_quantile(aggregate: Aggregate, epsilon: Fraction, weight: Fraction) -> QuantileSelection:
    """The choice that costs ``epsilon`` where one unit adds and removes at most ``weight``, in all groups together.

    Together is their sum for a pure loss, and the root of the sum of squares for ρ = ε²/8.
    """
    low, high = bound_values(aggregate.argument)
    step = _step(aggregate, low, high)
    first, last = math.floor(low / step), math.ceil(high / step)
    quantile = _ENDS.get(aggregate.kind, aggregate.quantile)
    # The weights below and above a point and the total move together: see weighted_quantile.
    factor = epsilon / (2 * weight * max(quantile, 1 - quantile))
    inward = math.ceil(ln_up(Fraction(_ODDS * (last - first + 1))) / factor) if quantile in (0, 1) else 0
    return QuantileSelection(aggregate, epsilon, quantile, step, (first, last), factor, inward)


def read_mode(aggregate: Aggregate, epsilon: Fraction, weight: Fraction, values: tuple[Key, ...]) -> ModeSelection:
    """The choice that costs ``epsilon`` where one unit adds and removes at most ``weight``, in all groups together.

    Together is their sum for a pure loss, and the root of the sum of squares for ρ = ε²/8.
    """
    return ModeSelection(aggregate, epsilon, values, epsilon / weight)


def _step(aggregate: Aggregate, low: Fraction, high: Fraction) -> Fraction:
    furthest = max(abs(low), abs(high), Fraction(1, _FURTHEST))
    length = max((high - low) / _POINTS, furthest / _FURTHEST)
    is_whole = aggregate.argument is not None and aggregate.argument.type is ColumnType.INTEGER
    return max(Grid.finer_than(length).step, Fraction(1 if is_whole else 0))


_NOT_ALLOWED = ("where", "having", "qualify", "distinct", "offset", "windows", "joins")
_TOP_ODDS = 19


def read_top(above: exp.Select, aggregates: list[Aggregate]) -> int | None:
    """How many groups are wanted, where a query shows the names of the largest ones and nothing else."""
    order, limit = above.args.get("order"), above.args.get("limit")
    if order is None or limit is None or any(above.args.get(part) for part in _NOT_ALLOWED):
        return None
    if [aggregate.kind for aggregate in aggregates] != [AggregateKind.COUNT] or len(order.expressions) != 1:
        return None
    (by,) = order.expressions
    shown = [projection.unalias() for projection in above.expressions]
    by_count = isinstance(by.this, exp.Column) and by.this.name == "a0" and by.args.get("desc")
    only_keys = all(isinstance(column, exp.Column) and column.name.startswith("k") for column in shown)
    count = limit.expression
    if not (by_count and only_keys and isinstance(count, exp.Literal) and not count.is_string and count.name.isdigit()):
        return None
    return int(count.name) or None


def selection_is_better(top: int, groups: int, price: Price) -> bool:
    """Whether choosing ``top`` of so many groups errs less than counting all of them."""
    if top >= groups:
        return False
    picks = math.log(_TOP_ODDS * top * (groups - 1))
    if isinstance(price, Pure):
        return top * picks < 2 * math.log((_TOP_ODDS + 1) * groups)
    return math.sqrt(top / 8) * picks < 2 * math.sqrt(math.log(2 * (_TOP_ODDS + 1) * groups))


Whole = npt.NDArray[np.object_]
_FURTHEST_RANK = 2**61


def choose_quantiles(
    points: Integers, weights: Integers, choice: QuantileSelection, count: int, stream: Stream
) -> Integers:
    """``count`` independent grid points between the ends, with probabilities proportional to e^(-factor · d)."""
    starts, lengths, distances = _scored(points, weights, choice)
    strips = GumbelChoice(-distances, choice.factor / choice.quantile.denominator, lengths).draw(count, stream)
    found = starts[strips]
    for strip in np.unique(strips[lengths[strips] > 1]).tolist():
        inside = strips == strip
        found[inside] += UniformInteger(int(lengths[strip])).draw(int(inside.sum()), stream)
    return np.asarray(found, np.int64)


def measure_distances(points: Integers, weights: Integers, choice: QuantileSelection) -> dict[int, int]:
    """The distance of every point between the ends, in parts of the quantile's denominator; for checks by hand."""
    strips = zip(*(column.tolist() for column in _scored(points, weights, choice)), strict=True)
    return {start + k: distance for start, length, distance in strips for k in range(length)}


def _scored(points: Integers, weights: Integers, choice: QuantileSelection) -> tuple[Integers, Integers, Integers]:
    """Strips of points that are equally far off: where each starts, how long it is, and how far."""
    # A point outside the ends would lengthen what can be chosen, and so tell that it is there.
    values, inverse = np.unique(np.clip(points, *choice.ends), return_inverse=True)
    mass = np.zeros(len(values), object)
    np.add.at(mass, inverse, weights.astype(object))
    starts, lengths, below, at = _strips(values, mass, choice.ends)
    return starts, lengths, _distances(below, at, int(mass.sum()), choice)


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


def _distances(below: Whole, at: Whole, total: int, choice: QuantileSelection) -> Integers:
    """How far off each strip is, in parts of the quantile's denominator so that they are whole.

    They are integers of Python, which cannot overflow, and are cut at 2^61, which brings no pair further apart.
    """
    part, inward = choice.quantile.denominator, choice.inward * choice.quantile.denominator
    target, half = choice.quantile.numerator * total, total * part // 2
    target = min(target + inward, half) if choice.quantile <= Fraction(1, 2) else max(target - inward, half)
    missed = np.maximum(below * part - target, target - (below + at) * part)
    return np.asarray(np.clip(missed, 0, _FURTHEST_RANK), np.int64)
