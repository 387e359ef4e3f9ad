"""The layout of a block: which aggregates are read from which part, and how much each part matters.

Aggregates of one column under one condition share a tally. COUNT(*) is read from a tally that is there anyway: where
that tally leaves rows out, it counts the rest as well. A sum that nothing goes with stays a plain sum.

A part's importance is the sum of the variances of what is read from it, each in units of what one row can contribute,
when the noise on its integers has variance one. `shares` divides the price by it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

from discreet.query.bind.aggregate import Aggregate, AggregateKind
from discreet.query.expressions.expression import Expression
from discreet.query.plan.disjoint import find_disjoint_families
from discreet.query.plan.statistics import DistinctUnits, DistinctValues, Moments, PlainSum, bound_values

__all__ = ["Part", "StatisticGroup", "share_statistics"]


Part = Moments | PlainSum | DistinctUnits | DistinctValues
_DEGREES = {
    AggregateKind.COUNT: 0,
    AggregateKind.SUM: 1,
    AggregateKind.MEAN: 1,
    AggregateKind.VARIANCE: 2,
    AggregateKind.DEVIATION: 2,
}
# A mean of values spread evenly over their range, from two or three parts.
_MEAN = {1: Fraction(2, 3), 2: Fraction(3, 4)}


@dataclass(frozen=True)
class StatisticGroup:
    """A part and what is read from it."""

    part: Part
    aggregates: tuple[Aggregate, ...]

    @property
    def importance(self) -> Fraction:
        """The sum of the variances of what is read from it, at noise of variance one."""
        return sum((_variance(self.part, aggregate) for aggregate in self.aggregates), Fraction(0))


def share_statistics(aggregates: list[Aggregate]) -> list[StatisticGroup]:
    """The parts that answer these aggregates; choices, which are not sums, are left to others."""
    families: dict[tuple[Expression | None, Expression | None], list[Aggregate]] = {}
    for aggregate in aggregates:
        if aggregate.kind in _DEGREES:
            families.setdefault((aggregate.argument, aggregate.condition), []).append(aggregate)
    _share_counts(families)
    laid = [_family(argument, condition, found) for (argument, condition), found in families.items()]
    laid = _share_all_rows(laid)
    return laid + [
        StatisticGroup(_apart(a), (a,)) for a in aggregates if a.kind in (AggregateKind.PEOPLE, AggregateKind.VALUES)
    ]


def _share_counts(families: dict[tuple[Expression | None, Expression | None], list[Aggregate]]) -> None:
    """A count of rows is the count of a column that is never missing, under the same condition."""
    for condition in [condition for argument, condition in families if argument is None]:
        full = [key for key in families if key[1] == condition and key[0] is not None and not key[0].nullable]
        if full:
            families[full[0]] += families.pop((None, condition))


def _family(argument: Expression | None, condition: Expression | None, found: list[Aggregate]) -> StatisticGroup:
    if argument is not None and {aggregate.kind for aggregate in found} == {AggregateKind.SUM}:
        return StatisticGroup(PlainSum(argument, condition), tuple(found))
    return StatisticGroup(
        Moments(argument, condition, max(_DEGREES[aggregate.kind] for aggregate in found)), tuple(found)
    )


def _share_all_rows(laid: list[StatisticGroup]) -> list[StatisticGroup]:
    """Read COUNT(*) from the smallest part beside it, which then counts the rows it leaves out as well.

    Parts of which a row counts in one at most stay as they are, because together they cost no more than one.
    """
    everything = next((each for each in laid if each.part == Moments(None, None, 0)), None)
    others = [each for each in laid if each is not everything]
    alone = [others[family[0]] for family in find_disjoint_families([each.part for each in others]) if len(family) == 1]
    if everything is None or not alone:
        return laid
    chosen = min(alone, key=lambda each: each.part.size)
    part = chosen.part
    if isinstance(part, PlainSum):
        part = Moments(part.argument, part.condition, 1)
    if isinstance(part, Moments) and part.leaves_out:
        part = replace(part, rest=True)
    shared = StatisticGroup(part, (*chosen.aggregates, *everything.aggregates))
    return [shared if each is chosen else each for each in others]


def _apart(aggregate: Aggregate) -> Part:
    if aggregate.kind is AggregateKind.PEOPLE:
        return DistinctUnits(aggregate.condition)
    if aggregate.argument is None:
        raise AssertionError("different values are values of something")
    return DistinctValues(aggregate.argument, aggregate.condition)


def _variance(part: Part, aggregate: Aggregate) -> Fraction:
    if not isinstance(part, Moments):
        return Fraction(1)
    if aggregate.kind is AggregateKind.COUNT:
        is_all = aggregate.argument is None and aggregate.condition is None
        return Fraction(part.size if is_all else part.degree + 1)
    if aggregate.kind is AggregateKind.MEAN:
        return _MEAN[part.degree]
    if aggregate.kind is AggregateKind.SUM:
        low, high = bound_values(part.argument)
        ends = [low, high] if part.degree == 1 else [low, (low + high) / 2, high]
        largest = max(abs(end) for end in ends)
        return sum(((end / largest) ** 2 for end in ends), Fraction(0)) if largest else Fraction(1)
    return Fraction(1)
