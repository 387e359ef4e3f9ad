"""Choices: quantiles, minima, maxima and modes by the exponential mechanism, decided before any row is read.

The largest groups by name alone: k selections instead of a noisy count for every group, where that errs less.

A query that orders groups by one count, keeps the first k and shows nothing but their keys does not need the counts. A
race among the groups with the first k over the line costs k exponential mechanisms (`mechanisms/top_k.md`): a unit's
weights all point the same way, so each costs factor times the unit's weight.

Which errs less does not depend on the price. At 95 %, k picks among G groups fall short of the truth by at most
k·ln(19k(G-1)) in units of B/ε, or by √k·ln(19k(G-1))/√8 in units of B/√ρ; noisy counts may be off by ln(20G), or by
√(ln(40G)), twice, for a group that is too high and one that is too low.

A plan holds the mechanism that chooses: a `WeightedQuantile` of the values of a group, an `Exponential` among listed
values, or a `TopK` among groups. Over several groups a unit's weights add up to B, so all groups together cost ε once.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from sqlglot import exp

from discreet.catalog.column import ColumnType
from discreet.exact.grid import Grid
from discreet.mechanisms.exponential import Exponential
from discreet.mechanisms.top_k import TopK
from discreet.mechanisms.weighted_quantile import WeightedQuantile
from discreet.privacy.loss import Pure
from discreet.privacy.neighbours import Neighbours
from discreet.privacy.sensitivity import Norm, Sensitivity
from discreet.query.bind.aggregate import Aggregate, AggregateKind
from discreet.query.plan.budget_split import Price
from discreet.query.plan.public_groups import Key
from discreet.query.plan.statistics import bound_values

__all__ = [
    "ModeSelection",
    "PlannedSelection",
    "QuantileSelection",
    "TopSelection",
    "read_mode",
    "read_quantile",
    "read_top",
    "read_top_groups",
    "selection_is_better",
    "weigh_selection",
]


_POINTS = 2**14
_FURTHEST = 2**49
"""Points are doubles before they are integers, so the ends must be exact as both: at most 2^50 steps from zero."""
_ENDS = {AggregateKind.MINIMUM: Fraction(0), AggregateKind.MAXIMUM: Fraction(1)}


@dataclass(frozen=True)
class QuantileSelection:
    """A quantile on the weighted histogram of each group."""

    aggregate: Aggregate
    """Which quantile of which values."""
    epsilon: Fraction
    """The loss over all groups together: their sum where prices are pure, else the root of the sum of squares."""
    step: Fraction
    """The distance between two possible answers."""
    mechanism: WeightedQuantile
    """What chooses in each group."""

    @property
    def quantile(self) -> Fraction:
        """Where the target lies between least and greatest."""
        return self.mechanism.quantile

    @property
    def ends(self) -> tuple[int, int]:
        """The first and the last answer, in steps."""
        return self.mechanism.ends

    @property
    def factor(self) -> Fraction:
        """What a distance in weights is multiplied by: ε/2Δ."""
        return self.mechanism.factor

    @property
    def inward(self) -> int:
        """By how much weight the target of a minimum or maximum is moved into the data."""
        return self.mechanism.inward

    @property
    def points(self) -> int:
        """How many answers are possible."""
        return self.mechanism.points


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
    mechanism: Exponential
    """What chooses in each group, by the positions of the values."""

    @property
    def factor(self) -> Fraction:
        """What a weight is multiplied by: ε/Δ."""
        return self.mechanism.factor

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
    points: int
    """Among how many."""
    mechanism: TopK
    """What chooses, by the positions of the groups."""

    @property
    def picks(self) -> int:
        """How many are chosen."""
        return self.mechanism.picks

    @property
    def factor(self) -> Fraction:
        """What a weight is multiplied by: ε/Δ."""
        return self.mechanism.factor


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
    ends = math.floor(low / step), math.ceil(high / step)
    quantile = _ENDS.get(aggregate.kind, aggregate.quantile)
    return QuantileSelection(aggregate, epsilon, step, WeightedQuantile(epsilon, quantile, ends, weight=weight))


def read_mode(
    aggregate: Aggregate, epsilon: Fraction, weight: Fraction, values: tuple[Key, ...], neighbours: Neighbours
) -> ModeSelection:
    """The choice that costs ``epsilon`` where one unit adds and removes at most ``weight``, in all groups together.

    Together is their sum for a pure loss, and the root of the sum of squares for ρ = ε²/8.
    """
    moved, monotone = _moved_scores(weight, neighbours)
    return ModeSelection(aggregate, epsilon, values, Exponential(epsilon, sensitivity=moved, monotone=monotone))


def read_top_groups(
    aggregate: Aggregate, epsilon: Fraction, weight: Fraction, groups: tuple[int, int], neighbours: Neighbours
) -> TopSelection:
    """The choice of the first of ``groups``, out of the second, each of which costs ``epsilon``."""
    picks, points = groups
    moved, monotone = _moved_scores(weight, neighbours)
    mechanism = TopK(picks * epsilon, picks, sensitivity=moved, monotone=monotone)
    return TopSelection(aggregate, epsilon, points, mechanism)


def _moved_scores(weight: Fraction, neighbours: Neighbours) -> tuple[Sensitivity, bool]:
    """How far one score moves where a unit adds and removes ``weight``, and whether all move the same way.

    A unit that joins or leaves moves all scores the same way; one that is replaced takes away half and adds half.
    """
    monotone = neighbours is Neighbours.ADD_REMOVE_ONE
    return Sensitivity(weight if monotone else weight / 2, neighbours, Norm.LINF), monotone


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
